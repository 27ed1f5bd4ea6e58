"""L-BFGS for smooth losses: a sample of the rows gives the starting point and the metric.

With many columns the metric is diagonal, and a few Newton steps by conjugate gradients follow. A loss that is not
convex is minimised from several starting points, all multiples of the solution for a convex loss with the same costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uneven.solvers.linear.algorithms.newton import is_small, minimise_small
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.lbfgs import Iterate, evaluate_at, lbfgs
from uneven.solvers.linear.newton_systems import MOST_COLUMNS, Metric, cholesky_metric, diagonal_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solver import Settings, Solution, Solver, smooth_or_nonconvex_loss, squared_penalty
from uneven.solvers.running import silent


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Largest share of the rows that is copied into the sample, unless the sample is smaller than ``small_sample``.
    sample_share: float = 0.05
    small_sample: int = 1000
    #: A sample has more rows than its columns need if its second derivatives cost at most as much as so many passes.
    sample_passes: int = 5
    #: With many columns: the tolerance at which Newton steps take over from L-BFGS.
    until_newton: float = 1e-3
    #: With many columns: how many pairs of vectors L-BFGS keeps. A pair costs nearly as much as a pass over X.
    pairs: int = 8
    #: Not convex: steps between two metrics.
    refresh: int = 10


LIMITS = Limits()


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta; None: from the solution on the sample."""
    if not objective.pair.convex:
        return _minimise_nonconvex(objective, np.zeros(objective.size) if theta is None else theta, settings)
    if objective.size > MOST_COLUMNS:
        return _minimise_many_columns(objective, theta, settings)
    n = objective.design.n
    # With fewer than 40 rows for each column, the second derivatives of a sample are a poor metric. More rows are worth
    # it where they cost little: 1e8 multiplications (rows times columns squared), or a few passes.
    cheap = min(40_000, 1e8 / objective.size**2, LIMITS.sample_passes * n / objective.size)
    wanted = int(max(40 * objective.size, cheap))
    sampled = None
    if theta is None:
        count = int(min(wanted, max(LIMITS.sample_share * n, LIMITS.small_sample)))
        sampled = objective.on_rows(*objective.sample(count, settings.random))
        theta = _solve_on_sample(sampled, settings)
    start = evaluate_at(objective.value_and_gradient, theta)
    if not start.value < objective.value_at_zero:
        start = evaluate_at(objective.value_and_gradient, np.zeros(objective.size))
    if sampled is not None and sampled.design.n >= min(wanted, n):
        hessian = sampled.hessian(start.theta)
    else:
        sampled = None  # frees its rows
        chosen = objective.sample(wanted, settings.random) if wanted < n else ()
        hessian = objective.hessian(start.theta, *chosen)

    def refresh(now: Iterate, iteration: int) -> Metric | None:
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
        refresh=refresh,
        progress=settings.progress,
    )


def _solve_on_sample(sampled: Objective, settings: Settings) -> np.ndarray:
    """The minimum on a sample of the rows, to the accuracy that the sample has.

    A sample's objective is wrong by about columns/rows of its value. Solving it more accurately would fit its noise.
    """
    if is_small(sampled):
        rough = replace(settings, tol=max(settings.tol, sampled.size / sampled.design.n), progress=silent)
        return minimise_small(sampled, None, rough).theta
    zero = evaluate_at(sampled.value_and_gradient, np.zeros(sampled.size))

    def refresh(now: Iterate, iteration: int) -> Metric | None:
        return cholesky_metric(sampled.hessian(now.theta)) if iteration in (12, 30) else None

    return lbfgs(
        sampled.value_and_gradient,
        zero,
        cholesky_metric(sampled.hessian(zero.theta)),
        tol=max(settings.tol, sampled.size / sampled.design.n),
        max_iter=60,
        floor=sampled.floor,
        refresh=refresh,
    ).theta


def _minimise_many_columns(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """L-BFGS in a diagonal metric, then Newton steps by conjugate gradients.

    A diagonal ignores correlations between columns, so its estimate of the suboptimality may be ten times too small.
    The Newton steps at the end gain what is missing, and their decrement is a better estimate.
    """

    def refresh(now: Iterate, iteration: int) -> Metric | None:
        return diagonal_metric(_make_positive(objective.diagonal(now.theta))) if iteration in (10, 30) else None

    start = evaluate_at(objective.value_and_gradient, np.zeros(objective.size) if theta is None else theta)
    solution = lbfgs(
        objective.value_and_gradient,
        start,
        diagonal_metric(_make_positive(objective.diagonal(start.theta))),
        tol=max(2 * settings.tol, LIMITS.until_newton),
        max_iter=settings.max_iter,
        memory=LIMITS.pairs,
        floor=objective.floor,
        rescale=True,
        refresh=refresh,
        progress=settings.progress,
    )
    return _finish_by_newton(objective, solution, settings)


def _make_positive(diagonal: np.ndarray) -> np.ndarray:
    """A positive diagonal: without a penalty, a column of zeros has no curvature."""
    return np.maximum(diagonal, 1e-12 * diagonal.max() + 1e-300)


def _finish_by_newton(objective: Objective, solution: Solution, settings: Settings) -> Solution:
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


def _minimise_nonconvex(objective: Objective, theta: np.ndarray, settings: Settings) -> Solution:
    """The best of the descents from theta and from its multiples, which all classify alike.

    Close to 0, a bounded loss may lead to a local minimum on the wrong side: sigmoid with gamma > 1 has a maximum
    between 0 and its minimum at infinity. Farther away it does not.
    """
    factors = (1.0, 4.0, 16.0) if theta.any() else (1.0,)  # far from 0, the slopes of a bounded loss lead elsewhere
    descents = [_descend(objective, factor * theta, settings) for factor in factors]
    best = min(descents, key=lambda solution: solution.value)
    return replace(best, iterations=sum(solution.iterations for solution in descents))


def _descend(objective: Objective, theta: np.ndarray, settings: Settings) -> Solution:
    """L-BFGS from theta to what seems to be a local minimum; no step raises the objective.

    Its metric is the convex part of the second derivatives, computed again every few steps.
    """

    def metric(now: Iterate) -> Metric:
        if objective.size > MOST_COLUMNS:
            diagonal = objective.diagonal(now.theta)
            return diagonal_metric(np.maximum(diagonal, 1e-6 * diagonal.max() + 1e-300))
        if objective.design.n * objective.size**2 <= 5e9:  # multiplications; beyond, a sample is enough
            return cholesky_metric(objective.hessian(now.theta))
        chosen, factor = objective.sample(max(20_000, 10 * objective.size), settings.random)
        return cholesky_metric(objective.hessian(now.theta, chosen, factor))

    def refresh(now: Iterate, iteration: int) -> Metric | None:
        return metric(now) if iteration and iteration % LIMITS.refresh == 0 else None

    start = evaluate_at(objective.value_and_gradient, theta)
    solution = lbfgs(
        objective.value_and_gradient,
        start,
        metric(start),
        tol=settings.tol,
        max_iter=settings.max_iter,
        refresh=refresh,
        progress=settings.progress,
    )
    if solution.converged:
        return replace(solution, status="reached a stationary point within the tolerance")
    if solution.iterations < settings.max_iter:  # at a kink or on a flat part, the gradient leads no further down
        return replace(solution, converged=True, status="found no further descent")
    return solution


SOLVER = Solver("lbfgs", (squared_penalty, smooth_or_nonconvex_loss), minimise, general=True)
