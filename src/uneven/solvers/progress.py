"""Progress of solvers and learners: on stderr, and for a program that listens."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

#: Called once per iteration with a line of text.
Progress = Callable[[str], None]


def silent(line: str) -> None:
    """Progress that is not shown."""


def say(name: str, line: str) -> None:
    """One line on stderr; ``name`` says who works."""
    sys.stderr.write(f"[{name}] {line}\n")


# Progress of learners: on stderr, and for a program that listens.

#: Called with who works, a sentence, and the share that is done, from 0 to 1.
Listener = Callable[[str, str, float], None]

_listener: ContextVar[Listener | None] = ContextVar("uneven_progress_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear of the progress of all learners that are fitted in this block, in this thread.

    Examples
    --------
    >>> from uneven.solvers.progress import Bar, listening
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


def progress(verbose: object, name: str) -> Callable[[str], None]:
    """A function that writes lines to stderr, or does nothing if ``verbose`` is false."""

    return partial(say, name) if verbose else silent


class Bar:
    """A progress bar on stderr for work in parts.

    With ``verbose=None`` it appears only on a terminal, and only if the work takes longer than ``LONG`` seconds.

    Parameters
    ----------
    verbose : bool, int or None
    name : str
        Who works.
    total : int
        Number of parts.
    unit : str
        What a part is called, in the plural.
    effort : float, optional
        Effort of all parts together, if they differ; by default each counts 1.
    """

    LONG = 5.0
    WIDTH = 30

    def __init__(
        self, verbose: bool | int | None, name: str, total: int, unit: str, effort: float | None = None
    ) -> None:
        self.verbose, self.name, self.total, self.unit = verbose, name, total, unit
        self.effort = float(total) if effort is None else effort
        self.done, self.spent = 0, 0.0
        self.started = time.perf_counter()

    def advance(self, effort: float = 1.0) -> None:
        """One more part is done."""
        self.done += 1
        self.spent += effort
        listener = _listener.get()
        if listener is not None:
            listener(self.name, f"{self.done} of {self.total} {self.unit}", self.spent / self.effort)
        seconds = time.perf_counter() - self.started
        long = self.verbose is None and seconds > self.LONG and sys.stderr.isatty()
        if not (self.verbose or long):
            return
        filled = self.WIDTH * self.done // self.total
        bar = "#" * filled + "-" * (self.WIDTH - filled)
        left = max(0.0, seconds * (self.effort - self.spent) / self.spent)
        line = f"[{self.name}] [{bar}] {self.done} of {self.total} {self.unit}, {seconds:.1f} s, {left:.1f} s to go"
        # On a terminal each line replaces the one before; in a file all lines are kept.
        end = "\n" if self.done == self.total or not sys.stderr.isatty() else ""
        sys.stderr.write(("\r" if sys.stderr.isatty() else "") + line + end)
        sys.stderr.flush()
