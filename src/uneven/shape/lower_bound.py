"""Search of the whole line for a point where a tree is negative, by interval arithmetic."""

from __future__ import annotations

import heapq
import itertools
import math

from flint import arb

from uneven.expression import Node
from uneven.ops.balls import Undefined, enclose_interval, interval

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
    return _rounded(enclosure.lo), _rounded(enclosure.hi)


def _rounded(bound: arb) -> float:
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
