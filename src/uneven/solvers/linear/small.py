"""Small smooth problems: one compiled function takes all Newton steps, because calls from Python would cost more."""

from __future__ import annotations

import numpy as np

from uneven.solvers.compiled import newton_steps
from uneven.solvers.linear.design import Dense
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import Settings

#: Rows times columns squared, and numbers of X, up to which a problem is small.
_MOST_WORK, _MOST_NUMBERS = 5e6, 1 << 20
_STATUS = {
    newton_steps.REACHED: "reached the tolerance",
    newton_steps.OUT_OF_STEPS: "stopped after {} Newton steps",
    newton_steps.ROUNDING: "reached the limit of rounding",
}


def is_small(objective: Objective) -> bool:
    """Whether :func:`minimise_small` can minimise an objective with a smooth convex loss, and is fast."""
    design = objective.design
    few = design.numbers <= _MOST_NUMBERS and design.n * objective.size**2 <= _MOST_WORK
    return few and isinstance(design, Dense) and objective.penalty > 0 and objective.l1 == 0


def minimise_small(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta (None: from 0) until the gap that the gradient promises is below tol times the value."""
    found = np.zeros(objective.size) if theta is None else theta.copy()
    reason, steps, value = newton_steps.newton(
        np.ascontiguousarray(objective.design.X),
        objective.derivatives,
        objective.penalty,
        objective.fit_intercept,
        found,
        settings.tol,
        settings.max_iter,
    )
    settings.progress(f"newton {steps}: objective {value:.10g}")
    return Solution(
        theta=found,
        value=value,
        converged=reason == newton_steps.REACHED,
        status=_STATUS[reason].format(settings.max_iter),
        iterations=steps,
    )
