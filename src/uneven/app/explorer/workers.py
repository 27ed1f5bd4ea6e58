"""Processes that answer questions, with a limit of time for each and a limit of questions that wait.

Each process has a thread in the server that hands it questions. A question that takes too long, or that nobody waits
for any more, ends with its process; a new one takes its place.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from uneven.app.explorer import answers, questions  # noqa: F401 - imported once, before processes are forked
from uneven.app.explorer.questions import Refusal
from uneven.errors import UnevenError

#: Kinds of messages to the server.
READY, TOLD, DONE, REFUSED, FAILED = "ready", "told", "done", "refused", "failed"

#: Where each task is answered: a module and a function. The function takes the data of the page, and a function that
#: tells of its progress if the task reports any.
TASKS = {
    "choices": ("uneven.app.explorer.answers", "choices"),
    "formula": ("uneven.app.explorer.questions", "formula"),
    "curves": ("uneven.app.explorer.answers", "curves"),
    "alpha_of_gamma": ("uneven.app.explorer.answers", "alpha_of_gamma"),
    "verdict": ("uneven.app.explorer.answers", "verdict"),
    "enclosure": ("uneven.app.explorer.answers", "enclosure"),
    "certificate": ("uneven.app.explorer.answers", "certificate"),
    "table": ("uneven.app.explorer.table_questions", "table"),
    "fit": ("uneven.app.explorer.data_fits", "fit"),
    "example": ("uneven.app.explorer.table_questions", "example"),
    "model_file": ("uneven.app.explorer.saved_fits", "model_file"),
    "decisions_file": ("uneven.app.explorer.saved_fits", "decisions_file"),
    "flag_limit": ("uneven.app.explorer.limit_answers", "flag_limit"),
    "class_costs": ("uneven.app.explorer.class_answers", "class_costs"),
    "review": ("uneven.app.explorer.limit_answers", "review"),
}
_TELLING = frozenset(("fit", "model_file", "decisions_file"))
_OUR_FAULT = (
    "the explorer failed on this question, which it should not; please report it, with the address of this page and "
    "the lines on the terminal"
)


def answer(task: str, data: Any, tell: Callable[[bytes], None]) -> tuple[str, Any]:
    """The kind of the last message, and its content: JSON as bytes, or the fields of a refusal."""
    module, name = TASKS[task]
    function = getattr(import_module(module), name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a value too large for a double is a gap in the picture
            found = function(data, lambda part: tell(to_json(part))) if task in _TELLING else function(data)
        return DONE, found if isinstance(found, bytes) else to_json(found)
    except Refusal as refusal:
        return REFUSED, refusal.to_dict()
    except UnevenError as error:
        return REFUSED, Refusal(str(error)).to_dict()
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return FAILED, _OUR_FAULT


def to_json(data: Any) -> bytes:
    """Plain data as JSON; a number that JSON has no word for is an error."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()


def largest_memory() -> int:
    """The most memory in bytes that this process has had so far; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def run(connection: Connection, modesty: int, growth: int) -> None:
    """Answer until the server hangs up. Ctrl-C is for the server, which then ends its processes.

    Every message is a kind, a content, and whether the memory has grown by more than ``growth`` bytes since the start:
    results are remembered for the next question, which is good for a while.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(modesty)
    start = largest_memory()
    try:
        connection.send((READY, None, False))
        while True:
            task, data = connection.recv()
            kind, content = answer(task, data, lambda part: connection.send((TOLD, part, False)))
            connection.send((kind, content, largest_memory() - start > growth))
    except (EOFError, OSError):
        return


# -- in the server -----------------------------------------------------------------------------------------------------

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
