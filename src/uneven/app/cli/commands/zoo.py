"""``uneven zoo``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from uneven.app.cli.options import json_option, settings_option
from uneven.app.cli.terminal import console
from uneven.errors import UnevenError

if TYPE_CHECKING:
    from uneven.zoo import ZooLoss


@click.command()
@click.argument("words", nargs=-1)
@settings_option
@click.option("--fp-cost", metavar="X", help="Cost of a false positive: say what to pass to the loss for your costs.")
@click.option("--fn-cost", metavar="Y", help="Cost of a false negative.")
@json_option
def zoo(
    words: tuple[str, ...], settings: tuple[str, ...], fp_cost: str | None, fn_cost: str | None, as_json: bool
) -> None:
    """Losses of other libraries, and the costs they assume.

    Without WORDS it lists all; with WORDS those whose name or remarks hold every word. The name of one loss describes
    it; with --fp-cost and --fn-cost it says which parameters, or which threshold, give that loss your costs.
    """
    from uneven.zoo import declared, names, outside

    if (fp_cost is None) != (fn_cost is None):
        raise UnevenError("--fp-cost and --fn-cost belong together")
    if fp_cost is not None or settings:
        if len(words) != 1:
            raise UnevenError("give the name of one loss with --fp-cost and --fn-cost or --set")
        _advise(words[0], settings, fp_cost, fn_cost, as_json)
        return
    known = [declared(name) for name in names()]
    exact = [one for one in known if words and words[0] in (one.name, *one.also_called)]
    if len(words) == 1 and exact:
        _describe(exact[0], as_json)
        return
    sought = [word.lower() for word in words]
    found = [one for one in known if all(word in _text(one) for word in sought)]
    without = {name: why for name, why in outside().items() if all(word in f"{name} {why}".lower() for word in sought)}
    if not found and not without:
        declared(" ".join(words))  # raises the error with the nearest names
    _list(found, without, as_json)


def _text(one: ZooLoss) -> str:
    return " ".join([one.name, *one.also_called, *one.remarks]).lower()


def _rows(one: ZooLoss) -> list[tuple[str, str, str]]:
    """For each certified case: the loss with its parameters, alpha, and the costs in words."""
    from uneven.zoo.certificates import Shipped, alpha_text, costs_text

    cases = [Shipped(one, case) for case in one.cases]
    return [(case.title, alpha_text(case), costs_text(case)) for case in cases]


def _list(found: list[ZooLoss], without: dict[str, str], as_json: bool) -> None:
    rows = [row for one in found for row in _rows(one)]
    if as_json:
        losses = [{"loss": title, "alpha": alpha, "costs": costs} for title, alpha, costs in rows]
        click.echo(json.dumps({"losses": losses, "outside": without}, indent=2))
        return
    terminal = console()
    for title, alpha, costs in rows:
        terminal.print(f"{title}\n  alpha = {alpha}: {costs}")
    for name, why in without.items():
        terminal.print(f"{name}\n  no alpha: {why}")
    terminal.print(f"{len(rows)} certified cases of {len(found)} losses; {len(without)} losses without an alpha.")


def _describe(one: ZooLoss, as_json: bool) -> None:
    from uneven.zoo.catalogue import library_of
    from uneven.zoo.zoo_loss import shown

    library = library_of(one)
    defaults = {parameter.name: shown(parameter.default) for parameter in one.parameters}
    if as_json:
        formulas = [
            {
                "positive": f.positive,
                "negative": f.negative,
                "when": {k: shown(v) for k, v in f.when.items()},
                "slopes": f.slopes,
            }
            for f in one.formulas
        ]
        cases = [{"loss": title, "alpha": alpha, "costs": costs} for title, alpha, costs in _rows(one)]
        described: dict[str, Any] = {"name": one.name, "package": library.package, "version": library.version}
        described |= {"parameters": defaults, "formulas": formulas, "remarks": list(one.remarks), "certified": cases}
        click.echo(json.dumps(described, indent=2))
        return
    terminal = console()
    terminal.print(f"{one.name} ({library.package} {library.version}); t is {one.score}")
    if defaults:
        terminal.print("parameters  " + ", ".join(f"{name}={value}" for name, value in defaults.items()))
    for formula in one.formulas:
        when = ", ".join(f"{name}={shown(value)}" for name, value in formula.when.items())
        kind = "slope" if formula.slopes else "loss"
        terminal.print(f"if {when}:" if when else "otherwise:" if len(one.formulas) > 1 else "formulas")
        terminal.print(f"  {kind} of a positive  {formula.positive}\n  {kind} of a negative  {formula.negative}")
    for remark in one.remarks:
        terminal.print(f"remark      {remark}")
    for title, alpha, costs in _rows(one):
        terminal.print(f"certified   {title}: alpha = {alpha}, {costs}")


def _advise(name: str, settings: tuple[str, ...], fp_cost: str | None, fn_cost: str | None, as_json: bool) -> None:
    from uneven.app.cli.options import read_settings
    from uneven.zoo import parameters_for
    from uneven.zoo.zoo_loss import shown

    if fp_cost is None or fn_cost is None:
        raise UnevenError("--set needs --fp-cost and --fn-cost here; `uneven implied-cost` takes it without them")
    recipe = parameters_for(name, fp_cost=fp_cost, fn_cost=fn_cost, **read_settings(settings))
    if as_json:
        passed = None if recipe.parameters is None else {key: shown(value) for key, value in recipe.parameters.items()}
        answer = {"loss": recipe.name, "alpha": str(recipe.alpha), "parameters": passed, "threshold": recipe.threshold}
        click.echo(json.dumps({**answer, "status": recipe.status, "reason": recipe.reason}, indent=2))
    else:
        console().print(recipe.in_words())
    if recipe.parameters is None:
        raise click.exceptions.Exit(1)
