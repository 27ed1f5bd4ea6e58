"""The matrix X behind one face, whatever its order, precision or sparsity. It is never copied as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from uneven.solvers import _blocks

#: Bytes of the blocks that are handed to BLAS or converted.
_BLOCK_BYTES = 1 << 22


class Design(ABC):
    """n rows and d columns of float64 or float32."""

    n: int
    d: int

    @abstractmethod
    def passed(self, common: tuple[Any, ...], w: np.ndarray, b: float, lo: int, hi: int, g: np.ndarray) -> float:
        """Losses of the rows lo to hi; their gradient is added to g."""

    @abstractmethod
    def rows(self, chosen: Any) -> np.ndarray:
        """Some rows as a dense float64 matrix: a copy, or a view."""

    @abstractmethod
    def product(self, w: np.ndarray) -> np.ndarray:
        """X w in float64."""

    @abstractmethod
    def transposed_product(self, r: np.ndarray) -> np.ndarray:
        """X' r in float64."""

    @abstractmethod
    def squared_transposed_product(self, r: np.ndarray) -> np.ndarray:
        """(X * X)' r in float64."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are stored."""

    @property
    def rows_per_block(self) -> int:
        return max(64, _BLOCK_BYTES // (8 * max(self.d, 1)))

    def ranges(self) -> list[tuple[int, int]]:
        """Blocks of rows of moderate size."""
        size = self.rows_per_block
        return [(lo, min(lo + size, self.n)) for lo in range(0, self.n, size)]


class Dense(Design):
    """A C- or F-ordered array; any other is copied into C order."""

    def __init__(self, X: np.ndarray) -> None:
        if not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        self.X = X
        self.n, self.d = X.shape

    @property
    def numbers(self) -> int:
        return self.n * self.d

    def passed(self, common: tuple[Any, ...], w: np.ndarray, b: float, lo: int, hi: int, g: np.ndarray) -> float:
        if self.X.flags.c_contiguous:
            return _blocks.pass_rows(self.X, *common, w, b, lo, hi, g)
        return _blocks.pass_columns(self.X.T, *common, w, b, lo, hi, g)

    def rows(self, chosen: Any) -> np.ndarray:
        return self.X[chosen].astype(np.float64, copy=False)

    def product(self, w: np.ndarray) -> np.ndarray:
        if self.X.dtype == np.float64:
            return self.X @ w
        return np.concatenate([self.rows(slice(lo, hi)) @ w for lo, hi in self.ranges()])

    def transposed_product(self, r: np.ndarray) -> np.ndarray:
        if self.X.dtype == np.float64:
            return self.X.T @ r
        return np.sum([self.rows(slice(lo, hi)).T @ r[lo:hi] for lo, hi in self.ranges()], axis=0)

    def squared_transposed_product(self, r: np.ndarray) -> np.ndarray:
        return np.sum([np.square(self.rows(slice(lo, hi))).T @ r[lo:hi] for lo, hi in self.ranges()], axis=0)


class SparseRows(Design):
    """A CSR matrix."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n, self.d = X.shape

    @property
    def numbers(self) -> int:
        return int(self.X.nnz)

    def passed(self, common: tuple[Any, ...], w: np.ndarray, b: float, lo: int, hi: int, g: np.ndarray) -> float:
        return _blocks.pass_sparse(self.X.data, self.X.indices, self.X.indptr, *common, w, b, lo, hi, g)

    def rows(self, chosen: Any) -> np.ndarray:
        return self.X[chosen].toarray().astype(np.float64, copy=False)

    def product(self, w: np.ndarray) -> np.ndarray:
        return self.X @ w

    def transposed_product(self, r: np.ndarray) -> np.ndarray:
        return self.X.T @ r

    def squared_transposed_product(self, r: np.ndarray) -> np.ndarray:
        return _blocks.squared_sparse(self.X.data, self.X.indices, self.X.indptr, r, np.zeros(self.d))


def design(X: Any) -> Design:
    """Wrap a validated array or CSR matrix."""
    return Dense(X) if isinstance(X, np.ndarray) else SparseRows(X)
