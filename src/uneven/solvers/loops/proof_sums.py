"""Compiled sums that a proof of the duality gap needs: in twice the precision, and of the slopes of supporting lines.

Each product and each sum is split into its rounded value and its exact error (Dekker, Knuth), and the errors are summed
beside it. A sum of n terms is then wrong by at most one unit of rounding plus (n eps)^2 times the sum of their absolute
values (Ogita, Rump, Oishi 2005). Sums must be taken in the order written, so these loops are slower than plain ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER, IN_ORDER
from uneven.solvers.loops.passes import MOST_ROWS, losses

_SPLITTER = 134217729.0  # 2**27 + 1 cuts a double into two halves whose products are exact


@njit(**IN_ORDER)
def _error_of_product(a: float, b: float, product: float) -> float:
    c = _SPLITTER * a
    a_high = c - (c - a)
    c = _SPLITTER * b
    b_high = c - (c - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(**IN_ORDER)
def _error_of_sum(a: float, b: float, total: float) -> float:
    virtual = total - a
    return (a - (total - virtual)) + (b - virtual)


@njit(**IN_ORDER)
def scores_rows(X: Any, w: Any, b: float, lo: int, hi: int, out: Any) -> None:
    """Write X w + b of the rows lo to hi of a C-ordered matrix into out."""
    for i in range(lo, hi):
        row, total, error = X[i], b, 0.0
        for j in range(row.size):
            x = np.float64(row[j])
            product = w[j] * x
            after = total + product
            error += _error_of_product(w[j], x, product) + _error_of_sum(total, product, after)
            total = after
        out[i] = total + error


@njit(**IN_ORDER)
def scores_columns(Xt: Any, w: Any, b: float, lo: int, hi: int, out: Any) -> None:
    """The same for the transpose of an F-ordered matrix."""
    errors = np.zeros(hi - lo)
    out[lo:hi] = b
    for j in range(Xt.shape[0]):
        column, a = Xt[j], w[j]
        for i in range(lo, hi):
            x = np.float64(column[i])
            product = a * x
            before = out[i]
            after = before + product
            errors[i - lo] += _error_of_product(a, x, product) + _error_of_sum(before, product, after)
            out[i] = after
    for i in range(lo, hi):
        out[i] += errors[i - lo]


@njit(**IN_ORDER)
def scores_sparse(data: Any, indices: Any, indptr: Any, w: Any, b: float, lo: int, hi: int, out: Any) -> None:
    """The same for the rows of a CSR matrix."""
    for i in range(lo, hi):
        total, error = b, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            a, x = w[indices[k]], np.float64(data[k])
            product = a * x
            after = total + product
            error += _error_of_product(a, x, product) + _error_of_sum(total, product, after)
            total = after
        out[i] = total + error


@njit(**IN_ORDER)
def add_rows(X: Any, r: Any, lo: int, hi: int, total: Any, errors: Any) -> None:
    """Add X' r of the rows lo to hi of a C-ordered matrix to total, and what rounding lost to errors."""
    for i in range(lo, hi):
        a, row = r[i], X[i]
        if a == 0.0:
            continue
        for j in range(row.size):
            x = np.float64(row[j])
            product = a * x
            before = total[j]
            after = before + product
            errors[j] += _error_of_product(a, x, product) + _error_of_sum(before, product, after)
            total[j] = after


@njit(**IN_ORDER)
def add_columns(Xt: Any, r: Any, lo: int, hi: int, total: Any, errors: Any) -> None:
    """The same for the transpose of an F-ordered matrix."""
    for j in range(Xt.shape[0]):
        column = Xt[j]
        before, error = total[j], errors[j]
        for i in range(lo, hi):
            x = np.float64(column[i])
            product = r[i] * x
            after = before + product
            error += _error_of_product(r[i], x, product) + _error_of_sum(before, product, after)
            before = after
        total[j], errors[j] = before, error


@njit(**IN_ORDER)
def add_sparse(data: Any, indices: Any, indptr: Any, r: Any, lo: int, hi: int, total: Any, errors: Any) -> None:
    """The same for the rows of a CSR matrix."""
    for i in range(lo, hi):
        a = r[i]
        if a == 0.0:
            continue
        for k in range(indptr[i], indptr[i + 1]):
            j, x = indices[k], np.float64(data[k])
            product = a * x
            before = total[j]
            after = before + product
            errors[j] += _error_of_product(a, x, product) + _error_of_sum(before, product, after)
            total[j] = after


@njit(**ANY_ORDER)
def smooth_lines(common: Any, t: Any, shift: float, slopes: Any, lo: int, hi: int) -> float:
    """The sum of losses without kinks at the scores t + shift; their weighted slopes there go to ``slopes``."""
    phi, y, s, weights, scales = common
    work = np.empty((5, MOST_ROWS))
    total = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        for i in range(n):
            work[0, i] = t[start + i] + shift
        total += losses(phi, y, s, weights, scales, start, n, work)
        for i in range(n):
            slopes[start + i] = work[0, i]
    return total


@njit(**ANY_ORDER)
def sums_of_slopes(slopes: Any, s: Any, lo: int, hi: int) -> Any:
    """The sums of slopes, of their absolute values, and of their squares divided by the weights s of the rows."""
    total = size = energy = 0.0
    if s.size == 0:
        for i in range(lo, hi):
            r = slopes[i]
            total += r
            size += abs(r)
            energy += r * r
        return total, size, energy
    for i in range(lo, hi):
        r, weight = slopes[i], s[i]
        total += r
        size += abs(r)
        energy += r * r / weight if weight > 0.0 else 0.0
    return total, size, energy
