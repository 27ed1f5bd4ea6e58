"""Compiled semismooth Newton steps on the augmented Lagrangian of a small problem, on one thread and without BLAS.

Arguments are those of :mod:`~uneven.solvers.compiled.kinked_passes`, for a C-ordered matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.kinked_passes import along, curvatures, gradient_rows
from uneven.solvers.compiled.options import ANY_ORDER
from uneven.solvers.compiled.passes import MOST_ROWS, add_squares, block_scores_rows

_FLAT = 0.1  # a step is long enough where the slope along it is below this share of the slope at its start
_MOST_TRIALS = 60
#: Diagonal of a factor, relative to a unit diagonal of the matrix, below which the matrix counts as singular.
_SINGULAR = 1e-7


@njit(**ANY_ORDER)
def _dot(a: Any, b: Any, count: int) -> float:
    """The product of the first entries of two vectors. Numba takes much longer to compile an expression of arrays."""
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@njit(**ANY_ORDER)
def _write_scores(X: Any, theta: Any, out: Any) -> None:
    """Write X w + b to out."""
    for lo in range(0, out.size, MOST_ROWS):
        block_scores_rows(X, theta, theta[-1], lo, min(MOST_ROWS, out.size - lo), out[lo:])


@njit(**ANY_ORDER)
def _solve(matrix: Any, right: Any, out: Any) -> None:
    """Write the solution of a positive semidefinite system into out; only the lower triangle is read, and changed.

    The matrix is scaled to unit diagonal. If it is singular, it gets the smallest ridge that makes it solvable.
    """
    d = right.size
    scale = np.empty(d)
    largest = 0.0
    for a in range(d):
        scale[a] = 1 / np.sqrt(matrix[a, a]) if matrix[a, a] > 0 else 0.0
        largest = max(largest, scale[a])
    for a in range(d):
        if scale[a] == 0.0:  # a column without curvature is treated as the flattest other column
            scale[a] = largest if largest > 0 else 1.0
        for b in range(a):
            matrix[a, b] *= scale[a] * scale[b]
    factor = np.empty((d, d))
    ridge = 0.0
    while not _factored(matrix, 1.0 + ridge, factor):
        ridge = max(10 * ridge, 1e-14)
    for a in range(d):
        x = scale[a] * right[a]
        for b in range(a):
            x -= factor[a, b] * out[b]
        out[a] = x / factor[a, a]
    for a in range(d - 1, -1, -1):
        x = out[a] / factor[a, a]
        out[a] = x
        row = factor[a]
        for b in range(a):
            out[b] -= row[b] * x
    for a in range(d):
        out[a] *= scale[a]


@njit(**ANY_ORDER)
def _factored(matrix: Any, diagonal: float, factor: Any) -> bool:
    """Write the Cholesky factor of a matrix with this diagonal into ``factor``; False if it is singular."""
    for a in range(matrix.shape[0]):
        row = factor[a]
        for b in range(a):
            x = matrix[a, b]
            other = factor[b]
            for k in range(b):
                x -= row[k] * other[k]
            row[b] = x / other[b]
        x = diagonal
        for k in range(a):
            x -= row[k] * row[k]
        if not x > _SINGULAR * _SINGULAR:
            return False
        row[a] = np.sqrt(x)
    return True


@njit(**ANY_ORDER)
def _write_direction(
    X: Any, h: Any, penalty: float, with_intercept: bool, ridge: float, g: Any, matrix: Any, out: Any
) -> None:
    """Write the Newton step to out, where h are the curvatures in the scores and g is the gradient.

    The second derivative in the intercept is at least ``ridge``; ``matrix`` is room for all second derivatives.
    """
    d = X.shape[1]
    for a in range(d + 1):
        for b in range(a + 1):
            matrix[a, b] = 0.0
    add_squares(X, h, matrix)
    for j in range(d):
        matrix[j, j] += penalty
        if not with_intercept:
            matrix[d, j] = 0.0
    matrix[d, d] = max(matrix[d, d], ridge) if with_intercept else 1.0
    _solve(matrix, g, out)
    for j in range(d + 1):
        out[j] = -out[j]


@njit(**ANY_ORDER)
def _length(
    common: Any, second: Any, t: Any, u: Any, q: Any, lo: int, hi: int, promised: float, linear: float, square: float
) -> float:
    """The length of a step along the scores q; the penalty has the slope ``linear + length * square``."""
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(_MOST_TRIALS):
        slope, curvature = along(common, second, t, q, step, u, lo, hi)
        slope += linear + step * square
        if abs(slope) <= _FLAT * abs(promised):
            break
        if not np.isfinite(slope):  # overflow: far too long
            high = step
            step = low + 0.1 * (high - low)
            continue
        if slope > 0:
            high = step
        else:
            low = step
        curvature += square
        guess = step - slope / curvature if curvature > 0 else np.inf
        between = 0.5 * (low + high) if high < np.inf else 4 * step
        step = guess if low < guess < min(high, 10 * step) else between
        if high - low <= 1e-12 * step:
            break
    return step


@njit(**ANY_ORDER)
def steps(
    X: Any,
    common: Any,
    second: Any,
    t: Any,
    u: Any,
    theta: Any,
    penalty: float,
    with_intercept: bool,
    ridge: float,
    enough: float,
    most: int,
    lo: int,
    hi: int,
    g: Any,
) -> int:
    """Move theta and the scores t until the gradient g is small enough, at most so many steps; returns how many.

    ``enough`` bounds what the gradient adds to the duality gap. ``lo`` is 0 and ``hi`` the number of rows.
    """
    d = X.shape[1]
    q, h = np.empty(hi), np.empty(hi)
    direction, matrix = np.empty(d + 1), np.empty((d + 1, d + 1))
    taken = 0
    while True:
        for j in range(d + 1):
            g[j] = 0.0
        gradient_rows(X, common, t, u, lo, hi, g)
        for j in range(d):
            g[j] += penalty * theta[j]
        if not with_intercept:
            g[d] = 0.0
        if 0.5 * _dot(g, g, d) / penalty + abs(g[d]) * (1 + abs(theta[d])) <= enough or taken == most:
            return taken
        curvatures(common, second, t, u, lo, hi, h)
        _write_direction(X, h, penalty, with_intercept, ridge, g, matrix, direction)
        if not with_intercept:
            direction[d] = 0.0
        promised = _dot(g, direction, d + 1)
        taken += 1
        if not promised < 0:  # rounding
            return taken
        _write_scores(X, direction, q)
        linear, square = penalty * _dot(theta, direction, d), penalty * _dot(direction, direction, d)
        step = _length(common, second, t, u, q, lo, hi, promised, linear, square)
        for i in range(hi):
            t[i] += step * q[i]
        for j in range(d + 1):
            theta[j] += step * direction[j]
