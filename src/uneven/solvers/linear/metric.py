"""Metrics in which steps are taken: approximate inverse Hessians."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

from uneven.solvers.threads import single_threaded_blas

#: Columns up to which matrices of second derivatives are factored; with more, only products with them are computed.
MOST_COLUMNS = 2000
#: Rows of a matrix up to which BLAS is faster with one thread.
_SMALL = 1500
#: Maps a gradient to an approximate Newton step (without its sign).
Metric = Callable[[np.ndarray], np.ndarray]


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
    alone = single_threaded_blas if len(scale) <= _SMALL else nullcontext
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
