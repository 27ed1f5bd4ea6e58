"""``uneven certify``."""

from __future__ import annotations

from typing import Any

import click

from uneven.cli._loss_options import loss_options, read_request
from uneven.cli._output import write_whole


@click.command()
@loss_options
@click.option("-o", "--output", metavar="FILE", required=True, help="The certificate (JSON) to write.")
@click.option("--psi", multiple=True, metavar="EPS", help="Also bound psi at this cost regret; may be repeated.")
@click.option(
    "--budget", type=click.IntRange(min=1), default=3000, show_default=True, help="How many cells to search at most."
)
def certify(output: str, psi: tuple[str, ...], budget: int, **options: Any) -> None:
    """Prove that LOSS is, or is not, calibrated for your costs.

    The proof is written to a file that `uneven verify` checks. Exit code 0: decided either way; 1: undecided.
    """
    from uneven.calibration import certify as prove

    request = read_request(**options)
    certificate = prove(request.loss, request.alpha, budget=budget, psi=list(psi) or None)
    write_whole(output, certificate.to_json())
    click.echo(str(certificate))
    if certificate.status == "undecided":
        raise click.exceptions.Exit(1)
