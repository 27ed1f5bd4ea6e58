"""Newton's method for smooth convex losses and few columns: it factors the full matrix of second derivatives."""

from __future__ import annotations

import numpy as np

from uneven.solvers.linear.lbfgs import Iterate, evaluate_at, search_beyond_rounding
from uneven.solvers.linear.newton_systems import MOST_COLUMNS, cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.small import LIMITS, is_small, minimise_small
from uneven.solvers.linear.solver import (
    Settings,
    Solution,
    Solver,
    at_most_columns,
    smooth_convex_loss,
    squared_penalty,
)


def costs_little(objective: Objective) -> bool:
    """Whether the matrices of all steps cost little, in multiplications: rows times columns squared.

    Beyond that a sample of the rows gives a matrix that is nearly as good. If a column has fewer than ten rows, a
    sample says little, and ten times the work is worth it.
    """
    n, size = objective.design.n, objective.size
    most = LIMITS.most_work if n >= 10 * size else 10 * LIMITS.most_work
    return size <= MOST_COLUMNS and n * size**2 <= most


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta (None: from 0) until the gap that the gradient promises is below tol times the value."""
    if is_small(objective):
        return minimise_small(objective, theta, settings)
    tol, max_iter = settings.tol, settings.max_iter
    now = evaluate_at(objective.value_and_gradient, np.zeros(objective.size) if theta is None else theta)
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


SOLVER = Solver(
    "newton", (squared_penalty, smooth_convex_loss, at_most_columns(20_000)), minimise, fastest=(costs_little,)
)
