"""The question for a sample of the rows, drawn in one read, although nobody knows yet how many rows there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from uneven.solvers import compiled
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
        kept = np.flatnonzero(self.order <= limits[self.y])
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
    counts : ndarray of int64, shape (2,)
        How many rows of each class the pieces have.
    rows : ndarray of int64, shape (2,)
        How many rows of each class they are drawn from.
    limits : ndarray of shape (2,)
        For each class, the largest random number that can be in the sample. All samples of a question share it, so
        that most of a later block is not even copied. Which rows are drawn does not depend on it.
    """

    most: int
    pieces: tuple[_Piece, ...]
    counts: np.ndarray
    rows: np.ndarray
    limits: np.ndarray

    def __add__(self, other: Sample) -> Sample:
        pieces, counts = self.pieces + other.pieces, self.counts + other.counts
        return replace(self, pieces=pieces, counts=counts, rows=self.rows + other.rows).trimmed(2)

    def trimmed(self, times: float) -> Sample:
        """As one piece without the rows beyond the limits, if a class has more than so many times the rows wanted."""
        if self.counts.max() <= times * self.most:
            return self
        whole, limits = self._whole(), np.full(2, np.inf)
        for label in np.flatnonzero(self.counts >= self.most):
            limits[label] = np.partition(whole.order[whole.y == label], self.most - 1)[self.most - 1]
        np.minimum(limits, self.limits, out=self.limits)
        kept = whole.below(limits)
        return replace(self, pieces=(kept,), counts=np.bincount(kept.y, minlength=2))

    def _whole(self) -> _Piece:
        columns = list(zip(*(piece.arrays for piece in self.pieces), strict=True))
        return _Piece(_stacked(columns[0]), *(np.concatenate(column) for column in columns[1:]))

    def with_classes_exchanged(self) -> Sample:
        """The same if the other class is the positive one."""
        pieces = tuple(replace(piece, y=1 - piece.y) for piece in self.pieces)
        return replace(
            self, pieces=pieces, counts=self.counts[::-1], rows=self.rows[::-1], limits=self.limits[::-1].copy()
        )

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
    limits: np.ndarray = field(default_factory=lambda: np.full(2, np.inf))

    def answer(self, block: Block) -> Sample:
        """Copies of the rows of one block that may be in the sample."""
        n = block.y.size
        state = np.random.SeedSequence((self.seed, block.number)).generate_state(1, np.uint64)[0]
        chosen, order = compiled.survey_passes.drawn(state, block.y, self.limits.copy())
        y = block.y[chosen]
        weight = block.weight[chosen] if block.weight.size else np.ones(chosen.size)
        positive = int(np.count_nonzero(block.y))
        piece = _Piece(block.X[chosen], y, weight, order)
        return Sample(
            self.most, (piece,), np.bincount(y, minlength=2), np.array([n - positive, positive]), self.limits
        ).trimmed(2)


def _stacked(matrices: Sequence[Any]) -> Any:
    if isinstance(matrices[0], np.ndarray):
        return np.concatenate([np.ascontiguousarray(one) for one in matrices])
    from scipy.sparse import vstack

    return vstack(matrices, format="csr")
