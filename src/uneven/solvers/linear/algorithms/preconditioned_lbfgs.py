"""L-BFGS for smooth losses: a sample of the rows gives the starting point and the metric.

With many columns the metric is diagonal, and a few Newton steps by conjugate gradients follow. Losses that are not
convex go to :mod:`uneven.solvers.linear.nonconvex`, which is L-BFGS from several starting points.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.lbfgs import lbfgs
from uneven.solvers.linear.line_search import Iterate, evaluated
from uneven.solvers.linear.metric import MOST_COLUMNS, Metric, cholesky_metric, diagonal_metric
from uneven.solvers.linear.nonconvex import descend
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.small import is_small, minimise_small
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import GENERAL, Settings, Solver
from uneven.solvers.progress import silent

_NAME = "lbfgs"
#: Largest share of the rows that may be copied into the sample, unless X is small.
_SAMPLE_SHARE, _SMALL_SAMPLE = 0.05, 1000
_ROWS_PER_COLUMN = 40
#: A sample has up to this many rows if its second derivatives (rows times columns squared) cost little: in all, and
#: compared with a pass (rows times columns).
_MORE_ROWS, _SAMPLE_WORK, _PASSES = 40_000, 1e8, 5

#: With many columns: tolerance at which Newton steps begin, and how many pairs L-BFGS keeps. Long vectors make a pair
#: nearly as expensive as a pass.
_UNTIL_NEWTON, _FEW_PAIRS = 1e-3, 8


def accepts(objective: Objective) -> str | None:
    """Smooth losses, and losses that are not convex."""
    if objective.why_not_squared:
        return f"solver={_NAME!r} needs a squared penalty or none, but {objective.why_not_squared}"
    reason = objective.pair.why_not_smooth if objective.pair.convex else None
    return f"solver={_NAME!r} needs a smooth loss, or one that is not convex, but {reason}" if reason else None


def preference(objective: Objective) -> int:
    return GENERAL


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta; None: from the solution on the sample."""
    if not objective.pair.convex:
        return descend(objective, np.zeros(objective.size) if theta is None else theta, settings)
    if objective.size > MOST_COLUMNS:
        return _many_columns(objective, theta, settings)
    n = objective.design.n
    cheap = min(_MORE_ROWS, _SAMPLE_WORK / objective.size**2, _PASSES * n / objective.size)
    wanted = int(max(_ROWS_PER_COLUMN * objective.size, cheap))
    sampled = None
    if theta is None:
        count = int(min(wanted, max(_SAMPLE_SHARE * n, _SMALL_SAMPLE)))
        sampled = objective.on_rows(*objective.sample(count, settings.random))
        theta = _solution_on_sample(sampled, settings)
    start = evaluated(objective.value_and_gradient, theta)
    if not start.value < objective.value_at_zero:
        start = evaluated(objective.value_and_gradient, np.zeros(objective.size))
    if sampled is not None and sampled.design.n >= min(wanted, n):
        hessian = sampled.hessian(start.theta)
    else:
        sampled = None  # frees its rows
        chosen = objective.sample(wanted, settings.random) if wanted < n else ()
        hessian = objective.hessian(start.theta, *chosen)

    def refreshed(now: Iterate, iteration: int) -> Metric | None:
        """Second derivatives of all rows, which cost as much as many passes: only if those of the sample fell short."""
        price = 8 + objective.size // 20
        return cholesky_metric(objective.hessian(now.theta)) if iteration in (price, 3 * price) else None

    curvature = float(hessian[-1, -1])
    return lbfgs(
        objective.value_and_gradient,
        start,
        cholesky_metric(hessian),
        tol=settings.tol,
        max_iter=settings.max_iter,
        floor=objective.floor,
        gap=lambda now: objective.promised_gap(now.theta, now.gradient, curvature),
        refresh=refreshed,
        progress=settings.progress,
    )


def _solution_on_sample(sampled: Objective, settings: Settings) -> np.ndarray:
    """The minimum on a sample of the rows, to the accuracy that the sample has.

    A sample's objective is wrong by about columns/rows of its value. Solving it more accurately would fit its noise.
    """
    if is_small(sampled):
        rough = replace(settings, tol=max(settings.tol, sampled.size / sampled.design.n), progress=silent)
        return minimise_small(sampled, None, rough).theta
    zero = evaluated(sampled.value_and_gradient, np.zeros(sampled.size))

    def refreshed(now: Iterate, iteration: int) -> Metric | None:
        return cholesky_metric(sampled.hessian(now.theta)) if iteration in (12, 30) else None

    return lbfgs(
        sampled.value_and_gradient,
        zero,
        cholesky_metric(sampled.hessian(zero.theta)),
        tol=max(settings.tol, sampled.size / sampled.design.n),
        max_iter=60,
        floor=sampled.floor,
        refresh=refreshed,
    ).theta


def _many_columns(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """L-BFGS in a diagonal metric, then Newton steps by conjugate gradients.

    A diagonal ignores correlations between columns, so its estimate of the suboptimality may be ten times too small.
    The Newton steps at the end gain what is missing, and their decrement is a better estimate.
    """

    def refreshed(now: Iterate, iteration: int) -> Metric | None:
        return diagonal_metric(_positive(objective.diagonal(now.theta))) if iteration in (10, 30) else None

    start = evaluated(objective.value_and_gradient, np.zeros(objective.size) if theta is None else theta)
    solution = lbfgs(
        objective.value_and_gradient,
        start,
        diagonal_metric(_positive(objective.diagonal(start.theta))),
        tol=max(2 * settings.tol, _UNTIL_NEWTON),
        max_iter=settings.max_iter,
        memory=_FEW_PAIRS,
        floor=objective.floor,
        rescale=True,
        refresh=refreshed,
        progress=settings.progress,
    )
    return _finished_by_newton(objective, solution, settings)


def _positive(diagonal: np.ndarray) -> np.ndarray:
    """A positive diagonal: without a penalty, a column of zeros has no curvature."""
    return np.maximum(diagonal, 1e-12 * diagonal.max() + 1e-300)


def _finished_by_newton(objective: Objective, solution: Solution, settings: Settings) -> Solution:
    """Newton steps by conjugate gradients, until the gradient promises a small duality gap."""
    state = Lagrangian(objective, solution.theta, 1.0)
    value, steps = solution.value, solution.iterations
    best, reached, status = solution.theta, False, solution.status
    while True:
        gradient = state.gradient()
        curvature = float(objective.curvatures(state.t).sum())
        gap = objective.promised_gap(state.theta, gradient, curvature)
        reached = gap <= 0.5 * settings.tol * max(value, objective.floor)
        if reached or steps >= settings.max_iter:
            break
        steps += 1
        if not state.step(gradient, state.direction(gradient, accuracy=0.1)):
            status = "reached the limit of rounding"
            break
        before, value = value, state.value()
        settings.progress(f"newton {steps}: objective {value:.10g}")
        if value > before:
            value, status = before, "reached the limit of rounding"
            break
        best = state.theta
    return replace(
        solution,
        theta=best,
        value=value,
        converged=reached,
        iterations=steps,
        status="reached the tolerance" if reached else status,
    )


SOLVER = Solver(_NAME, accepts, minimise, preference)
