"""Answers in money on a terminal: what each classifier costs, and what if a miss costs half or double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uneven.cli._output import console

if TYPE_CHECKING:
    from uneven.cli.decisions.answers import WhatIf
    from uneven.cli.decisions.choice import Choice
    from uneven.cli.decisions.reporting import Report
    from uneven.metrics import CostEstimate

#: Columns of a terminal from which the intervals of the costs fit beside those of the differences.
_WIDE = 100


def print_choice(choice: Choice, what_ifs: list[WhatIf], how: str) -> None:
    """Print what a comparison found: the answer first."""
    from uneven.cli.decisions.answers import first_line

    warning, chosen = choice.warning(), choice.in_words()
    if choice.broken:  # then nothing is called the cheapest, and nothing is promised
        click.echo(choice.broken)
    else:
        for sentence in [warning, chosen] if warning else [chosen, first_line(choice.rows, choice.unit)]:
            click.echo(sentence)
    print_costs(choice.rows, how, choice.unit)
    print_what_ifs(what_ifs, "models refitted or thresholds moved", choice.unit)


def print_costs(rows: list[CostEstimate], how: str, unit: str | None = None) -> None:
    """Print a table with one row per classifier, ours first."""
    from rich import box
    from rich.table import Table

    from uneven.cli.decisions.answers import cost_interval_in_words, difference_in_words, per_thousand, rough_in_words

    screen = console()
    wide = screen.width >= _WIDE
    click.echo(f"Cost per 1,000 rows, {how}{f' ({unit})' if unit else ''}:")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    ours = rows[0].name
    table.add_column("cost", justify="right", no_wrap=True)
    for name in (*(["95 % interval"] if wide else []), f"more than {ours}"):
        table.add_column(name, justify="right")  # may wrap: a narrow terminal must not cut "rough" off
    for name in ("false\nalarms", "misses"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        interval = [cost_interval_in_words(row)] if wide else []
        mistakes = f"{row.false_positives:,g}", f"{row.false_negatives:,g}"
        table.add_row(row.name, per_thousand(row.cost), *interval, difference_in_words(row), *mistakes)
    screen.print(table)
    if words := rough_in_words(rows):
        click.echo(words)


def print_members(ensemble: Any, unit: str | None) -> None:
    """Print what a fitted ensemble is made of."""
    from rich import box
    from rich.table import Table

    from uneven.cli.decisions.answers import per_thousand
    from uneven.cli.decisions.ensembles import constant_costs_of, members_of

    members, constant_costs = members_of(ensemble), constant_costs_of(ensemble)
    click.echo("\nWhat the ensemble is made of (costs per 1,000 rows, out of fold):")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("member", no_wrap=True)
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column(f"alone it costs{f' ({unit})' if unit else ''}", justify="right", no_wrap=True)
    for member in members:
        table.add_row(member.name, f"{member.weight:.2f}", per_thousand(member.cost))
    console().print(table)
    rule, constant = min(constant_costs.items(), key=lambda item: item[1])
    if all(member.cost >= constant for member in members):
        click.echo(f"WARNING: no member alone is cheaper than {rule}, which costs {per_thousand(constant, unit)}.")


def print_what_ifs(what_ifs: list[WhatIf], how: str, unit: str | None) -> None:
    """Print which classifier is the cheapest if a miss costs half or double."""
    from rich import box
    from rich.table import Table

    from uneven.cli.decisions.answers import (
        better_constant,
        difference_in_words,
        per_thousand,
        question,
        stability_in_words,
    )

    ours = what_ifs[0].rows[0].name
    click.echo(f"\n{question(next(what for what in what_ifs if what.label == 'as given'))} ({how})")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("a miss costs")
    table.add_column("cheapest")
    for name in (f"cost of {ours}", "it saves against the better constant rule"):
        table.add_column(name + (f" ({unit})" if unit else ""), justify="right")
    for what in what_ifs:
        rule = better_constant(what.rows)
        saved = f"{difference_in_words(rule)}, {rule.name}"
        cheapest = f"{what.cheapest} (may be chance)" if what.may_be_chance else what.cheapest
        table.add_row(f"{what.label}, {what.ratio}", cheapest, per_thousand(what.rows[0].cost), saved)
    console().print(table)
    click.echo(stability_in_words(what_ifs))


def print_first_rows(made: Report) -> None:
    """Print the rows that a model would flag first."""
    from rich import box
    from rich.table import Table

    from uneven._money import money
    from uneven.cli.decisions.answers import probability_in_words

    if not made.first:
        click.echo("\nIt flags no row of this table.")
        return
    certain = made.first[0].saved is not None
    order = "expected savings" if certain else "score"
    click.echo(f"\nThe rows it would flag first, by {order}:")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(made.used.names[0] if made.used.names else "row")
    for name in (order + (f" ({made.unit})" if made.unit and certain else ""), "probability", "threshold"):
        if certain or name == order:
            table.add_column(name, justify="right")
    table.add_column(made.used.about["target"])
    for row in made.first:
        if row.saved is not None:
            numbers = [
                money(row.saved),
                probability_in_words(row.probability or 0.0),
                probability_in_words(row.threshold),
            ]
        else:
            numbers = [f"{row.score:.3g}"]
        table.add_row(row.name, *numbers, made.used.words[int(row.is_positive)])
    console().print(table)
