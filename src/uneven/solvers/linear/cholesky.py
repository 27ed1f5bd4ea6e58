"""Cholesky factors of large matrices by our own threads. BLAS should use one thread.

The threads of BLAS wait for each other by spinning, which takes many times longer when other programs use the cores.
"""

from __future__ import annotations

import numpy as np

from uneven.solvers.threads import in_threads

#: Rows up to which LAPACK alone is faster.
_SMALL = 700
#: Columns that are eliminated at once, and rows of the tiles from which they are subtracted.
_PANEL = 192
_TILE = 512


def factor_in_place(matrix: np.ndarray) -> bool:
    """Replace the lower triangle of a symmetric matrix in C order by its Cholesky factor L, where matrix = L L'.

    The rest of the matrix is overwritten too. Returns False if the matrix is not positive definite.
    """
    from scipy.linalg.lapack import dpotrf, dtrtri

    n = len(matrix)
    if n <= _SMALL:  # the lower triangle in C order is the upper one in Fortran order
        return not dpotrf(matrix.T, lower=0, overwrite_a=1, clean=0)[1]
    for start in range(0, n, _PANEL):
        stop = min(start + _PANEL, n)
        corner, failed = dpotrf(matrix[start:stop, start:stop], lower=1, clean=1)
        if failed:
            return False
        matrix[start:stop, start:stop] = corner
        if stop < n:
            _eliminate(matrix, start, stop, np.ascontiguousarray(dtrtri(corner, lower=1)[0].T))
    return True


def _eliminate(matrix: np.ndarray, start: int, stop: int, inverse: np.ndarray) -> None:
    """Divide the rows below a factored corner by it, and subtract their products from the rest."""
    n = len(matrix)
    below = [(lo, min(lo + _TILE, n)) for lo in range(stop, n, _TILE)]
    panel = np.empty((n - stop, stop - start))

    def divide(k: int, lo: int, hi: int) -> None:
        np.matmul(matrix[lo:hi, start:stop], inverse, out=panel[lo - stop : hi - stop])
        matrix[lo:hi, start:stop] = panel[lo - stop : hi - stop]

    def subtract(k: int, row: int, column: int) -> None:
        (top, bottom), (left, right) = below[row], below[column]
        rows, columns = panel[top - stop : bottom - stop], panel[left - stop : right - stop]
        matrix[top:bottom, left:right] -= rows @ columns.T

    in_threads(divide, below)
    in_threads(subtract, [(i, j) for i in range(len(below)) for j in range(i + 1)])


def solve_factored(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve L L' x = right, where L is the lower triangle of a matrix in C order."""
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(factor.T, right, lower=0)[0])
