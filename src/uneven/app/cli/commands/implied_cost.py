"""``uneven implied-cost``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from uneven.app.cli.options import Request, json_option, loss_options, read_request, remedy_options

if TYPE_CHECKING:
    from fractions import Fraction

    from uneven.calibration import Analysis


@click.command("implied-cost")
@loss_options
@json_option
def implied_cost(as_json: bool, **options: Any) -> None:
    """Which costs does LOSS assume?

    It is calibrated for at most one cost ratio; another line says which ratios it averages over. If you give costs, it
    also says whether they are the same. Exit code 0: the same, or no costs given; 1: other costs, or not known.
    """
    from uneven.calibration import analyze, implied_alpha, implied_prior

    request = read_request(**options)
    implied = implied_alpha(request.loss)
    yours = None if request.alpha is None else analyze(request.loss, request.alpha)
    ratios = implied_prior(request.loss).in_words() if request.loss.symbolic else None
    agree = None if yours is None else _AGREE.get(yours.verdict.status, False)
    if as_json:
        interval = None if implied.interval is None else list(implied.interval)
        exact = None if implied.exact is None else str(implied.exact)
        found = {"alpha": implied.alpha, "exact": exact, "interval": interval, "fn_to_fp_cost": implied.cost_ratio}
        found |= {"reason": implied.reason, "ratios": ratios}
        if yours is not None:
            found |= {"your_alpha": str(yours.exact_alpha), "agrees": agree}
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo(implied.in_words())
        if implied.alpha is not None:
            click.echo(f"alpha = {implied.exact if implied.exact is not None else implied.alpha}: {implied.reason}.")
        if ratios is not None:
            click.echo(ratios)
        if yours is not None:
            click.echo(_comparison_in_words(yours, agree, request))
    if yours is not None and not agree:
        raise click.exceptions.Exit(1)


#: Whether the costs are those that the loss assumes, by the status of the verdict; None: not known.
_AGREE = {"calibrated": True, "calibrated up to rounding": True, "undecided": None}


def _recipe(request: Request, alpha: Fraction) -> str:
    """What to pass to a loss of another library instead."""
    from uneven.zoo import declared, parameters_for

    assert request.zoo_name is not None
    knob = declared(request.zoo_name).knob
    kept = {key: value for key, value in request.settings.items() if knob is None or key != knob.parameter}
    return parameters_for(request.zoo_name, fp_cost=alpha, fn_cost=1 - alpha, **kept).in_words()


def _comparison_in_words(yours: Analysis, agree: bool | None, request: Request) -> str:
    from uneven.calibration.implied_costs import costs_in_words

    costs = f"Your costs (alpha = {yours.exact_alpha}: {costs_in_words(yours.exact_alpha)})"
    if agree is None:
        return f"{costs} may be the same or not: {yours.verdict.reason}."
    if agree:
        return f"{costs} are the same."
    if request.zoo_name is not None and request.loss.exact_alpha is None:
        return f"{costs} are not the same. {_recipe(request, yours.exact_alpha)}"
    remedy = yours.prescription
    if remedy is None:
        return f"{costs} are not the same."
    return f"{costs} are not the same: {remedy.words} ({remedy_options(request, remedy) or repr(remedy.loss)})."
