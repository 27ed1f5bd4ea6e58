"""How close together the complex roots of a polynomial lie, without computing them."""

from __future__ import annotations

import itertools
import math
from typing import Any


def closeness(polynomial: Any) -> float:
    r"""Roughly the sum of :math:`\log_2 (\max(|r|, |s|)/|r - s|)` over all pairs of roots r, s.

    It is about 0 or below if the roots are spread out, however different their sizes; two roots that agree in
    their first k bits add k. Infinite for a polynomial with a double root.

    With leading coefficient a and degree n, the discriminant is :math:`a^{2n-2} \prod (r - s)^2`. The sizes of the
    roots are the slopes of the Newton polygon.

    Examples
    --------
    >>> from flint import fmpz_poly
    >>> from uneven.shape.root_separation import closeness
    >>> round(closeness(fmpz_poly([-2, 0, 1]))), round(closeness(fmpz_poly([10**40, -2 * 10**40, 10**40 + 1])))
    (-1, 66)
    """
    discriminant = polynomial.discriminant()
    if discriminant == 0:
        return math.inf
    n = polynomial.degree()
    sizes = sorted(_root_sizes([_log2(c) for c in polynomial.coeffs()]), reverse=True)
    larger_of_each_pair = sum((n - 1 - i) * size for i, size in enumerate(sizes))
    return (n - 1) * _log2(polynomial.leading_coefficient()) + larger_of_each_pair - _log2(discriminant) / 2


def _root_sizes(logs: list[float]) -> list[float]:
    """Logarithms of the sizes of the roots, from those of the coefficients: slopes of their upper hull."""
    hull: list[tuple[int, float]] = []
    for k, height in enumerate(logs):
        if height == -math.inf:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], (k, height)):
            hull.pop()
        hull.append((k, height))
    return [-_slope(a, b) for a, b in itertools.pairwise(hull) for _ in range(b[0] - a[0])]


def _slope(a: tuple[int, float], b: tuple[int, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])


def _log2(value: Any) -> float:
    """log2 of the size of an integer that may be too large for a double."""
    size = abs(int(value))
    shift = max(size.bit_length() - 60, 0)
    return math.log2(size >> shift) + shift if size else -math.inf
