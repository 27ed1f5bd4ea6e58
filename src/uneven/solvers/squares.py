"""Sums of weighted squares of rows, (X 1)' diag(h) (X 1): the work of Newton's method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uneven.solvers._threads import each, single_threaded_blas

#: Rows lo to hi as a float64 matrix, and a nonnegative weight for each.
Block = Callable[[int, int], tuple[np.ndarray, np.ndarray]]
#: Numbers of a matrix of second derivatives up to which each part of the rows has one of its own.
_SMALL = 600**2
_PARTS = 4


def summed_squares(block: Block, count: int, size: int, rows_per_block: int) -> np.ndarray:
    """The matrix of a weighted sum of squares, its last row and column for a column of ones."""
    parts = _PARTS if size**2 <= _SMALL and count >= 2 * _PARTS * 64 else 1
    ranges = [(count * k // parts, count * (k + 1) // parts) for k in range(parts)]
    totals = np.zeros((parts, size, size))

    def add(k: int, lo: int, hi: int) -> None:
        for start in range(lo, hi, rows_per_block):
            rows, weight = block(start, min(start + rows_per_block, hi))
            used = np.flatnonzero(weight)
            if used.size < 0.7 * weight.size:
                rows, weight = rows[used], weight[used]
            rooted = np.sqrt(weight)
            scaled = rows * rooted[:, None]
            totals[k, :-1, :-1] += scaled.T @ scaled
            totals[k, :-1, -1] += rooted @ scaled
            totals[k, -1, -1] += weight.sum()

    if parts == 1:
        add(0, 0, count)
    else:
        with single_threaded_blas():
            each(add, ranges)
    total = totals.sum(axis=0) if parts > 1 else totals[0]
    total[-1, :-1] = total[:-1, -1]
    return total
