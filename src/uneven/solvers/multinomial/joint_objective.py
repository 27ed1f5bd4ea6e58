r"""The objective of several linear scores of a row, which count by their differences only.

.. math:: \sum_i \ell_i(W x_i + b) + \frac{\rho}{2} \|W\|^2

The scores of a row sum to 0: W = Q V and b = Q c, where Q has orthonormal columns that are orthogonal to the ones.
Solvers see theta = (V, c), without any constraint, and the norms of V and W are the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from uneven.solvers.linear.newton_systems import Metric, cholesky_metric, diagonal_metric
from uneven.solvers.multinomial.row_losses import Masses, RowLosses
from uneven.solvers.threads import in_threads, row_ranges, single_threaded_blas

#: Most coefficients for which second derivatives are a full matrix; of more, only its diagonal is used.
MOST_COEFFICIENTS = 2500
#: Numbers of X in a block: it stays in the cache between the two products with it.
_BLOCK = 100_000
#: Second derivatives of rows that are held at once.
_HELD = 4_000_000


def contrasts(count: int) -> np.ndarray:
    """Orthonormal columns that are orthogonal to the ones (Helmert).

    Examples
    --------
    >>> from uneven.solvers.multinomial.joint_objective import contrasts
    >>> (contrasts(2) * 2**0.5).round(12).tolist()
    [[-1.0], [1.0]]
    """
    found = np.zeros((count, count - 1))
    for k in range(1, count):
        found[:k, k - 1] = -1.0
        found[k, k - 1] = k
        found[:, k - 1] /= np.sqrt(k * (k + 1))
    return found


class JointObjective:
    """Losses of rows in linear scores, and a squared penalty.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    losses : RowLosses
    penalty : float
        rho, positive.
    fit_intercept : bool
    """

    def __init__(self, X: Any, losses: RowLosses, penalty: float, fit_intercept: bool) -> None:
        self.X, self.losses, self.penalty, self.fit_intercept = X, losses, penalty, fit_intercept
        self.n, self.d = X.shape
        self.basis = contrasts(losses.count)
        self.size = (losses.count - 1) * (self.d + 1)
        numbers = int(getattr(X, "nnz", self.n * self.d))
        self._ranges = row_ranges(self.n, max(numbers, self.n * losses.count), self.d * losses.count)
        self._blocks = [self._cut(lo, hi, numbers) for lo, hi in self._ranges]

    def _cut(self, low: int, high: int, numbers: int) -> list[tuple[int, int, Any]]:
        """Blocks of a range of rows, without a copy of X."""
        step = max(256, _BLOCK * self.n // max(numbers, self.n * self.losses.count, 1))
        found = []
        for lo in range(low, high, step):
            hi = min(lo + step, high)
            found.append((lo, hi, self._rows(lo, hi)))
        return found

    def _rows(self, lo: int, hi: int) -> Any:
        if isinstance(self.X, np.ndarray):
            return self.X[lo:hi]
        first, last = int(self.X.indptr[lo]), int(self.X.indptr[hi])
        arrays = self.X.data[first:last], self.X.indices[first:last], self.X.indptr[lo : hi + 1] - first
        return type(self.X)(arrays, shape=(hi - lo, self.d))

    def with_losses(self, losses: RowLosses) -> JointObjective:
        """The same rows with other losses."""
        return JointObjective(self.X, losses, self.penalty, self.fit_intercept)

    def on_rows(self, rows: np.ndarray) -> JointObjective:
        """The objective of a sample of the rows, which count so much more."""
        losses = self.losses.take(rows, self.n / rows.size)
        return JointObjective(self.X[rows], losses, self.penalty, self.fit_intercept)

    # -- coefficients -------------------------------------------------------------------------------------------------

    def coefficients(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W and b of theta."""
        full = self.basis @ theta.reshape(-1, self.d + 1)
        return np.ascontiguousarray(full[:, :-1]), full[:, -1].copy()

    def reduced(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Theta of W and b whose columns sum to 0."""
        return np.asarray(self.basis.T @ np.column_stack([w, b])).ravel()

    def block_scores(self, block: Any, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Scores of a block of rows, of shape (scores, rows)."""
        scores = np.ascontiguousarray((block @ w.T).T)  # twice as fast as w @ block.T, although it is copied
        scores += b[:, None]
        return np.asarray(scores)

    def scores(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Scores of all rows."""
        out = np.empty((self.losses.count, self.n))

        def fill(k: int, lo: int, hi: int) -> None:
            for start, end, block in self._blocks[k]:
                out[:, start:end] = self.block_scores(block, w, b)

        with single_threaded_blas():
            in_threads(fill, self._ranges)
        return out

    # -- derivatives --------------------------------------------------------------------------------------------------

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient in theta; infinite where a loss overflows."""
        w, b = self.coefficients(theta)
        totals = np.zeros((len(self._ranges), self.losses.count, self.d + 1))

        def add(k: int, lo: int, hi: int) -> float:
            loss = 0.0
            for start, end, block in self._blocks[k]:
                value, slopes = self.losses.value_and_slopes(self.block_scores(block, w, b), start, end)
                loss += value
                totals[k, :, :-1] += transposed(block, slopes)
                totals[k, :, -1] += slopes.sum(axis=1)
            return loss

        with single_threaded_blas(), np.errstate(all="ignore"):
            loss = sum(in_threads(add, self._ranges))
            gradient = self.basis.T @ totals.sum(axis=0)
            v = theta.reshape(-1, self.d + 1)[:, :-1]
            gradient[:, :-1] += self.penalty * v
            if not self.fit_intercept:
                gradient[:, -1] = 0.0
            value = loss + 0.5 * self.penalty * float(np.sum(v * v))
        return (value if np.isfinite(value) else np.inf), gradient.ravel()

    def lines(self, scores: np.ndarray) -> tuple[float, float, np.ndarray]:
        """The sum of the losses, the heights above supporting lines, and the slopes of the lines."""
        slopes = np.empty_like(scores)

        def fill(k: int, lo: int, hi: int) -> tuple[float, float]:
            found = self.losses.lines(scores[:, lo:hi], lo, hi)
            slopes[:, lo:hi] = found.slopes
            return found.value, found.height

        value, height = np.sum(in_threads(fill, self._ranges), axis=0)
        return float(value), float(height), slopes

    def product(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes times X."""
        totals = np.zeros((len(self._ranges), self.losses.count, self.d))

        def add(k: int, lo: int, hi: int) -> None:
            for start, end, block in self._blocks[k]:
                totals[k] += transposed(block, slopes[:, start:end])

        with single_threaded_blas():
            in_threads(add, self._ranges)
        return np.asarray(totals.sum(axis=0))

    @cached_property
    def column_lengths(self) -> np.ndarray:
        """The Euclidean lengths of the columns of X."""
        total = np.zeros(self.d)
        for _, _, block in (one for blocks in self._blocks for one in blocks):
            if isinstance(block, np.ndarray):
                total += np.einsum("ij,ij->j", block, block, dtype=np.float64)
            else:
                total += np.asarray(block.multiply(block).sum(axis=0), dtype=np.float64).ravel()
        return np.sqrt(total)

    @cached_property
    def value_at_zero(self) -> float:
        """The objective where all coefficients are 0."""
        one = self.losses.value_and_slopes(np.zeros((self.losses.count, self.n)), 0, self.n)[0]
        return float(one)

    @property
    def terms(self) -> int:
        """Most additions on the way of a number into a sum over rows."""
        longest = max(end - start for blocks in self._blocks for start, end, _ in blocks)
        return longest + max(map(len, self._blocks)) + len(self._blocks)

    @cached_property
    def masses(self) -> Masses:
        """Means of the rows under the masses of the losses."""
        return Masses(self.X, self.losses.masses)  # type: ignore[attr-defined]

    def metric(self, theta: np.ndarray) -> Metric:
        """Solve with the second derivatives at theta, or with their diagonal if it has many columns."""
        if self.size > MOST_COEFFICIENTS:
            return diagonal_metric(self._diagonal(theta))
        with single_threaded_blas():
            return cholesky_metric(self._hessian(theta))

    def _hessian(self, theta: np.ndarray) -> np.ndarray:
        parts, wide = len(self.basis.T), self.d + 1
        total = np.zeros((parts, parts, wide, wide))
        for block, every in self._curvatures(theta):
            used = np.flatnonzero(every.any(axis=(0, 1)))  # of a hinge, few rows have a curvature
            chosen = block[used] if isinstance(block, np.ndarray) else block[used].toarray()
            rows, reduced = np.column_stack([chosen, np.ones(used.size)]), every[:, :, used]
            for p in range(parts):
                for q in range(p + 1):
                    total[p, q] += (rows * reduced[p, q][:, None]).T @ rows
        for p in range(parts):
            total[p, p, np.arange(self.d), np.arange(self.d)] += self.penalty
            if not self.fit_intercept:
                total[:, :, -1, :] = total[:, :, :, -1] = 0.0
            for q in range(p):
                total[q, p] = total[p, q].T
        return np.ascontiguousarray(total.transpose(0, 2, 1, 3)).reshape(self.size, self.size)

    def _diagonal(self, theta: np.ndarray) -> np.ndarray:
        parts = len(self.basis.T)
        total = np.zeros((parts, self.d + 1))
        for rows, reduced in self._curvatures(theta):
            own = reduced[np.arange(parts), np.arange(parts)]
            squares = rows**2 if isinstance(rows, np.ndarray) else rows.multiply(rows).tocsr()
            total[:, :-1] += transposed(squares, own)
            total[:, -1] += own.sum(axis=1)
        total[:, :-1] += self.penalty
        return np.maximum(total.ravel(), 1e-12 * total.max() + 1e-300)

    def _curvatures(self, theta: np.ndarray) -> Any:
        """Rows, and the second derivatives of their losses in the reduced scores."""
        w, b = self.coefficients(theta)
        step = max(64, _HELD // self.losses.count**2)
        for low in range(0, self.n, step):
            high = min(low + step, self.n)
            rows = self._rows(low, high)
            found = self.losses.curvatures(self.block_scores(rows, w, b), low, high)
            yield rows, np.einsum("ap,abn,bq->pqn", self.basis, found, self.basis, optimize=True)


def transposed(block: Any, slopes: np.ndarray) -> np.ndarray:
    """Slopes times the rows of a block, of shape (scores, columns)."""
    if isinstance(block, np.ndarray):
        return np.asarray(slopes @ block)
    return np.asarray((block.T @ slopes.T).T)
