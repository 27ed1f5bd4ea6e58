"""What is asked of the parts of an objective, and who answers.

A question is small and can be pickled. Its ``answer`` looks at one block of rows and uses the compiled passes. Answers
can be added; the sum over all blocks is the answer for all rows. Whoever holds the parts asks each of them and adds the
answers in the order of the parts, so that the numbers do not depend on which part answers first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, Protocol, Self, TypeVar

from uneven.solvers.linear.parts.block import Block


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
    >>> from uneven.solvers.linear.parts.block import Block
    >>> from uneven.solvers.linear.parts.protocol import Held
    >>> from uneven.solvers.linear.parts.survey import SurveyRows
    >>> X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 1], dtype=np.int8)
    >>> halves = Held((Block(X[:2], y[:2], np.empty(0), 0), Block(X[2:], y[2:], np.empty(0), 1)))
    >>> halves.ask(SurveyRows(np.zeros(2))).rows
    array([1, 3])
    """

    blocks: tuple[Block, ...]

    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all blocks."""
        return add_answers(question.answer(block) for block in self.blocks)
