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
from uneven.solvers.compiled.passes import (
    MOST_ROWS,
    add_rows,
    add_squares,
    block_scores_rows,
    losses_along,
    transposed_rows,
)

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
def dot(a: Any, b: Any, count: int) -> float:
    """The product of the first entries of two vectors. Numba takes much longer to compile an expression of arrays."""
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@njit(**ANY_ORDER)
def _sum(a: Any) -> float:
    total = 0.0
    for k in range(a.size):
        total += a[k]
    return total


@njit(**ANY_ORDER)
def write_scores(X: Any, theta: Any, out: Any) -> None:
    """Write X w + b to out."""
    for lo in range(0, out.size, MOST_ROWS):
        block_scores_rows(X, theta, theta[-1], lo, min(MOST_ROWS, out.size - lo), out[lo:])


@njit(**ANY_ORDER)
def solve(matrix: Any, right: Any, out: Any) -> None:
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
def _gradient(X: Any, r: Any, penalty: float, with_intercept: bool, theta: Any, g: Any) -> None:
    """Write the gradient at theta, where the slopes in the scores are r, to g."""
    n, d = X.shape
    for j in range(d + 1):
        g[j] = 0.0
    for lo in range(0, n, MOST_ROWS):
        add_rows(X, r[lo:], lo, min(MOST_ROWS, n - lo), g)
    for j in range(d):
        g[j] += penalty * theta[j]
    g[d] = _sum(r) if with_intercept else 0.0


@njit(**ANY_ORDER)
def write_direction(
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
    solve(matrix, g, out)
    for j in range(d + 1):
        out[j] = -out[j]


@njit(**ANY_ORDER)
def _length(pair: Any, t: Any, q: Any, value: float, promised: float, penalties: Any, r: Any, h: Any) -> Any:
    """The length of a step along the scores q, and the objective there; r and h become the derivatives there.

    ``promised`` is the slope at the start; ``penalties`` is the penalty there and its first and second derivative.
    """
    low, high, step, reached = 0.0, np.inf, 1.0, value
    for _ in range(_MOST_TRIALS):
        loss, slope, curvature = losses_along(pair, t, q, step, r, h)
        reached = loss + penalties[0] + step * (penalties[1] + 0.5 * step * penalties[2])
        slope += penalties[1] + step * penalties[2]
        enough = reached <= value + _SUFFICIENT * step * promised
        if not enough and abs(reached - value) <= _ROUNDING * abs(value):
            enough = abs(slope) <= -promised
        if enough and slope >= _FLAT * promised:
            break
        if enough:
            low = step
        else:
            high = step
        guess = step - slope / (curvature + penalties[2])
        between = 0.5 * (low + high) if high < np.inf else 4 * step
        step = guess if low < guess < min(high, 10 * step) else between
    return step, reached


@njit(**ANY_ORDER)
def newton(X: Any, pair: Any, penalty: float, with_intercept: bool, theta: Any, tol: float, most: int) -> Any:
    """Move theta until its gradient promises a duality gap of at most half of tol times the objective.

    ``pair`` holds the addresses of first and second derivatives, y, the sample weights, and weights and scales of the
    classes. The penalty is positive. Returns why it stopped, the number of steps, and the objective.
    """
    n, d = X.shape
    t, q, r, h = np.empty(n), np.zeros(n), np.empty(n), np.empty(n)
    g, direction, matrix = np.empty(d + 1), np.empty(d + 1), np.empty((d + 1, d + 1))
    before = np.empty(d + 1)
    write_scores(X, theta, t)
    value = losses_along(pair, t, q, 0.0, r, h)[0] + 0.5 * penalty * dot(theta, theta, d)
    last, hidden = np.inf, False
    for taken in range(most + 1):
        _gradient(X, r, penalty, with_intercept, theta, g)
        bend = _sum(h)
        gap = 0.5 * dot(g, g, d) / penalty + (0.5 * g[d] * g[d] / bend if bend > 0 else abs(g[d]))
        if hidden and not gap < 0.5 * last:  # the last step did not help, as far as rounding lets one see
            for j in range(d + 1):
                theta[j] = before[j]
            return ROUNDING, taken, value
        if gap <= 0.5 * tol * value:
            return REACHED, taken, value
        if taken == most:
            break
        write_direction(X, h, penalty, with_intercept, 0.0, g, matrix, direction)
        promised = dot(g, direction, d + 1)
        if not promised < 0:
            return ROUNDING, taken, value
        write_scores(X, direction, q)
        penalties = (
            0.5 * penalty * dot(theta, theta, d),
            penalty * dot(theta, direction, d),
            penalty * dot(direction, direction, d),
        )
        step, reached = _length(pair, t, q, value, promised, penalties, r, h)
        hidden = not reached < value
        if hidden and not abs(reached - value) <= _ROUNDING * abs(value):
            return ROUNDING, taken, value
        last, value = gap, reached
        for i in range(n):
            t[i] += step * q[i]
        for j in range(d + 1):
            before[j] = theta[j]
            theta[j] += step * direction[j]
    return OUT_OF_STEPS, most, value


@njit(**ANY_ORDER)
def touch(
    X: Any, pair: Any, with_intercept: bool, theta: Any, enough: float, lo: int, hi: int, r: Any, v: Any, sizes: Any
) -> Any:
    """Write the slopes of the lines that touch the losses at their scores to r, X' r to v, abs(X)' abs(r) to sizes.

    First the intercept moves until the slopes sum to at most ``enough``. ``lo`` is 0 and ``hi`` the number of rows; v
    and sizes are 0. Returns whether the slopes do, and the sums of the losses, of the absolute slopes, and of the
    absolute values of slope times score.
    """
    t, q, h = np.empty(hi), np.ones(hi), np.empty(hi)
    write_scores(X, theta, t)
    loss, slope, bend = losses_along(pair, t, q, 0.0, r, h)
    balanced = not with_intercept or abs(slope) <= enough
    while not balanced and bend > 0:
        step = -slope / bend
        before = slope
        loss, slope, bend = losses_along(pair, t, q, step, r, h)
        if not abs(slope) <= 0.5 * abs(before):
            break
        for i in range(hi):
            t[i] += step
        theta[-1] += step
        balanced = abs(slope) <= enough
    transposed_rows(X, r, r, lo, hi, v, sizes)
    size = moment = 0.0
    for i in range(hi):
        size += abs(r[i])
        moment += abs(r[i] * t[i])
    return balanced, loss, size, moment
