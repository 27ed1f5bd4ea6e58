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
def count_columns(indices: Any, lo: int, hi: int, counts: Any) -> None:
    """Add how often each column is among the numbers lo to hi of a CSR matrix."""
    for k in range(np.uint64(lo), np.uint64(hi)):
        counts[np.uint64(indices[k])] += np.int32(1)


@njit(**ANY_ORDER)
def copy_chosen(
    data: Any, indices: Any, indptr: Any, place: Any, lo: int, hi: int, ends: Any, new_indices: Any, new_data: Any
) -> int:
    """Copy the numbers of the rows lo to hi that are in chosen columns, with their new column numbers.

    ``place`` is -1 for the other columns. ``ends`` gets where each row ends in the copy, which has room for one number
    more than the rows: each is written, and overwritten unless it counts. Returns the length of the copy.
    """
    to = np.uint64(0)
    for i in range(lo, hi):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = place[np.uint64(indices[k])]
            new_indices[to] = j
            new_data[to] = data[k]
            to += np.uint64(j >= 0)
        ends[i] = to
    return int(to)


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
