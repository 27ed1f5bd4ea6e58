"""The rows of an objective on a Dask cluster: every pass is one task for each partition, where that partition is."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from distributed.protocol.pickle import dumps

from uneven.errors import ClusterError
from uneven.parts.blocks import Batch, BlockMaker
from uneven.parts.cluster import distributed, require_scheduler
from uneven.parts.dask_rows import Rows
from uneven.parts.fitting import RowsInParts
from uneven.parts.loss_slopes import SlopesAt
from uneven.parts.summed_answers import Addable, Question, add_answers
from uneven.tables.columns_in_parts import Plan

FEATURE = "fits on a Dask cluster"

#: What to do if the scheduler is gone.
RESUME = (
    "connect a new client, load the data there, and call fit again; with warm_start=True it starts from the last "
    "coefficients"
)

#: Answers that are added in one task. The client adds so many at most, however many partitions there are.
_FAN_IN = 16
#: Seconds between two looks at whether the workers that hold partitions are alive.
_GLANCE = 1.0
#: How often a pass is started again because workers died.
_MOST_RESTARTS = 5

A = TypeVar("A", bound=Addable)


class DaskParts(RowsInParts):
    """Rows that are futures. A pass sends one question to each, and adds the answers in the order of the futures.

    A task may run only on a worker that holds its rows, so rows never move. If such a worker dies, the pass is started
    again, and Dask loads the lost rows anew.

    Attributes
    ----------
    passes : int
        Questions asked so far.
    largest_message : int
        Bytes of the largest question or answer of one partition so far.
    last_theta : ndarray or None
        Where the last step was evaluated: from here a fit can go on.
    """

    def __init__(self, client: Any, held: Sequence[Any], some: Batch, plan: Plan | None = None) -> None:
        self.client, self.some, self.plan = client, some, plan
        self.held = list(held)
        self.passes = 0
        self.largest_message = 0
        self.last_theta: np.ndarray | None = None

    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all partitions."""
        asked = _Asked(question, self.make_block, self.plan)
        found = on_parts(self.client, self.held, asked)
        self.passes += 1
        self.largest_message = max(self.largest_message, len(dumps(asked)), found.most_bytes)
        if isinstance(question, SlopesAt):
            self.last_theta = question.theta
        return found.answer


@dataclass(frozen=True)
class _Measured:
    """An answer, and how many bytes the largest answer of a partition had."""

    answer: Any
    most_bytes: int

    def __add__(self, other: _Measured) -> _Measured:
        return _Measured(self.answer + other.answer, max(self.most_bytes, other.most_bytes))


@dataclass(frozen=True)
class _Asked:
    """What runs on a worker for each partition."""

    question: Question[Any]
    make_block: BlockMaker
    plan: Plan | None

    def __call__(self, rows: Rows) -> _Measured:
        answer = self.question.answer(rows.block(self.make_block, self.plan))
        return _Measured(answer, len(dumps(answer)))


def on_parts(client: Any, held: Sequence[Any], function: Callable[[Any], Any]) -> Any:
    """The sum of a function of each future, computed where they are."""
    for _ in range(_MOST_RESTARTS):
        require_scheduler(client, RESUME)
        try:
            return _one_pass(client, held, function)
        except _WorkerGoneError:
            continue
        except OSError:  # a call of the scheduler failed
            require_scheduler(client, RESUME)
            raise
    raise ClusterError(
        f"Dask workers died in {_MOST_RESTARTS} attempts at one pass, probably for lack of memory; smaller partitions, "
        "or more memory for each worker, would work"
    )


class _WorkerGoneError(Exception):
    """A worker that holds a partition died in the middle of a pass."""


def _one_pass(client: Any, held: Sequence[Any], function: Callable[[Any], Any]) -> Any:
    library = distributed(FEATURE)
    _wait(client, lambda seconds: library.wait(held, timeout=seconds))  # only what is loaded has a place
    where = client.who_has(list(held))
    at: dict[str | None, list[int]] = {}  # what failed to load has none
    for k, future in enumerate(held):
        at.setdefault(next(iter(where.get(future.key, ())), None), []).append(k)
    answers: list[Any] = [None] * len(held)
    for worker, indices in at.items():
        found = client.map(
            function, [held[k] for k in indices], key="uneven-answer", pure=False, workers=worker and [worker]
        )
        for k, future in zip(indices, found, strict=True):
            answers[k] = future
    kept = list(answers)
    while len(answers) > 1:
        groups = [answers[k : k + _FAN_IN] for k in range(0, len(answers), _FAN_IN)]
        answers = [client.submit(add_answers, group, pure=False) for group in groups]
        kept += answers
    try:
        homes = {worker for worker in at if worker is not None}
        return _wait(client, lambda seconds: _result(answers[0], seconds), homes)
    except BaseException as error:
        if client.status == "running":
            if isinstance(error, ClusterError):
                _require_readable(kept)
            client.cancel(kept)
        raise


def _require_readable(answers: Sequence[Any]) -> None:
    """Raise if the scheduler could not read what it was asked: then the sums were cancelled, too."""
    found = [future.exception() for future in answers if future.status == "error"]
    if any("deserialization" in str(error) for error in found):
        raise ClusterError(
            "the Dask scheduler could not read a pass; the same versions of uneven, NumPy and Python on client, "
            "scheduler and workers would work"
        ) from None


def _result(future: Any, seconds: float) -> Any:
    try:
        return future.result(timeout=seconds)
    except TimeoutError as error:
        if future.status != "error":
            raise
        raise ClusterError(f"a partition could not be loaded, its source timed out: {error}") from None


def _wait(client: Any, wait: Callable[[float], Any], homes: Set[str] = frozenset()) -> Any:
    """Wait for Dask, and look from time to time whether the scheduler and the workers that are needed are there."""
    library = distributed(FEATURE)
    while True:
        try:
            return wait(_GLANCE)
        except TimeoutError:
            require_scheduler(client, RESUME)
            if not homes <= set(client.nthreads()):
                raise _WorkerGoneError from None
        except library.KilledWorker as error:
            raise ClusterError(
                f"a partition died with its Dask worker several times, probably for lack of memory ({error}); smaller "
                "partitions, or more memory for each worker, would work"
            ) from None
        except library.CancelledError:
            require_scheduler(client, RESUME)
            raise ClusterError(
                "Dask cancelled a pass, probably because a lost worker held data that cannot be made again; data read "
                "from files, such as by dask.dataframe.read_parquet, would work"
            ) from None
