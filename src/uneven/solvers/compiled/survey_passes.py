"""Compiled sums over rows for a first look: weights, columns and their squares, for each class.

``out`` has six rows of d + 1 numbers: weighted sums of x - about of the negative and the positive class, the same of
its square, and both sums over all rows without weights. The last entries of the first two rows are sums of weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER


@njit(**ANY_ORDER)
def add_rows(X: Any, y: Any, s: Any, about: Any, lo: int, hi: int, out: Any) -> None:
    """Add the rows lo to hi of a C-ordered matrix."""
    d = X.shape[1]
    for i in range(lo, hi):
        label = y[i]
        a = s[i] if s.size else 1.0
        row, sums, squares = X[i], out[label], out[2 + label]
        for j in range(d):
            x = row[j] - about[j]
            sums[j] += a * x
            squares[j] += a * x * x
        out[label, d] += a
        if s.size:
            for j in range(d):
                x = row[j] - about[j]
                out[4, j] += x
                out[5, j] += x * x
    if not s.size:
        _take_over(d, out)


@njit(**ANY_ORDER)
def _take_over(d: int, out: Any) -> None:
    """Without weights the sums over all rows are those of both classes."""
    for j in range(d):
        out[4, j] = out[0, j] + out[1, j]
        out[5, j] = out[2, j] + out[3, j]


@njit(**ANY_ORDER)
def add_columns(Xt: Any, y: Any, s: Any, about: Any, lo: int, hi: int, out: Any) -> None:
    """The same for the transpose of an F-ordered matrix."""
    d, n = Xt.shape[0], hi - lo
    labels = y[lo:hi]
    positive = np.empty(n)
    for i in range(n):
        positive[i] = labels[i]
    weight = np.ones(n)
    if s.size:
        weight[:] = s[lo:hi]
    whole = one = 0.0
    for i in range(n):
        whole += weight[i]
        one += positive[i] * weight[i]
    out[0, d] += whole - one
    out[1, d] += one
    for j in range(d):
        column, centre = Xt[j, lo:hi], about[j]
        sums = squares = sum_1 = square_1 = plain = plain_square = 0.0
        for i in range(n):
            x = column[i] - centre
            first, second = weight[i] * x, weight[i] * x * x
            sums += first
            squares += second
            sum_1 += positive[i] * first
            square_1 += positive[i] * second
            plain += x
            plain_square += x * x
        out[0, j] += sums - sum_1
        out[1, j] += sum_1
        out[2, j] += squares - square_1
        out[3, j] += square_1
        out[4, j] += plain
        out[5, j] += plain_square


@njit(**ANY_ORDER)
def add_sparse(data: Any, indices: Any, indptr: Any, y: Any, s: Any, about: Any, lo: int, hi: int, out: Any) -> None:
    """The same for the rows of a CSR matrix; what is not stored is 0."""
    d = about.size
    for i in range(lo, hi):
        label = y[i]
        a = s[i] if s.size else 1.0
        out[label, d] += a
        for k in range(indptr[i], indptr[i + 1]):
            j, x = indices[k], np.float64(data[k])
            centre = about[j]
            change, square = x, x * x - 2.0 * x * centre  # against a number that is not stored
            out[label, j] += a * change
            out[2 + label, j] += a * square
            out[4, j] += change
            out[5, j] += square
    for label in range(2):
        for j in range(d):
            out[label, j] -= out[label, d] * about[j]
            out[2 + label, j] += out[label, d] * about[j] ** 2
    for j in range(d):
        out[4, j] -= (hi - lo) * about[j]
        out[5, j] += (hi - lo) * about[j] ** 2
