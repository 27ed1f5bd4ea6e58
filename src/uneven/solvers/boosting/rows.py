"""Rows while they are boosted: scores, and the slopes and curvatures of their losses there."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.solvers.boosting import passes
from uneven.solvers.compiled.passes import losses_along
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.threads import in_threads, row_ranges

#: A curvature counts as at least this share of slope times scale of the loss, so that straight parts have a step, too.
#: It is below that of the exponential loss, which is 1.
_LEAST_CURVATURE = 1 / 16
#: Work of a pass per row, in numbers of a matrix.
_EFFORT = 16


class BoostedRows:
    """Scores of rows, which trees move.

    Parameters
    ----------
    pair : PairOfLosses
        Convex losses of both classes, weighted.
    y : ndarray of int8
        1 for positive rows, 0 for negative ones.
    factors : ndarray of float64
        Weights of the rows; empty if all are 1.
    scores : ndarray of float64
        Where they start. Changed by :meth:`move`.

    Attributes
    ----------
    slopes, curvatures : ndarray of float64
        Of each row's loss at its score; during a line search, of the place that was tried last.
    loss : float
        The sum of the losses at the scores.
    """

    def __init__(self, pair: PairOfLosses, y: np.ndarray, factors: np.ndarray, scores: np.ndarray) -> None:
        self.pair, self.y, self.factors, self.scores = pair, y, factors, scores
        self.slopes, self.curvatures = np.empty(y.size), np.empty(y.size)
        self._ranges = row_ranges(y.size, _EFFORT * y.size)
        self._floors = _LEAST_CURVATURE * np.abs(pair.scales)
        self._pairs, self._filled = np.empty((y.size, 2)), False
        self.loss = self.along(np.zeros(y.size), 0.0)[0]

    def each_range(self, function: Any) -> list[Any]:
        """The results of function(k, lo, hi) for ranges of rows, in threads."""
        return in_threads(function, self._ranges)

    def along(self, direction: np.ndarray, step: float) -> tuple[float, float, float]:
        """The loss after a step along a direction, and its first and second derivative in the step."""
        parts = self.each_range(lambda k, lo, hi: self._part_along(direction, step, lo, hi))
        return tuple(sum(values) for values in zip(*parts, strict=True))

    def _part_along(self, direction: np.ndarray, step: float, lo: int, hi: int) -> tuple[float, float, float]:
        pair = self.pair
        factors = self.factors[lo:hi] if self.factors.size else self.factors
        losses = (pair.addresses, pair.second_addresses, self.y[lo:hi], factors, pair.weights, pair.scales)
        r, h = self.slopes[lo:hi], self.curvatures[lo:hi]
        found: tuple[float, float, float] = losses_along(losses, self.scores[lo:hi], direction[lo:hi], step, r, h)
        return found

    def move(self, direction: np.ndarray, step: float) -> bool:
        """Take a step unless it raises the loss by more than rounding; says whether it was taken."""
        self._filled = False
        return self._moved(step * direction, self.along(direction, step)[0])

    def move_leaves(self, slots: np.ndarray, leaves: np.ndarray) -> bool:
        """Add the value of each row's leaf to its score, as :meth:`move` does."""
        change = np.empty(slots.size)

        def part(k: int, lo: int, hi: int) -> float:  # all in one, because it takes time until threads have met
            passes.spread(slots, leaves, lo, hi, change)
            loss = self._part_along(change, 1.0, lo, hi)[0]
            self._fill_pairs(lo, hi)
            return loss

        self._filled = self._moved(change, sum(self.each_range(part)))
        return self._filled

    def _moved(self, change: np.ndarray, loss: float) -> bool:
        if not loss <= self.loss + 1e-13 * abs(self.loss):
            self.along(change, 0.0)
            return False
        self.scores += change
        self.loss = loss
        return True

    def pairs(self) -> np.ndarray:
        """Slope and curvature of each row; overwritten by the next move."""
        if not self._filled:
            self.each_range(lambda k, lo, hi: self._fill_pairs(lo, hi))
            self._filled = True
        return self._pairs

    def _fill_pairs(self, lo: int, hi: int) -> None:
        passes.fill_pairs(self.slopes, self.curvatures, self.y, self._floors, lo, hi, self._pairs)

    def leaf_sums(self, slots: np.ndarray, leaves: int, pairs: np.ndarray) -> np.ndarray:
        """For each leaf: slopes of negatives and of positives, their curvatures, and the two sums of ``pairs``."""

        def part(k: int, lo: int, hi: int) -> np.ndarray:
            sums = np.zeros((leaves, 6))
            passes.leaf_sums(slots, self.y, self.slopes, self.curvatures, pairs, lo, hi, sums)
            return sums

        return np.asarray(sum(self.each_range(part)))

    def spread(self, slots: np.ndarray, leaves: np.ndarray) -> np.ndarray:
        """The value of each row's leaf."""
        out = np.empty(slots.size)
        self.each_range(lambda k, lo, hi: passes.spread(slots, leaves, lo, hi, out))
        return out
