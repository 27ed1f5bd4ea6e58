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
def add_squares_sparse(data: Any, indices: Any, indptr: Any, h: Any, parts: int, part: int, total: Any) -> None:
    """Add (X 1)' diag(h) (X 1) to total: each product once, above or below the diagonal.

    Each thread writes the rows of total whose number is ``part`` modulo ``parts``. Columns with many numbers should
    come first, because then most products lie together.
    """
    last = total.shape[0] - 1
    own = last % parts == part
    for i in range(h.size):
        if h[i] == 0.0:
            continue
        first, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for k in range(first, end):
            j = np.uint64(indices[k])
            if j % np.uint64(parts) != np.uint64(part):
                continue
            a = h[i] * data[k]
            row = total[j]
            for m in range(first, k + np.uint64(1)):
                row[np.uint64(indices[m])] += a * data[m]
        if own:
            row = total[np.uint64(last)]
            row[last] += h[i]
            for k in range(first, end):
                row[np.uint64(indices[k])] += h[i] * data[k]


@njit(**ANY_ORDER)
def mirror(total: Any, lo: int, hi: int) -> None:
    """Make the rows and columns lo to hi of a matrix symmetric, of which each entry stands on one side only."""
    for i in range(lo, hi):
        for start in range(0, i, 64):
            for j in range(start, min(start + 64, i)):
                both = total[i, j] + total[j, i]
                total[i, j] = both
                total[j, i] = both
