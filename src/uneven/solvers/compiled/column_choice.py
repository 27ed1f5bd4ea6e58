"""Compiled copies of some columns of a CSR matrix, and the weighted squares of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER


@njit(**ANY_ORDER)
def copy_columns(X: Any, chosen: Any, lo: int, hi: int, out: Any) -> None:
    """Copy some columns of the rows lo to hi of a C-ordered matrix."""
    for i in range(lo, hi):
        row, into = X[i], out[i]
        for k in range(chosen.size):
            into[k] = row[np.uint64(chosen[k])]


@njit(**ANY_ORDER)
def count_chosen(indices: Any, indptr: Any, place: Any, lo: int, hi: int, counts: Any) -> None:
    """How many numbers of each row are in chosen columns; ``place`` is -1 for the others."""
    for i in range(lo, hi):
        count = 0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            count += place[np.uint64(indices[k])] >= 0
        counts[i] = count


@njit(**ANY_ORDER)
def copy_chosen(
    data: Any, indices: Any, indptr: Any, place: Any, lo: int, hi: int, new_indptr: Any, new_indices: Any, new_data: Any
) -> None:
    """Copy the numbers in chosen columns, with their new column numbers."""
    for i in range(lo, hi):
        to = new_indptr[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = place[np.uint64(indices[k])]
            if j >= 0:
                new_indices[np.uint64(to)] = j
                new_data[np.uint64(to)] = data[k]
                to += 1


@njit(**ANY_ORDER)
def add_squares_sparse(data: Any, indices: Any, indptr: Any, h: Any, lo: int, hi: int, total: Any) -> None:
    """Add (X 1)' diag(h) (X 1) of the rows lo to hi to total: one of the two triangles holds each product."""
    last = total.shape[0] - 1
    for i in range(lo, hi):
        if h[i] == 0.0:
            continue
        first, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        into_last = total[last]
        into_last[last] += h[i]
        for k in range(first, end):
            a = h[i] * data[k]
            row = total[np.uint64(indices[k])]
            into_last[np.uint64(indices[k])] += a
            for m in range(first, k + np.uint64(1)):
                row[np.uint64(indices[m])] += a * data[m]
