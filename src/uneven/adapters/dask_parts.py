"""The rows of an objective on a Dask cluster: every pass is one task for each partition, where that partition is."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from uneven.errors import ClusterError
from uneven.learners.cluster import distributed, require_scheduler
from uneven.solvers.linear.parts.block import Block
from uneven.solvers.linear.parts.protocol import Addable, Question, summed

FEATURE = "fits on a Dask cluster"

#: Answers that are added in one task. The client adds so many at most, however many partitions there are.
_FAN_IN = 16
#: Seconds between two looks at whether the workers that hold partitions are alive.
_GLANCE = 1.0
#: How often a pass is started again because workers died.
_MOST_RESTARTS = 5

A = TypeVar("A", bound=Addable)


class DaskParts:
    """Blocks that are futures. A pass sends one question to each, and adds the answers in the order of the blocks.

    A task may run only on a worker that holds its block, so no block moves. If such a worker dies, the pass is started
    again, and Dask makes the lost blocks anew.

    Attributes
    ----------
    passes : int
        Questions asked so far.
    largest_message : int
        Bytes of the largest question or answer of one block so far.
    """

    def __init__(self, client: Any, blocks: Sequence[Any]) -> None:
        self.client = client
        self.blocks = list(blocks)
        self.passes = 0
        self.largest_message = 0

    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all blocks."""
        sent = len(pickle.dumps(question))
        measured = on_parts(self.client, self.blocks, _Asked(question))
        self.passes += 1
        self.largest_message = max(self.largest_message, sent, measured.most_bytes)
        return measured.answer


class _Measured:
    """An answer, and how many bytes the largest answer of a block had."""

    def __init__(self, answer: Any, most_bytes: int) -> None:
        self.answer, self.most_bytes = answer, most_bytes

    def __add__(self, other: _Measured) -> _Measured:
        return _Measured(self.answer + other.answer, max(self.most_bytes, other.most_bytes))


class _Asked:
    """What runs on a worker for each block."""

    def __init__(self, question: Question[Any]) -> None:
        self.question = question

    def __call__(self, block: Block) -> _Measured:
        answer = self.question.answer(block)
        return _Measured(answer, len(pickle.dumps(answer)))


def on_parts(client: Any, held: Sequence[Any], function: Callable[[Any], Any]) -> Any:
    """The sum of a function of each future, computed where they are."""
    for _ in range(_MOST_RESTARTS):
        homes = client.who_has(held)
        try:
            total = _one_pass(client, held, function, homes)
        except _WorkerGone:
            continue
        return total
    raise ClusterError(
        f"Dask workers died in {_MOST_RESTARTS} attempts at one pass, probably for lack of memory; smaller partitions, "
        "or more memory for each worker, would work"
    )


class _WorkerGone(Exception):
    """A worker that holds a partition died in the middle of a pass."""
