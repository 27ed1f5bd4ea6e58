"""Smooth convex losses: a start and a metric from a sample of the rows, then L-BFGS on all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.lbfgs import lbfgs
from uneven.solvers.linear.line_search import Point, evaluated
from uneven.solvers.linear.metric import Metric, cholesky_metric, diagonal_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Progress, Solution, silent

#: Columns up to which a full matrix of second derivatives is worth its memory and time.
MOST_COLUMNS = 2000
#: Rows times columns squared up to which Newton on all rows is the fastest.
_NEWTON_WORK = 5e7
#: Share of the rows that may be copied.
_SAMPLE_SHARE = 0.05
_ROWS_PER_COLUMN = 40
#: More rows than that are in a sample where their second derivatives cost less than a pass.
_MORE_ROWS, _SAMPLE_WORK = 40_000, 1e8


def prefers_newton(objective: Objective) -> bool:
    return objective.size <= MOST_COLUMNS and objective.design.n * objective.size**2 <= _NEWTON_WORK


def preconditioned(
    objective: Objective,
    theta: np.ndarray | None,
    *,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> Solution:
    """L-BFGS in the metric of a sample; ``theta`` None: start from the solution on the sample."""
    if objective.size > MOST_COLUMNS:
        return _wide(objective, theta, tol=tol, max_iter=max_iter, progress=progress)
    n = objective.design.n
    wanted = int(max(_ROWS_PER_COLUMN * objective.size, min(_MORE_ROWS, _SAMPLE_WORK / objective.size**2)))
    sampled = None
    if theta is None:
        sampled = objective.on_rows(*objective.sample(int(min(wanted, max(_SAMPLE_SHARE * n, 1000))), random))
        theta = _solution_on_a_sample(sampled, tol)
    start = evaluated(objective.value_and_gradient, theta)
    if not start.value < objective.value_at_zero:
        start = evaluated(objective.value_and_gradient, np.zeros(objective.size))
    if sampled is not None and sampled.design.n >= min(wanted, n):
        hessian = sampled.hessian(start.theta)
    else:
        hessian = objective.hessian(start.theta, *objective.sample(min(wanted, n), random))

    def refreshed(point: Point, iteration: int) -> Metric | None:
        """Second derivatives of all rows, if those of the sample were not good enough: at the price of many passes."""
        price = 8 + objective.size // 20
        return cholesky_metric(objective.hessian(point.theta)) if iteration in (price, 3 * price) else None

    return lbfgs(
        objective.value_and_gradient,
        start,
        cholesky_metric(hessian),
        tol=tol,
        max_iter=max_iter,
        floor=objective.floor,
        refresh=refreshed,
        progress=progress,
    )


def _solution_on_a_sample(sampled: Objective, tol: float) -> np.ndarray:
    """The minimum on a sample of the rows, about as well as it is known.

    The noise of a sample is about size/rows of the objective: going further would fit the sample.
    """
    zero = evaluated(sampled.value_and_gradient, np.zeros(sampled.size))

    def refreshed(point: Point, iteration: int) -> Metric | None:
        return cholesky_metric(sampled.hessian(point.theta)) if iteration in (12, 30) else None

    return lbfgs(
        sampled.value_and_gradient,
        zero,
        cholesky_metric(sampled.hessian(zero.theta)),
        tol=max(tol, sampled.size / sampled.design.n),
        max_iter=60,
        floor=sampled.floor,
        refresh=refreshed,
    ).theta


def _wide(objective: Objective, theta: np.ndarray | None, *, tol: float, max_iter: int, progress: Progress) -> Solution:
    """L-BFGS in a diagonal metric, then Newton steps by conjugate gradients.

    A diagonal knows nothing of correlated columns, so its estimate of the suboptimality may be ten times too small.
    The decrement of the last steps is not, and they gain what was missing.
    """

    def refreshed(point: Point, iteration: int) -> Metric | None:
        return diagonal_metric(_positive(objective.diagonal(point.theta))) if iteration in (10, 30) else None

    start = evaluated(objective.value_and_gradient, np.zeros(objective.size) if theta is None else theta)
    solution = lbfgs(
        objective.value_and_gradient,
        start,
        diagonal_metric(_positive(objective.diagonal(start.theta))),
        tol=2 * tol,
        max_iter=max_iter,
        floor=objective.floor,
        rescale=True,
        refresh=refreshed,
        progress=progress,
    )
    return _finished(objective, solution, tol=tol, max_iter=max_iter, progress=progress)


def _positive(diagonal: np.ndarray) -> np.ndarray:
    """Without a penalty, a column that is never used would have no curvature."""
    return np.maximum(diagonal, 1e-12 * diagonal.max() + 1e-300)


def _finished(objective: Objective, solution: Solution, *, tol: float, max_iter: int, progress: Progress) -> Solution:
    state = Lagrangian(objective, solution.theta, 1.0)
    value, steps = solution.value, solution.iterations
    decrement, best = solution.suboptimality, solution.theta
    while steps < max_iter:
        steps += 1
        gradient = state.gradient()
        direction = state.direction(gradient, accuracy=0.2)
        decrement = -0.5 * float(gradient @ direction)
        if not state.step(gradient, direction):
            break
        before, value = value, state.value()
        progress(f"newton {steps}: objective {value:.10g}, suboptimality before this step {decrement:.2e}")
        if value > before:  # by rounding
            value = before
            break
        best = state.theta
        if decrement <= 0.5 * tol * max(value, objective.floor):
            break
    reached = decrement <= tol * max(value, objective.floor)
    return replace(
        solution,
        theta=best,
        value=value,
        converged=reached,
        iterations=steps,
        suboptimality=max(decrement, 0.0),
        status="reached the tolerance by the Newton decrement" if reached else solution.status,
    )
