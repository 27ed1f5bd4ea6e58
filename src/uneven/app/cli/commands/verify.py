"""``uneven verify``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path())
def verify(file: str) -> None:
    """Check the proof in a certificate FILE.

    Exit code 0: valid; 1: invalid; 2: not readable as a certificate.
    """
    from uneven.calibration import verify as recheck
    from uneven.calibration.trusted.document import MAX_CHARACTERS

    with Path(file).open(encoding="utf-8") as opened:
        result = recheck(opened.read(MAX_CHARACTERS + 1))
    click.echo(str(result), err=not result)
    if not result:
        raise click.exceptions.Exit(1)
