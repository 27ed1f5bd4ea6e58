"""Newton's method with the full matrix of second derivatives: for few columns, or samples of the rows."""

from __future__ import annotations

import numpy as np

from uneven.solvers.linear.line_search import evaluated, search
from uneven.solvers.linear.metric import cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Progress, Solution, silent


def newton(
    objective: Objective, theta: np.ndarray, *, tol: float, max_iter: int, progress: Progress = silent
) -> Solution:
    """Minimise from theta until the Newton decrement promises less than tol times the value.

    The decrement is half g' H^-1 g: what a step on the parabola at this point would still gain.
    """
    point = evaluated(objective.value_and_gradient, theta)
    passes, floor = 1.0, objective.floor
    reached = False
    decrement, status = np.inf, f"stopped after {max_iter} Newton steps"
    iteration = 0
    for iteration in range(1, max_iter + 1):
        direction = -cholesky_metric(objective.hessian(point.theta))(point.gradient)
        passes += 1
        decrement = -0.5 * float(point.gradient @ direction)
        progress(f"newton {iteration}: objective {point.value:.10g}, estimated suboptimality {decrement:.2e}")
        following, trials = search(objective.value_and_gradient, point, direction)
        passes += trials
        reached = decrement <= tol * max(point.value, floor)
        if following is not None and following.value < point.value:
            point = following  # also after the tolerance is reached: the step is in hand and squares the error
        elif not reached:
            status = "reached the limit of rounding"
            break
        if reached:
            status = "reached the tolerance by the Newton decrement"
            break
    return Solution(
        theta=point.theta,
        value=point.value,
        converged=reached or decrement <= tol * point.value,
        status=status,
        iterations=iteration,
        suboptimality=max(decrement, 0.0),
        stats={"passes": passes},
    )
