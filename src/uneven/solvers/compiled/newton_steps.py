"""Compiled Newton steps for small problems: one function runs them all, on one thread and without BLAS.

The scores of all rows are kept. A step reads X for the scores of its direction, for the gradient and for the second
derivatives; the length of the step is found from the scores alone. Arguments are those of
:mod:`~uneven.solvers.compiled.passes`, for a C-ordered matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER
from uneven.solvers.compiled.passes import MOST_ROWS, add_rows, add_squares, call_first, call_second, scores_rows

#: What :func:`newton` returns as its first number.
REACHED, OUT_OF_STEPS, ROUNDING = 0, 1, 2

_SUFFICIENT = 1e-4  # a step must bring this share of the decrease that the slope at its start promises
_FLAT = 0.5  # where the slope is steeper than this share of the slope at the start, the step is too short
_MOST_TRIALS = 60
#: Relative change of the objective below which rounding hides it.
_ROUNDING = 1e-13
#: Diagonal of a factor, relative to a unit diagonal of the matrix, below which the matrix counts as singular.
_SINGULAR = 1e-7


@njit(**ANY_ORDER)
def _losses_along(pair: Any, t: Any, q: Any, step: float, r: Any, h: Any) -> Any:
    """The sum of the losses at the scores t + step * q, and its first and second derivative in ``step``.

    Slopes and curvatures in the score go to r and h; a curvature that is negative or not a number counts as 0.
    """
    first, second, y, s, weights, scales = pair
    work = np.empty((5, MOST_ROWS))
    total = slope = curvature = 0.0
    for lo in range(0, t.size, MOST_ROWS):
        n = min(MOST_ROWS, t.size - lo)
        for i in range(n):
            work[0, i] = scales[y[lo + i]] * (t[lo + i] + step * q[lo + i])
        call_first(first[1], n, work[0].ctypes.data, work[1].ctypes.data, work[2].ctypes.data)
        call_second(second[1], n, work[0].ctypes.data, work[3].ctypes.data)
        if first[0] != first[1]:
            other = np.empty((3, MOST_ROWS))
            call_first(first[0], n, work[0].ctypes.data, other[0].ctypes.data, other[1].ctypes.data)
            call_second(second[0], n, work[0].ctypes.data, other[2].ctypes.data)
            for i in range(n):
                if y[lo + i] == 0:
                    for k in range(3):
                        work[1 + k, i] = other[k, i]
        for i in range(n):
            label = y[lo + i]
            a = weights[label] * s[lo + i] if s.size else weights[label]
            bend = work[3, i] if work[3, i] > 0.0 else 0.0
            # A row of weight 0 counts as 0 even if its loss overflows.
            used = a > 0
            total += a * work[1, i] if used else 0.0
            r[lo + i] = a * scales[label] * work[2, i] if used else 0.0
            h[lo + i] = min(a * scales[label] * scales[label] * bend, 1e300) if used else 0.0
            slope += r[lo + i] * q[lo + i]
            curvature += h[lo + i] * q[lo + i] * q[lo + i]
    return total, slope, curvature


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
def _gradient(X: Any, r: Any, penalty: float, w: Any, with_intercept: bool, g: Any) -> None:
    """Write the gradient into g, from the slopes r of the losses in the scores."""
    n, d = X.shape
    g[:] = 0.0
    for lo in range(0, n, MOST_ROWS):
        add_rows(X, r[lo:], lo, min(MOST_ROWS, n - lo), g)
    for j in range(d):
        g[j] += penalty * w[j]
    g[d] = r.sum() if with_intercept else 0.0


@njit(**ANY_ORDER)
def newton(X: Any, pair: Any, penalty: float, with_intercept: bool, theta: Any, tol: float, most: int) -> Any:
    """Move theta until its gradient promises a duality gap of at most half of tol times the objective.

    ``pair`` holds the addresses of first and second derivatives, y, the sample weights, and weights and scales of the
    classes. The penalty is positive. Returns why it stopped, the number of steps, and the objective.
    """
    n, d = X.shape
    t, q, r, h = np.empty(n), np.zeros(n), np.empty(n), np.empty(n)
    g, direction, matrix = np.empty(d + 1), np.empty(d + 1), np.empty((d + 1, d + 1))
    w = theta[:d]
    scores_rows(X, w, theta[d], 0, n, t)
    value = _losses_along(pair, t, q, 0.0, r, h)[0] + 0.5 * penalty * (w * w).sum()
    for taken in range(most + 1):
        _gradient(X, r, penalty, w, with_intercept, g)
        bend = h.sum()
        gap = 0.5 * (g[:d] * g[:d]).sum() / penalty + (0.5 * g[d] * g[d] / bend if bend > 0 else abs(g[d]))
        if gap <= 0.5 * tol * value:
            return REACHED, taken, value
        if taken == most:
            break
        matrix[:] = 0.0
        add_squares(X, h, matrix)
        for j in range(d):
            matrix[j, j] += penalty
        if not with_intercept:
            matrix[d] = 0.0
            matrix[d, d] = 1.0
        _solve(matrix, g, direction)
        linear = square = promised = 0.0
        for j in range(d + 1):
            direction[j] = -direction[j]
            promised += g[j] * direction[j]
            if j < d:
                linear += penalty * w[j] * direction[j]
                square += penalty * direction[j] * direction[j]
        if not promised < 0:
            return ROUNDING, taken, value
        scores_rows(X, direction[:d], direction[d], 0, n, q)
        low, high, step = 0.0, np.inf, 1.0
        lower = value
        before = 0.5 * penalty * (w * w).sum()
        for _ in range(_MOST_TRIALS):
            loss, slope, curvature = _losses_along(pair, t, q, step, r, h)
            lower = loss + before + step * (linear + 0.5 * step * square)
            slope += linear + step * square
            enough = lower <= value + _SUFFICIENT * step * promised
            if not enough and abs(lower - value) <= _ROUNDING * abs(value):
                enough = abs(slope) <= -promised
            if enough and slope >= _FLAT * promised:
                break
            if enough:
                low = step
            else:
                high = step
            guess = step - slope / (curvature + square)
            step = guess if low < guess < min(high, 10 * step) else 0.5 * (low + high) if high < np.inf else 4 * step
        if not lower < value:
            return ROUNDING, taken, value
        value = lower
        for i in range(n):
            t[i] += step * q[i]
        for j in range(d + 1):
            theta[j] += step * direction[j]
    return OUT_OF_STEPS, most, value
