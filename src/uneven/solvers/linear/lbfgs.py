"""L-BFGS in a given metric."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from uneven.solvers.linear.line_search import Evaluate, Iterate, search_beyond_rounding
from uneven.solvers.linear.metric import Metric
from uneven.solvers.linear.solution import Solution
from uneven.solvers.progress import Progress, silent

#: Called before each step with the iterate and the number of steps so far; returns a new metric, or None to keep it.
Refresh = Callable[[Iterate, int], Metric | None]


class CurvaturePairs:
    """The last steps with the changes of the gradient they brought, and the metric that these pairs correct."""

    def __init__(self, metric: Metric, length: int, rescale: bool = False) -> None:
        self.metric = metric
        self.rescale = rescale
        self.pairs: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=length)
        self._known: tuple[tuple[np.ndarray, np.ndarray, float], Metric, float] | None = None

    def add(self, before: Iterate, after: Iterate) -> None:
        step, change = after.theta - before.theta, after.gradient - before.gradient
        product = float(step @ change)
        if product > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.pairs.append((step, change, product))

    def scaled(self, gradient: np.ndarray) -> np.ndarray:
        """The metric alone; a diagonal one is first multiplied by the ratio that fits the last step."""
        result = self.metric(gradient)
        if self.rescale and self.pairs:
            result *= self._ratio()
        return result

    def _ratio(self) -> float:
        """The ratio that fits the last step; it changes only with that step and with the metric."""
        if self._known is None or self._known[0] is not self.pairs[-1] or self._known[1] is not self.metric:
            _, change, product = self.pairs[-1]
            self._known = self.pairs[-1], self.metric, product / float(change @ self.metric(change))
        return self._known[2]

    def __call__(self, gradient: np.ndarray) -> np.ndarray:
        """The corrected metric: the two loops of L-BFGS over the pairs."""
        from scipy.linalg.blas import daxpy  # adds a multiple in place, without a copy of it

        result = gradient.copy()
        shares = []
        for step, change, product in reversed(self.pairs):
            share = float(step @ result) / product
            shares.append(share)
            daxpy(change, result, a=-share)
        result = self.scaled(result)
        for (step, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            daxpy(step, result, a=share - float(change @ result) / product)
        return result


def lbfgs(
    evaluate: Evaluate,
    start: Iterate,
    metric: Metric,
    *,
    tol: float,
    max_iter: int,
    memory: int = 20,
    floor: float = 0.0,
    gap: Callable[[Iterate], float] | None = None,
    rescale: bool = False,
    refresh: Refresh | None = None,
    progress: Progress = silent,
) -> Solution:
    """Minimise until half the tolerance times the value is above the gap.

    Without ``gap``: until half g' M g is below a quarter of it, for the metric M with and without its corrections. Both
    numbers estimate how far the value is above the optimum, and the larger one counts. A value below ``floor`` counts
    as ``floor``.
    """
    now, corrected = start, CurvaturePairs(metric, memory, rescale)
    estimate, status = np.inf, f"stopped after {max_iter} L-BFGS steps"
    iteration, passes, reached = 0, 0, False
    for iteration in range(max_iter + 1):
        direction = -corrected(now.gradient)
        estimate = -0.5 * min(float(now.gradient @ direction), -float(now.gradient @ corrected.scaled(now.gradient)))
        progress(f"lbfgs {iteration}: objective {now.value:.10g}, estimated suboptimality {estimate:.2e}")
        enough = tol * max(now.value, floor)
        reached = bool(gap(now) <= 0.5 * enough if gap else estimate <= 0.25 * enough)
        if reached:
            status = "reached the tolerance"
            break
        if iteration == max_iter:
            break
        fresh = refresh(now, iteration) if refresh else None
        if fresh is not None:
            corrected.metric = fresh  # the pairs stay valid
            direction = -corrected(now.gradient)
        following, trials = search_beyond_rounding(evaluate, now, direction, gap or (lambda _: np.inf))
        passes += trials
        if following is None:
            if corrected.pairs:  # the corrections may be at fault: try without them
                corrected.pairs.clear()
                continue
            status = "reached the limit of rounding"
            break
        corrected.add(now, following)
        now = following
    return Solution(
        theta=now.theta,
        value=now.value,
        converged=reached or estimate <= tol * max(now.value, floor),
        status=status,
        iterations=iteration,
        stats={"passes": float(passes)},
    )
