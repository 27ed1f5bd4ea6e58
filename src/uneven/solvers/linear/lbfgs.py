"""L-BFGS in a given metric, and the line searches of all solvers. No step raises the objective."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.newton_systems import Metric
from uneven.solvers.linear.solver import Solution
from uneven.solvers.running import Progress, silent

#: Relative change of the objective below which rounding hides it, and only slopes can tell better from worse.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Iterate:
    """One theta of an iteration, with the objective and its gradient there."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray


Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]


def evaluate_at(evaluate: Evaluate, theta: np.ndarray) -> Iterate:
    return Iterate(theta, *evaluate(theta))


def search(evaluate: Evaluate, start: Iterate, direction: np.ndarray, step: float = 1.0) -> tuple[Iterate | None, int]:
    """An iterate with a sufficient decrease (None if there is none), and the number of evaluations.

    While the objective is too high, the step shrinks to the minimum of an interpolating parabola. While it still falls
    as steeply as at the start, the step grows.
    """
    slope = float(start.gradient @ direction)
    if not slope < 0 or not np.isfinite(direction).all():
        return None, 0
    too_short, too_long = 0.0, np.inf
    best: Iterate | None = None
    for trial in range(1, 41):
        tried = evaluate_at(evaluate, start.theta + step * direction)
        new_slope = float(tried.gradient @ direction)
        rounding = abs(tried.value - start.value) <= _ROUNDING * abs(start.value)
        enough = tried.value <= start.value + 1e-4 * step * slope  # a share of the decrease that the slope promises
        if enough or (rounding and tried.value <= start.value and new_slope <= -slope):
            if best is None or tried.value <= best.value:
                best = tried
            if new_slope >= 0.9 * slope or trial > 8:  # a steeper slope would mean that the step is too short
                return best, trial
            too_short = step
        else:
            if best is not None:  # a longer step was worse than the one in hand
                return best, trial
            too_long = step
        if too_long == np.inf:
            step *= 4
            continue
        curvature = 2 * (tried.value - start.value - step * slope) / step**2 if np.isfinite(tried.value) else np.inf
        parabola = -slope / curvature if curvature > 0 else 0.0
        width = too_long - too_short
        step = min(max(parabola, too_short + 0.1 * width), too_short + 0.5 * width)
        if step * abs(slope) <= 1e-18 * abs(start.value):
            return best, trial
    return best, trial


def search_beyond_rounding(
    evaluate: Evaluate, start: Iterate, direction: np.ndarray, gap: Callable[[Iterate], float]
) -> tuple[Iterate | None, int]:
    """As :func:`search`; where rounding hides any decrease, the whole step, if it makes a gap at least twice smaller.

    None if it does not.
    """
    found, trials = search(evaluate, start, direction)
    if found is not None and found.value < start.value:
        return found, trials
    if not np.isfinite(direction).all():
        return None, trials
    whole = evaluate_at(evaluate, start.theta + direction)
    hidden = abs(whole.value - start.value) <= _ROUNDING * abs(start.value)
    return whole if hidden and gap(whole) < 0.5 * gap(start) else None, trials + 1


def exact_step(
    slope_and_curvature: Callable[[float], tuple[float, float]], promised: float, flat: float = 0.1
) -> float:
    """About the minimum of a convex function along a direction, found by bracketed Newton steps from 1.

    For functions whose slope and curvature along the direction are cheap to compute.

    Parameters
    ----------
    slope_and_curvature : callable
        Of the function, at a length of the step.
    promised : float
        The slope at the start, which is negative.
    flat : float
        A step is long enough where the slope along it is below this share of the slope at its start.
    """
    low, high, at = 0.0, np.inf, 1.0
    for _ in range(60):
        slope, curvature = slope_and_curvature(at)
        if abs(slope) <= flat * abs(promised):
            break
        if not np.isfinite(slope):  # overflow: far too long
            high = at
            at = low + 0.1 * (high - low)
            continue
        low, high = (low, at) if slope > 0 else (at, high)
        newton = at - slope / curvature if curvature > 0 else np.inf
        outside = not low < newton < min(high, 10 * at)
        at = (0.5 * (low + high) if high < np.inf else 4 * at) if outside else newton
        if slope > abs(promised):  # far too long, where curvature may grow so fast that Newton steps are short
            at = min(at, 0.5 * (low + high))
        if high - low <= 1e-12 * at:
            break
    return at


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

    def scale(self, gradient: np.ndarray) -> np.ndarray:
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
        result = self.scale(result)
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
        estimate = -0.5 * min(float(now.gradient @ direction), -float(now.gradient @ corrected.scale(now.gradient)))
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
