"""Find the eta at which the decision with the smaller conditional risk changes from negative to positive."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from uneven.calibration.risk.half_lines import HalfLineSolver
from uneven.losses import Loss

_FARTHEST = 700.0  # a logit beyond this is a probability within 1e-304 of 0 or 1


def crossing(
    loss: Loss, solver: HalfLineSolver | None = None, pause: Callable[[], None] = lambda: None
) -> float | None:
    """Odds eta/(1 - eta) at which A = B, if A > B below and A < B above; None if no such eta is found.

    Bisection on the sign of A - B finds the only candidate. Newton steps make it fast; the slope of A - B comes from
    the envelope theorem. Then the signs are checked at several distances. ``pause`` is called repeatedly and may raise
    an exception to stop the search.
    """
    solver = solver or HalfLineSolver(loss)
    low, high = -2.0, 2.0
    while _difference(solver, low)[0] <= 0:
        pause()
        low *= 2
        if low < -_FARTHEST:
            return None
    while _difference(solver, high)[0] >= 0:
        pause()
        high *= 2
        if high > _FARTHEST:
            return None
    logit = _zero(solver, low, high, pause)
    for offset in (0.05, 0.5, 2.0, 10.0):
        below, scale_below, _ = _difference(solver, logit - offset)
        above, scale_above, _ = _difference(solver, logit + offset)
        if below <= 1e-13 * scale_below or above >= -1e-13 * scale_above:
            return None
    return math.exp(logit)


def minimised_at_zero(loss: Loss, eta: float, solver: HalfLineSolver | None = None) -> bool:
    """Whether t = 0 minimises the risk at eta, up to rounding."""
    solver = solver or HalfLineSolver(loss)
    a, b = np.array([eta]), np.array([1 - eta])
    at_zero = solver.risk(a, b, np.zeros(1))[0]
    return all(solver.minimum(side, a, b).value[0] >= at_zero * (1 - 4e-15) for side in (1, -1))


def _weights(logit: float) -> tuple[np.ndarray, np.ndarray]:
    """eta and 1 - eta, each to full relative precision."""
    small = math.exp(-abs(logit))
    larger, smaller = 1 / (1 + small), small / (1 + small)
    a, b = (larger, smaller) if logit >= 0 else (smaller, larger)
    return np.array([a]), np.array([b])


def _difference(solver: HalfLineSolver, logit: float) -> tuple[float, float, float]:
    """A - B, the larger of A and B, and the derivative of A - B in the logit (NaN where a limit is infinite)."""
    a, b = _weights(logit)
    positive, negative = solver.minimum(1, a, b), solver.minimum(-1, a, b)
    ends = [positive.at, negative.at]
    with np.errstate(invalid="ignore"):
        excess = [float(solver.positive.value(t)[0] - solver.negative.value(t)[0]) for t in ends]
        slope = float(a[0] * b[0]) * (excess[0] - excess[1])
    return float(positive.value[0] - negative.value[0]), float(max(positive.value[0], negative.value[0])), slope


def _zero(solver: HalfLineSolver, low: float, high: float, pause: Callable[[], None]) -> float:
    """The logit at which A = B, by Newton steps inside a shrinking bracket."""
    logit = 0.5 * (low + high)
    for _ in range(200):
        pause()
        value, _, slope = _difference(solver, logit)
        if value == 0:
            break
        low, high = (logit, high) if value > 0 else (low, logit)
        step = logit - value / slope if slope < 0 else math.nan
        if abs(step - logit) <= 4e-16 * max(1.0, abs(logit)):  # no progress: the point is an end of the bracket
            break
        following = step if low < step < high else 0.5 * (low + high)
        if abs(following - logit) <= 2e-16 * max(1.0, abs(logit)):
            break
        logit = following
    return logit
