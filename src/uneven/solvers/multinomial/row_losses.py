r"""Losses of rows in several scores: softmax, and the sum of costs times a convex phi.

Scores come as arrays of shape (scores, rows), so that NumPy runs along the rows. Both losses are convex, and only
differences of scores count: softmax does not change if all scores of a row rise, and the scores of
:class:`CostedRows` sum to 0. So a gradient is given up to a constant in all scores of a row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from uneven.losses import Phi
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import PlainPhi, plain_phi
from uneven.shape.kinks import kinks_and_jumps


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
