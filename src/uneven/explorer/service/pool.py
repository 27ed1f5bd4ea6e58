"""Processes that compute, with a limit of time for each question and a limit of questions that wait.

Each process has a thread in the server that hands it questions. A question that takes too long, or that nobody waits
for any more, ends with its process; a new one takes its place.
"""

from __future__ import annotations

import multiprocessing
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from uneven.explorer.service.worker import TOLD, run

#: Seconds that a process may take to start; they do not count for its first question.
_START = 120.0
#: Seconds between two looks at whether somebody still waits.
_GLANCE = 0.05
#: Seconds that a process may go on with a question that nobody waits for: most end sooner than a new process starts.
_PATIENCE = 0.5
#: Questions after which a process is replaced, whatever its memory.
_QUESTIONS = 3000


class Busy(Exception):
    """Too many questions wait already."""


class TookTooLong(Exception):
    """The limit of time was reached."""


class Broken(Exception):
    """The process ended by itself, or failed; the message is for the user."""


@dataclass
class Job:
    """A question under way.

    Attributes
    ----------
    task : str
    data : plain data
    future : Future of (str, content)
        The last message of the process.
    tell : callable
        Called from another thread with each message before the last.
    """

    task: str
    data: Any
    tell: Callable[[bytes], None]
    future: Future[tuple[str, Any]] = field(default_factory=Future)
    abandoned: threading.Event = field(default_factory=threading.Event)

    def abandon(self) -> None:
        """Nobody waits for the answer any more."""
        self.abandoned.set()


class Pool:
    """Several processes for questions of one kind.

    Parameters
    ----------
    processes : int
    waiting : int
        The most questions that may wait for a process.
    seconds : float
        The most that one question may take.
    modesty : int
        How far the processes stand back behind others (the niceness of the system), 0 to 19.
    growth : int
        Bytes by which the memory of a process may grow; then another one takes its place, so that what it remembers
        cannot grow for ever.
    """

    def __init__(
        self, processes: int, *, waiting: int, seconds: float, modesty: int = 0, growth: int = 1 << 40
    ) -> None:
        self.processes, self.waiting, self.seconds = processes, waiting, seconds
        self.modesty, self.growth = modesty, growth
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(processes)]
        self._closed = threading.Event()

    def start(self) -> None:
        """Start the processes."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the processes, with whatever they work on."""
        self._closed.set()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(timeout=5)

    def submit(self, task: str, data: Any, tell: Callable[[bytes], None] = lambda part: None) -> Job:
        """Ask a question; :class:`Busy` if too many wait already."""
        if self._jobs.qsize() >= self.waiting:
            raise Busy
        job = Job(task, data, tell)
        self._jobs.put(job)
        return job

    def _serve(self) -> None:
        process = _Process(self.modesty, self.growth)
        while (job := self._jobs.get()) is not None and not self._closed.is_set():
            if job.abandoned.is_set() or not job.future.set_running_or_notify_cancel():
                job.future.cancel()
                continue
            try:
                job.future.set_result(process.ask(job, self.seconds, self._closed))
            except Exception as error:
                job.future.set_exception(error)
            if not process.usable:
                process.end()
                if not self._closed.is_set():
                    process = _Process(self.modesty, self.growth)
        process.end()


class _Process:
    """One process, and how many questions it has answered."""

    def __init__(self, modesty: int, growth: int) -> None:
        context = _context()
        self._connection, other = context.Pipe()
        self._process = context.Process(target=run, args=(other, modesty, growth), daemon=True)
        self._process.start()
        other.close()
        self._answered = 0
        self._ready = False
        self._in_step = True
        self._grown = False

    @property
    def usable(self) -> bool:
        return self._in_step and not self._grown and self._answered < _QUESTIONS and self._process.is_alive()

    def ask(self, job: Job, seconds: float, closed: threading.Event) -> tuple[str, Any]:
        """The last message about a job."""
        try:
            if not self._ready:
                self._message(job, time.monotonic() + _START, closed)
                self._ready = True
            self._answered += 1
            self._in_step = False  # until the last message has come
            self._connection.send((job.task, job.data))
            until = time.monotonic() + seconds
            while True:
                kind, content = self._message(job, until, closed)
                if kind != TOLD:
                    self._in_step = True
                    return kind, content
                job.tell(content)
        except (EOFError, OSError):
            self._in_step = False  # it may not count as ended yet
            raise Broken("the process that worked on this question ended, perhaps for lack of memory") from None

    def _message(self, job: Job, until: float, closed: threading.Event) -> tuple[str, Any]:
        """The next message of the process, unless the time is up or nobody waits for it any more."""
        left_alone: float | None = None
        while True:
            waits = self._connection.poll(_GLANCE)
            now = time.monotonic()
            if closed.is_set():
                raise Broken("the explorer was stopped")
            if now > until:
                raise TookTooLong
            if job.abandoned.is_set():
                left_alone = now if left_alone is None else left_alone
                if now - left_alone > _PATIENCE:
                    raise Broken("nobody waits for this answer")
            if waits:
                kind, content, self._grown = self._connection.recv()
                return kind, content

    def end(self) -> None:
        self._connection.close()
        if not self._in_step:
            self._process.kill()
        self._process.join(timeout=2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _context() -> Any:
    """Processes are forked from one that has imported everything, where that is possible: it takes milliseconds."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([run.__module__])
    return context
