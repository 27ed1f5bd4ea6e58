"""The matrix (X 1)' diag(h) (X 1) of weighted squares of rows: most of the work of Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

from uneven.solvers import compiled
from uneven.solvers.threads import in_threads, single_threaded_blas

#: Rows lo to hi as a float64 matrix, and a nonnegative weight for each.
Block = Callable[[int, int], tuple[np.ndarray, np.ndarray]]
#: Up to this many columns the matrix stays in the cache, and our own loop is faster than BLAS.
_CACHED = 128
#: Up to this many columns each part of the rows gets a matrix of its own, so that threads need not wait.
_SMALL = 600
_PARTS = 4
#: Multiplications of a part below which a thread is not worth its start.
_LEAST_WORK = 1_000_000


def summed_squares(block: Block, count: int, size: int, rows_per_block: int) -> np.ndarray:
    """Sum the weighted squares of ``count`` rows; the last row and column belong to a column of ones."""
    parts = _PARTS if size <= _SMALL and count * size**2 >= _PARTS * _LEAST_WORK else 1
    ranges = [(count * k // parts, count * (k + 1) // parts) for k in range(parts)]
    totals = np.zeros((parts, size, size))
    add_block = compiled.passes.add_squares if size <= _CACHED else _add_by_blas

    def add(k: int, lo: int, hi: int) -> None:
        for start in range(lo, hi, rows_per_block):
            add_block(*block(start, min(start + rows_per_block, hi)), totals[k])

    with single_threaded_blas() if _CACHED < size <= _SMALL else nullcontext():
        in_threads(add, ranges)
    total = totals.sum(axis=0) if parts > 1 else totals[0]
    return np.tril(total) + np.tril(total, -1).T


def _add_by_blas(rows: np.ndarray, weight: np.ndarray, total: np.ndarray) -> None:
    """The same as ``passes.add_squares``."""
    used = np.flatnonzero(weight)
    if used.size < 0.7 * weight.size:
        rows, weight = rows[used], weight[used]
    rooted = np.sqrt(weight)
    scaled = rows * rooted[:, None]
    total[:-1, :-1] += scaled.T @ scaled
    total[-1, :-1] += rooted @ scaled
    total[-1, -1] += weight.sum()
