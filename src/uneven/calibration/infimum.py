"""Rigorous bounds on the infimum of the conditional risk over a half line, by ball arithmetic."""

from __future__ import annotations

import heapq
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from flint import arb

from uneven.calibration.risk.half_lines import HalfLineSolver
from uneven.expression import Node, derivative
from uneven.losses import Loss, Phi
from uneven.ops.balls import Interval, Undefined, above, below, combination, enclose_interval, interval, precision
from uneven.shape.continuity import is_continuous
from uneven.shape.curvature import is_convex

_BITS = 96
_LARGE = arb(2) ** 4000


@dataclass(frozen=True)
class Bounds:
    """lower <= infimum <= upper, as exact rationals; the upper bound is attained at ``at``."""

    lower: Fraction
    upper: Fraction
    at: Fraction


def has_convex_partials(loss: Loss) -> bool:
    """Both partial losses are convex: by their structure, or as declared by a file of the library."""
    return all(
        isinstance(p.function, Phi) and (is_convex(p.tree) or (p.function.built_in and p.function.convex is True))
        for p in loss.partials
    )


class RigorousRisk:
    """a L(1, t) + b L(-1, t) for exact rational weights, with every rounding outwards."""

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self.positive, self.negative = (partial.tree for partial in loss.partials)
        self.value = lru_cache(maxsize=65536)(self._value)
        self.slopes = lru_cache(maxsize=65536)(self._slopes)

    @cached_property
    def solver(self) -> HalfLineSolver:
        return HalfLineSolver(self.loss)

    @cached_property
    def convex(self) -> bool:
        return has_convex_partials(self.loss)

    @cached_property
    def continuous(self) -> bool:
        """Whether slopes may bound values: across a jump they say nothing."""
        return is_continuous(self.positive) and is_continuous(self.negative)

    @cached_property
    def _slope_trees(self) -> tuple[Node, Node]:
        return derivative(self.positive), derivative(self.negative)

    def _value(self, low: Fraction | None, high: Fraction | None) -> tuple[Interval, Interval]:
        """Both partial losses on [low, high]; high None: to infinity, low None: from minus infinity."""
        t = _cell(low, high)
        return enclose_interval(self.positive, t, bits=_BITS), enclose_interval(self.negative, t, bits=_BITS)

    def _slopes(self, low: Fraction | None, high: Fraction | None) -> tuple[Interval, Interval]:
        t = _cell(low, high)
        first, second = self._slope_trees
        return enclose_interval(first, t, bits=_BITS), enclose_interval(second, t, bits=_BITS)

    def at(self, a: Fraction, b: Fraction, t: Fraction) -> Interval:
        """The risk at a point."""
        return _mixed(a, b, *self.value(t, t))

    def bounds(
        self, side: int, a: Fraction, b: Fraction, near: Fraction, *, tolerance: float = 1e-10, budget: int = 200
    ) -> Bounds:
        """Infimum over t >= 0 (side 1) or t <= 0 (side -1).

        The upper bound is the risk at ``near``, a point of that side where the engine sees the minimum. The
        lower bound is proved on cells that cover the half line, split best first until it is within the
        tolerance (relative to the risk at 0) or the budget is spent.
        """
        at_zero = above(self.at(a, b, Fraction(0)).hi)
        upper, at = min((above(self.at(a, b, t).hi), t) for t in {near, Fraction(0)})  # _far keeps both finite
        goal = upper - Fraction(tolerance) * at_zero
        if self.convex:
            # Close brackets suit kinks, whose place is exact; wider ones smooth minima, whose place is rounded.
            lower = max(self._convex_lower(side, a, b, near, bits) for bits in (40, 30))
            if lower >= goal:
                return Bounds(lower, upper, at)
        cells = [(self._cell_lower(a, b, low, high), k, low, high) for k, (low, high) in enumerate(self._cover(side))]
        heapq.heapify(cells)
        for k in range(budget):
            lowest, _, low, high = cells[0]
            if lowest >= goal:
                break
            heapq.heappop(cells)
            for n, (u, v) in enumerate(_halves(low, high)):
                heapq.heappush(cells, (self._cell_lower(a, b, u, v), 1000 + 2 * k + n, u, v))
        return Bounds(min(max(cells[0][0], Fraction(0)), upper), upper, at)

    def minimisers(self, side: int, etas: list[Fraction]) -> list[Fraction]:
        """Where the engine sees the minima of one side, as exact finite numbers (a limit: far out)."""
        eta, complement = (np.array([float(x) for x in values]) for values in (etas, [1 - x for x in etas]))
        found = self.solver.minimum(side, eta, complement).at
        return [Fraction(float(t)) if abs(t) < abs(self._far[side]) else self._far[side] for t in found]

    def far(self, side: int) -> Fraction:
        """The distance at which a minimiser counts as infinitely far."""
        return abs(self._far[side])

    @cached_property
    def _far(self) -> dict[int, Fraction]:
        """On either side a point far out where neither partial loss is astronomically large."""
        width = max(abs(1 / partial.inner) for partial in self.loss.partials)
        places = {}
        for side in (1, -1):
            for k in range(20, -40, -1):
                t = side * width * Fraction(2) ** k
                if all(value.hi < _LARGE for value in self.value(t, t)):
                    break
            places[side] = t
        return places

    def _convex_lower(self, side: int, a: Fraction, b: Fraction, point: Fraction, bits: int) -> Fraction:
        """For a convex risk: a bracket with slopes of opposite sign holds the minimum, and tangents bound it."""
        spread = max(abs(point), Fraction(1, 2**40)) / 2**bits
        low, high = point - spread, point + spread
        if side > 0:
            low = max(low, Fraction(0))
        else:
            high = min(high, Fraction(0))
        try:
            left, right = _mixed(a, b, *self.slopes(low, low)), _mixed(a, b, *self.slopes(high, high))
        except Undefined:
            return Fraction(0)
        edge = (low == 0 and side > 0 and left.lo >= 0) or (high == 0 and side < 0 and right.hi <= 0)
        if edge:  # the risk rises from 0 on: 0 is the minimum of this side
            return below(self.at(a, b, Fraction(0)).lo)
        if not (left.hi <= 0 <= right.lo) or not left.lo.is_finite():
            return Fraction(0)
        return below(self.at(a, b, low).lo) + below(left.lo) * (high - low)

    def _cover(self, side: int) -> list[tuple[Fraction | None, Fraction | None]]:
        """Cells that cover the half line, on the scales of both partial losses."""
        widths = {abs(1 / partial.inner) for partial in self.loss.partials}
        edges = {Fraction(0)} | {w * Fraction(2) ** k for w in widths for k in (-6, -3, -1, 0, 1, 2, 3, 5, 8)}
        ordered = sorted(edges)
        cells: list[tuple[Fraction | None, Fraction | None]] = list(pairwise(ordered))
        cells.append((ordered[-1], None))
        return cells if side > 0 else [(None if v is None else -v, -u) for u, v in cells]  # type: ignore[operator]

    def _cell_lower(self, a: Fraction, b: Fraction, low: Fraction | None, high: Fraction | None) -> Fraction:
        """Lower bound on a cell, at least 0: plain, and through the slope where there is no jump."""
        bounds = [Fraction(0)]
        for bound in (self._plain_lower, self._sloped_lower):
            with suppress(Undefined):
                bounds.append(bound(a, b, low, high))
        return max(bounds)

    def _plain_lower(self, a: Fraction, b: Fraction, low: Fraction | None, high: Fraction | None) -> Fraction:
        return below(_mixed(a, b, *self.value(low, high)).lo)

    def _sloped_lower(self, a: Fraction, b: Fraction, low: Fraction | None, high: Fraction | None) -> Fraction:
        """A slope of one sign: the value at the better end; else the mean value form."""
        if not self.continuous:
            raise Undefined("slopes say nothing across a jump")
        slope = _mixed(a, b, *self.slopes(low, high))
        if low is not None and slope.lo >= 0:
            return below(self.at(a, b, low).lo)
        if high is not None and slope.hi <= 0:
            return below(self.at(a, b, high).lo)
        if low is None or high is None:
            raise Undefined("the slope changes sign on a half line")
        middle, half = (low + high) / 2, (high - low) / 2
        drop = max(-below(slope.lo), above(slope.hi)) * half
        return below(self.at(a, b, middle).lo) - drop


def _cell(low: Fraction | None, high: Fraction | None) -> Interval:
    with precision(_BITS):
        return interval(float("-inf") if low is None else low, float("inf") if high is None else high)


def _halves(low: Fraction | None, high: Fraction | None) -> list[tuple[Fraction | None, Fraction | None]]:
    if low is None:
        assert high is not None
        return [(None, 4 * high), (4 * high, high)]
    if high is None:
        return [(low, 4 * low), (4 * low, None)]
    middle = (low + high) / 2
    return [(low, middle), (middle, high)]


def _mixed(a: Fraction, b: Fraction, first: Interval, second: Interval) -> Interval:
    return combination((a, b), (first, second), bits=_BITS)
