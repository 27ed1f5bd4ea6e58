"""Progress of a long command, on stderr."""

from __future__ import annotations

import sys

import click

_BAR = 24
_CLEAR_LINE = "\r\x1b[2K"


def show_progress(message: str, share: float = 1.0) -> None:
    """Move a bar on a terminal; elsewhere write a line."""
    if sys.stderr.isatty():
        full = round(_BAR * share)
        click.echo(f"{_CLEAR_LINE}[{'#' * full}{'.' * (_BAR - full)}] {message}", nl=False, err=True)
    else:
        click.echo(message, err=True)


def end_progress() -> None:
    """Remove the bar."""
    if sys.stderr.isatty():
        click.echo(_CLEAR_LINE, nl=False, err=True)
