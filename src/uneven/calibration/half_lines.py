"""A(eta) and B(eta), infima of the conditional risk over t > 0 and over t <= 0, in floats, and where they cross.

They decide for which alpha a loss is calibrated: it is alpha-CC iff A > B below alpha and A < B above it. t = 0 is a
negative decision. For A it stands for its limit from the right, unless the loss jumps there.

For weights a and b, the minimum of a L(1, t) + b L(-1, t) over a grid of t is at a vertex of the lower left convex
hull of the points (L(1, t), L(-1, t)). The hull is made once per loss. For given weights, a binary search finds the
vertex, and Newton steps on the slope refine it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uneven._hull import lower_hull
from uneven.inputs import to_float
from uneven.losses import Loss
from uneven.shape.structure import is_continuous

_OCTAVES = 2.0 ** np.arange(-24, 16, 0.25)
_STEPS = 64
_RIVAL = 1.1  # a basin whose grid value exceeds the best one by this factor cannot hold the minimum
# For |t| below this share of the scale of the loss, risks may be equal up to rounding; there the search follows slopes.
_FLAT = 1e-3
_BEFORE, _BEYOND = 1 - 1e-9, 1 + 1e-9  # times a knot: points so close to it that a minimum between is one at the knot
# A t that stands for the limit at 0 from one side, as a share of the scale of the loss; and how far, relative to its
# size, a partial loss may change up to there without having a jump at 0.
_TINY, _NO_JUMP = 2.0**-100, 1e-12


@dataclass(frozen=True)
class Minimum:
    """Infimum over a half line, and a t that attains it; an infinite t means that the infimum is a limit.

    So does t = 0 among positive decisions. If the loss jumps there, a tiny positive t stands for that limit.
    """

    value: np.ndarray
    at: np.ndarray


@dataclass(frozen=True)
class _Grid:
    """Points t of one half line in order of distance from 0, with the partial losses and slopes there."""

    t: np.ndarray
    knot: np.ndarray  # whether the formula of a partial loss changes there
    values: np.ndarray  # of both partial losses
    slopes: np.ndarray  # of both partial losses; zeros if they have none
    hull: np.ndarray  # indices of the hull's vertices, L(1, t) increasing
    turns: np.ndarray  # ratios a/b at which the best vertex changes, decreasing


class HalfLineSolver:
    """Infima of a L(1, t) + b L(-1, t) over either half line, for arrays of weights a and b."""

    def __init__(self, loss: Loss) -> None:
        self.positive, self.negative = loss.partials
        self.smooth = self.positive.symbolic and self.negative.symbolic
        self.continuous = not self.smooth or all(is_continuous(p.tree) for p in loss.partials)
        self.tiny = math.ldexp(_TINY, min(-math.frexp(to_float(partial.inner))[1] for partial in loss.partials))
        self._jumps = {side: self._has_jump(side) for side in (1, -1)}
        self.jumps_at_zero = any(self._jumps.values())
        self._grids = {side: self._grid(side) for side in (1, -1)}
        self._limits = {side: self._limit_values(side) for side in (1, -1)}

    def _has_jump(self, side: int) -> bool:
        """Whether a partial loss jumps between 0 and a tiny t of this side."""
        if self.smooth and self.continuous:
            return False
        t = np.array([0.0, side * self.tiny])
        with np.errstate(invalid="ignore"):
            pairs = [partial.value(t) for partial in (self.positive, self.negative)]
            return any(abs(beside - at) > _NO_JUMP * max(at, beside) for at, beside in pairs)

    def _grid(self, side: int) -> _Grid:
        """Points on all scales of both partial losses, their switch points, and 0.

        If the loss jumps at 0, a tiny t stands for the limit from this side; for t > 0 it replaces 0.
        """
        widths = {1 / abs(to_float(partial.inner)) for partial in (self.positive, self.negative)}
        knots = np.array([0.0, *self.positive.switch_points, *self.negative.switch_points]) * side
        knots = knots[knots >= 0]
        scales = np.concatenate([width * _OCTAVES for width in widths])
        # Neighbouring points bracket a minimum, so no two may nearly coincide (gamma near 1, a point near a knot).
        close = np.abs(np.subtract.outer(scales, knots)) < 1e-2 * scales[:, None]
        scales = np.sort(scales[~close.any(axis=1)])
        scales = scales[np.append(np.diff(scales) > 1e-2 * scales[:-1], True)]
        if not self.continuous:  # an infimum may lie just beside a jump
            beside = np.concatenate([knots * (1 - 1e-12), knots * (1 + 1e-12)])
            scales = np.append(scales, beside[beside > 0])
        if self._jumps[side]:
            scales = np.append(scales, self.tiny)
            knots = knots[knots > 0] if side > 0 else knots
        t = side * np.unique(np.concatenate([knots, scales]))
        x, y = self.positive.value(t), self.negative.value(t)
        both = (self.positive, self.negative)
        slopes = np.array([p.unchecked(1, t) if self.smooth else np.zeros(t.size) for p in both])
        hull, turns = _lower_left_hull(x, y)
        return _Grid(t, np.isin(t, side * knots) & (t != 0), np.array([x, y]), slopes, hull, turns)

    def _limit_values(self, side: int) -> tuple[float, float]:
        column = (side + 1) // 2
        return self.positive.limits[column], self.negative.limits[column]

    def minimum(self, side: int, a: np.ndarray, b: np.ndarray) -> Minimum:
        """Infimum over t > 0 (side 1) or t <= 0 (side -1)."""
        grid = self._grids[side]
        with np.errstate(divide="ignore", invalid="ignore"):
            vertex = np.searchsorted(-grid.turns, -(a / b), side="right")
        at = np.full(a.shape, grid.t[0])
        value = self.risk(a, b, at)
        falls = side * (_weigh(a, grid.slopes[:1, 0]) + _weigh(b, grid.slopes[1:, 0])) < 0
        last = grid.hull.size - 1
        home = grid.hull[vertex]

        def level(k: np.ndarray) -> np.ndarray:
            return _weigh(a, grid.values[0, k]) + _weigh(b, grid.values[1, k])

        # A long edge of the hull separates two basins. For a/b near its slope, either basin may be the lower one.
        for shift in (0, -1, 1):
            index = grid.hull[np.clip(vertex + shift, 0, last)]
            if shift == 0:
                rows = np.arange(a.size)
            else:
                rows = np.flatnonzero((np.abs(index - home) > 3) & (level(index) <= _RIVAL * level(home)))
            if rows.size == 0:
                continue
            where = self._refined(grid, side, a[rows], b[rows], index[rows])
            found = self.risk(a[rows], b[rows], where)
            # If values tie up to rounding, t = 0 wins, unless the slope shows that the risk falls from there.
            ties = found <= value[rows] * (1 + 4e-16)
            better = (found < value[rows] * (1 - 4e-16)) | (falls[rows] & (where != grid.t[0]) & ties)
            value[rows] = np.where(better, np.minimum(found, value[rows]), value[rows])
            at[rows] = np.where(better, where, at[rows])
        limit = self.limit(side, a, b)
        reached = limit < value
        return Minimum(np.where(reached, limit, value), np.where(reached, side * np.inf, at))

    def limit(self, side: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The limit of the risk at plus or minus infinity; a class of weight 0 is left out."""
        first, second = self._limits[side]
        return _weigh(a, np.full(a.shape, first)) + _weigh(b, np.full(b.shape, second))

    def risk(self, a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        """a L(1, t) + b L(-1, t); a class of weight 0 is left out."""
        return _weigh(a, self.positive.value(t)) + _weigh(b, self.negative.value(t))

    def slope(self, a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Derivative of the risk in t."""
        return _weigh(a, self.positive.unchecked(1, t)) + _weigh(b, self.negative.unchecked(1, t))

    def curvature(self, a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Second derivative of the risk in t."""
        return _weigh(a, self.positive.unchecked(2, t)) + _weigh(b, self.negative.unchecked(2, t))

    def _refined(self, grid: _Grid, side: int, a: np.ndarray, b: np.ndarray, index: np.ndarray) -> np.ndarray:
        last = grid.t.size - 1
        if not self.smooth:
            low, high = np.maximum(index - 1, 0), np.minimum(index + 1, last)
            return _golden(self, a, b, grid.t[low], grid.t[high])

        # Near a flat minimum, values are equal up to rounding, but signs of slopes are reliable. Walk to their change.
        def outward(k: np.ndarray) -> np.ndarray:
            return side * (_weigh(a, grid.slopes[0, k]) + _weigh(b, grid.slopes[1, k]))

        index = index.copy()
        flat = np.abs(grid.t) < _FLAT * min(1 / abs(to_float(p.inner)) for p in (self.positive, self.negative))
        for _ in range(int(flat.sum())):
            falls = (outward(np.minimum(index + 1, last)) < 0) & (index < last - 1) & flat[index]
            rises = (outward(np.maximum(index - 1, 0)) > 0) & (index > 1) & flat[index] & ~falls
            if not (falls | rises).any():
                break
            index = index + falls - rises
        # A bracket ends just short of a knot: at the knot, and beyond it, the slope may be that of another formula.
        low, high = np.maximum(index - 1, 0), np.minimum(index + 1, last)
        where = grid.t[index]
        inner = np.where(grid.knot[low], _BEYOND * grid.t[low], grid.t[low])
        outer = np.where(grid.knot[high], _BEFORE * grid.t[high], grid.t[high])
        moves = np.ones(where.shape, dtype=bool)
        knots = np.flatnonzero(grid.knot[index])
        if knots.size:
            before, beyond = _BEFORE * where[knots], _BEYOND * where[knots]
            inwards = side * self.slope(a[knots], b[knots], before) > 0
            outwards = side * self.slope(a[knots], b[knots], beyond) < 0
            outer[knots] = np.where(inwards, before, outer[knots])
            inner[knots] = np.where(inwards, inner[knots], beyond)
            moves[knots] = inwards | outwards  # else the knot itself is the minimum
        where[moves] = _newton(self, a[moves], b[moves], inner[moves], outer[moves], where[moves])
        return where


def _weigh(weight: np.ndarray, value: np.ndarray) -> np.ndarray:
    """weight * value; 0 if the weight is 0, even if the value is infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(weight > 0, weight * value, 0.0)


def _lower_left_hull(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices that minimise a x + b y for some a, b >= 0, and the ratios a/b between them."""
    finite = np.flatnonzero((x < 1e290) & (y < 1e290))
    order = finite[np.lexsort((y[finite], x[finite]))]
    vertices = order[lower_hull(x[order].tolist(), y[order].tolist())] if order.size else np.zeros(1, dtype=int)
    vertices = vertices[: int(np.argmin(y[vertices])) + 1]
    with np.errstate(divide="ignore", over="ignore"):
        turns = (y[vertices[:-1]] - y[vertices[1:]]) / (x[vertices[1:]] - x[vertices[:-1]])
    return vertices, turns


def _newton(
    solver: HalfLineSolver, a: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Zeros of the slope by Newton steps inside shrinking brackets.

    If the slope does not change its sign over a bracket, there is no minimum inside, and the start t is returned.
    Newton steps converge quadratically, so after a step of relative size 1e-7 only rounding errors are left.
    """
    low, high = np.minimum(low, high), np.maximum(low, high)
    result = t.copy()
    invisible = 1e-26 * solver.risk(a, b, t)
    live = np.flatnonzero((solver.slope(a, b, low) < 0) & (solver.slope(a, b, high) > 0))
    a, b, low, high, t, invisible = (array[live] for array in (a, b, low, high, np.clip(t, low, high), invisible))
    for _ in range(_STEPS):
        if live.size == 0:
            break
        slope = solver.slope(a, b, t)
        low, high = np.where(slope < 0, t, low), np.where(slope > 0, t, high)
        with np.errstate(all="ignore"):
            step = t - slope / solver.curvature(a, b, t)
        inside = (step > low) & (step < high)
        settled = (slope == 0) | (np.abs(step - t) <= 1e-7 * np.abs(t))
        following = np.where(inside, step, np.where(settled, t, 0.5 * (low + high)))
        moving = ~settled & (np.abs(slope) * (high - low) > invisible)
        result[live] = following
        live, a, b, low, high, t, invisible = (array[moving] for array in (live, a, b, low, high, following, invisible))
    return result


def _golden(solver: HalfLineSolver, a: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Golden-section search, for losses without slopes."""
    ratio = 0.6180339887498949
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        lower_left = solver.risk(a, b, left) <= solver.risk(a, b, right)
        low, high = np.where(lower_left, low, left), np.where(lower_left, right, high)
    return 0.5 * (low + high)


# Find the eta at which the decision with the smaller conditional risk changes from negative to positive.

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
