"""Systems of second derivatives: summing them over rows, factoring them, and solving with them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from uneven.solvers import loops
from uneven.solvers.running import blas_on_all_cores, in_threads, single_threaded_blas

#: Rows lo to hi as a float64 matrix, and a nonnegative weight for each.
Block = Callable[[int, int], tuple[np.ndarray, np.ndarray]]
#: Maps a gradient to an approximate Newton step (without its sign).
Metric = Callable[[np.ndarray], np.ndarray]
#: Columns up to which matrices of second derivatives are factored. With more, a factor takes longer than many passes
#: over X, and solvers only multiply with the matrices.
MOST_COLUMNS = 2000


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Columns up to which each of four parts of the rows gets a matrix of its own, so that threads need not wait; with
    #: more, BLAS uses the threads.
    own_matrix: int = 600


LIMITS = Limits()
#: Columns up to which the matrix stays in the cache, and our own loop is faster than BLAS.
_CACHED = 128
#: Rows of a matrix up to which BLAS factors it faster on one thread.
_ONE_THREAD = 700


def sum_squares(block: Block, count: int, size: int, rows_per_block: int) -> np.ndarray:
    """Sum the weighted squares of ``count`` rows; the last row and column belong to a column of ones."""
    parts = 4 if size <= LIMITS.own_matrix and count * size**2 >= 4e6 else 1
    ranges = [(count * k // parts, count * (k + 1) // parts) for k in range(parts)]
    totals = np.zeros((parts, size, size))
    add_block = loops.passes.add_squares if size <= _CACHED else _add_by_blas

    def add(k: int, lo: int, hi: int) -> None:
        for start in range(lo, hi, rows_per_block):
            add_block(*block(start, min(start + rows_per_block, hi)), totals[k])

    with single_threaded_blas() if _CACHED < size <= LIMITS.own_matrix else nullcontext():
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


def factor_in_place(matrix: np.ndarray) -> bool:
    """Replace the lower triangle of a matrix by its Cholesky factor L, where matrix = L L'.

    The rest stays as it is. Returns False if the matrix is not positive definite.
    """
    from scipy.linalg.lapack import dpotrf

    with blas_on_all_cores() if len(matrix) > _ONE_THREAD else nullcontext():
        # The lower triangle in C order is the upper one in Fortran order.
        return not dpotrf(matrix.T, lower=0, overwrite_a=1, clean=0)[1]


def solve_factored(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve L L' x = right, where L is the lower triangle of a matrix in C order."""
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(factor.T, right, lower=0)[0])


def cholesky_metric(hessian: np.ndarray) -> Metric:
    """Solve with a symmetric positive semidefinite matrix, after scaling it to unit diagonal.

    The scaling makes columns harmless whose scales differ by sixteen orders of magnitude. A matrix that is still
    singular (duplicated or constant columns without a penalty) gets the smallest ridge that makes it solvable.
    """
    # LAPACK itself: for small matrices, SciPy's functions around it take longer than it does.
    from scipy.linalg.lapack import dpotrf, dpotrs

    diagonal = np.diagonal(hessian).copy()
    positive = diagonal > 0
    scale = np.where(positive, 1 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
    # A column without curvature is treated as if it had that of the flattest other column.
    scale[~positive] = scale.max() if positive.any() else 1.0
    scaled = hessian * scale[:, None] * scale
    np.fill_diagonal(scaled, 1.0)
    alone = single_threaded_blas if len(scale) <= 2 * _ONE_THREAD else nullcontext
    ridge = 0.0
    with alone():
        while True:
            matrix = scaled.copy() if ridge == 0 else scaled + ridge * np.eye(len(scale))
            # LAPACK reads columns: it need not copy the transpose of a symmetric matrix in C order.
            factor, failed = dpotrf(matrix.T, lower=False, overwrite_a=True, clean=False)
            if not failed and np.diagonal(factor).min() > 1e-7:
                break
            ridge = max(10 * ridge, 1e-14)

    def solve(gradient: np.ndarray) -> np.ndarray:
        with alone():
            return scale * dpotrs(factor, scale * gradient, lower=False)[0]

    return solve


def diagonal_metric(diagonal: np.ndarray) -> Metric:
    """Divide by a positive diagonal matrix."""
    inverse = 1 / diagonal
    return lambda gradient: inverse * gradient


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray], right: np.ndarray, inverse: np.ndarray, *, accuracy: float, most: int
) -> np.ndarray:
    """Solve a positive definite system, given by its products with vectors, to a relative residual ``accuracy``.

    ``inverse`` is the inverse of the diagonal that preconditions it.
    """
    x = np.zeros_like(right)
    residual = right.copy()
    scaled = inverse * residual
    direction = scaled.copy()
    size = float(residual @ scaled)
    target = accuracy**2 * size
    for _ in range(most):
        image = product(direction)
        step = size / float(direction @ image)
        x += step * direction
        residual -= step * image
        scaled = inverse * residual
        before, size = size, float(residual @ scaled)
        if size <= target:
            break
        direction = scaled + (size / before) * direction
    return x
