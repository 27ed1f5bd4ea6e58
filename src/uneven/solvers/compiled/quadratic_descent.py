"""Compiled coordinate descent for a quadratic function plus an l1 norm.

With a gradient g and a matrix H of second derivatives, it minimises g'(x - w) + (x - w)' H (x - w)/2 + l1 |x|_1 over x.
The last coordinate, the intercept, is not in the norm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER

#: Visits of the nonzero coordinates between two visits of all.
_INNER = 10


@njit(**ANY_ORDER)
def shrunk(z: float, by: float) -> float:
    """z moved towards 0 by a distance, and not beyond."""
    if z > by:
        return z - by
    return z + by if z < -by else 0.0


@njit(**ANY_ORDER)
def descend(matrix: Any, x: Any, gradient: Any, l1: float, visits: int, enough: float) -> float:
    """Move x, in place, until a visit of all coordinates lowers the function by less than ``enough``.

    ``matrix`` is H; ``gradient`` is that of the quadratic function at x, and stays so. Returns what the last visit
    gained.
    """
    size = x.size
    gain = np.inf
    for visit in range(visits):
        everything = visit % _INNER == 0
        gain = 0.0
        for j in range(size):
            if x[j] == 0.0 and not everything and j < size - 1:
                continue
            h = matrix[j, j]
            if not h > 0.0:
                continue
            old = x[j]
            z = old - gradient[j] / h
            new = z if j == size - 1 else shrunk(z, l1 / h)
            move = new - old
            if move != 0.0:
                row = matrix[j]
                for k in range(size):
                    gradient[k] += move * row[k]
                x[j] = new
                gain += 0.5 * h * move * move
        if everything and gain <= enough:
            break
    return gain


@njit(**ANY_ORDER)
def descend_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    root: Any,
    diagonal: Any,
    added: Any,
    x: Any,
    w: Any,
    gradient: Any,
    s: Any,
    l1: float,
    visits: int,
    enough: float,
    free: bool,
) -> float:
    """The same for H = (R root)' (R root) + diag(added) of a CSC matrix R, without computing H.

    ``s`` is (R root)(x - w) and stays so; ``gradient`` is that at w; ``diagonal`` is the diagonal of H. ``free`` says
    whether there is an intercept.
    """
    size = x.size
    gain = np.inf
    for visit in range(visits):
        everything = visit % _INNER == 0
        gain = 0.0
        for j in range(size - 1):
            if free and j % 64 == 0:
                gain += _move_intercept(root, added[-1], diagonal, x, w, gradient, s)
            if (x[j] == 0.0 and not everything) or not diagonal[j] > 0.0:
                continue
            first, last = np.uint64(indptr[j]), np.uint64(indptr[j + 1])
            slope = gradient[j] + added[j] * (x[j] - w[j])
            for k in range(first, last):
                slope += data[k] * s[np.uint64(indices[k])]
            new = shrunk(x[j] - slope / diagonal[j], l1 / diagonal[j])
            move = new - x[j]
            if move != 0.0:
                for k in range(first, last):
                    s[np.uint64(indices[k])] += move * data[k]
                x[j] = new
                gain += 0.5 * diagonal[j] * move * move
        if everything and gain <= enough:
            break
    return gain


@njit(**ANY_ORDER)
def descend_dense(
    columns: Any,
    root: Any,
    diagonal: Any,
    added: Any,
    x: Any,
    w: Any,
    gradient: Any,
    s: Any,
    l1: float,
    visits: int,
    enough: float,
    free: bool,
) -> float:
    """The same for a dense R, given by its transpose."""
    size = x.size
    gain = np.inf
    for visit in range(visits):
        everything = visit % _INNER == 0
        gain = 0.0
        for j in range(size - 1):
            if free and j % 64 == 0:
                gain += _move_intercept(root, added[-1], diagonal, x, w, gradient, s)
            if (x[j] == 0.0 and not everything) or not diagonal[j] > 0.0:
                continue
            column = columns[j]
            slope = gradient[j] + added[j] * (x[j] - w[j])
            for i in range(s.size):
                slope += column[i] * s[i]
            new = shrunk(x[j] - slope / diagonal[j], l1 / diagonal[j])
            move = new - x[j]
            if move != 0.0:
                for i in range(s.size):
                    s[i] += move * column[i]
                x[j] = new
                gain += 0.5 * diagonal[j] * move * move
        if everything and gain <= enough:
            break
    return gain


@njit(**ANY_ORDER)
def _move_intercept(root: Any, added: float, diagonal: Any, x: Any, w: Any, gradient: Any, s: Any) -> float:
    slope = gradient[-1] + added * (x[-1] - w[-1])
    for i in range(s.size):
        slope += root[i] * s[i]
    move = -slope / diagonal[-1] if diagonal[-1] > 0.0 else 0.0
    if move == 0.0:
        return 0.0
    for i in range(s.size):
        s[i] += move * root[i]
    x[-1] += move
    return 0.5 * diagonal[-1] * move * move
