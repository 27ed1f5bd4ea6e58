"""Ctrl-C during long work: it stops everything, also where a learner would go on with what it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

#: What a shell reports for a program that Ctrl-C ended.
STOPPED = 130


class Interruption:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.pressed = False

    def check(self) -> None:
        """End the command if it was; an ensemble keeps what is finished at Ctrl-C, and its ``fit`` returns."""
        if self.pressed:
            self.stop()

    @staticmethod
    def stop() -> NoReturn:
        """End the command."""
        click.echo("Stopped by Ctrl-C: nothing was saved.", err=True)
        raise click.exceptions.Exit(STOPPED)


@contextmanager
def watched() -> Iterator[Interruption]:
    """Work that Ctrl-C ends."""
    found = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield found
        return

    def press(number: int, frame: FrameType | None) -> None:
        found.pressed = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield found
        found.check()
    except KeyboardInterrupt:
        found.stop()
    finally:
        signal.signal(signal.SIGINT, before)
