"""A step along a direction of descent that never raises the objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_SUFFICIENT = 1e-4  # of the decrease that the slope promises
_FLAT = 0.9  # of the slope at the start: a step this steep is too short
_MOST_TRIALS = 40
#: Relative change of the objective below which only slopes can tell better from worse.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Point:
    """A theta with the objective and its gradient."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray


Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]


def evaluated(evaluate: Evaluate, theta: np.ndarray) -> Point:
    return Point(theta, *evaluate(theta))


def search(evaluate: Evaluate, start: Point, direction: np.ndarray, step: float = 1.0) -> tuple[Point | None, int]:
    """A point with a sufficient decrease, and how often the objective was evaluated; None if there is none.

    Steps are halved (by the parabola through what is known) while the objective is too high, and doubled
    while it falls as steeply as at the start.
    """
    slope = float(start.gradient @ direction)
    if not slope < 0 or not np.isfinite(direction).all():
        return None, 0
    too_short, too_long = 0.0, np.inf
    best: Point | None = None
    for trial in range(1, _MOST_TRIALS + 1):
        point = evaluated(evaluate, start.theta + step * direction)
        new_slope = float(point.gradient @ direction)
        rounding = abs(point.value - start.value) <= _ROUNDING * abs(start.value)
        enough = point.value <= start.value + _SUFFICIENT * step * slope
        if enough or (rounding and point.value <= start.value and new_slope <= -slope):
            if best is None or point.value <= best.value:
                best = point
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
        curvature = 2 * (point.value - start.value - step * slope) / step**2 if np.isfinite(point.value) else np.inf
        parabola = -slope / curvature if curvature > 0 else 0.0
        width = too_long - too_short
        step = min(max(parabola, too_short + 0.1 * width), too_short + 0.5 * width)
        if step * abs(slope) <= 1e-18 * abs(start.value):
            return best, trial
    return best, _MOST_TRIALS
