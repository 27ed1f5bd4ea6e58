"""Line search: the length of a step along a direction of descent. No step raises the objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_SUFFICIENT = 1e-4  # a step must bring this share of the decrease that the slope at the start promises
_FLAT = 0.9  # where the slope is steeper than this share of the slope at the start, the step is too short
_MOST_TRIALS = 40
#: Relative change of the objective below which rounding hides it, and only slopes can tell better from worse.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Iterate:
    """One theta of an iteration, with the objective and its gradient there."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray


Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]


def evaluated(evaluate: Evaluate, theta: np.ndarray) -> Iterate:
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
    for trial in range(1, _MOST_TRIALS + 1):
        tried = evaluated(evaluate, start.theta + step * direction)
        new_slope = float(tried.gradient @ direction)
        rounding = abs(tried.value - start.value) <= _ROUNDING * abs(start.value)
        enough = tried.value <= start.value + _SUFFICIENT * step * slope
        if enough or (rounding and tried.value <= start.value and new_slope <= -slope):
            if best is None or tried.value <= best.value:
                best = tried
            if new_slope >= _FLAT * slope or trial > 8:
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
    return best, _MOST_TRIALS


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
    whole = evaluated(evaluate, start.theta + direction)
    hidden = abs(whole.value - start.value) <= _ROUNDING * abs(start.value)
    return whole if hidden and gap(whole) < 0.5 * gap(start) else None, trials + 1
