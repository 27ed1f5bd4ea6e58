"""The matrix X behind one interface, whatever its order, precision or sparsity. It is never copied as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from uneven.solvers import loops
from uneven.solvers.running import in_threads, row_ranges, single_threaded_blas


class Design(ABC):
    """n rows and d columns of float64 or float32.

    Attributes
    ----------
    X : ndarray or CSR matrix
    layout : {"rows", "columns", "sparse"}
        How X lies in memory. There is a compiled loop for each; its name ends so.
    arrays : tuple of ndarray
        X as these loops take it: in C order; its transpose, if it is in F order; or the three arrays of a CSR matrix.
    n, d : int
    """

    X: Any
    layout: str
    arrays: tuple[Any, ...]
    n: int
    d: int

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are stored."""

    @property
    @abstractmethod
    def most_terms(self) -> int:
        """Most numbers in a row."""

    @abstractmethod
    def rows(self, chosen: Any) -> np.ndarray:
        """Some rows as a dense float64 matrix: a copy, or a view."""

    @abstractmethod
    def combine(self, chosen: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Some rows, each times its coefficient, summed."""

    @abstractmethod
    def some(self, chosen: np.ndarray) -> Design:
        """A dense copy of some rows, in the same precision."""

    @abstractmethod
    def columns(self, chosen: np.ndarray) -> Design:
        """A copy of some columns, of the same kind and in the same precision."""

    @abstractmethod
    def fullest_first(self, chosen: np.ndarray) -> np.ndarray:
        """Some columns in the order in which it is fastest to compute their products."""

    @abstractmethod
    def squared_transposed_product(self, r: np.ndarray) -> np.ndarray:
        """(X * X)' r in float64."""

    @abstractmethod
    def transposed_product(self, r: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X' r and abs(X)' abs(q), by one pass.

        If abs(q) is at least abs(r), the latter times :attr:`terms_of_sums` units of rounding bounds the error of the
        former.
        """

    @property
    def terms_of_sums(self) -> int:
        """Most additions on the way of a number into a sum of :meth:`transposed_product`."""
        parts = len(row_ranges(self.n, self.numbers, self.d))
        return -(-self.n // parts) + parts

    def _loop(self, module: Any, name: str) -> Callable[..., Any]:
        """A compiled loop for this layout."""
        return partial(getattr(module, f"{name}_{self.layout}"), *self.arrays)

    def add_gradient(self, common: tuple[Any, ...], w: np.ndarray, b: float, lo: int, hi: int, g: np.ndarray) -> float:
        """The sum of the losses of the rows lo to hi; their gradient is added to g."""
        loss: float = self._loop(loops.passes, "pass")(*common, w, b, lo, hi, g)
        return loss

    def add_kinked_gradient(
        self, common: tuple[Any, ...], t: np.ndarray, u: np.ndarray, lo: int, hi: int, g: np.ndarray
    ) -> None:
        """Add the gradient of the rows lo to hi, with scores t and multipliers u, to g."""
        self._loop(loops.kinked_passes, "gradient")(common, t, u, lo, hi, g)

    def add_curvature_product(
        self, curvature: np.ndarray, v: np.ndarray, c: float, lo: int, hi: int, g: np.ndarray
    ) -> None:
        """Add (X 1)' diag(curvature) (X 1) (v c) of the rows lo to hi to g."""
        self._loop(loops.passes, "curvature_product")(curvature, v, c, lo, hi, g)

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """X w + b."""
        return self._scores(loops.passes, theta) if theta[:-1].any() else np.full(self.n, float(theta[-1]))

    def careful_scores(self, theta: np.ndarray) -> np.ndarray:
        """X w + b, wrong by one unit of rounding plus (d eps)^2 (abs(X) abs(w) + abs(b))."""
        return self._scores(loops.proof_sums, theta)

    def _scores(self, module: Any, theta: np.ndarray) -> np.ndarray:
        w, b, out = np.ascontiguousarray(theta[:-1], dtype=np.float64), float(theta[-1]), np.empty(self.n)
        write = self._loop(module, "scores")
        in_threads(lambda k, lo, hi: write(w, b, lo, hi, out), row_ranges(self.n, self.numbers))
        return out

    def weighted_sum(self, r: np.ndarray) -> np.ndarray:
        """X' r in float64."""
        ranges = row_ranges(self.n, self.numbers, self.d)
        sums, add = np.zeros((len(ranges), self.d)), self._loop(loops.passes, "add")
        in_threads(lambda k, lo, hi: add(r[lo:hi], lo, hi - lo, sums[k]), ranges)
        return sums.sum(axis=0)

    def careful_transposed_product(self, r: np.ndarray) -> np.ndarray:
        """X' r, wrong by one unit of rounding plus (n eps)^2 abs(X)' abs(r)."""
        total, errors = np.zeros((2, self.d))
        self._loop(loops.proof_sums, "add")(r, 0, self.n, total, errors)
        return total + errors

    @property
    def rows_per_block(self) -> int:
        """Rows that are converted or given to BLAS at once: at most 4 MB, at least 0.5 MB (BLAS is slow on less)."""
        share = self.numbers * self.X.dtype.itemsize // 64
        return max(64, min(max(share, 1 << 19), 1 << 22) // (8 * max(self.d, 1)))


class Dense(Design):
    """A C- or F-ordered array; any other is copied into C order."""

    def __init__(self, X: np.ndarray) -> None:
        if not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        self.X = X
        self.layout, self.arrays = ("rows", (X,)) if X.flags.c_contiguous else ("columns", (X.T,))
        self.n, self.d = X.shape

    @property
    def numbers(self) -> int:
        return self.n * self.d

    @property
    def most_terms(self) -> int:
        return self.d

    @cached_property
    def with_ones(self) -> np.ndarray:
        """A copy in C order and float64, with a last column of ones: for small data, where calls cost most."""
        copy = np.empty((self.n, self.d + 1))
        copy[:, :-1] = self.X
        copy[:, -1] = 1.0
        return copy

    def rows(self, chosen: Any) -> np.ndarray:
        return self.X[chosen].astype(np.float64, copy=False)

    def combine(self, chosen: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        size = self.rows_per_block
        if chosen.size <= size:
            return np.asarray(coefficients @ self.rows(chosen))
        total = np.zeros(self.d)
        for lo in range(0, chosen.size, size):
            total += coefficients[lo : lo + size] @ self.rows(chosen[lo : lo + size])
        return total

    def some(self, chosen: np.ndarray) -> Design:
        return Dense(self.X[chosen])

    def fullest_first(self, chosen: np.ndarray) -> np.ndarray:
        return np.sort(chosen)

    def columns(self, chosen: np.ndarray) -> Design:
        if not self.X.flags.c_contiguous:
            return Dense(self.X.T[chosen].T)
        out = np.empty((self.n, chosen.size), dtype=self.X.dtype)
        ranges = row_ranges(self.n, self.numbers)
        in_threads(lambda k, lo, hi: loops.coordinate_descent.copy_columns(self.X, chosen, lo, hi, out), ranges)
        return Dense(out)

    def transposed_product(self, r: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.numbers <= 1 << 18:  # as fast as one compiled pass, and no compiler is needed
            with single_threaded_blas():
                return r @ self.X, np.abs(q) @ np.abs(self.X)
        ranges = row_ranges(self.n, self.numbers, self.d)
        sums = np.zeros((2, len(ranges), self.d))
        add = self._loop(loops.passes, "transposed")
        in_threads(lambda k, lo, hi: add(r, q, lo, hi, sums[0, k], sums[1, k]), ranges)
        product, sizes = sums.sum(axis=1)
        return product, sizes

    def squared_transposed_product(self, r: np.ndarray) -> np.ndarray:
        size = self.rows_per_block
        ranges = [slice(lo, lo + size) for lo in range(0, self.n, size)]
        return np.sum([np.square(self.rows(block)).T @ r[block] for block in ranges], axis=0)


class SparseRows(Design):
    """A CSR matrix."""

    def __init__(self, X: Any) -> None:
        self.X, self.layout, self.arrays = X, "sparse", (X.data, X.indices, X.indptr)
        self.n, self.d = X.shape

    @property
    def numbers(self) -> int:
        return int(self.X.nnz)

    @property
    def most_terms(self) -> int:
        return int(np.diff(self.X.indptr).max(initial=0))

    def rows(self, chosen: Any) -> np.ndarray:
        return self.X[chosen].toarray().astype(np.float64, copy=False)

    def combine(self, chosen: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return loops.passes.combine_sparse(*self.arrays, chosen, coefficients, np.zeros(self.d))

    def some(self, chosen: np.ndarray) -> Design:
        return Dense(self.X[chosen].toarray())

    @cached_property
    def _counts(self) -> np.ndarray:
        """How many numbers each column has."""
        ranges = row_ranges(self.numbers, self.numbers, self.d)
        counts = np.zeros((len(ranges), self.d), dtype=np.int32)
        in_threads(lambda k, lo, hi: loops.coordinate_descent.count_columns(self.X.indices, lo, hi, counts[k]), ranges)
        return counts.sum(axis=0)

    def fullest_first(self, chosen: np.ndarray) -> np.ndarray:
        if chosen.size <= 200:  # their products stay in the cache, whatever their order
            return np.sort(chosen)
        return chosen[np.argsort(-self._counts[chosen], kind="stable")]

    def columns(self, chosen: np.ndarray) -> Design:
        place = np.full(self.d, -1, dtype=self.X.indices.dtype)
        place[chosen] = np.arange(chosen.size)
        X, indptr = self.X, np.zeros(self.n + 1, dtype=self.X.indptr.dtype)

        def copy(k: int, lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
            most = int(X.indptr[hi]) - int(X.indptr[lo]) + 1  # only what is written becomes memory
            indices, data = np.empty(most, X.indices.dtype), np.empty(most, X.data.dtype)
            copy_chosen = loops.coordinate_descent.copy_chosen
            count = copy_chosen(X.data, X.indices, X.indptr, place, lo, hi, indptr[1:], indices, data)
            return indices[:count], data[:count]

        ranges = row_ranges(self.n, self.numbers)
        parts = in_threads(copy, ranges)
        before = 0
        for (lo, hi), (indices, _) in zip(ranges, parts, strict=True):
            indptr[lo + 1 : hi + 1] += before
            before += indices.size
        indices, data = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return SparseRows(type(X)((data, indices, indptr), shape=(self.n, chosen.size)))

    @cached_property
    def by_columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A copy that is stored column by column: numbers, rows, and where each column begins."""
        columns = self.X.tocsc()
        return columns.data, columns.indices, columns.indptr

    def transposed_product(self, r: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ranges = row_ranges(self.n, self.numbers, self.d)
        # Both numbers of a column lie together, because columns are met in any order.
        sums = np.zeros((len(ranges), 2 * self.d))
        in_threads(
            lambda k, lo, hi: loops.passes.both_transposed_sparse(*self.arrays, r, q, lo, hi, sums[k]),
            ranges,
        )
        both = sums.sum(axis=0)
        return both[::2].copy(), both[1::2].copy()

    def squared_transposed_product(self, r: np.ndarray) -> np.ndarray:
        return loops.passes.squared_sparse(*self.arrays, r, np.zeros(self.d))


def design(X: Any) -> Design:
    """Wrap a validated array or CSR matrix."""
    return Dense(X) if isinstance(X, np.ndarray) else SparseRows(X)
