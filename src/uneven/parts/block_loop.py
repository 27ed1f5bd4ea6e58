"""Blocks of rows: each thread reads some and uses them while they are in its cache. What fits into memory is kept."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np

from uneven.errors import CostError
from uneven.parts.blocks import Block, BlockMaker, Load, Source, batches
from uneven.parts.fitting import FROM_SAMPLE, RowsInParts
from uneven.parts.summed_answers import Addable, Question, add_answers
from uneven.solvers.running import Progress, silent, single_threaded_blas, thread_count

A = TypeVar("A", bound=Addable)
T = TypeVar("T")

#: Seconds between two lines of progress within a read.
_QUIET = 10.0
#: Reads of the rows that a fit takes about, as lines of progress say; a loss with a kink takes more.
_ABOUT_SMOOTH, _ABOUT_KINKED = 7, 11
#: Share of the memory limit that blocks may take; the rest is for blocks that are read ahead, the sample and sums.
_FOR_BLOCKS = 0.6
#: The same for what is being read and decoded.
_FOR_LOADS = 0.3


class BlockLoop(RowsInParts):
    """All rows of a source.

    Parameters
    ----------
    source : Source
    limit : int
        Bytes that rows may take in memory.
    standardize : bool
        Whether columns of numbers are standardised.
    """

    start = FROM_SAMPLE

    def __init__(self, source: Source, limit: int, *, standardize: bool = False) -> None:
        first = next(batches(source), None)
        if first is None:
            raise CostError("there are no rows: the data are empty")
        self.source, self.some = source, first
        self.names, self.plan, self.row_costs = source.names, getattr(source, "plan", None), source.row_costs
        if standardize:
            self.standardized = np.ones(first.X.shape[1], dtype=bool) if source.numbers is None else source.numbers
        self.reads, self.rows = 0, 0
        self._room, self._workers = int(_FOR_BLOCKS * limit), count_workers(source, limit)
        self._expected = _ABOUT_SMOOTH
        self._progress: Progress = silent
        self._make_block: BlockMaker | None = None
        self._kept: list[list[Block]] = []  # of each load
        self._all_kept = False

    def expect(self, *, kinked: bool, progress: Progress) -> None:
        self._expected, self._progress = _ABOUT_KINKED if kinked else _ABOUT_SMOOTH, progress

    @property
    def make_block(self) -> BlockMaker:
        """Makes a block of each batch."""
        assert self._make_block is not None
        return self._make_block

    @make_block.setter
    def make_block(self, make_block: BlockMaker) -> None:
        if self._make_block is not None and make_block.positive != self._make_block.positive:
            self._kept = [[block.with_classes_exchanged() for block in blocks] for blocks in self._kept]
        self._make_block = make_block

    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all blocks, in their order."""
        self.reads += 1
        began, rows, total = time.perf_counter(), 0, None
        told = began
        first = not self.rows
        if not first and not self._all_kept:
            self.source.require_unchanged()
        for answer, count in self._answers(question, first):
            total = answer if total is None else total + answer
            rows += count
            now = time.perf_counter()
            if now - told > _QUIET:
                told = now
                share = f" of {self.rows:,}" if self.rows else ""
                self._progress(f"read {self.reads}: {rows:,}{share} rows, {rows / (now - began):,.0f} rows per second")
        if total is None:
            raise CostError("there are no rows: the data are empty")
        if first or not self._all_kept:
            self.source.require_unchanged()
        if rows != (self.rows or rows):
            raise CostError(
                f"the data changed while they were read: the first read found {self.rows:,} rows, read {self.reads} "
                f"found {rows:,}; give data that stay the same"
            )
        self.rows = rows
        seconds = max(time.perf_counter() - began, 1e-9)
        left = max(self._expected - self.reads, 1)
        self._progress(
            f"read {self.reads}: {rows:,} rows, {rows / seconds:,.0f} rows per second, about {left} more "
            f"read{'s' if left > 1 else ''} ({left * seconds:.0f} s)"
        )
        return total

    def _answers(self, question: Question[A], first: bool) -> Iterator[tuple[A, int]]:
        """The answer of every load in their order, and how many rows it has: those that are kept, then the others."""
        # Each worker is a thread; products of matrices must not start more.
        with single_threaded_blas(), _Workers(self._workers) as workers:
            if first:
                yield from self._first_answers(question, workers)
                return
            yield from workers.results(partial(_of_blocks, question, blocks) for blocks in self._kept)
            if not self._all_kept:
                loads = self.source.loads(len(self._kept))
                for found in workers.results(partial(self._of_load, question, load, _Switch(False)) for load in loads):
                    yield found.answer, found.rows

    def _first_answers(self, question: Question[A], workers: _Workers) -> Iterator[tuple[A, int]]:
        """The answers of the first read, which keeps what it can."""
        room, keeping, count = self._room, _Switch(True), 0
        for found in workers.results(partial(self._of_load, question, load, keeping) for load in self.source.loads()):
            count += 1
            room -= sum(block.nbytes for block in found.blocks)
            keeping.on = keeping.on and room >= 0
            if keeping.on:
                self._kept.append(found.blocks)
            yield found.answer, found.rows
        self._all_kept = count == len(self._kept)

    def _of_load(self, question: Question[A], load: Load, keeping: _Switch) -> _Found[A]:
        keep = keeping.on
        blocks: list[Block] = []

        def made() -> Iterator[Block]:
            for number, batch in enumerate(load.read(keep), start=load.first):
                block = self.make_block(batch, number)
                yield block
                if keep:
                    blocks.append(block)

        return _Found(*_of_blocks(question, made()), blocks)


def _of_blocks(question: Question[A], blocks: Iterable[Block]) -> tuple[A, int]:
    """The sum of the answers of some blocks, and how many rows they have."""
    rows = 0

    def answers() -> Iterator[A]:
        nonlocal rows
        for block in blocks:
            rows += block.y.size
            yield question.answer(block)

    return add_answers(answers()), rows


def count_workers(source: Source, limit: int) -> int:
    """Threads, each of which has a load in memory: one for each core, but fewer where the limit would not hold.

    At least two: with one core, one computes while the other waits for the disk.
    """
    of_one = max(int(getattr(source, "bytes_of_load", 0)), 1)
    return max(2, min(thread_count(), int(_FOR_LOADS * limit) // of_one))


@dataclass
class _Switch:
    on: bool


@dataclass(frozen=True)
class _Found(Generic[A]):
    """The answer of some rows, how many they are, and their blocks if they are to be kept."""

    answer: A
    rows: int
    blocks: list[Block]


class _Workers:
    """A few threads that do work in advance and hand out its results in order."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool = ThreadPoolExecutor(self._count, thread_name_prefix="uneven-reader")

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def results(self, work: Iterable[Callable[[], T]]) -> Iterator[T]:
        """What the functions return, in their order. The iterable itself is run by the caller's thread."""
        pending: deque[Future[T]] = deque()
        for one in work:
            pending.append(self._pool.submit(one))
            if len(pending) > self._count:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
