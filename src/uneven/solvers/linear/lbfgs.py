"""L-BFGS in a given metric."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from uneven.solvers.linear.line_search import Evaluate, Point, search
from uneven.solvers.linear.metric import Metric
from uneven.solvers.linear.solution import Progress, Solution, silent

#: Asked before each step with the point and the number of steps so far: a new metric, or None to go on.
Refresh = Callable[[Point, int], Metric | None]


class Memory:
    """Pairs of steps and changes of the gradient, and the metric they correct."""

    def __init__(self, metric: Metric, length: int, rescale: bool = False) -> None:
        self.metric = metric
        self.rescale = rescale
        self.pairs: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=length)

    def add(self, before: Point, after: Point) -> None:
        step, change = after.theta - before.theta, after.gradient - before.gradient
        product = float(step @ change)
        if product > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.pairs.append((step, change, product))

    def scaled(self, gradient: np.ndarray) -> np.ndarray:
        """The metric; if it knows no correlations, times what the last step says they amount to."""
        result = self.metric(gradient)
        if self.rescale and self.pairs:
            _, change, product = self.pairs[-1]
            result *= product / float(change @ self.metric(change))
        return result

    def __call__(self, gradient: np.ndarray) -> np.ndarray:
        """The two loops over the pairs, around the metric."""
        result = gradient.copy()
        shares = []
        for step, change, product in reversed(self.pairs):
            share = float(step @ result) / product
            shares.append(share)
            result -= share * change
        result = self.scaled(result)
        for (step, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            result += (share - float(change @ result) / product) * step
        return result


def lbfgs(
    evaluate: Evaluate,
    start: Point,
    metric: Metric,
    *,
    tol: float,
    max_iter: int,
    memory: int = 20,
    floor: float = 0.0,
    rescale: bool = False,
    refresh: Refresh | None = None,
    progress: Progress = silent,
) -> Solution:
    """Minimise until half g' M g, in the metric before and after its corrections, is below tol times the value.

    Both are estimates of how far the value is above the optimum; the larger counts, with a factor for safety. A value
    below ``floor`` counts as that.
    """
    point, metric_now = start, Memory(metric, memory, rescale)
    estimate, status = np.inf, f"stopped after {max_iter} L-BFGS steps"
    iteration, passes = 0, 0
    for iteration in range(max_iter + 1):
        direction = -metric_now(point.gradient)
        estimate = -0.5 * min(
            float(point.gradient @ direction), -float(point.gradient @ metric_now.scaled(point.gradient))
        )
        progress(f"lbfgs {iteration}: objective {point.value:.10g}, estimated suboptimality {estimate:.2e}")
        if estimate <= 0.25 * tol * max(point.value, floor):
            status = "reached the tolerance by the estimated suboptimality"
            break
        if iteration == max_iter:
            break
        fresh = refresh(point, iteration) if refresh else None
        if fresh is not None:
            metric_now.metric = fresh  # the pairs stay true
            direction = -metric_now(point.gradient)
        following, trials = search(evaluate, point, direction)
        passes += trials
        if following is None or following.value >= point.value:
            if metric_now.pairs:  # perhaps the corrections are to blame
                metric_now.pairs.clear()
                continue
            status = "reached the limit of rounding"
            break
        metric_now.add(point, following)
        point = following
    return Solution(
        theta=point.theta,
        value=point.value,
        converged=estimate <= tol * max(point.value, floor),
        status=status,
        iterations=iteration,
        suboptimality=max(estimate, 0.0),
        stats={"passes": float(passes)},
    )
