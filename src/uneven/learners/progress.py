"""The one place from which a learner tells how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def progress(verbose: object, name: str) -> Callable[[str], None]:
    """A function that writes lines to stderr, or drops them."""

    def write(line: str) -> None:
        sys.stderr.write(f"[{name}] {line}\n")

    return write if verbose else _drop


def _drop(line: str) -> None:
    pass


class Bar:
    """A bar on stderr for work in equal parts; ``verbose=None`` shows it on a terminal once the work is long."""

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
        # On a terminal the line is written over; elsewhere each is kept.
        end = "\n" if self.done == self.total or not sys.stderr.isatty() else ""
        sys.stderr.write(("\r" if sys.stderr.isatty() else "") + line + end)
        sys.stderr.flush()
