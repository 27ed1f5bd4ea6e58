"""``uneven certify``."""

from __future__ import annotations

from typing import Any

import click

from uneven.app.cli.options import loss_options, read_request
from uneven.app.files.file_kinds import write_whole


@click.command()
@loss_options
@click.option("-o", "--output", metavar="FILE", required=True, help="File for the certificate (JSON).")
@click.option(
    "--psi",
    multiple=True,
    metavar="EPS",
    help="Also prove bounds of psi, the least surrogate regret, at this cost regret; may be repeated.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=3000,
    show_default=True,
    help="Largest number of cells (intervals of t) to search.",
)
def certify(output: str, psi: tuple[str, ...], budget: int, **options: Any) -> None:
    """Prove that LOSS is, or is not, calibrated for your costs.

    Writes the proof to a file that `uneven verify` can check. Exit code 0: proved or refuted; 1: undecided.
    """
    from uneven.app.files.file_kinds import require_output
    from uneven.calibration import certify as prove

    require_output(output)
    request = read_request(**options)
    certificate = prove(request.loss, request.alpha, budget=budget, psi=list(psi) or None)
    write_whole(output, certificate.to_json())
    click.echo(str(certificate))
    if certificate.status == "undecided":
        raise click.exceptions.Exit(1)
