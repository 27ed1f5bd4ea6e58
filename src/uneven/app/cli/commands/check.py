"""``uneven check``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from uneven.app.cli.options import json_option, loss_options, read_request, remedy_options
from uneven.app.cli.terminal import console
from uneven.app.files.file_kinds import write_whole


@click.command()
@loss_options
@json_option
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw the regret bound psi, with its proved lower and upper bounds, to a png, svg or pdf file.",
)
@click.option(
    "--score-bound", metavar="BOUND", help="Scores lie in [-BOUND, BOUND]; by default they may be any number."
)
def check(as_json: bool, plot: str | None, score_bound: str | None, **options: Any) -> None:
    """Is LOSS right for your costs?

    Also says which costs LOSS assumes, and what a small training loss guarantees.

    LOSS is a registered name (see `uneven losses`) or an expression in t, such as "log(1 + exp(-t))". If you give no
    costs, LOSS is checked for the costs that it assumes.
    """
    from uneven.app.files.file_kinds import require_output
    from uneven.calibration import analyze

    if plot is not None:
        require_output(plot)
    request = read_request(**options)
    implied = analyze(request.loss, score_bound=score_bound).implied_alpha
    alpha = request.alpha if request.alpha is not None else implied.exact or implied.alpha
    analysis = analyze(request.loss, alpha, score_bound=score_bound)
    if plot is not None:
        _plot(plot, request.loss, alpha, score_bound)
    if as_json:
        click.echo(json.dumps(analysis.to_dict(), indent=2))
    else:
        console().print(analysis.report(remedy_by=remedy_options(request, analysis.prescription)))


def _plot(file: str, loss: Any, alpha: Any, score_bound: str | None) -> None:
    import io

    from uneven.errors import UnevenError
    from uneven.figures import FORMATS, psi_enclosed

    kind = Path(file).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise UnevenError(f"a picture is a file that ends in one of {', '.join(FORMATS)}, got {file!r}")
    buffer = io.BytesIO()
    psi_enclosed(loss, alpha=alpha, score_bound=score_bound).savefig(buffer, format=kind, dpi=160)
    write_whole(file, buffer.getvalue())
