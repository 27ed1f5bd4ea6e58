"""``uneven implied-cost``."""

from __future__ import annotations

import json
from typing import Any

import click

from uneven.cli._loss_options import json_option, loss_options, read_request


@click.command("implied-cost")
@loss_options
@json_option
def implied_cost(as_json: bool, **options: Any) -> None:
    """Which costs does LOSS assume?"""
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
