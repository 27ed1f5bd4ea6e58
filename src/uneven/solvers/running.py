"""How work runs: on ranges of rows in threads, and with its progress on stderr and for a program that listens.

The ranges do not depend on the number of threads, so neither do the results.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from uneven.errors import CostError

T = TypeVar("T")

#: Numbers of X in a range below which a thread is not worth its start: then there are fewer ranges.
_LEAST_WORK = 400_000
#: Most ranges. The number does not depend on the cores, so that sums are the same on every machine; of more than eight
#: cores, some rest.
_MOST_RANGES = 8


def row_ranges(n: int, work: int, width: int = 0) -> list[tuple[int, int]]:
    """Row ranges of about equal length for n rows that hold ``work`` numbers.

    If each range needs a vector of its own, ``width`` is its length: it must be short against the numbers of the range.
    """
    count = max(1, min(_MOST_RANGES, n, work // max(_LEAST_WORK, 2 * width)))
    count += 1 < count < n and count % 2  # an odd number would leave one of two cores idle at the end
    return [(n * k // count, n * (k + 1) // count) for k in range(count)]


def score_ranges(n: int) -> list[tuple[int, int]]:
    """Ranges for a pass over n scores: the loss of a row costs about as much as reading 16 numbers."""
    return row_ranges(n, 16 * n)


def in_threads(function: Callable[[int, int, int], T], ranges: list[tuple[int, int]]) -> list[T]:
    """The results of function(k, lo, hi) for every range, in order."""
    if len(ranges) == 1 or thread_count() == 1:
        return [function(k, lo, hi) for k, (lo, hi) in enumerate(ranges)]
    return list(_pool(os.getpid()).map(lambda item: function(item[0], *item[1]), enumerate(ranges)))


def thread_count() -> int:
    """Cores this process may use; fewer if the environment says so, as joblib's workers do."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit():
            count = min(count, max(1, int(value)))
    return count


class _BlasThreads:
    """A context in which BLAS uses a number of threads.

    threadpoolctl's own context describes every library each time, which takes longer than a small fit.
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __enter__(self) -> None:
        self._before = [(library, library.get_num_threads()) for library in _blas()]
        self._set([(library, self._count) for library, count in self._before if count != self._count])

    def __exit__(self, *error: object) -> None:
        self._set([(library, count) for library, count in self._before if count != self._count])

    @staticmethod
    def _set(counts: list[tuple[Any, int | None]]) -> None:
        for library, count in counts:
            if count is not None:  # a library that cannot tell its number of threads
                library.set_num_threads(count)


def single_threaded_blas() -> _BlasThreads:
    """A context in which BLAS uses one thread, because our own threads call it at the same time."""
    return _BlasThreads(1)


def blas_on_all_cores() -> _BlasThreads:
    """A context in which BLAS uses as many threads as we would: for products and factors of large matrices."""
    return _BlasThreads(thread_count())


@lru_cache(maxsize=1)
def _blas() -> tuple[Any, ...]:
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool per process, because a fork does not inherit the threads of its parent."""
    return ThreadPoolExecutor(thread_count(), thread_name_prefix="uneven")


def require_finite(name: str, X: Any, *, missing: bool = False) -> None:
    """Raise unless every number is finite, or missing (NaN) if allowed; the message says where the first bad one is."""
    data = X if isinstance(X, np.ndarray) else X.data

    def total(k: int, lo: int, hi: int) -> float:
        with np.errstate(all="ignore"):
            return float(data[lo:hi].sum())

    if math.isfinite(sum(in_threads(total, row_ranges(data.shape[0], data.size)))):
        return
    bad = np.argwhere(np.isinf(data) if missing else ~np.isfinite(data))
    if not len(bad):  # the sum overflowed, or the bad ones are allowed
        return
    value = data[tuple(bad[0])]
    kind = "NaN" if np.isnan(value) else "inf"
    place = f"row {bad[0][0]}, column {bad[0][1]}" if isinstance(X, np.ndarray) else "its stored values"
    raise CostError(
        f"{name} must hold finite numbers, got {kind} in {place}; fill in or drop such values (NaN, inf) before"
    )


# -- progress
# ------------------------------------------------------------------------------------------------------------

#: Called once per iteration with a line of text.
Progress = Callable[[str], None]


def silent(line: str) -> None:
    """Progress that is not shown."""


def say(name: str, line: str) -> None:
    """One line on stderr; ``name`` says who works."""
    sys.stderr.write(f"[{name}] {line}\n")


#: Called with who works, a sentence, and the share that is done, from 0 to 1.
Listener = Callable[[str, str, float], None]

