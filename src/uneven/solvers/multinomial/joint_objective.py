r"""The objective of several linear scores of a row, which count by their differences only.

.. math:: \sum_i \ell_i(W x_i + b) + \frac{\rho}{2} \|W\|^2

The scores of a row sum to 0: W = Q V and b = Q c, where Q has orthonormal columns that are orthogonal to the ones.
Solvers see theta = (V, c), without any constraint, and the norms of V and W are the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from uneven.losses import Phi
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import PlainPhi, plain_phi
from uneven.shape.kinks import kinks_and_jumps
from uneven.solvers.linear.newton_systems import Metric, cholesky_metric, diagonal_metric
from uneven.solvers.running import in_threads, row_ranges, single_threaded_blas

# Scores come as arrays of shape (scores, rows), so that NumPy runs along the rows. Both losses are convex, and only
# differences of scores count, so a gradient is given up to a constant in all scores of a row.


@dataclass(frozen=True)
class Lines:
    """Lines that support the losses of some rows.

    Attributes
    ----------
    value : float
        The sum of the losses.
    height : float
        How much lower the lines are at these scores, summed. 0 for smooth losses.
    slopes : ndarray of shape (scores, rows)
    """

    value: float
    height: float
    slopes: np.ndarray


class RowLosses(ABC):
    """The losses of rows, weighted, as functions of their scores.

    Attributes
    ----------
    count : int
        Scores of each row.
    weight : ndarray of shape (rows,)
    """

    count: int
    weight: np.ndarray

    @abstractmethod
    def value_and_slopes(self, scores: np.ndarray, lo: int, hi: int) -> tuple[float, np.ndarray]:
        """The sum of the losses of the rows lo to hi, and its slopes; the scores may be overwritten."""

    @abstractmethod
    def lines(self, scores: np.ndarray, lo: int, hi: int) -> Lines:
        """Lines that support the losses and have the slopes of :meth:`value_and_slopes`."""

    @abstractmethod
    def curvatures(self, scores: np.ndarray, lo: int, hi: int) -> np.ndarray:
        """Second derivatives of the losses of rows, of shape (scores, scores, rows)."""

    @abstractmethod
    def take(self, rows: np.ndarray, factor: float) -> Self:
        """The losses of some rows, each times a factor."""

    @abstractmethod
    def intercepts(self, X: Masses, w: np.ndarray, b: np.ndarray, value: float, distance: float) -> float:
        """A bound of how unevenly the optimal intercepts differ from b.

        The optimum is at most ``value``, and its coefficients are within ``distance`` of w. With the difference
        ``delta`` of both intercepts, the bound is of ``max(delta) - min(delta)``.
        """

    @property
    def kinked(self) -> bool:
        """Whether the losses are made smooth by multipliers, which must be found."""
        return False


class Masses:
    """Means of the rows of a design under several masses, with the totals."""

    def __init__(self, X: np.ndarray, masses: np.ndarray) -> None:
        self.totals = masses.sum(axis=1)
        self.means = np.asarray(masses @ X) / self.totals[:, None]
        self.lengths = np.linalg.norm(self.means, axis=1)


@dataclass(frozen=True)
class SoftmaxRows(RowLosses):
    """Multinomial logistic loss: the logarithm of the summed exponentials, less the score of the class."""

    y: np.ndarray
    weight: np.ndarray
    count: int

    def value_and_slopes(self, scores: np.ndarray, lo: int, hi: int) -> tuple[float, np.ndarray]:
        y, weight, rows = self.y[lo:hi], self.weight[lo:hi], np.arange(hi - lo)
        scores -= scores.max(axis=0)
        picked = scores[y, rows]
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        scores *= weight / total
        scores[y, rows] -= weight
        return float(weight @ (np.log(total) - picked)), scores

    def lines(self, scores: np.ndarray, lo: int, hi: int) -> Lines:
        value, slopes = self.value_and_slopes(scores.copy(), lo, hi)
        return Lines(value, 0.0, slopes)

    def curvatures(self, scores: np.ndarray, lo: int, hi: int) -> np.ndarray:
        shares = np.exp(scores - scores.max(axis=0))
        shares /= shares.sum(axis=0)
        weighted = shares * self.weight[lo:hi]
        found = -weighted[:, None, :] * shares[None, :, :]
        diagonal = np.arange(self.count)
        found[diagonal, diagonal] += weighted
        return np.asarray(found)

    def take(self, rows: np.ndarray, factor: float) -> SoftmaxRows:
        return SoftmaxRows(self.y[rows], factor * self.weight[rows], self.count)

    @property
    def masses(self) -> np.ndarray:
        """The weight of each row in its class."""
        return np.where(np.arange(self.count)[:, None] == self.y, self.weight, 0.0)

    def intercepts(self, X: Masses, w: np.ndarray, b: np.ndarray, value: float, distance: float) -> float:
        # By Jensen, the loss at the mean row of class y is at most value/total. It is at least s_a - s_y.
        differences = w[:, None, :] - w[None, :, :]
        means = np.einsum("yad,yd->ya", differences, X.means) + np.sqrt(2) * distance * X.lengths[:, None]
        least = -(value / X.totals)[:, None] - means  # of b*_y - b*_a
        now = b[:, None] - b[None, :]
        off = ~np.eye(self.count, dtype=bool)
        return float(np.maximum(now - least, -least.T - now)[off].max())


@dataclass(frozen=True)
class CostedRows(RowLosses):
    r"""The sum of :math:`c_a \varphi(-s_a)` over the actions; c holds nonnegative costs, and the scores sum to 0.

    A phi with kinks is made smooth by multipliers u: each of its parts :math:`j (k - t)_+` becomes

    .. math:: \max_{0 \le v \le j} \; v (k - t) - \frac{(v - u)^2}{2 \sigma},

    which is below it, is as high at the best v if u = v, and has the slope -v. The line with the slope -v through the
    kink supports the part.
    """

    costs: np.ndarray
    phi: Phi
    multipliers: np.ndarray | None = None
    stiffness: float = 1.0

    @classmethod
    def of(cls, costs: np.ndarray, phi: Phi) -> CostedRows:
        """Losses whose multipliers are right at the scores 0, which are left of all kinks."""
        kinks, jumps = kinks_and_jumps(phi.tree)
        return cls(costs, phi, np.stack([np.full(costs.shape, jump) for jump in jumps]) if kinks else None)

    @property
    def count(self) -> int:  # type: ignore[override]
        """Scores of each row."""
        return len(self.costs)

    @property
    def weight(self) -> np.ndarray:  # type: ignore[override]
        """What a row can cost."""
        return np.asarray(self.costs.sum(axis=0))

    @property
    def masses(self) -> np.ndarray:
        """The costs of each action."""
        return self.costs

    @property
    def kinked(self) -> bool:
        return self.multipliers is not None

    @property
    def _jumps(self) -> tuple[float, ...]:
        return kinks_and_jumps(self.phi.tree)[1]

    @property
    def _plain(self) -> PlainPhi:
        return plain_phi(self.phi.tree, smooth_switches(self.phi.tree))

    def _derivatives(self, t: np.ndarray) -> tuple[np.ndarray, ...]:
        """Values, slopes and curvatures of phi without its kinks, and t - k of those."""
        kinks, jumps = kinks_and_jumps(self.phi.tree)
        for kink in kinks:  # exactly at a kink, the slope on its right
            t = np.where(t == kink, np.nextafter(kink, np.inf), t)
        with np.errstate(all="ignore"):
            plain = self._plain.derivatives(t)
        value, slope, curvature = (np.array(one, dtype=np.float64) for one in np.broadcast_arrays(*plain))
        for kink, jump in zip(kinks, jumps, strict=True):
            value -= jump * np.maximum(kink - t, 0.0)
            slope += jump * (t < kink)
        return value, slope, curvature

    def _parts(self, t: np.ndarray, lo: int, hi: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Of each kink: k - t, the best v, and the multiplier."""
        if self.multipliers is None:
            return []
        found = []
        for u, kink, jump in zip(self.multipliers[:, :, lo:hi], *kinks_and_jumps(self.phi.tree), strict=True):
            found.append((kink - t, np.clip(u + self.stiffness * (kink - t), 0.0, jump), u))
        return found

    def value_and_slopes(self, scores: np.ndarray, lo: int, hi: int) -> tuple[float, np.ndarray]:
        costs, t = self.costs[:, lo:hi], -scores
        if self.multipliers is None:
            with np.errstate(all="ignore"):
                value, slope = self._plain.first(t)
        else:
            value, slope, _ = self._derivatives(t)
        for room, v, u in self._parts(t, lo, hi):
            value += v * room - (v - u) ** 2 / (2 * self.stiffness)
            slope -= v
        used = costs > 0  # 0 times infinity is 0 here
        with np.errstate(all="ignore"):
            return float(np.sum(costs * np.where(used, value, 0.0))), -costs * np.where(used, slope, 0.0)

    def lines(self, scores: np.ndarray, lo: int, hi: int) -> Lines:
        _, slopes = self.value_and_slopes(scores, lo, hi)
        costs, t = self.costs[:, lo:hi], -scores
        with np.errstate(all="ignore"):
            values = np.where(costs > 0, costs * self._plain.first(t)[0], 0.0)
        height = 0.0
        for (room, v, _), jump in zip(self._parts(t, lo, hi), self._jumps, strict=True):
            height += float(np.sum(costs * (jump * np.maximum(room, 0.0) - v * room)))
        return Lines(float(values.sum()), height, slopes)

    def curvatures(self, scores: np.ndarray, lo: int, hi: int) -> np.ndarray:
        t = -scores
        curvature = self._derivatives(t)[2]
        for (_, v, _), jump in zip(self._parts(t, lo, hi), self._jumps, strict=True):
            curvature += self.stiffness * ((v > 0) & (v < jump))
        found = np.zeros((self.count, *scores.shape))
        diagonal = np.arange(self.count)
        found[diagonal, diagonal] = np.where(self.costs[:, lo:hi] > 0, self.costs[:, lo:hi] * curvature, 0.0)
        return found

    def take(self, rows: np.ndarray, factor: float) -> CostedRows:
        kept = None if self.multipliers is None else self.multipliers[:, :, rows]
        return replace(self, costs=factor * self.costs[:, rows], multipliers=kept)

    def improved(self, scores: np.ndarray, stiffness: float) -> CostedRows:
        """With the best multipliers at these scores, and another stiffness."""
        parts = self._parts(-scores, 0, scores.shape[1])
        return replace(self, multipliers=np.stack([v for _, v, _ in parts]), stiffness=stiffness)

    def intercepts(self, X: Masses, w: np.ndarray, b: np.ndarray, value: float, distance: float) -> float:
        # By Jensen, phi at the mean score of an action is at most value/total; it is above its line at 0.
        start, fall = float(self.phi(0.0)), -float(self.phi.slope(0.0)) * (1 - 1e-12)
        most = (value / X.totals - start) / fall - np.einsum("ad,ad->a", w, X.means) + distance * X.lengths
        above = b + (most.sum() - most)  # the optimal intercepts sum to 0
        return float(above.max() - (b - most).min())


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
