"""Compiled Newton systems of a small problem with a C-ordered matrix X, on one thread and without BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER
from uneven.solvers.compiled.passes import MOST_ROWS, add_squares, block_scores_rows

#: Diagonal of a factor, relative to a unit diagonal of the matrix, below which the matrix counts as singular.
_SINGULAR = 1e-7


@njit(**ANY_ORDER)
def dot(a: Any, b: Any, count: int) -> float:
    """The product of the first entries of two vectors. Numba takes much longer to compile an expression of arrays."""
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@njit(**ANY_ORDER)
def write_scores(X: Any, theta: Any, out: Any) -> None:
    """Write X w + b to out."""
    for lo in range(0, out.size, MOST_ROWS):
        block_scores_rows(X, theta, theta[-1], lo, min(MOST_ROWS, out.size - lo), out[lo:])


@njit(**ANY_ORDER)
def factor_newton(
    X: Any, h: Any, penalty: float, with_intercept: bool, ridge: float, matrix: Any, factor: Any, scale: Any
) -> None:
    """Factor the matrix of second derivatives, where h are the curvatures in the scores, for :func:`newton_step`.

    The second derivative in the intercept is at least ``ridge``; ``matrix`` is room for all second derivatives. They
    are scaled to unit diagonal. If they are singular, they get the smallest ridge that makes them solvable. If they
    overflow, steps are not numbers.
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
    largest = 0.0
    for a in range(d + 1):
        scale[a] = 1 / np.sqrt(matrix[a, a]) if matrix[a, a] > 0 else 0.0
        largest = max(largest, scale[a])
    for a in range(d + 1):
        if scale[a] == 0.0:  # a column without curvature is treated as the flattest other column
            scale[a] = largest if largest > 0 else 1.0
        for b in range(a):
            matrix[a, b] *= scale[a] * scale[b]
    more = 0.0
    while not _factored(matrix, 1.0 + more, factor) and more < 1.0:
        more = max(10 * more, 1e-14)


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
def newton_step(factor: Any, scale: Any, g: Any, with_intercept: bool, out: Any) -> None:
    """Write the Newton step to out, where g is the gradient."""
    for a in range(g.size):
        x = -scale[a] * g[a]
        for b in range(a):
            x -= factor[a, b] * out[b]
        out[a] = x / factor[a, a]
    for a in range(g.size - 1, -1, -1):
        x = out[a] / factor[a, a]
        out[a] = x
        row = factor[a]
        for b in range(a):
            out[b] -= row[b] * x
    for a in range(g.size):
        out[a] *= scale[a]
    if not with_intercept:
        out[-1] = 0.0
