"""Commands about a loss: check, implied-cost, certify, verify, figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from uneven.cli._loss_options import loss_options, read_request
from uneven.cli._output import console, write_whole

_JSON = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")


@click.command()
@loss_options
@_JSON
@click.option("--plot", metavar="FILE", help="Draw psi with its proved enclosure to a png, svg or pdf file.")
def check(as_json: bool, plot: str | None, **options: Any) -> None:
    """Is LOSS right for these costs, which costs does it assume, and what does it guarantee?

    LOSS is a registered name (see `uneven losses`) or an expression in t, such as "log(1 + exp(-t))". Without costs
    the loss is checked for the costs it assumes itself.
    """
    from uneven.calibration import analyze, implied_alpha

    request = read_request(**options)
    implied = implied_alpha(request.loss)
    alpha = request.alpha if request.alpha is not None else implied.exact or implied.alpha
    analysis = analyze(request.loss, alpha)
    if plot is not None:
        _plot(plot, request.loss, alpha)
    if as_json:
        click.echo(json.dumps(analysis.to_dict(), indent=2))
    else:
        console().print(analysis.report(), markup=False)


def _plot(file: str, loss: Any, alpha: Any) -> None:
    import io

    from uneven.errors import UnevenError
    from uneven.figures import FORMATS, psi_enclosed

    kind = Path(file).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise UnevenError(f"a picture is a file that ends in one of {', '.join(FORMATS)}, got {file!r}")
    buffer = io.BytesIO()
    psi_enclosed(loss, alpha=alpha).savefig(buffer, format=kind, dpi=160)
    write_whole(file, buffer.getvalue())


@click.command("implied-cost")
@loss_options
@_JSON
def implied_cost(as_json: bool, **options: Any) -> None:
    """The cost ratio that LOSS silently assumes."""
    from uneven.calibration import implied_alpha

    implied = implied_alpha(read_request(**options).loss)
    if as_json:
        interval = None if implied.interval is None else list(implied.interval)
        exact = None if implied.exact is None else str(implied.exact)
        found = {"alpha": implied.alpha, "exact": exact, "interval": interval, "fn_to_fp_cost": implied.cost_ratio}
        click.echo(json.dumps({**found, "reason": implied.reason}, indent=2))
    else:
        click.echo(implied.in_words())
        if implied.alpha is not None:
            click.echo(f"alpha = {implied.exact if implied.exact is not None else implied.alpha}: {implied.reason}.")


@click.command()
@loss_options
@click.option("-o", "--output", metavar="FILE", required=True, help="Where the certificate (JSON) is written.")
@click.option("--psi", multiple=True, metavar="EPS", help="Also bound psi at this cost regret; may be repeated.")
@click.option("--budget", type=click.IntRange(min=1), default=3000, show_default=True, help="Cells to look at.")
def certify(output: str, psi: tuple[str, ...], budget: int, **options: Any) -> None:
    """Prove that LOSS is, or is not, calibrated, and write the proof to a file.

    Exit code 0 if it is decided either way, 1 if it is not.
    """
    from uneven.calibration import certify as prove

    request = read_request(**options)
    certificate = prove(request.loss, request.alpha, budget=budget, psi=list(psi) or None)
    write_whole(output, certificate.to_json())
    click.echo(str(certificate))
    if certificate.status == "undecided":
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("file", type=click.Path())
def verify(file: str) -> None:
    """Check a certificate again from its file alone: exit code 0 valid, 1 invalid, 2 unreadable."""
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


@click.command()
@click.argument("names", nargs=-1)
@click.option("--out", "directory", default="figures", show_default=True, help="Folder for the files and index.html.")
@click.option("--format", "kind", default="png", show_default=True, metavar="png|svg|pdf", help="File format.")
@click.option("--list", "only_list", is_flag=True, help="List the names and stop.")
def figures(names: tuple[str, ...], directory: str, kind: str, only_list: bool) -> None:
    """Draw the figures of the paper and a few more; NAMES choose among them (default: all)."""
    from uneven.figures import FIGURES, write_gallery

    if only_list:
        for name, entry in FIGURES.items():
            click.echo(f"{name:16s} {entry.heading}")
        return
    page = write_gallery(directory, names, format=kind, progress=lambda name: click.echo(f"drawing {name}", err=True))
    click.echo(f"{page} shows them.")
