"""The Gram matrix X X' of a design with few rows. It is computed once per design and kept as long as the design."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from uneven.solvers import compiled
from uneven.solvers.linear.design import Design, SparseRows
from uneven.solvers.threads import blas_on_all_cores, in_threads, row_ranges

#: Multiplications up to which the products are always computed in double precision: single would save too little.
_WORTH_SINGLE = 2e9
#: Columns that are multiplied at once; their products are summed in double precision.
_BLOCK_COLUMNS = 4096
#: How many times as long a multiplication takes for a sparse matrix.
_SPARSE_COST = 50.0


@dataclass(frozen=True)
class Gram:
    """The products of all pairs of rows.

    Attributes
    ----------
    matrix : ndarray of float64
    exact : bool
        Whether they were computed in double precision. Else they have about six digits.
    """

    matrix: np.ndarray
    exact: bool


_kept: WeakKeyDictionary[Design, Gram] = WeakKeyDictionary()


#: Asked for a Gram matrix before it is computed: design, exact -> Gram or None.
Source = Callable[[Design, bool], "Gram | None"]
source: ContextVar[Source | None] = ContextVar("source", default=None)


def gram_of(design: Design, *, exact: bool = False) -> Gram:
    """The Gram matrix; in double precision if ``exact``, or if that is fast."""
    found = _kept.get(design)
    if found is None or (exact and not found.exact):
        _kept.pop(design, None)  # frees its memory before the new one is made
        ask = source.get()
        found = ask(design, exact) if ask else None
        found = _kept[design] = found or _computed(design, exact)
    return found


def is_at_hand(design: Design) -> bool:
    """Whether the Gram matrix was computed before, or others will use it too."""
    return design in _kept or source.get() is not None


def multiplications(design: Design) -> float:
    """How many multiplications the Gram matrix costs, in units of those of a dense matrix."""
    if isinstance(design, SparseRows):
        columns = np.bincount(design.X.indices, minlength=1).astype(np.float64)
        return _SPARSE_COST * 0.5 * float(columns @ columns)
    return float(design.n) ** 2 * design.d


def _computed(design: Design, exact: bool) -> Gram:
    if isinstance(design, SparseRows):
        return Gram(_of_sparse(design), exact=True)
    exact = exact or design.n**2 * design.d <= _WORTH_SINGLE
    return Gram(_of_dense(design.X, np.float64 if exact else np.float32), exact)


def _of_dense(X: np.ndarray, dtype: type[np.floating]) -> np.ndarray:
    """Sum the products of blocks of columns."""
    from scipy.linalg import get_blas_funcs

    multiply = get_blas_funcs("syrk", dtype=np.dtype(dtype))
    total = np.zeros((len(X), len(X)))
    with blas_on_all_cores():
        for left in range(0, X.shape[1], _BLOCK_COLUMNS):
            columns = X[:, left : left + _BLOCK_COLUMNS]
            part = np.empty(columns.shape, dtype)
            in_threads(_copier(columns, part), row_ranges(len(X), part.size))
            products = multiply(1.0, part.T, trans=1, lower=0).T  # upper in Fortran order is lower in ours
            in_threads(_adder(products, total), row_ranges(len(X), total.size))
    _mirror(total)
    return total


def _copier(source: np.ndarray, target: np.ndarray) -> Callable[[int, int, int], None]:
    def copy(k: int, lo: int, hi: int) -> None:
        target[lo:hi] = source[lo:hi]

    return copy


def _adder(source: np.ndarray, target: np.ndarray) -> Callable[[int, int, int], None]:
    def add(k: int, lo: int, hi: int) -> None:
        target[lo:hi, :hi] += source[lo:hi, :hi]  # the lower triangle, and a little more

    return add


def _mirror(total: np.ndarray) -> None:
    n = len(total)
    in_threads(lambda k, lo, hi: compiled.row_space_passes.mirror(total, lo, hi), row_ranges(n, n * n))


def _of_sparse(design: SparseRows) -> np.ndarray:
    X, n = design.X, design.n
    columns = X.tocsc()
    total = np.zeros((n, n))
    work = int(np.square(np.diff(columns.indptr), dtype=np.int64).sum())
    in_threads(
        lambda k, lo, hi: compiled.row_space_passes.add_sparse_products(
            X.data, X.indices, X.indptr, columns.data, columns.indices, columns.indptr, lo, hi, total
        ),
        row_ranges(n, work),
    )
    _mirror(total)
    return total
