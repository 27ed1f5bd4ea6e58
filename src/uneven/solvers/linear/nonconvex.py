"""Losses that are not convex: descend from the solution for a convex loss with the same costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uneven.solvers.linear.lbfgs import lbfgs
from uneven.solvers.linear.line_search import Iterate, evaluated
from uneven.solvers.linear.metric import MOST_COLUMNS, Metric, cholesky_metric, diagonal_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import Settings

#: Steps between two metrics.
_REFRESH = 10
#: Rows times columns squared up to which the metric is made from all rows, and the size of the sample beyond.
_MOST_WORK = 5e9
_SAMPLE_ROWS = 20_000
#: Descents start at these multiples of the starting point. Far from 0, the slopes of a bounded loss lead elsewhere.
_FACTORS = (1.0, 4.0, 16.0)


def descend(objective: Objective, theta: np.ndarray, settings: Settings) -> Solution:
    """The best of the descents from theta and from its multiples, which all classify alike.

    Close to 0, a bounded loss may lead to a local minimum on the wrong side: sigmoid with gamma > 1 has a maximum
    between 0 and its minimum at infinity. Farther away it does not.
    """
    factors = _FACTORS if theta.any() else (1.0,)
    descents = [_descent(objective, factor * theta, settings) for factor in factors]
    best = min(descents, key=lambda solution: solution.value)
    return replace(best, iterations=sum(solution.iterations for solution in descents))


def _descent(objective: Objective, theta: np.ndarray, settings: Settings) -> Solution:
    """L-BFGS from theta to what seems to be a local minimum; no step raises the objective.

    Its metric is the convex part of the second derivatives, computed again every few steps.
    """

    def metric(now: Iterate) -> Metric:
        if objective.size > MOST_COLUMNS:
            diagonal = objective.diagonal(now.theta)
            return diagonal_metric(np.maximum(diagonal, 1e-6 * diagonal.max() + 1e-300))
        if objective.design.n * objective.size**2 <= _MOST_WORK:
            return cholesky_metric(objective.hessian(now.theta))
        chosen, factor = objective.sample(max(_SAMPLE_ROWS, 10 * objective.size), settings.random)
        return cholesky_metric(objective.hessian(now.theta, chosen, factor))

    def refreshed(now: Iterate, iteration: int) -> Metric | None:
        return metric(now) if iteration and iteration % _REFRESH == 0 else None

    start = evaluated(objective.value_and_gradient, theta)
    solution = lbfgs(
        objective.value_and_gradient,
        start,
        metric(start),
        tol=settings.tol,
        max_iter=settings.max_iter,
        refresh=refreshed,
        progress=settings.progress,
    )
    if solution.converged:
        return replace(solution, status="reached a stationary point within the tolerance")
    if solution.iterations < settings.max_iter:  # at a kink or on a flat part, the gradient leads no further down
        return replace(solution, converged=True, status="found no further descent")
    return solution
