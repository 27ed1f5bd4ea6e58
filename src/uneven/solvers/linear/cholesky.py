"""Cholesky factors of symmetric matrices in C order, in place."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from uneven.solvers.threads import blas_on_all_cores

#: Rows up to which more than one thread does not help.
_SMALL = 700


def factor_in_place(matrix: np.ndarray) -> bool:
    """Replace the lower triangle of a matrix by its Cholesky factor L, where matrix = L L'.

    The rest stays as it is. Returns False if the matrix is not positive definite.
    """
    from scipy.linalg.lapack import dpotrf

    with blas_on_all_cores() if len(matrix) > _SMALL else nullcontext():
        # The lower triangle in C order is the upper one in Fortran order.
        return not dpotrf(matrix.T, lower=0, overwrite_a=1, clean=0)[1]


def solve_factored(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve L L' x = right, where L is the lower triangle of a matrix in C order."""
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(factor.T, right, lower=0)[0])
