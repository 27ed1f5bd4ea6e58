"""Compiled products of the rows of X with each other, whole or with four vectors, and the system of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER


@njit(**ANY_ORDER)
def add_sparse_products(
    data: Any, indices: Any, indptr: Any, column_data: Any, column_rows: Any, column_starts: Any, lo: int, hi: int,
    out: Any,
) -> None:  # fmt: skip
    """Write the products of the rows lo to hi of a CSR matrix with all rows before them, and with themselves.

    The same matrix is also given by its columns (CSC, row numbers in rising order): each entry of row i meets only the
    entries of its column.
    """
    for i in range(lo, hi):
        row = out[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            value, column = data[k], indices[k]
            for p in range(np.uint64(column_starts[column]), np.uint64(column_starts[column + 1])):
                j = column_rows[p]
                if j > i:
                    break
                row[np.uint64(j)] += value * column_data[p]


@njit(**ANY_ORDER)
def mirror(matrix: Any, lo: int, hi: int) -> None:
    """Copy the columns lo to hi of the lower triangle of a square matrix into the upper one, in blocks."""
    n, size = matrix.shape[0], 64
    for left in range(lo, hi, size):
        right = min(left + size, hi)
        for top in range(left, n, size):
            for i in range(top, min(top + size, n)):
                for j in range(left, min(right, i)):
                    matrix[j, i] = matrix[i, j]


@njit(**ANY_ORDER)
def fill_system(gram: Any, rows: Any, roots: Any, lo: int, hi: int, out: Any) -> None:
    """The lower triangle of I + R G R for some rows, where R is diagonal with the given roots."""
    for i in range(lo, hi):
        source, root, target = gram[rows[i]], roots[i], out[i]
        for j in range(i + 1):
            target[j] = root * roots[j] * source[rows[j]]
        target[i] += 1.0


#: Vectors that are multiplied at once: with two rows of X, they fill the registers.
TOGETHER = 4
#: Numbers of X that are read before they are used once more, so that they are still in the cache; so many columns at
#: least and at most.
_NUMBERS, _LEAST_COLUMNS, _MOST_COLUMNS = 1 << 17, 128, 512


@njit(**ANY_ORDER)
def add_by_rows(X: Any, vectors: Any, lo: int, hi: int, out: Any) -> None:
    """Add what the columns lo to hi contribute, for X in C order; vectors and out have one row for each vector."""
    n = X.shape[0]
    columns = min(max(_NUMBERS // max(n, 1), _LEAST_COLUMNS), _MOST_COLUMNS)
    sums = np.empty((TOGETHER, columns))
    for left in range(lo, hi, columns):
        right = min(left + columns, hi)
        sums[:] = 0.0
        for i in range(0, n - 1, 2):
            _add_pair(X[i, left:right], X[i + 1, left:right], vectors, i, sums)
        if n % 2:
            _add_row(X[n - 1, left:right], vectors, n - 1, sums)
        for i in range(0, n - 1, 2):
            _add_products_of_pair(X[i, left:right], X[i + 1, left:right], sums, i, out)
        if n % 2:
            _add_products(X[n - 1, left:right], sums, n - 1, out)


@njit(**ANY_ORDER)
def _add_pair(x: Any, z: Any, vectors: Any, i: int, sums: Any) -> None:
    s0, s1, s2, s3 = sums[0], sums[1], sums[2], sums[3]
    v0, v1, v2, v3 = vectors[0, i], vectors[1, i], vectors[2, i], vectors[3, i]
    u0, u1, u2, u3 = vectors[0, i + 1], vectors[1, i + 1], vectors[2, i + 1], vectors[3, i + 1]
    for j in range(x.size):
        s0[j] += x[j] * v0 + z[j] * u0
        s1[j] += x[j] * v1 + z[j] * u1
        s2[j] += x[j] * v2 + z[j] * u2
        s3[j] += x[j] * v3 + z[j] * u3


@njit(**ANY_ORDER)
def _add_row(x: Any, vectors: Any, i: int, sums: Any) -> None:
    for k in range(TOGETHER):
        for j in range(x.size):
            sums[k, j] += x[j] * vectors[k, i]


@njit(**ANY_ORDER)
def _add_products_of_pair(x: Any, z: Any, sums: Any, i: int, out: Any) -> None:
    s0, s1, s2, s3 = sums[0], sums[1], sums[2], sums[3]
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    r0, r1, r2, r3 = 0.0, 0.0, 0.0, 0.0
    for j in range(x.size):
        t0 += x[j] * s0[j]
        t1 += x[j] * s1[j]
        t2 += x[j] * s2[j]
        t3 += x[j] * s3[j]
        r0 += z[j] * s0[j]
        r1 += z[j] * s1[j]
        r2 += z[j] * s2[j]
        r3 += z[j] * s3[j]
    out[0, i] += t0
    out[1, i] += t1
    out[2, i] += t2
    out[3, i] += t3
    out[0, i + 1] += r0
    out[1, i + 1] += r1
    out[2, i + 1] += r2
    out[3, i + 1] += r3


@njit(**ANY_ORDER)
def _add_products(x: Any, sums: Any, i: int, out: Any) -> None:
    for k in range(TOGETHER):
        total = 0.0
        for j in range(x.size):
            total += x[j] * sums[k, j]
        out[k, i] += total


@njit(**ANY_ORDER)
def add_by_columns(X: Any, vectors: Any, lo: int, hi: int, out: Any) -> None:
    """The same for X in Fortran order, given as its transpose."""
    for j in range(lo, hi):
        x = X[j]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(x.size):
            s0 += x[i] * vectors[0, i]
            s1 += x[i] * vectors[1, i]
            s2 += x[i] * vectors[2, i]
            s3 += x[i] * vectors[3, i]
        for i in range(x.size):
            out[0, i] += x[i] * s0
            out[1, i] += x[i] * s1
            out[2, i] += x[i] * s2
            out[3, i] += x[i] * s3
