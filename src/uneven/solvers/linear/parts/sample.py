"""The question for a sample of the rows, drawn in one read, although nobody knows yet how many rows there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.block import Block


@dataclass(frozen=True)
class _Piece:
    """Some rows, each with the random number that decides whether it stays."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    order: np.ndarray

    def below(self, limits: np.ndarray) -> _Piece:
        """The rows whose random numbers do not exceed the limits of their classes."""
        low, high = limits
        if low == high == np.inf:
            return self
        kept = np.flatnonzero(self.order <= np.where(self.y == 1, high, low))
        return self if kept.size == self.y.size else _Piece(*(one[kept] for one in self.arrays))

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.X, self.y, self.weight, self.order


@dataclass(frozen=True)
class Sample:
    """Random rows of both classes: those with the smallest of random numbers, and maybe some more.

    Attributes
    ----------
    most : int
        Rows of a class that are wanted.
    pieces : tuple
        Rows that may be in the sample. They are put together only when there are too many.
    rows : ndarray of int64, shape (2,)
        How many rows of each class they are drawn from.
    limits : ndarray of shape (2,)
        For each class, the largest random number that can be in the sample.
    """

    most: int
    pieces: tuple[_Piece, ...]
    rows: np.ndarray
    limits: np.ndarray

    def __add__(self, other: Sample) -> Sample:
        # Rows beyond the limits cannot be in the sample, so most of a later block is not even copied.
        limits = np.minimum(self.limits, other.limits)
        pieces = (*self.pieces, *(piece.below(self.limits) for piece in other.pieces))
        return Sample(self.most, pieces, self.rows + other.rows, limits).trimmed(2)

    def trimmed(self, times: float) -> Sample:
        """As one piece without the rows beyond the limits, if a class has more than so many times the rows wanted."""
        counts = np.sum([np.bincount(piece.y, minlength=2) for piece in self.pieces], axis=0)
        if counts.max() <= times * self.most:
            return self
        whole, limits = self._whole(), self.limits.copy()
        for label in np.flatnonzero(counts >= self.most):
            limits[label] = np.partition(whole.order[whole.y == label], self.most - 1)[self.most - 1]
        return replace(self, pieces=(whole.below(limits),), limits=limits)

    def _whole(self) -> _Piece:
        columns = list(zip(*(piece.arrays for piece in self.pieces), strict=True))
        return _Piece(_stacked(columns[0]), *(np.concatenate(column) for column in columns[1:]))

    def with_classes_exchanged(self) -> Sample:
        """The same if the other class is the positive one."""
        pieces = tuple(replace(piece, y=1 - piece.y) for piece in self.pieces)
        return replace(self, pieces=pieces, rows=self.rows[::-1], limits=self.limits[::-1])

    def losses(
        self,
        pair: PairOfLosses,
        penalty: float,
        fit_intercept: bool,
        standardised: Callable[[np.ndarray], np.ndarray] = lambda X: X,
    ) -> Objective:
        """An objective in which each row of the sample stands for as many rows as it was drawn from."""
        part = self.trimmed(1)._whole()
        kept = np.bincount(part.y, minlength=2)
        factor = np.divide(self.rows, kept, out=np.zeros(2), where=kept > 0)
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
        piece = _Piece(block.X, block.y, weight, order)
        return Sample(self.most, (piece,), rows, np.full(2, np.inf)).trimmed(2)


def _stacked(matrices: Sequence[Any]) -> Any:
    if isinstance(matrices[0], np.ndarray):
        return np.concatenate([np.ascontiguousarray(one) for one in matrices])
    from scipy.sparse import vstack

    return vstack(matrices, format="csr")
