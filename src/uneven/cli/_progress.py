"""Progress of a long command, on stderr."""

from __future__ import annotations

import sys
import time

import click

_BAR = 24
_CLEAR_LINE = "\r\x1b[2K"
#: Seconds between two lines of detail where lines cannot replace each other.
_PAUSE = 20.0

_last_line = 0.0


def show_progress(message: str, share: float = 1.0, *, detail: bool = False) -> None:
    """Move a bar on a terminal; elsewhere write a line. Details come often: of them only one in a while is written."""
    global _last_line  # noqa: PLW0603
    now = time.monotonic()
    if sys.stderr.isatty():
        full = round(_BAR * share)
        click.echo(f"{_CLEAR_LINE}[{'#' * full}{'.' * (_BAR - full)}] {message}", nl=False, err=True)
    elif not detail or now - _last_line > _PAUSE:
        click.echo(message, err=True)
        _last_line = now


def end_progress() -> None:
    """Remove the bar."""
    if sys.stderr.isatty():
        click.echo(_CLEAR_LINE, nl=False, err=True)
