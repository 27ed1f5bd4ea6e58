"""Blocks of rows one after the other: while one is used, the next is read. What fits into memory is kept."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from uneven.errors import CostError
from uneven.learners.streaming.batch import Source
from uneven.learners.streaming.marking import Marking
from uneven.solvers.linear.parts.block import Block
from uneven.solvers.linear.parts.protocol import Addable, Question
from uneven.solvers.progress import Progress, silent

A = TypeVar("A", bound=Addable)

#: Blocks that are read ahead.
_AHEAD = 2
#: Seconds between two lines of progress within a read.
_QUIET = 10.0
#: Reads of the rows that a fit takes about, as lines of progress say.
_ABOUT_SMOOTH, _ABOUT_KINKED = 7, 11


class BlockLoop:
    """All rows of a source, as :class:`~uneven.solvers.linear.parts.protocol.Parts`.

    Parameters
    ----------
    source : Source
    marking : Marking
    room : int
        Bytes of blocks that may be kept in memory.
    kinked : bool
        Whether the loss has a kink, which takes more reads.
    progress : callable
    """

    def __init__(
        self, source: Source, marking: Marking, room: int, *, kinked: bool = False, progress: Progress = silent
    ) -> None:
        self.source, self.marking = source, marking
        self.room, self.progress = room, progress
        self.expected = _ABOUT_KINKED if kinked else _ABOUT_SMOOTH
        self.reads, self.rows = 0, 0
        self._kept: list[Block] = []
        self._all_kept = False

    def with_marking(self, marking: Marking) -> None:
        """Mark the rows in another way from now on: with the labels known, and maybe with the classes exchanged."""
        if marking.positive != self.marking.positive:
            self._kept = [replace(block, y=1 - block.y) for block in self._kept]
        self.marking = marking

    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all blocks, in their order."""
        self.reads += 1
        began, rows, total = time.perf_counter(), 0, None
        told = began
        first = not self.rows
        if not first and not self._all_kept:
            self.source.require_unchanged()
        for block in self._blocks(keep=first):
            answer = question.answer(block)
            total = answer if total is None else total + answer
            rows += block.y.size
            now = time.perf_counter()
            if now - told > _QUIET:
                told = now
                share = f" of {self.rows:,}" if self.rows else ""
                self.progress(f"read {self.reads}: {rows:,}{share} rows, {rows / (now - began):,.0f} rows per second")
        if total is None:
            raise CostError("there are no rows: the data are empty")
        if not self._all_kept:
            self.source.require_unchanged()
        if rows != (self.rows or rows):
            raise CostError(
                f"the data changed while they were read: the first read found {self.rows:,} rows, read {self.reads} "
                f"found {rows:,}; give data that stay the same"
            )
        self.rows = rows
        seconds = max(time.perf_counter() - began, 1e-9)
        left = max(self.expected - self.reads, 1)
        self.progress(
            f"read {self.reads}: {rows:,} rows, {rows / seconds:,.0f} rows per second, about {left} more "
            f"read{'s' if left > 1 else ''} ({left * seconds:.0f} s)"
        )
        return total

    def _blocks(self, keep: bool) -> Iterator[Block]:
        """The blocks that are kept, then the others as they are read."""
        yield from list(self._kept)
        if self._all_kept:
            return
        room, keeping, count = self.room, keep, 0
        with _ReadAhead(lambda: self._read(len(self._kept))) as blocks:
            for block in blocks:
                count += 1
                if keeping:
                    room -= block.nbytes
                    keeping = room >= 0
                    if keeping:
                        self._kept.append(block)
                yield block
        self._all_kept = keep and keeping and count == len(self._kept)

    def _read(self, first: int) -> Iterator[Block]:
        for number, batch in enumerate(self.source.batches(first), start=first):
            yield self.marking.block(batch, number)


class _ReadAhead:
    """Runs an iterator in a thread, a few items ahead of its user."""

    def __init__(self, items: Callable[[], Iterator[Block]]) -> None:
        self._items = items
        self._queue: queue.Queue[tuple[Block | None, BaseException | None]] = queue.Queue(_AHEAD)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="uneven-reader", daemon=True)

    def __enter__(self) -> Iterator[Block]:
        self._thread.start()
        return self._received()

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        while self._thread.is_alive():  # a reader that waits for room in the queue gets it, and sees that it is over
            try:
                self._queue.get_nowait()
            except queue.Empty:
                self._thread.join(0.01)

    def _received(self) -> Iterator[Block]:
        while True:
            block, error = self._queue.get()
            if error is not None:
                raise error
            if block is None:
                return
            yield block

    def _work(self) -> None:
        try:
            for block in self._items():
                if self._stopped.is_set():
                    return
                self._queue.put((block, None))
            self._queue.put((None, None))
        except BaseException as error:
            self._queue.put((None, error))
