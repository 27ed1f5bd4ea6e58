"""Progress of learners on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def progress(verbose: object, name: str) -> Callable[[str], None]:
    """A function that writes lines to stderr, or does nothing if ``verbose`` is false."""

    def write(line: str) -> None:
        sys.stderr.write(f"[{name}] {line}\n")

    return write if verbose else _drop


def _drop(line: str) -> None:
    pass


class Bar:
    """A progress bar on stderr for work in equal parts.

    With ``verbose=None`` it appears only on a terminal, and only if the work takes longer than ``LONG`` seconds.
    """

    LONG = 5.0
    WIDTH = 30

    def __init__(self, verbose: bool | int | None, name: str, total: int, unit: str) -> None:
        self.verbose, self.name, self.total, self.unit = verbose, name, total, unit
        self.done = 0
        self.started = time.perf_counter()

    def advance(self) -> None:
        """One more part is done."""
        self.done += 1
        seconds = time.perf_counter() - self.started
        long = self.verbose is None and seconds > self.LONG and sys.stderr.isatty()
        if not (self.verbose or long):
            return
        filled = self.WIDTH * self.done // self.total
        bar = "#" * filled + "-" * (self.WIDTH - filled)
        left = seconds * (self.total - self.done) / self.done
        line = f"[{self.name}] [{bar}] {self.done} of {self.total} {self.unit}, {seconds:.1f} s, {left:.1f} s to go"
        # On a terminal each line replaces the one before; in a file all lines are kept.
        end = "\n" if self.done == self.total or not sys.stderr.isatty() else ""
        sys.stderr.write(("\r" if sys.stderr.isatty() else "") + line + end)
        sys.stderr.flush()
