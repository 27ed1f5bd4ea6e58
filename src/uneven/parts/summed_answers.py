"""What is asked of the parts of an objective, and who answers.

A question is small and can be pickled. Its ``answer`` looks at one block of rows and uses the compiled passes. Answers
can be added; the sum over all blocks is the answer for all rows. Whoever holds the parts asks each of them and adds the
answers in the order of the parts, so that the numbers do not depend on which part answers first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from uneven.errors import CostError
from uneven.parts.blocks import Block
from uneven.solvers import loops
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.running import in_threads, row_ranges


class Addable(Protocol):
    """An answer."""

    def __add__(self, other: Self, /) -> Self:
        """The answer for the rows of both."""
        ...


A = TypeVar("A", bound=Addable)
A_co = TypeVar("A_co", bound=Addable, covariant=True)


class Question(Protocol[A_co]):
    """What is asked of every block."""

    def answer(self, block: Block) -> A_co:
        """The answer of one block."""
        ...


class Parts(Protocol):
    """All rows, wherever they are."""

    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all blocks, in the order of the blocks."""
        ...


def add_answers(answers: Iterable[A]) -> A:
    """The sum of answers, in their order."""
    return reduce(lambda total, one: total + one, answers)


@dataclass(frozen=True)
class Two(Generic[A]):
    """The answers to two questions."""

    first: A
    second: Any

    def __add__(self, other: Two[A]) -> Two[A]:
        return Two(self.first + other.first, self.second + other.second)


@dataclass(frozen=True)
class Both(Generic[A]):
    """Two questions in one read of the rows."""

    first: Question[A]
    second: Question[Any]

    def answer(self, block: Block) -> Two[A]:
        """Both answers of a block."""
        return Two(self.first.answer(block), self.second.answer(block))


@dataclass(frozen=True)
class Held:
    """Blocks that are all in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.parts.blocks import Block
    >>> from uneven.parts.summed_answers import Held, SurveyRows
    >>> X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 1], dtype=np.int8)
    >>> halves = Held((Block(X[:2], y[:2], np.empty(0), 0), Block(X[2:], y[2:], np.empty(0), 1)))
    >>> halves.ask(SurveyRows(np.zeros(2))).rows
    array([1, 3])
    """

    blocks: tuple[Block, ...]

    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all blocks."""
        return add_answers(question.answer(block) for block in self.blocks)


# -- the first question: how many rows of each class there are, what they weigh, and where their columns lie ----------


@dataclass(frozen=True)
class Survey:
    """Sums over rows; the first axis is the class.

    Attributes
    ----------
    rows : ndarray of int64, shape (2,)
    weights : ndarray of shape (2,)
        Sums of the weights.
    sums, squares : ndarray of shape (2, d)
        Weighted sums of (x - about) and of its square.
    plain : ndarray of shape (2, d)
        Sums of (x - about) and of its square over all rows, without weights.
    about : ndarray of shape (d,)
    given_weight : float
        Sum of the sample weights, without costs.
    turned : int
        Rows that are learnt with the other label.
    labels : tuple
        Labels that occur, in order of appearance.
    """

    rows: np.ndarray
    weights: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    plain: np.ndarray
    about: np.ndarray
    given_weight: float
    turned: int
    labels: tuple[Any, ...] = ()

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.rows + other.rows,
            self.weights + other.weights,
            self.sums + other.sums,
            self.squares + other.squares,
            self.plain + other.plain,
            self.about,
            self.given_weight + other.given_weight,
            self.turned + other.turned,
            tuple(dict.fromkeys(self.labels + other.labels)),
        )

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def mean(self) -> np.ndarray:
        """Mean of each column, without weights."""
        return np.asarray(self.about + self.plain[0] / self.count)

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation of each column, without weights; 1 for a constant one."""
        mean = self.plain[0] / self.count
        variance = np.maximum(self.plain[1] / self.count - mean * mean, 0.0)
        # Of a constant column only errors of rounding are left.
        constant = variance <= 1e-14 * (self.plain[1] / self.count + (1e-3 * self.about) ** 2)
        return np.asarray(np.where(constant, 1.0, np.sqrt(variance)))

    def with_classes_exchanged(self) -> Survey:
        """The same if the other class is the positive one."""
        return replace(
            self,
            rows=self.rows[::-1],
            weights=self.weights[::-1],
            sums=self.sums[::-1],
            squares=self.squares[::-1],
        )


@dataclass(frozen=True)
class SurveyRows:
    """Ask for a :class:`Survey`.

    Attributes
    ----------
    about : ndarray of shape (d,)
        A point near the data, such as the mean of some rows: squares around it lose few digits.
    """

    about: np.ndarray

    def answer(self, block: Block) -> Survey:
        """The sums of one block; an error if a number of it is not finite."""
        n, d = block.X.shape
        ranges = row_ranges(n, n * d, 8 * d)
        out = np.zeros((len(ranges), 6, d + 1))
        in_threads(lambda k, lo, hi: self._add(block, lo, hi, out[k]), ranges)
        total = out.sum(axis=0)
        if not np.isfinite(total).all():
            require_finite(block)
        positive = int(np.count_nonzero(block.y))
        return Survey(
            np.array([n - positive, positive]),
            total[:2, d].copy(),
            total[:2, :d],
            total[2:4, :d],
            total[4:, :d],
            self.about,
            float(n) if block.given_weight is None else block.given_weight,
            block.turned,
            block.labels,
        )

    def _add(self, block: Block, lo: int, hi: int, out: np.ndarray) -> None:
        X: Any = block.X
        if not isinstance(X, np.ndarray):
            add_sparse = loops.part_passes.add_sparse
            add_sparse(X.data, X.indices, X.indptr, block.y, block.weight, self.about, lo, hi, out)
        elif X.flags.c_contiguous:
            loops.part_passes.add_rows(X, block.y, block.weight, self.about, lo, hi, out)
        else:
            loops.part_passes.add_columns(X.T, block.y, block.weight, self.about, lo, hi, out)


def require_finite(block: Block) -> None:
    """Raise if a number of a block is not finite; the message says where it is."""
    data = block.X if isinstance(block.X, np.ndarray) else block.X.data
    bad = np.argwhere(~np.isfinite(data))
    if len(bad):
        kind = "NaN" if np.isnan(data[tuple(bad[0])]) else "inf"
        place = f"row {bad[0][0]}, column {bad[0][1]}" if isinstance(block.X, np.ndarray) else "the stored values"
        raise CostError(
            f"X must hold finite numbers, got {kind} in {place} of batch {block.number} (both count from 0); fill in "
            "or drop such values before"
        )
    if not np.isfinite(block.weight).all():
        row = int(np.flatnonzero(~np.isfinite(block.weight))[0])
        raise CostError(
            f"weights and costs must be finite, got {block.weight[row]} in row {row} of batch {block.number} (both "
            "count from 0)"
        )


# -- whether a theta separates the classes: then, without a penalty, larger coefficients always lower the loss --------


@dataclass(frozen=True)
class Separated:
    """Whether every row is on its side."""

    all_rows: bool

    def __add__(self, other: Separated) -> Separated:
        return Separated(self.all_rows and other.all_rows)


@dataclass(frozen=True)
class SeparatedBy:
    """Ask whether a theta puts every row on its side of 0."""

    theta: np.ndarray
    pair: PairOfLosses

    def answer(self, block: Block) -> Separated:
        """The answer for one block."""
        return Separated(block.losses(self.pair).separates(self.theta))
