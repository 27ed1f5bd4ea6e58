"""Bounds of a tree on the whole line, by interval arithmetic on cells that are halved where it matters."""

from __future__ import annotations

import heapq
import itertools
import math
from fractions import Fraction

from flint import arb

from uneven.expression import Node
from uneven.ops.balls import Undefined, above, below, enclose_interval, interval

_MAX_CELLS = 150  # number of cells that are halved
_MAX_WORK = 6000  # that number times the size of the tree: keeps large trees within a fraction of a second
_LARGEST = 2.0**1000
_STARTS = (0.0, 1.0, 2.0**5, 2.0**20, 2.0**100)


def negative_point(tree: Node) -> float | None:
    """A point where the tree is surely negative; None if there is none or none was found within the budget.

    The cell with the lowest lower bound is halved next, so a narrow dip is reached in a few dozen steps.
    """
    ends = sorted({-math.inf, math.inf, *_STARTS, *(-start for start in _STARTS)})
    fresh = list(itertools.pairwise(ends))
    doubtful: list[tuple[float, float, float, float]] = []
    for _ in range(max(8, min(_MAX_CELLS, _MAX_WORK // tree.size))):
        for low, high in fresh:
            middle = middle_of(low, high)
            if middle is None:
                continue
            if bounds(tree, middle, middle)[1] < 0:
                return middle
            least = bounds(tree, low, high)[0]
            if least < 0:
                heapq.heappush(doubtful, (least, low, middle, high))
        if not doubtful:
            return None
        _, low, middle, high = heapq.heappop(doubtful)
        fresh = [(low, middle), (middle, high)]
    return None


def bounds(tree: Node, low: float, high: float) -> tuple[float, float]:
    """Bounds of the tree on a cell; infinite where it may be undefined."""
    try:
        enclosure = enclose_interval(tree, interval(low, high))
    except Undefined:
        return -math.inf, math.inf
    return _round_to_double(enclosure.lo), _round_to_double(enclosure.hi)


def _round_to_double(bound: arb) -> float:
    """A bound as a double of the same sign."""
    nearest = float(bound)
    return -5e-324 if nearest == 0 and bound < 0 else nearest


def middle_of(low: float, high: float) -> float | None:
    """A point that halves a cell: in size if its ends differ much in it, else in length; None if it is too narrow."""
    if high <= 0:
        mirrored = middle_of(-high, -low)
        return None if mirrored is None else -mirrored
    if low < 0:
        return 0.0
    if high > 4 * low:
        middle = (
            min(low * low, _LARGEST) if math.isinf(high) else math.sqrt(max(low, high * 2.0**-40)) * math.sqrt(high)
        )
    else:
        middle = 0.5 * (low + high)
    return middle if low < middle < high else None


#: Cells are halved so many times at most, and less often for large trees.
_MAX_HALVINGS, _MAX_TOTAL_WORK = 4000, 200_000
_FINE_STARTS = (0.0, *(2.0**k for k in range(-4, 65, 2)))


def upper_bound(tree: Node, *, slack: float = 0.01) -> float:
    """A number that the tree never exceeds for abs(t) <= 2**64, close to its supremum there; infinite if none is found.

    The search ends when the bound is proved to be within ``slack`` (relative) of a value of the tree.

    Examples
    --------
    >>> from uneven.expression import derivative, parse, simplify
    >>> from uneven.shape.bounds import upper_bound
    >>> bend = derivative(derivative(simplify(parse("expit(-t)"))))
    >>> 0.0962 < upper_bound(bend) < 0.0973                           # 1/(6 sqrt(3)) = 0.09623
    True
    """
    ends = sorted({*_FINE_STARTS, *(-start for start in _FINE_STARTS)})
    cells: list[tuple[float, float, float]] = []
    known = -math.inf
    fresh = list(itertools.pairwise(ends))
    for _ in range(max(64, min(_MAX_HALVINGS, _MAX_TOTAL_WORK // tree.size))):
        for low, high in fresh:
            known = max(known, bounds(tree, low, low)[0], bounds(tree, high, high)[0])
            heapq.heappush(cells, (-bounds(tree, low, high)[1], low, high))
        greatest, low, high = cells[0]
        middle = middle_of(low, high)
        if middle is None or -greatest <= known + slack * abs(known):
            break
        heapq.heappop(cells)
        fresh = [(low, middle), (middle, high)]
    return -cells[0][0]


def largest_between(
    tree: Node, low: Fraction, high: Fraction, *, slack: Fraction = Fraction(1, 1000)
) -> Fraction | None:
    """A rational that a positive tree never exceeds between two points, within ``slack`` of the maximum if it can.

    None if the tree may be undefined or unbounded there.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.expression import parse
    >>> from uneven.shape.bounds import largest_between
    >>> 0.25 <= largest_between(parse("expit(t)*expit(-t)"), Fraction(-1), Fraction(2)) <= 0.251
    True
    """
    known = Fraction(0)
    cells: list[tuple[Fraction, Fraction, Fraction]] = []
    fresh = [(low, high)]
    try:
        for _ in range(_MAX_HALVINGS):
            for a, b in fresh:
                heapq.heappush(cells, (-above(enclose_interval(tree, interval(a, b)).hi), a, b))
                known = max(known, below(enclose_interval(tree, interval(a, a)).lo))
            most, a, b = cells[0]
            if -most <= (1 + slack) * known:
                break
            heapq.heappop(cells)
            fresh = [(a, (a + b) / 2), ((a + b) / 2, b)]
        else:
            for a, b in fresh:
                heapq.heappush(cells, (-above(enclose_interval(tree, interval(a, b)).hi), a, b))
    except Undefined:
        return None
    return -cells[0][0]
