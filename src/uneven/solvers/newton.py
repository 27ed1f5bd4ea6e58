"""Newton's method with the full matrix of second derivatives: for few columns, or samples of the rows."""

from __future__ import annotations

import numpy as np

from uneven.solvers.line_search import evaluated, search
from uneven.solvers.metric import cholesky_metric
from uneven.solvers.objective import Objective
from uneven.solvers.solution import Progress, Solution, silent


def newton(
    objective: Objective, theta: np.ndarray, *, tol: float, max_iter: int, progress: Progress = silent
) -> Solution:
    """Minimise from theta until the Newton decrement promises less than tol times the value.

    The decrement is half g' H^-1 g: what a step on the parabola at this point would still gain.
    """
    point = evaluated(objective.value_and_gradient, theta)
    passes = 1.0
    decrement, status = np.inf, f"stopped after {max_iter} Newton steps"
    iteration = 0
    for iteration in range(1, max_iter + 1):
        direction = -cholesky_metric(objective.hessian(point.theta))(point.gradient)
        passes += 1
        decrement = -0.5 * float(point.gradient @ direction)
        progress(f"newton {iteration}: objective {point.value:.10g}, estimated suboptimality {decrement:.2e}")
        if decrement <= 0.25 * tol * point.value:
            status = "reached the tolerance by the Newton decrement"
            break
        following, trials = search(objective.value_and_gradient, point, direction)
        passes += trials
        if following is None or following.value >= point.value:
            status = "reached the limit of rounding"
            break
        point = following
    return Solution(
        theta=point.theta,
        value=point.value,
        converged=decrement <= tol * point.value,
        status=status,
        iterations=iteration,
        suboptimality=max(decrement, 0.0),
        stats={"passes": passes},
    )
