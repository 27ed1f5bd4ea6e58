"""The Gram matrix X X' of a design with few rows, computed once and shared by the fits that can use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.design import Design, SparseRows, design
from uneven.solvers.running import blas_on_all_cores, in_threads, row_ranges


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Multiplications from which the products of a dense matrix are computed in single precision first: with fewer,
    #: that would save too little. Steps then correct what the lost digits change.
    worth_single: float = 2e9


LIMITS = Limits()
#: Columns that are multiplied at once. Their products are summed in double precision.
_BLOCK_COLUMNS = 4096
#: With more rows in all parts together, one Gram matrix for all of them would need too much memory.
_MOST_SHARED_ROWS = 10_000


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
        found = _kept[design] = found or _compute(design, exact)
    return found


def is_at_hand(design: Design) -> bool:
    """Whether the Gram matrix was computed before, or others will use it too."""
    return design in _kept or source.get() is not None


def multiplications(design: Design) -> float:
    """How many multiplications the Gram matrix costs, in units of those of a dense matrix."""
    if isinstance(design, SparseRows):
        columns = np.bincount(design.X.indices, minlength=1).astype(np.float64)
        return 50.0 * 0.5 * float(columns @ columns)  # each takes about 50 times as long
    return float(design.n) ** 2 * design.d


def _compute(design: Design, exact: bool) -> Gram:
    if isinstance(design, SparseRows):
        return Gram(_of_sparse(design), exact=True)
    exact = exact or design.n**2 * design.d <= LIMITS.worth_single
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
    in_threads(lambda k, lo, hi: loops.row_products.mirror(total, lo, hi), row_ranges(n, n * n))


def _of_sparse(design: SparseRows) -> np.ndarray:
    X, n = design.X, design.n
    columns = X.tocsc()
    total = np.zeros((n, n))
    work = int(np.square(np.diff(columns.indptr), dtype=np.int64).sum())
    in_threads(
        lambda k, lo, hi: loops.row_products.add_sparse_products(
            X.data, X.indices, X.indptr, columns.data, columns.indices, columns.indptr, lo, hi, total
        ),
        row_ranges(n, work),
    )
    _mirror(total)
    return total


# -- one Gram matrix for many fits to parts of the same rows, as in cross-validation ---------------------------------


class SharedGrams:
    """Gram matrices that fits share: that of all rows, and that of the rows of the current part.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.solvers.linear.design import design
    >>> from uneven.solvers.linear.gram import gram_of
    >>> from uneven.solvers.linear.gram import SharedGrams
    >>> X, grams = np.eye(4), SharedGrams()
    >>> with grams.part(X, np.array([0, 2])):
    ...     gram_of(design(X[[0, 2]])).matrix
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self) -> None:
        self._all: Design | None = None
        self._read: Any = None
        self._part: Gram | None = None

    @contextmanager
    def part(self, X: Any, rows: np.ndarray) -> Iterator[None]:
        """While this lasts, fits to ``X[rows]`` share a Gram matrix, taken from that of X.

        With X None (the rows are preprocessed anew in each part), fits to the same matrix share theirs.
        """

        def find(asked: Design, exact: bool) -> Gram | None:
            if self._part is None or not _same_memory(asked.X, self._read) or (exact and not self._part.exact):
                self._read, self._part = asked.X, self._from_all(asked, X, rows, exact)
            return self._part

        token = source.set(find)
        try:
            yield
        finally:
            source.reset(token)
            self._read = self._part = None

    def _from_all(self, asked: Design, X: Any, rows: np.ndarray, exact: bool) -> Gram:
        """The rows and columns of a part in the Gram matrix of all rows; computed alone if X is not what was read."""
        token = source.set(None)
        try:
            if not _holds(X, rows, asked):
                return gram_of(asked, exact=exact)
            if self._all is None or self._all.X is not X:
                self._all = design(X)
            whole = gram_of(self._all, exact=exact)
        finally:
            source.reset(token)
        return Gram(whole.matrix[np.ix_(rows, rows)], whole.exact)


def _holds(X: Any, rows: np.ndarray, asked: Design) -> bool:
    """Whether X is a matrix that solvers use as it is, and these rows of it are those of the design."""
    kind = type(asked.X)
    if type(X) is not kind or X.shape[0] > _MOST_SHARED_ROWS or X.dtype != asked.X.dtype or rows.dtype == bool:
        return False
    if isinstance(X, np.ndarray):
        if not (X.flags.c_contiguous or X.flags.f_contiguous):
            return False
    elif X.format != "csr":
        return False
    if (rows.size, X.shape[1]) != (asked.n, asked.d):
        return False
    return all(np.array_equal(_row(X, int(rows[k])), _row(asked.X, k)) for k in (0, rows.size // 2, rows.size - 1))


def _row(X: Any, k: int) -> np.ndarray:
    return np.asarray(X[k] if isinstance(X, np.ndarray) else X[[k]].toarray()[0])


def _same_memory(X: Any, other: Any) -> bool:
    """Whether two matrices are the same numbers in memory, with the same layout."""
    if other is None or type(X) is not type(other) or X.shape != other.shape:
        return False
    if isinstance(X, np.ndarray):
        return bool(X.__array_interface__["data"] == other.__array_interface__["data"] and X.strides == other.strides)
    return all(_same_memory(getattr(X, name), getattr(other, name)) for name in ("data", "indices", "indptr"))
