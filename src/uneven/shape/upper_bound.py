"""An upper bound of a tree on the line, by interval arithmetic."""

from __future__ import annotations

import heapq
import itertools
import math

from uneven.expression import Node
from uneven.shape.lower_bound import bounds, middle_of

#: Cells are halved so many times at most, and less often for large trees.
_MAX_HALVINGS, _MAX_TOTAL_WORK = 4000, 200_000
_FINE_STARTS = (0.0, *(2.0**k for k in range(-4, 65, 2)))


def upper_bound(tree: Node, *, slack: float = 0.01) -> float:
    """A number that the tree never exceeds for abs(t) <= 2**64, close to its supremum there; infinite if none is found.

    The search ends when the bound is proved to be within ``slack`` (relative) of a value of the tree.

    Examples
    --------
    >>> from uneven.expression import derivative, parse, simplify
    >>> from uneven.shape.upper_bound import upper_bound
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
