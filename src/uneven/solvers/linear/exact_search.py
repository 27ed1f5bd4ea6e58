"""The length of a step along which the slope and the curvature of a convex function are cheap to compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def exact_step(
    slope_and_curvature: Callable[[float], tuple[float, float]], promised: float, flat: float = 0.1
) -> float:
    """About the minimum of a convex function along a direction, found by bracketed Newton steps from 1.

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
