"""Search for the cells of a proof: split cells until each one has a rule, or the budget is used up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from uneven.calibration.trusted.rules import End, Level, Pair, Rules
from uneven.calibration.trusted.steps import WHOLE_LINE, Floor, Sign
from uneven.ops.balls import Undefined

_RULES = ("value", "falls", "rises", "tangent", "mean")
_TAIL_RULES = ("value", "falls", "rises", "fades")
_AROUND_MINIMA = ("tangent", "balanced", "flat")
_SMALLEST = Fraction(1, 2**400)
_DEPTH = 120
#: Share of its seconds for which a search must have had a processor; if less, the machine was too busy to judge it by.
_FAIR_SHARE = 0.9


class Exhausted(Exception):
    """The budget is used up; the message says whether cells or time."""


@dataclass
class Budget:
    """Limits of a search: the number of cells it looks at, and seconds of wall-clock time.

    Attributes
    ----------
    stopped : bool
        Whether the clock stopped the search, or a part of it: more seconds may decide more.
    starved : bool
        Whether it did so although the search had a processor for less of the time: as many seconds may decide more.
    """

    cells: int
    seconds: float
    _spent: int = 0
    _start: float = field(default_factory=time.monotonic)
    _processor: float = field(default_factory=time.thread_time)
    stopped: bool = False
    starved: bool = False

    def spend(self) -> None:
        """Count one cell, or raise :class:`Exhausted`."""
        self._spent += 1
        if self._spent > self.cells:
            raise Exhausted(f"the search used up its budget of {self.cells} cells")
        self.check_time()

    def check_time(self) -> None:
        """Raise :class:`Exhausted` if the time is over."""
        if time.monotonic() - self._start > self.seconds:
            self.stopped = True
            self.starved |= time.thread_time() - self._processor < _FAIR_SHARE * self.seconds
            raise Exhausted(f"the search stopped after {self.seconds:g} s")

    def require_left(self) -> None:
        """Raise :class:`Exhausted` if nothing is left."""
        if self._spent >= self.cells:
            raise Exhausted(f"the budget of {self.cells} cells was spent")
        self.check_time()

    @property
    def left(self) -> float:
        """The share of the budget that is left."""
        return 1 - max(self._spent / self.cells, (time.monotonic() - self._start) / self.seconds)

    @contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Inside this block, only a share of the budget may be spent."""
        cells, seconds = self.cells, self.seconds
        elapsed = time.monotonic() - self._start
        self.cells = min(cells, self._spent + max(1, round(share * cells)))
        self.seconds = min(seconds, elapsed + share * seconds)
        try:
            yield
        finally:
            self.cells, self.seconds = cells, seconds

    def restart(self, seconds: float) -> None:
        """A new budget of as many cells, and of these seconds from now on."""
        self._spent, self._start, self.seconds = 0, time.monotonic(), seconds
        self._processor, self.stopped, self.starved = time.thread_time(), False, False


