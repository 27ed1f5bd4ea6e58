"""Kernels k(x, z), the matrix K of all pairs of rows, computed where it is needed, and a cache of its rows."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.errors import ParameterError
from uneven.solvers.running import in_threads, row_ranges, single_threaded_blas


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Rows up to which computing all of K at once is faster than computing its rows one by one.
    few_rows: int = 3000
    #: Rows above which reading them is most of the work: then they are stored in float32, unless tol is too small.
    some_rows: int = 4000


LIMITS = Limits()
#: Numbers of K that are computed at once.
_BLOCK = 1 << 20

#: Compiled functions know a kernel by its position here.
KERNELS = ("linear", "poly", "rbf", "sigmoid")


class Buffer:
    """Reuse one buffer for all matrices: allocating a new one can take longer than filling it."""

    def __init__(self) -> None:
        self._numbers = np.empty(0)

    def matrix(self, n: int) -> np.ndarray:
        """An n by n matrix, valid until the next call."""
        if self._numbers.size < n * n:
            self._numbers = np.empty(n * n)
        return self._numbers[: n * n].reshape(n, n)


class Gram(ABC):
    """The matrix K of a training set.

    Its methods should run while BLAS uses one thread, because they use threads of their own.
    """

    n: int
    #: K_ij is computed to within this times the root of K_ii K_jj.
    rounding: float = 0.0
    #: Whether K is positive semidefinite as far as is known.
    semidefinite: bool = True
    #: Norm of the point that was subtracted from all rows; it matters if the coefficients do not sum to 0 exactly.
    centre: float = 0.0

    @abstractmethod
    def fill(self, chosen: np.ndarray, out: np.ndarray) -> None:
        """Write the chosen rows of K into the rows of out (float64 or float32)."""

    def fill_row(self, i: int, out: np.ndarray) -> None:
        """Write row i of K into out, of shape (1, n)."""
        self.fill(np.array([i]), out)

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """K_ii of all i."""

    def rows_per_block(self) -> int:
        return max(1, _BLOCK // max(self.n, 1))

    def times(self, b: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
        """K b, from the rows where b is not 0; only the chosen numbers of it if ``at`` says which."""
        from uneven.solvers.loops import kernel_loops

        total = np.zeros(self.n)
        chosen = np.flatnonzero(b)
        size = self.rows_per_block()
        for lo in range(0, chosen.size, size):
            part = chosen[lo : lo + size]
            block = np.empty((part.size, self.n))
            self.fill(part, block)
            kernel_loops.add_rows(block, np.arange(part.size), b[part], total)
        return total if at is None else total[at]

    def shift(self, b: np.ndarray) -> float:
        """What to add to the intercept: scores K b of this matrix may differ by a constant from those of the kernel."""
        return 0.0

    def whole(self, buffer: Buffer | None = None) -> np.ndarray:
        """All of K in float64; in the memory of ``buffer`` if it is given."""
        out = (buffer or Buffer()).matrix(self.n)
        size = self.rows_per_block()
        for lo in range(0, self.n, size):
            self.fill(np.arange(lo, min(lo + size, self.n)), out[lo : lo + size])
        return out


class Stored(Gram):
    """K as it was given, or computed before as the K of ``like``."""

    def __init__(self, K: np.ndarray, like: Gram | None = None) -> None:
        self.K = np.ascontiguousarray(K, dtype=np.float64)
        self.n = K.shape[0]
        self.like = like
        if like is not None:
            self.rounding, self.semidefinite, self.centre = like.rounding, like.semidefinite, like.centre

    def fill(self, chosen: np.ndarray, out: np.ndarray) -> None:
        out[...] = self.K[chosen]

    def diagonal(self) -> np.ndarray:
        return np.ascontiguousarray(np.diagonal(self.K), dtype=np.float64)

    def times(self, b: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
        chosen = np.flatnonzero(b)
        total = combine_rows(self.K, chosen, b[chosen])
        return total if at is None else total[at]

    def whole(self, buffer: Buffer | None = None) -> np.ndarray:
        return self.K

    def shift(self, b: np.ndarray) -> float:
        return 0.0 if self.like is None else self.like.shift(b)


@dataclass(frozen=True)
class KernelFunction:
    """A kernel by name with its numbers, or a function of two matrices."""

    name: str | Callable[[Any, Any], Any]
    width: float = 1.0
    offset: float = 0.0
    degree: float = 3.0

    def between(self, X: Any, Z: Any) -> np.ndarray:
        """k(x, z) for all rows x of X and z of Z."""
        if callable(self.name):
            return _call(self.name, X, Z)
        products = _products(X, Z)
        self.apply(products, squared_norms(X), squared_norms(Z), products)
        return products

    def apply(self, products: np.ndarray, own: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
        """Write the kernel into out, from inner products (one row per x) and the squared norms of both sides."""
        if self.name != "linear" or out is not products:
            from uneven.solvers.loops import kernel_loops

            kernel_loops.apply(products, *self.numbers, own, other, 0, out)

    @property
    def numbers(self) -> tuple[int, float, float, float]:
        """The kernel as compiled functions take it."""
        return KERNELS.index(str(self.name)), self.width, self.offset, self.degree

    def values(self, X: Any, Z: Any, coefficients: np.ndarray) -> np.ndarray:
        """sum_j c_j k(x, z_j) for every row x, in blocks."""
        n = X.shape[0]
        if self.name == "linear":
            return np.asarray(X @ weights(Z, coefficients))
        if not callable(self.name) and isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
            if self.name == "rbf" and Z.shape[0]:
                centre = Z.mean(axis=0)
                X, Z = X - centre, Z - centre
            with single_threaded_blas():
                return self.combine(Z, X, squared_norms(Z), squared_norms(X), coefficients)
        size = max(1, _BLOCK // max(Z.shape[0], 1))
        if callable(self.name):
            size = max(n, 1)  # a user's function is called only once
        out = np.empty(n)
        for lo in range(0, n, size):
            out[lo : lo + size] = self.between(X[lo : lo + size], Z) @ coefficients
        return out

    def combine(self, Z: Any, X: Any, own: np.ndarray, other: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """sum_j c_j k(x, z_j) for every row x of a dense X, from the rows z_j and the squared norms of both."""
        from uneven.solvers.loops import kernel_loops

        out = np.empty(X.shape[0])
        in_threads(
            lambda k, lo, hi: kernel_loops.times(Z, X, *self.numbers, own, other, coefficients, lo, hi, out),
            row_ranges(out.size, _work(Z.shape[0] * X.shape[0], X.shape[1])),
        )
        return out


class Computed(Gram):
    """K of a named kernel on dense or CSR rows, computed when it is asked for."""

    def __init__(self, kernel: KernelFunction, X: Any) -> None:
        self.kernel = kernel
        # A Gaussian depends on differences only. With the linear kernel and coefficients that sum to 0, centring
        # changes all scores by one constant. It makes norms small, so less is lost by rounding.
        self.mean = X.mean(axis=0) if kernel.name in ("linear", "rbf") and isinstance(X, np.ndarray) else None
        self.X = X if self.mean is None else X - self.mean
        if kernel.name == "linear" and self.mean is not None:
            self.centre = float(np.linalg.norm(self.mean))
        self.n = X.shape[0]
        self.norms = squared_norms(self.X)
        self.semidefinite = kernel.name in ("linear", "rbf") or (kernel.name == "poly" and kernel.offset >= 0)
        # An inner product of d numbers is off by at most d units of |x| |z|; then comes the kernel at it.
        terms = 2.0**-53 * (X.shape[1] + 4)
        if kernel.name == "poly":
            terms *= max(1.0, kernel.degree)
        elif kernel.name == "rbf":
            terms *= 1.0 + 4 * kernel.width * float(self.norms.max())
            if isinstance(X, np.ndarray):
                # A small distance is computed from differences, so it is off by at most 64 d units of itself.
                terms = min(terms, 2.0**-53 * 64 * (X.shape[1] + 4))
        self.rounding = terms

    def fill(self, chosen: np.ndarray, out: np.ndarray) -> None:
        rows, own = self.X[chosen], self.norms[chosen]
        if not isinstance(self.X, np.ndarray):
            self.kernel.apply(_products(rows, self.X), own, self.norms, out)
            return
        from uneven.solvers.loops import kernel_loops

        in_threads(
            lambda k, lo, hi: kernel_loops.fill(rows, self.X, *self.kernel.numbers, own, self.norms, lo, hi, out),
            row_ranges(self.n, _work(chosen.size * self.n, self.X.shape[1])),
        )

    def fill_row(self, i: int, out: np.ndarray) -> None:
        if not isinstance(self.X, np.ndarray):
            super().fill_row(i, out)
            return
        from uneven.solvers.loops import kernel_loops

        rows, own = self.X[i : i + 1], self.norms[i : i + 1]
        kernel_loops.fill(rows, self.X, *self.kernel.numbers, own, self.norms, 0, self.n, out)

    def whole(self, buffer: Buffer | None = None) -> np.ndarray:
        if not isinstance(self.X, np.ndarray):
            return super().whole(buffer)
        from uneven.solvers.loops import kernel_loops

        out = (buffer or Buffer()).matrix(self.n)
        count = len(row_ranges(self.n, _work(self.n**2 // 2, self.X.shape[1])))
        # Ranges of rows with equally many entries up to the diagonal.
        ends = [round(self.n * math.sqrt(k / count)) for k in range(count + 1)]
        in_threads(
            lambda k, lo, hi: kernel_loops.whole(self.X, *self.kernel.numbers, self.norms, lo, hi, out),
            list(itertools.pairwise(ends)),
        )
        return out

    def times(self, b: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
        if not isinstance(self.X, np.ndarray):
            return super().times(b, at)
        chosen = np.flatnonzero(b)
        X, norms = (self.X, self.norms) if at is None else (self.X[at], self.norms[at])
        return self.kernel.combine(self.X[chosen], X, self.norms[chosen], norms, b[chosen])

    def shift(self, b: np.ndarray) -> float:
        if self.kernel.name != "linear" or self.mean is None:
            return 0.0
        chosen = np.flatnonzero(b)
        return -float(self.mean @ (b[chosen] @ self.X[chosen] + math.fsum(b) * self.mean))

    def diagonal(self) -> np.ndarray:
        if self.kernel.name == "rbf":
            return np.ones(self.n)
        out = self.norms.reshape(1, -1).copy()
        self.kernel.apply(out, self.norms[:1], self.norms, out)
        return out[0]


def combine_rows(rows: np.ndarray, chosen: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """The sum of the chosen rows of a matrix, each times its coefficient."""
    from uneven.solvers.loops import kernel_loops

    total = np.zeros(rows.shape[1])
    in_threads(
        lambda k, lo, hi: kernel_loops.add_rows(rows[:, lo:hi], chosen, coefficients, total[lo:hi]),
        row_ranges(total.size, total.size * chosen.size // 2),
    )
    return total


def _work(entries: int, columns: int) -> int:
    """Numbers that could be read in the time of computing entries of K; an exponential costs about as much as ten."""
    return entries * (10 + columns) // 20


def gram(kernel: KernelFunction, X: Any) -> Gram:
    """K of a kernel on validated rows."""
    if kernel.name == "precomputed":
        return Stored(X)
    if callable(kernel.name):
        return Stored(_call(kernel.name, X, X))
    return Computed(kernel, X)


def weights(Z: Any, coefficients: np.ndarray) -> np.ndarray:
    """sum_j c_j z_j, for coefficients whose sum is nearly 0: rows far from the origin lose no digits."""
    if not isinstance(Z, np.ndarray) or not Z.shape[0]:
        return np.asarray(coefficients @ Z).ravel()
    centre = Z.mean(axis=0)
    return np.asarray(coefficients @ (Z - centre) + math.fsum(coefficients) * centre)


def squared_norms(X: Any) -> np.ndarray:
    """Squared norms of the rows of a dense or CSR matrix."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", X, X))
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def _products(X: Any, Z: Any) -> np.ndarray:
    """X Z' as a C-ordered dense matrix."""
    if isinstance(X, np.ndarray):
        return X @ Z.T
    if X.shape[0] < Z.shape[0]:
        return np.ascontiguousarray((Z @ X.toarray().T).T)
    return np.ascontiguousarray(X @ Z.toarray().T)


