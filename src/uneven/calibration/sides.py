"""The two numbers that decide everything: infima of the conditional risk over t >= 0 and over t <= 0.

A(eta) = inf over t >= 0 and B(eta) = inf over t <= 0 of C(eta, t) serve every alpha at once: a loss is
alpha-CC iff A > B below alpha and A < B above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven._inputs import to_float
from uneven.losses import Loss

_ROWS = 2048  # probabilities handled at a time: bounds memory
_CEILING = 1e300  # stands for infinity on the grid, so that 0 * it is 0


@dataclass(frozen=True)
class Minimum:
    """Infimum over a half line and a point that attains it (infinite: a limit)."""

    value: np.ndarray
    at: np.ndarray


class SideSolver:
    """Infima of a L(1, t) + b L(-1, t) over either half line, for arrays of weights a and b."""

    def __init__(self, loss: Loss) -> None:
        self.positive, self.negative = loss.partials
        self.smooth = self.positive.symbolic and self.negative.symbolic
        self._grids = {side: self._grid(side) for side in (1, -1)}

    def _grid(self, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points of every scale that either partial loss has, its switch points, 0, and the values there."""
        octaves = 2.0 ** np.arange(-44, 16, 0.25)
        widths = {1 / abs(to_float(partial.inner)) for partial in (self.positive, self.negative)}
        knots = np.array([0.0, *self.positive.switch_points, *self.negative.switch_points]) * side
        knots = knots[knots >= 0]
        scales = np.concatenate([width * octaves for width in widths])
        # Neighbours bracket a minimum, so they must not nearly coincide (gamma near 1, a knot near a probe).
        close = np.abs(np.subtract.outer(scales, knots)) < 1e-2 * scales[:, None]
        scales = np.sort(scales[~close.any(axis=1)])
        scales = scales[np.append(np.diff(scales) > 1e-2 * scales[:-1], True)]
        t = side * np.unique(np.concatenate([knots, scales]))
        return t, *(np.minimum(partial.value(t), _CEILING) for partial in (self.positive, self.negative))

    def minimum(self, side: int, a: np.ndarray, b: np.ndarray) -> Minimum:
        """Infimum over t >= 0 (side 1) or t <= 0 (side -1)."""
        value, at = np.empty(a.shape), np.empty(a.shape)
        for start in range(0, a.size, _ROWS):
            rows = slice(start, start + _ROWS)
            value[rows], at[rows] = self._minimum(side, a[rows], b[rows])
        return Minimum(value, at)

    def _minimum(self, side: int, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        t, on_positive, on_negative = self._grids[side]
        risk = np.multiply.outer(a, on_positive) + np.multiply.outer(b, on_negative)
        rows = np.arange(a.size)
        best = risk.argmin(axis=1)
        value, at = risk[rows, best], t[best].copy()
        for index in (best, _second_best(risk, best)):
            low, high = t[np.maximum(index - 1, 0)], t[np.minimum(index + 1, t.size - 1)]
            refined_at = self._refined(a, b, low, high, t[index])
            refined = self.risk(a, b, refined_at)
            better = refined < value
            value, at = np.where(better, refined, value), np.where(better, refined_at, at)
        limit = self.limit(side, a, b)
        return np.where(limit <= value, limit, value), np.where(limit <= value, side * np.inf, at)

    def limit(self, side: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The risk at t = +-infinity, a class of weight 0 left out."""
        column = (side + 1) // 2
        total = np.zeros(a.shape)
        for weight, partial in ((a, self.positive), (b, self.negative)):
            end = partial.limits[column]
            with np.errstate(invalid="ignore"):
                total = total + np.where(weight > 0, weight * end, 0.0)
        return total

    def risk(self, a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        """a L(1, t) + b L(-1, t), a class of weight 0 left out."""
        return _weighted(a, self.positive.value(t)) + _weighted(b, self.negative.value(t))

    def _refined(
        self, a: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, start: np.ndarray
    ) -> np.ndarray:
        low, high = np.minimum(low, high), np.maximum(low, high)
        if self.smooth:
            return _newton(self, a, b, low, high, start)
        return _golden(self, a, b, low, high)


def _weighted(weight: np.ndarray, value: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.where(weight > 0, weight * value, 0.0)


def _second_best(risk: np.ndarray, best: np.ndarray) -> np.ndarray:
    """The lowest grid point that is a local minimum away from the best one (the best one if there is none)."""
    local = np.zeros(risk.shape, dtype=bool)
    local[:, 1:-1] = (risk[:, 1:-1] < risk[:, :-2]) & (risk[:, 1:-1] <= risk[:, 2:])
    away = np.abs(np.arange(risk.shape[1]) - best[:, None]) > 1
    candidates = np.where(local & away, risk, np.inf)
    second = candidates.argmin(axis=1)
    found = np.isfinite(candidates[np.arange(len(second)), second])
    return np.where(found, second, best)


def _newton(
    solver: SideSolver, a: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Zero of the slope by Newton steps, each kept inside a bracket that only shrinks.

    A bracket over which the slope does not change sign holds no interior minimum: its start is returned.
    The risk is flat at its minimum, so a relative error of 1e-11 in t is invisible in the value.
    """

    def total(method: str, at: np.ndarray) -> np.ndarray:
        return _weighted(a, getattr(solver.positive, method)(at)) + _weighted(b, getattr(solver.negative, method)(at))

    live = (total("slope", low) < 0) & (total("slope", high) > 0)
    result = t.copy()
    if not live.any():
        return result
    a, b, low, high, t = a[live], b[live], low[live], high[live], t[live]
    for _ in range(64):
        slope = total("slope", t)
        low, high = np.where(slope < 0, t, low), np.where(slope > 0, t, high)
        with np.errstate(all="ignore"):
            step = t - slope / total("curvature", t)
        inside = (step > low) & (step < high)
        following = np.where(slope == 0, t, np.where(inside, step, 0.5 * (low + high)))
        done = np.abs(following - t) <= 1e-11 * np.abs(t)
        t = following
        if done.all():
            break
    result[live] = t
    return result


def _golden(solver: SideSolver, a: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Golden section, for losses without slopes."""
    ratio = 0.6180339887498949
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        lower_left = solver.risk(a, b, left) <= solver.risk(a, b, right)
        low, high = np.where(lower_left, low, left), np.where(lower_left, right, high)
    return 0.5 * (low + high)