class Search:
    """Searches for cells and their rules, for one loss."""

    def __init__(self, rules: Rules, budget: Budget, edges: Iterable[Fraction], *, shorten: bool = True) -> None:
        """``edges``: first ends of cells, such as points at which a formula changes; ``shorten``: join cells.

        A proof of fewer cells is shorter to write down and to check; one that is not written down need not be short.
        """
        self.shorten = shorten
        self.rules = rules
        self.budget = budget
        self.edges = sorted(set(edges))

    def floor(
        self,
        weights: Pair,
        side: int,
        level: Level,
        near: Fraction | None = None,
        start: Fraction = Fraction(0),
        most: int = 300,
    ) -> Floor | None:
        """A proof that F is at least the level on a half line; ``near`` is a guess of its minimiser.

        If F jumps at 0 and is smaller there, the floor is one of t > 0 only.
        """
        rules, known = self.rules.beyond(side), self.rules.exact_level(weights, level)
        if rules is self.rules or known is None:
            return self._floor(weights, side, level, near, start, most)
        try:
            reached = start > 0 or self.rules.is_at_least(weights, Fraction(0), known)
        except Undefined:
            return None
        if not (reached or (side > 0 and level is not None)):
            return None
        beside = Search(rules, self.budget, self.edges, shorten=self.shorten)
        found = beside._floor(weights, side, known, near, start, most)
        return None if found is None else replace(found, level=level, open=not reached)

    def _floor(
        self, weights: Pair, side: int, level: Level, near: Fraction | None, start: Fraction, most: int
    ) -> Floor | None:
        """The same, for the formulas of these rules on the whole side."""
        rules = self.rules
        inner = [edge for edge in self.edges if edge * side > start]
        first: list[tuple[End, End, str]] = []

        def rule(low: End, high: End) -> str | None:
            infinite = isinstance(low, float) or isinstance(high, float)
            for name in _TAIL_RULES if infinite else _RULES:
                if rules.is_floor(name, weights, level, low, high):
                    return name
            return None

        def fails(t: Fraction) -> bool:
            return rules.is_below(weights, t, level)

        low, high = (start, math.inf) if side > 0 else (-math.inf, -start)
        name = rule(low, high)
        if name is not None:
            return Floor(weights, side, level, ((low, high, name),), start)
        if near is not None and rules.has_sign_by_structure(2, weights, 1):
            for bits in (40, 30):
                bracket = self._bracketed(weights, level, near, bits, (low, high))
                if bracket is not None:
                    return Floor(weights, side, level, bracket, start)
        if level is None and start == 0:
            first = self._around_zero(weights, side)
        elif near is not None and near != 0:
            first = self._around(weights, level, near, side, "tangent")
        cells = self._covered(low, high, inner, rule, fails, first, most)
        return None if cells is None else Floor(weights, side, level, tuple(cells), start)

    def _around_zero(self, weights: Pair, side: int) -> list[tuple[End, End, str]]:
        """The widest cell beside 0 on which F(0) is proved to be the minimum."""
        if not self.rules.is_balanced(weights):
            return []
        cells = self._around(weights, None, Fraction(0), side, "balanced")
        return cells or self._around(weights, None, Fraction(0), side, "flat")

    def _bracketed(
        self, weights: Pair, level: Level, near: Fraction, bits: int, ends: tuple[End, End]
    ) -> tuple[tuple[End, End, str], ...] | None:
        """For a convex F: a narrow cell around its minimum and the rest; None if a tangent does not bound F on each."""
        spread = max(abs(near), Fraction(1, 2**40)) / 2**bits
        edges = [ends[0], *(t for t in (near - spread, near + spread) if ends[0] < t < ends[1]), ends[1]]
        cells = tuple((u, v, "supporting") for u, v in pairwise(edges))
        for u, v, rule in cells:
            self.budget.spend()
            if not self.rules.is_floor(rule, weights, level, u, v):
                return None
        return cells

    def _around(self, weights: Pair, level: Level, point: Fraction, side: int, rule: str) -> list[tuple[End, End, str]]:
        """The widest cell around a minimum for which the rule holds, as a list; empty if there is none."""
        scale = abs(point) or min((abs(edge) for edge in self.edges if edge != 0), default=Fraction(1))
        for k in (1, 3, 5, 8, 11, 15, 20, 26, 34):
            radius = power_of_two(scale) / 2**k
            if rule != "tangent":
                low, high = (Fraction(0), radius) if side > 0 else (-radius, Fraction(0))
            else:
                low, high = point - radius, point + radius
            self.budget.spend()
            if self.rules.is_floor(rule, weights, level, low, high):
                return [(low, high, rule)]
        return []

    def sign(self, order: int, weights: Pair, sign: int, low: End = -math.inf, high: End = math.inf) -> Sign | None:
        """A proof of a sign on a range: from the formulas if they show it on the whole line, else by cells."""
        rules = self.rules
        if (low, high) == WHOLE_LINE and rules.has_sign_by_structure(order, weights, sign):
            return Sign(weights, order, sign, low, high, None)
        inner = sorted({Fraction(0), *self.edges})
        inner = [edge for edge in inner if low < edge < high]

        def rule(u: End, v: End) -> str | None:
            return "sign" if rules.has_sign(order, weights, sign, u, v) else None

        def fails(t: Fraction) -> bool:
            return rules.has_wrong_sign_at(order, weights, sign, t)

        if order == 2 and not rules.has_no_kink_inside(low, high):
            return None
        if rule(low, high):
            cells: list[tuple[End, End, str]] | None = [(low, high, "sign")]
        else:
            cells = self._covered(low, high, inner, rule, fails, [], 200)
        if cells is None:
            return None
        return Sign(weights, order, sign, low, high, tuple((u, v) for u, v, _ in cells))

    def _covered(
        self,
        low: End,
        high: End,
        inner: list[Fraction],
        rule: Callable[[End, End], str | None],
        fails: Callable[[Fraction], bool],
        known: list[tuple[End, End, str]],
        most: int,
    ) -> list[tuple[End, End, str]] | None:
        """Cells from low to high, each with a rule; the cells in ``known`` stay as they are.

        ``fails(t)`` says that the statement is false at t, so the search can stop.
        """
        taken = [(u, v) for u, v, _ in known]
        edges = {low, high, *inner, *(end for pair in taken for end in pair)}
        edges = {edge for edge in edges if not any(u < edge < v for u, v in taken)}
        ordered = sorted(edges)
        found = list(known)
        pending = [(u, v, 0) for u, v in pairwise(ordered) if (u, v) not in taken]
        for u, v, _ in pending:
            self.budget.spend()
            middle = _middle(u, v)
            if middle is not None and fails(middle):
                return None
        while pending:
            u, v, depth = pending.pop()
            self.budget.spend()
            name = rule(u, v)
            if name is not None:
                found.append((u, v, name))
            elif depth >= _DEPTH or len(found) + len(pending) > most:
                return None
            else:
                middle = _middle(u, v)
                if middle is None or (depth > 0 and fails(middle)):
                    return None
                pending += [(u, middle, depth + 1), (middle, v, depth + 1)]
        return self._merged(sorted(found), rule) if self.shorten else sorted(found)

    def _merged(
        self, cells: list[tuple[End, End, str]], rule: Callable[[End, End], str | None]
    ) -> list[tuple[End, End, str]]:
        """Join neighbouring cells if one rule covers both, to make the proof shorter."""
        merged: list[tuple[End, End, str]] = []
        for k, (low, high, name) in enumerate(cells):
            try:
                self.budget.check_time()
            except Exhausted:  # no time to shorten the rest: the longer proof is valid too
                return merged + cells[k:]
            if merged and name not in _AROUND_MINIMA and merged[-1][2] not in _AROUND_MINIMA:
                joined = rule(merged[-1][0], high)
                if joined is not None:
                    merged[-1] = (merged[-1][0], high, joined)
                    continue
            merged.append((low, high, name))
        return merged


