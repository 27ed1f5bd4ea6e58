"""Newton's method for smooth convex losses and few columns: it factors the full matrix of second derivatives."""

from __future__ import annotations

import numpy as np

from uneven.solvers.compiled import newton_steps
from uneven.solvers.linear.design import Dense
from uneven.solvers.linear.line_search import Iterate, evaluated, search_beyond_rounding
from uneven.solvers.linear.metric import MOST_COLUMNS, cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import FASTEST, LAST_RESORT, Settings, Solver

_NAME = "newton"
#: With more columns the matrix would not fit into the memory of most machines.
_MOST_COLUMNS = 20_000
#: Rows times columns squared up to which Newton steps on all rows are the fastest.
_FASTEST_WORK = 5e7
#: The same, up to which one compiled function runs all steps on one thread; and its most numbers of X.
_COMPILED_WORK, _COMPILED_NUMBERS = 2e7, 1 << 20
_STATUS = {
    newton_steps.REACHED: "reached the tolerance",
    newton_steps.OUT_OF_STEPS: "stopped after {} Newton steps",
    newton_steps.ROUNDING: "reached the limit of rounding",
}


def accepts(objective: Objective) -> str | None:
    """Smooth convex losses, up to 20,000 columns."""
    reason = objective.pair.why_not_convex or objective.pair.why_not_smooth
    if reason:
        return f"solver={_NAME!r} needs a smooth convex loss, but {reason}"
    if objective.size > _MOST_COLUMNS:
        return (
            f"solver={_NAME!r} needs at most {_MOST_COLUMNS} columns, but for {objective.pair.names} on this X it "
            f"would keep a matrix of {objective.size} by {objective.size} numbers"
        )
    return None


def preference(objective: Objective) -> int:
    """The fastest where the matrices of all steps cost little."""
    small = objective.size <= MOST_COLUMNS and objective.design.n * objective.size**2 <= _FASTEST_WORK
    return FASTEST if small else LAST_RESORT


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta (None: from 0) until the gap that the gradient promises is below tol times the value."""
    if _is_small(objective):
        return _in_one_call(objective, theta, settings)
    tol, max_iter = settings.tol, settings.max_iter
    now = evaluated(objective.value_and_gradient, np.zeros(objective.size) if theta is None else theta)
    passes, reached, status = 1.0, False, f"stopped after {max_iter} Newton steps"
    iteration = 0
    for iteration in range(1, max_iter + 1):
        hessian = objective.hessian(now.theta)
        curvature = float(hessian[-1, -1])
        direction = -cholesky_metric(hessian)(now.gradient)
        passes += 1
        gain = -0.5 * float(now.gradient @ direction)
        settings.progress(f"newton {iteration}: objective {now.value:.10g}, a step may gain {gain:.2e}")

        def gap(at: Iterate, curvature: float = curvature) -> float:
            return objective.promised_gap(at.theta, at.gradient, curvature)

        following, trials = search_beyond_rounding(objective.value_and_gradient, now, direction, gap)
        passes += trials
        if following is None:
            status = "reached the limit of rounding"
            break
        now = following
        if gap(now) <= 0.5 * tol * max(now.value, objective.floor):
            reached, status = True, "reached the tolerance"
            break
    return Solution(
        theta=now.theta,
        value=now.value,
        converged=reached,
        status=status,
        iterations=iteration,
        stats={"passes": passes},
    )


def _is_small(objective: Objective) -> bool:
    """Whether calls from Python would cost more than the arithmetic."""
    design = objective.design
    few = design.numbers <= _COMPILED_NUMBERS and design.n * objective.size**2 <= _COMPILED_WORK
    return few and isinstance(design, Dense) and objective.penalty > 0 and objective.l1 == 0


def _in_one_call(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """All steps in one compiled function."""
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


SOLVER = Solver(_NAME, accepts, minimise, preference)
