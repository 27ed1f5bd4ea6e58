"""Compiled Newton steps on a small smooth problem with a C-ordered matrix X, on one thread and without BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER
from uneven.solvers.loops.passes import MOST_ROWS, add_rows, add_squares, block_scores_rows, losses_along

#: Relative change of the objective below which rounding hides it. Then only a smaller gradient shows progress.
_ROUNDING = 1e-13
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
    while not _factor(matrix, 1.0 + more, factor) and more < 1.0:
        more = max(10 * more, 1e-14)


@njit(**ANY_ORDER)
def _factor(matrix: Any, diagonal: float, factor: Any) -> bool:
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


@njit(**ANY_ORDER)
def _write_gradient(X: Any, r: Any, theta: Any, penalty: float, with_intercept: bool, g: Any) -> None:
    """Write the gradient to g, where r are the slopes in the scores."""
    d = X.shape[1]
    for j in range(d + 1):
        g[j] = 0.0
    for lo in range(0, r.size, MOST_ROWS):
        add_rows(X, r[lo:], lo, min(MOST_ROWS, r.size - lo), g)
    for j in range(d):
        g[j] += penalty * theta[j]
    if with_intercept:
        for i in range(r.size):
            g[d] += r[i]


@njit(**ANY_ORDER)
def _promised_gap(g: Any, h: Any, penalty: float) -> float:
    """What :meth:`Objective.promised_gap` estimates, where h are the curvatures in the scores."""
    bend = 0.0
    for i in range(h.size):
        bend += h[i]
    b = g[-1]
    return 0.5 * dot(g, g, g.size - 1) / penalty + (0.5 * b * b / bend if bend > 0 else abs(b))


@njit(**ANY_ORDER)
def _balanced_gap(X: Any, g: Any, h: Any, penalty: float) -> float:
    """The same after the intercept has moved to its best value, which changes the gradient in the coefficients."""
    d = X.shape[1]
    coupling, bend = np.zeros(d + 1), 0.0
    for lo in range(0, h.size, MOST_ROWS):
        add_rows(X, h[lo:], lo, min(MOST_ROWS, h.size - lo), coupling)
    for i in range(h.size):
        bend += h[i]
    if not bend > 0:
        return abs(g[-1])
    move, total = g[-1] / bend, 0.0
    for j in range(d):
        total += (g[j] - move * coupling[j]) ** 2
    return 0.5 * total / penalty + 0.5 * move * g[-1]


@njit(**ANY_ORDER)
def steps(X: Any, pair: Any, theta: Any, penalty: float, with_intercept: bool, tol: float, most: int) -> bool:
    """Move theta until the gradient promises a gap of at most ``tol`` times the objective; False if it does not.

    ``pair`` is that of :func:`losses_along`. A matrix of second derivatives serves another step if one more is enough.
    """
    n, d = X.shape
    t, q, r, h = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    g, direction, scale = np.empty(d + 1), np.empty(d + 1), np.empty(d + 1)
    matrix, factor = np.empty((d + 1, d + 1)), np.empty((d + 1, d + 1))
    write_scores(X, theta, t)
    value = losses_along(pair, t, t, 0.0, r, h)[0] + 0.5 * penalty * dot(theta, theta, d)
    _write_gradient(X, r, theta, penalty, with_intercept, g)
    gap, rate = _promised_gap(g, h, penalty), np.inf
    for taken in range(most + 1):
        if gap <= tol * value < np.inf:
            gap = max(gap, _balanced_gap(X, g, h, penalty))
            if gap <= tol * value:
                return True
        if taken == most:
            break
        if not gap * rate <= tol * value:
            factor_newton(X, h, penalty, with_intercept, 0.0, matrix, factor, scale)
        newton_step(factor, scale, g, with_intercept, direction)
        promised = dot(g, direction, d + 1)
        if not promised < 0:
            return False
        write_scores(X, direction, q)
        linear, square = penalty * dot(theta, direction, d), penalty * dot(direction, direction, d)
        own, before, step = 0.5 * penalty * dot(theta, theta, d), value, 1.0
        for _ in range(20):
            value = losses_along(pair, t, q, step, r, h)[0] + own + step * (linear + 0.5 * step * square)
            hidden = abs(value - before) <= _ROUNDING * abs(before)
            if value <= before + 1e-4 * step * promised or hidden:
                break
            step *= 0.5
        else:
            return False
        for i in range(n):
            t[i] += step * q[i]
        for j in range(d + 1):
            theta[j] += step * direction[j]
        _write_gradient(X, r, theta, penalty, with_intercept, g)
        last, gap = gap, _promised_gap(g, h, penalty)
        rate = gap / last
        if hidden and not rate < 0.5:
            return False
    return False