def _middle(low: End, high: End) -> Fraction | None:
    """A short number inside a cell: the middle, on a logarithmic scale if the ends differ much in size."""
    if isinstance(low, float) and isinstance(high, float):
        return Fraction(0)
    if isinstance(low, float) or isinstance(high, float):
        end = high if isinstance(low, float) else low
        sign = -1 if isinstance(low, float) else 1
        assert isinstance(end, Fraction)
        return end + sign if end * sign <= 0 else 4 * power_of_two(end)
    width = high - low
    if width < _SMALLEST:
        return None
    if low * high >= 0:
        small, large = sorted((abs(low), abs(high)))
        sign = 1 if low >= 0 else -1
        if small == 0:
            return sign * power_of_two(large) / 8 if power_of_two(large) / 8 < large else (low + high) / 2
        if large > 8 * small:
            root = power_of_two(small * 2 ** ((large // small).bit_length() // 2))
            if small < root < large:
                return sign * root
    middle = (low + high) / 2
    short = _round_cell(middle, width)
    return short if low < short < high else middle


def power_of_two(value: Fraction) -> Fraction:
    """A power of two near a nonzero number, with its sign."""
    size = abs(value)
    power = size.numerator.bit_length() - size.denominator.bit_length()
    nearby = Fraction(2) ** power
    return nearby if value > 0 else -nearby


def _round_cell(value: Fraction, scale: Fraction) -> Fraction:
    """The value rounded to a multiple of a power of two of about an eighth of the scale."""
    unit = power_of_two(scale) / 8
    return round(value / unit) * unit