_listener: ContextVar[Listener | None] = ContextVar("uneven_progress_listener", default=None)
_bar: ContextVar[Bar | None] = ContextVar("uneven_progress_bar", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear of the progress of all learners that are fitted in this block, in this thread.

    Examples
    --------
    >>> from uneven.solvers.running import Bar, listening
    >>> heard = []
    >>> with listening(lambda name, words, share: heard.append((name, words, share))):
    ...     Bar(False, "search", 2, "splits").advance()
    >>> heard
    [('search', '1 of 2 splits', 0.5)]
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def while_waiting() -> None:
    """Let the program that listens know that the bar of this thread is still at work."""
    bar = _bar.get()
    if bar is not None:
        bar.remind()


def progress(verbose: object, name: str) -> Callable[[str], None]:
    """A function that writes lines to stderr, or does nothing if ``verbose`` is false."""

    return partial(say, name) if verbose else silent


class Bar:
    """A progress bar on stderr for work in parts.

    With ``verbose=None`` it appears only on a terminal, only if the work takes longer than ``LONG`` seconds, and only
    if no program listens, which has its own way to show it. The time left is shown when a tenth of the work is done:
    the first parts say little about the others.

    Parameters
    ----------
    verbose : bool, int or None
    name : str
        Who works.
    total : int
        Number of parts; 0 if it is not known yet.
    unit : str
        What a part is called, in the plural.
    effort : float, optional
        Effort of all parts together, if they differ; by default each counts 1.
    limit : float, optional
        Seconds after which the work ends in any case.
    """

    LONG = 5.0
    WIDTH = 30
    #: Seconds between two lines while no part ends: on a terminal, where each replaces the one before, and elsewhere.
    TICK, PAUSE = 1.0, 30.0
    #: Share of the work that has to be done before it says how long the rest takes.
    KNOWN = 0.1

    def __init__(
        self,
        verbose: bool | int | None,
        name: str,
        total: int,
        unit: str,
        effort: float | None = None,
        limit: float | None = None,
    ) -> None:
        self.verbose, self.name, self.unit, self.limit = verbose, name, unit, limit
        self.total, self.effort = total, float(total) if effort is None else effort
        self.done, self.spent, self.phase = 0, 0.0, ""
        self.started = self.began = self.last = self._told = time.perf_counter()
        self._open = self._ticks = False
        self.is_heard = _listener.get() is not None
        self._lock = threading.Lock()

    def expect(self, total: int, effort: float) -> None:
        """So many more parts; fewer if it is negative."""
        if not self.total:  # what went before is no measure of them
            self.began = time.perf_counter()
        self.total += total
        self.effort += effort

    def enter(self, phase: str) -> None:
        """What is done now, beside the parts."""
        self.phase = phase

    def tell(self, line: str) -> None:
        """A line of its own, if ``verbose`` asks for lines."""
        if self.verbose:
            self.close()
            say(self.name, line)

    def advance(self, effort: float = 1.0) -> None:
        """One more part is done."""
        self.done += 1
        self.spent += effort
        self.last = time.perf_counter()
        self._inform()
        self._draw()

    def remind(self) -> None:
        """Tell the program that listens the same again, at most once in a while: then it can say how long it took."""
        if self.done and time.perf_counter() - self._told > self.TICK:
            self._inform()

    def _inform(self) -> None:
        self._told = time.perf_counter()
        listener = _listener.get()
        if listener is not None:
            listener(self.name, f"{self.done} of {self.total} {self.unit}", self.spent / self.effort)

    @contextmanager
    def ticking(self) -> Iterator[Bar]:
        """Show lines also while no part ends, from a thread; at the end, the line of a terminal is closed."""
        self._ticks, stop = True, threading.Event()
        thread = threading.Thread(target=self._tick, args=(stop,), daemon=True, name="uneven-progress")
        shown = self.verbose or (self.verbose is None and sys.stderr.isatty() and not self.is_heard)
        token = _bar.set(self)
        if shown:
            thread.start()
        try:
            yield self
        finally:
            _bar.reset(token)
            stop.set()
            if shown:
                thread.join()
            self.close()

    def close(self) -> None:
        """End the line, so that the next one begins below."""
        with self._lock:
            if self._open:
                sys.stderr.write("\n")
                self._open = False

    def _tick(self, stop: threading.Event) -> None:
        while not stop.wait(self.TICK if sys.stderr.isatty() else self.PAUSE):
            self._draw()

    def _draw(self) -> None:
        terminal, now = sys.stderr.isatty(), time.perf_counter()
        long = self.verbose is None and now - self.started > self.LONG and terminal and not self.is_heard
        if not (self.verbose or long):
            return
        with self._lock:
            # On a terminal each line replaces the one before; in a file all lines are kept.
            self._open = terminal and (self._ticks or self.done < self.total)
            start, end = ("\r\x1b[2K" if terminal else ""), ("" if self._open else "\n")
            sys.stderr.write(f"{start}[{self.name}] {self._line(now)}{end}")
            sys.stderr.flush()

    def _line(self, now: float) -> str:
        words = [f"{now - self.started:.1f} s"]
        if self.total:
            filled = self.WIDTH * self.done // self.total
            bar = "#" * filled + "-" * (self.WIDTH - filled)
            words.insert(0, f"[{bar}] {self.done} of {self.total} {self.unit}")
            if self.spent >= self.KNOWN * self.effort:
                rest = (self.last - self.began) * (self.effort - self.spent) / self.spent
                left = max(0.0, rest - (now - self.last))
                if self.limit is not None:
                    left = min(left, max(0.0, self.limit - (now - self.started)))
                words.append(f"{left:.1f} s to go")
        return ", ".join([*words, self.phase] if self.phase else words)
