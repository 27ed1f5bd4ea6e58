"""The lower convex hull of points in the plane, in floats or exactly in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def lower_hull(x: Sequence[Any], y: Sequence[Any]) -> list[int]:
    """Indices of the vertices of the lower convex hull. Points must be sorted by x; several may share one x.

    Examples
    --------
    >>> from uneven._hull import lower_hull
    >>> lower_hull([0, 1, 1, 2, 3], [0, 2, 1, 1, 3])
    [0, 3, 4]
    """
    hull: list[int] = []
    for k in range(len(x)):
        if hull and x[k] == x[hull[-1]]:
            if y[k] >= y[hull[-1]]:
                continue
            hull.pop()
        while len(hull) >= 2:
            i, j = hull[-2], hull[-1]
            if (x[j] - x[i]) * (y[k] - y[i]) > (y[j] - y[i]) * (x[k] - x[i]):
                break
            hull.pop()
        hull.append(k)
    return hull
