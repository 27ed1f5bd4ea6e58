"""``uneven verify``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path())
def verify(file: str) -> None:
    """Check a certificate from its FILE alone.

    Exit code 0: valid; 1: invalid; 2: not readable as a certificate.
    """
    from uneven.calibration import Certificate
    from uneven.calibration import verify as recheck
    from uneven.errors import CertificateError

    certificate = Certificate(Path(file).read_text(encoding="utf-8"))
    try:
        recheck(certificate)
    except CertificateError as error:
        click.echo(f"Error: {error}", err=True)
        raise click.exceptions.Exit(2 if error.unreadable else 1) from None
    click.echo(f"valid: {certificate.statement}")
