"""The options that say what the four outcomes cost."""

from __future__ import annotations

import click

from uneven.cli._reading_options import Command

_OF = "a number, a column, or an arithmetic of columns"

_COSTS = (
    click.option("--fp-cost", required=True, metavar="X", help=f"Cost of a false positive (a false alarm): {_OF}."),
    click.option("--fn-cost", required=True, metavar="Y", help=f"Cost of a false negative (a miss): {_OF}."),
    click.option("--tp-cost", default="0", metavar="Z", help="Cost of a true positive; a benefit is negative."),
    click.option("--tn-cost", default="0", metavar="W", help="Cost of a true negative; a benefit is negative."),
    click.option("--unit", metavar="NAME", help="The unit of the costs, such as EUR: only shown."),
)

_CHANGES = (
    click.option("--fp-cost", metavar="X", help="Cost of a false positive, if it is not that of the fit."),
    click.option("--fn-cost", metavar="Y", help="Cost of a false negative, if it is not that of the fit."),
    click.option("--tp-cost", metavar="Z", help="Cost of a true positive, if it is not that of the fit."),
    click.option("--tn-cost", metavar="W", help="Cost of a true negative, if it is not that of the fit."),
)


def cost_options(command: Command) -> Command:
    """Give a command the options of the four costs and their unit."""
    for option in reversed(_COSTS):
        command = option(command)
    return command


def changed_cost_options(command: Command) -> Command:
    """Give a command options of costs that replace those of a model."""
    for option in reversed(_CHANGES):
        command = option(command)
    return command


def changed_costs(fp_cost: str | None, fn_cost: str | None, tp_cost: str | None, tn_cost: str | None) -> dict[str, str]:
    """The costs that were given."""
    given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
    return {name: cost for name, cost in given.items() if cost is not None}
