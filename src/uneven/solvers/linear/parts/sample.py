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
    """Random rows of both classes, those with the smallest of random numbers.

    Attributes
    ----------
    most : int
        Most rows of a class that are kept.
    X : ndarray or CSR matrix
    y, weight, order : ndarray
        ``order`` are the random numbers.
    rows : ndarray of int64, shape (2,)
        How many rows of each class they are drawn from.
    """

    most: int
    X: Any
    y: np.ndarray
    weight: np.ndarray
    order: np.ndarray
    rows: np.ndarray

    def __add__(self, other: Sample) -> Sample:
        return _smallest(
            self.most,
            _stacked(self.X, other.X),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.order, other.order]),
            self.rows + other.rows,
        )

    def with_classes_exchanged(self) -> Sample:
        """The same if the other class is the positive one."""
        return replace(self, y=1 - self.y, rows=self.rows[::-1])

    def losses(
        self,
        pair: PairOfLosses,
        penalty: float,
        fit_intercept: bool,
        standardised: Callable[[np.ndarray], np.ndarray] = lambda X: X,
    ) -> Objective:
        """An objective in which each row of the sample stands for as many rows as it was drawn from."""
        kept = np.bincount(self.y, minlength=2)
        factor = np.divide(self.rows, kept, out=np.zeros(2), where=kept > 0)
        weight = self.weight * factor[self.y]
        X = standardised(self.X if isinstance(self.X, np.ndarray) else self.X.toarray())
        return Objective(design(X), self.y, pair, weight, penalty=penalty, fit_intercept=fit_intercept)


@dataclass(frozen=True)
class SampleRows:
    """Ask for a :class:`Sample` of at most ``most`` rows of each class."""

    most: int
    seed: int = 0

    def answer(self, block: Block) -> Sample:
        """The rows of one block that may be in the sample."""
        n = block.y.size
        order = np.random.default_rng((self.seed, block.number)).random(n)
        weight = block.weight if block.weight.size else np.ones(n)
        positive = int(np.count_nonzero(block.y))
        return _smallest(self.most, block.X, block.y, weight, order, np.array([n - positive, positive]))


def _smallest(most: int, X: Any, y: np.ndarray, weight: np.ndarray, order: np.ndarray, rows: np.ndarray) -> Sample:
    chosen = []
    for label in (0, 1):
        members = np.flatnonzero(y == label)
        if members.size > most:
            members = members[np.argpartition(order[members], most - 1)[:most]]
        chosen.append(members)
    kept = np.sort(np.concatenate(chosen))
    return Sample(most, X[kept], y[kept], weight[kept], order[kept], rows)


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    from scipy.sparse import vstack

    return vstack([first, second], format="csr")
