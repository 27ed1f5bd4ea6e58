"""``uneven verify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from uneven.app.models.decision_log import LogCheck
    from uneven.calibration.verification import Verification


@click.command()
@click.argument("file", type=click.Path())
def verify(file: str) -> None:
    """Check a certificate, a model card or a log of decisions.

    Exit code 0: valid; 1: invalid; 2: neither a certificate, nor a card that holds one, nor a log.
    """
    result = _check_log(file) if Path(file).is_dir() else _check_certificate(file)
    click.echo(str(result), err=not result)
    if not result:
        raise click.exceptions.Exit(1)


def _check_log(folder: str) -> LogCheck:
    from uneven.app.models.decision_log import DecisionLog

    return DecisionLog(folder).check()


def _check_certificate(file: str) -> Verification:
    from uneven.calibration import verify as recheck
    from uneven.calibration.trusted.document import MAX_CHARACTERS

    with Path(file).open(encoding="utf-8") as opened:
        content = opened.read(MAX_CHARACTERS + 1)
    if content.lstrip().lower().startswith("<!doctype html"):
        from uneven.app.report.model_card import certificate_in

        content = certificate_in(content)
    return recheck(content)
