"""Losses that are not convex: monotone descent from the solution for a convex loss of the same costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uneven.solvers.linear.lbfgs import lbfgs
from uneven.solvers.linear.line_search import Point, evaluated
from uneven.solvers.linear.metric import Metric, cholesky_metric, diagonal_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.preconditioned import MOST_COLUMNS
from uneven.solvers.linear.solution import Progress, Solution, silent

_REFRESH = 10
#: Rows times columns squared up to which the metric is made from all rows.
_MOST_WORK = 5e9
_SAMPLE_ROWS = 20_000


#: The start is also tried farther from 0, where the slopes of a bounded loss lead elsewhere.
_FACTORS = (1.0, 4.0, 16.0)


def descend(
    objective: Objective,
    theta: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> Solution:
    """The best of the descents from theta and its multiples.

    All of them decide alike. Close to 0, a bounded loss may be on its way to a local minimum on the wrong side
    (sigmoid with gamma > 1 has a maximum between 0 and the minimum at infinity); farther away it is not.
    """
    descents = [
        _descent(objective, factor * theta, tol=tol, max_iter=max_iter, random=random, progress=progress)
        for factor in (_FACTORS if theta.any() else (1.0,))
    ]
    best = min(descents, key=lambda solution: solution.value)
    return replace(best, iterations=sum(solution.iterations for solution in descents))


def _descent(
    objective: Objective,
    theta: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> Solution:
    """L-BFGS from theta; no step raises the objective. The result is a local minimum, as far as can be told.

    Its metric is the convex part of the second derivatives, made anew now and then.
    """

    def metric(point: Point) -> Metric:
        if objective.size > MOST_COLUMNS:
            diagonal = objective.diagonal(point.theta)
            return diagonal_metric(np.maximum(diagonal, 1e-6 * diagonal.max() + 1e-300))
        if objective.design.n * objective.size**2 <= _MOST_WORK:
            return cholesky_metric(objective.hessian(point.theta))
        chosen, factor = objective.sample(max(_SAMPLE_ROWS, 10 * objective.size), random)
        return cholesky_metric(objective.hessian(point.theta, chosen, factor))

    def refreshed(point: Point, iteration: int) -> Metric | None:
        return metric(point) if iteration and iteration % _REFRESH == 0 else None

    start = evaluated(objective.value_and_gradient, theta)
    solution = lbfgs(
        objective.value_and_gradient,
        start,
        metric(start),
        tol=tol,
        max_iter=max_iter,
        refresh=refreshed,
        progress=progress,
    )
    if solution.converged:
        return replace(solution, status="reached a stationary point within the tolerance")
    if solution.iterations < max_iter:  # at a kink, or where the loss is flat, slopes do not lead further down
        return replace(solution, converged=True, status="found no further descent")
    return solution
