"""The question for a sample of the rows, drawn in one read, although nobody knows yet how many rows there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.block import Block


@dataclass(frozen=True)
class Sample:
    """Random rows of both classes: those with the smallest of random numbers, and maybe some more.

    Attributes
    ----------
    most : int
        Rows of a class that are wanted.
    X : ndarray or CSR matrix
    y, weight, order : ndarray
        ``order`` are the random numbers.
    rows : ndarray of int64, shape (2,)
        How many rows of each class they are drawn from.
    limits : ndarray of shape (2,)
        For each class, the largest random number that can be in the sample.
    """

    most: int
    X: Any
    y: np.ndarray
    weight: np.ndarray
    order: np.ndarray
    rows: np.ndarray
    limits: np.ndarray

    def __add__(self, other: Sample) -> Sample:
        # Rows beyond the limits cannot be in the sample, so most of a later block is not even copied.
        limits = np.minimum(self.limits, other.limits)
        both = [one._below(limits) for one in (self, other)]
        return Sample(
            self.most,
            _stacked(*(one.X for one in both)),
            np.concatenate([one.y for one in both]),
            np.concatenate([one.weight for one in both]),
            np.concatenate([one.order for one in both]),
            self.rows + other.rows,
            limits,
        )._trimmed(2)

    def _below(self, limits: np.ndarray) -> Sample:
        low, high = limits
        if low == high == np.inf:
            return self
        kept = np.flatnonzero(self.order <= np.where(self.y == 1, high, low))
        if kept.size == self.y.size:
            return self
        return replace(self, X=self.X[kept], y=self.y[kept], weight=self.weight[kept], order=self.order[kept])

    def _trimmed(self, times: float) -> Sample:
        """Without rows that cannot be in the sample, if a class has more than so many times the rows wanted."""
        counts = np.bincount(self.y, minlength=2)
        if counts.max() <= times * self.most:
            return self
        limits = self.limits.copy()
        for label in np.flatnonzero(counts >= self.most):
            limits[label] = np.partition(self.order[self.y == label], self.most - 1)[self.most - 1]
        return replace(self._below(limits), limits=limits)

    def with_classes_exchanged(self) -> Sample:
        """The same if the other class is the positive one."""
        return replace(self, y=1 - self.y, rows=self.rows[::-1], limits=self.limits[::-1])

    def losses(
        self,
        pair: PairOfLosses,
        penalty: float,
        fit_intercept: bool,
        standardised: Callable[[np.ndarray], np.ndarray] = lambda X: X,
    ) -> Objective:
        """An objective in which each row of the sample stands for as many rows as it was drawn from."""
        part = self._trimmed(1)
        kept = np.bincount(part.y, minlength=2)
        factor = np.divide(part.rows, kept, out=np.zeros(2), where=kept > 0)
        weight = part.weight * factor[part.y]
        X = standardised(part.X if isinstance(part.X, np.ndarray) else part.X.toarray())
        return Objective(design(X), part.y, pair, weight, penalty=penalty, fit_intercept=fit_intercept)


@dataclass(frozen=True)
class SampleRows:
    """Ask for a :class:`Sample` of ``most`` rows of each class, or all if there are fewer."""

    most: int
    seed: int = 0

    def answer(self, block: Block) -> Sample:
        """The rows of one block that may be in the sample."""
        n = block.y.size
        order = np.random.default_rng((self.seed, block.number)).random(n)
        weight = block.weight if block.weight.size else np.ones(n)
        positive = int(np.count_nonzero(block.y))
        rows = np.array([n - positive, positive])
        return Sample(self.most, block.X, block.y, weight, order, rows, np.full(2, np.inf))._trimmed(2)


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    from scipy.sparse import vstack

    return vstack([first, second], format="csr")
