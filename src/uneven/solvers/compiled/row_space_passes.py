"""Compiled parts of the solver that works in the space of the rows: products of rows, and its linear system."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER


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
