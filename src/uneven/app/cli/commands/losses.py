"""``uneven losses``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uneven.app.cli.terminal import console, new_table

if TYPE_CHECKING:
    from fractions import Fraction

    from uneven.losses import Phi

    Row = tuple[str, str, str, list[str]]  # name, formula, convex, cost ratio at each gamma


@click.command()
@click.option(
    "--gamma",
    "gammas",
    multiple=True,
    default=("1", "4"),
    show_default=True,
    help="A margin asymmetry to show, such as 3 or 1/3; may be repeated.",
)
def losses(gammas: tuple[str, ...]) -> None:
    """List the registered losses and the costs they assume."""
    from uneven import inputs
    from uneven.losses import names, phi

    exact = [inputs.positive("gamma", gamma) for gamma in gammas]
    rows: list[Row] = []
    for name in names():
        function = phi(name)
        ratios = [_implied_ratio(function, gamma) for gamma in exact]
        rows.append((name, function.text, "yes" if function.convex else "no", ratios))
    terminal = console()
    table = _table(rows, gammas)
    if terminal.measure(table, options=terminal.options.update(width=100_000)).maximum <= terminal.width:
        terminal.print(table)
    else:  # a table would cut the formulas into pieces
        terminal.print(_list(rows, gammas), markup=False)


def _table(rows: list[Row], gammas: tuple[str, ...]) -> Any:
    table = new_table()
    for heading in ("phi", "phi(t)", "convex"):
        table.add_column(heading, no_wrap=True)
    for gamma in gammas:
        table.add_column(f"FN : FP cost\nat gamma = {gamma}", justify="right", no_wrap=True)
    for name, formula, convex, ratios in rows:
        table.add_row(name, formula, convex, *ratios)
    return table


def _list(rows: list[Row], gammas: tuple[str, ...]) -> str:
    lines = ["FN : FP is the cost of a false negative to that of a false positive.", ""]
    for name, formula, convex, ratios in rows:
        costs = [f"  FN : FP = {ratio} at gamma = {gamma}" for ratio, gamma in zip(ratios, gammas, strict=True)]
        lines += [f"{name} ({'convex' if convex == 'yes' else 'not convex'})", f"  {formula}", *costs]
    return "\n".join(lines)


def _implied_ratio(function: Phi, gamma: Fraction) -> str:
    """fn_cost : fp_cost that the loss with beta = 1/gamma assumes, or 'none' if it is calibrated for no costs."""
    from uneven.calibration import calibrated_loss
    from uneven.errors import LossError

    try:
        loss = calibrated_loss(function, alpha="1/2", gamma=gamma)
    except LossError:
        return "none" if function.convex else "not found"
    return f"{float(loss.exact_beta * loss.exact_gamma):.4g} : 1"
