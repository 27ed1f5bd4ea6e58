"""Newton's method for smooth convex losses and few columns: it factors the full matrix of second derivatives."""

from __future__ import annotations

import numpy as np

from uneven.solvers.linear.line_search import Iterate, evaluated, search_beyond_rounding
from uneven.solvers.linear.metric import MOST_COLUMNS, cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.small import is_small, minimise_small
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import FASTEST, LAST_RESORT, Settings, Solver

_NAME = "newton"
#: With more columns the matrix would not fit into the memory of most machines.
_MOST_COLUMNS = 20_000
#: Rows times columns squared up to which Newton steps on all rows are the fastest: always, and with few rows per
#: column, where a sample of the rows says little.
_LITTLE_WORK, _FASTEST_WORK, _FEW_ROWS = 5e6, 5e7, 10


def accepts(objective: Objective) -> str | None:
    """Smooth convex losses, up to 20,000 columns."""
    if objective.why_not_squared:
        return f"solver={_NAME!r} needs a squared penalty or none, but {objective.why_not_squared}"
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
    n, size = objective.design.n, objective.size
    most = _FASTEST_WORK if n < _FEW_ROWS * size else _LITTLE_WORK
    return FASTEST if size <= MOST_COLUMNS and n * size**2 <= most else LAST_RESORT


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta (None: from 0) until the gap that the gradient promises is below tol times the value."""
    if is_small(objective):
        return minimise_small(objective, theta, settings)
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


SOLVER = Solver(_NAME, accepts, minimise, preference)