def _call(function: Callable[[Any, Any], Any], X: Any, Z: Any) -> np.ndarray:
    """A user's kernel, checked: one number for every pair of rows."""
    K = np.asarray(function(X, Z), dtype=np.float64)
    wanted = (X.shape[0], Z.shape[0])
    if K.shape != wanted:
        raise ParameterError(f"the kernel function must return a matrix of shape {wanted}, got shape {K.shape}")
    if not np.isfinite(K).all():
        raise ParameterError("the kernel function must return finite numbers, got NaN or inf")
    return K


# -- a cache of rows of K -------------------------------------------------------------------------------------------


class RowCache:
    """Some rows of K; a new row replaces the least recently used one.

    ``fine`` asks for float64, if all rows fit.
    """

    def __init__(self, gram: Gram, megabytes: float, *, fine: bool = True) -> None:
        self.gram = gram
        n = gram.n
        self.slot = np.full(n, -1, dtype=np.int64)
        whole_fits = 8 * n * n <= megabytes * 2**20
        self.complete = isinstance(gram, Stored) or (whole_fits and n <= LIMITS.few_rows)
        if self.complete:
            self.rows = gram.whole()
            self.slot = np.arange(n)
        else:
            # In float32 twice as many rows fit, and they are read twice as fast.
            dtype = np.float64 if whole_fits and (fine or n <= LIMITS.some_rows) else np.float32
            if not np.abs(gram.diagonal()).max() < 1e37:  # would overflow in float32
                dtype = np.float64
            count = min(n, max(2, int(megabytes * 2**20 / (np.dtype(dtype).itemsize * n))))
            self.rows = np.empty((count, n), dtype=dtype)
        self.used = np.full(len(self.rows), -1, dtype=np.int64)
        self.owner = np.full(len(self.rows), -1, dtype=np.int64)
        self.filled = 0

    @property
    def rough(self) -> bool:
        """Whether rows are stored in float32."""
        return self.rows.dtype == np.float32

    def times(self, b: np.ndarray) -> np.ndarray:
        """K b in double precision, from the rows that are stored if possible."""
        chosen = np.flatnonzero(b)
        if self.rough or (self.slot[chosen] < 0).any():
            return self.gram.times(b)
        return combine_rows(self.rows, self.slot[chosen], b[chosen])

    def fetch(self, wanted: int, clock: int) -> None:
        """Compute a row. The row that the next step needs as well is marked as used later, so it stays."""
        if self.filled < len(self.rows):
            here = self.filled
            self.filled += 1
        else:
            here = int(self.used.argmin())
            self.slot[self.owner[here]] = -1
        self.gram.fill_row(wanted, self.rows[here : here + 1])
        self.slot[wanted] = here
        self.owner[here] = wanted
        self.used[here] = clock + 1

    def among(self, chosen: np.ndarray) -> np.ndarray:
        """K of the chosen rows with each other, in double precision."""
        if not self.rough and (self.slot[chosen] >= 0).all():
            return np.asarray(self.rows[np.ix_(self.slot[chosen], chosen)])
        out = np.empty((chosen.size, chosen.size))
        size = self.gram.rows_per_block()
        for lo in range(0, chosen.size, size):
            part = chosen[lo : lo + size]
            block = np.empty((part.size, self.gram.n))
            self.gram.fill(part, block)
            out[lo : lo + size] = block[:, chosen]
        return out
