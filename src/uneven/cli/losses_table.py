"""The registry as a table."""

from __future__ import annotations

from fractions import Fraction

from rich import box
from rich.table import Table

from uneven import _inputs
from uneven.calibration.calibrated_losses import own_alpha
from uneven.cli._output import console
from uneven.errors import LossError
from uneven.losses import Phi, names, phi


def print_losses(gammas: tuple[str, ...]) -> None:
    """Every registered phi with its formula, convexity and implied cost ratio at each gamma."""
    exact = [_inputs.positive("gamma", gamma) for gamma in gammas]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("phi", no_wrap=True)
    table.add_column("phi(t)", overflow="fold")
    table.add_column("convex")
    for gamma in gammas:
        table.add_column(f"FN : FP cost\nat gamma = {gamma}", justify="right", no_wrap=True)
    for name in names():
        function = phi(name)
        ratios = [implied_ratio(function, gamma) for gamma in exact]
        table.add_row(name, function.text, "yes" if function.convex else "no", *ratios)
    console().print(table)


def implied_ratio(function: Phi, gamma: Fraction) -> str:
    """fn_cost : fp_cost that the loss with beta = 1/gamma assumes; 'none' if it is surely calibrated for none."""
    try:
        odds = own_alpha(function, gamma).odds
    except LossError:
        return "none" if function.convex else "not found"
    return f"{1 / odds:.4g} : 1"
