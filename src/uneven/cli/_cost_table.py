"""Costs of several classifiers as a table, and a sentence about the cheapest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uneven.cli._output import console

if TYPE_CHECKING:
    from uneven.metrics import CostEstimate


def print_costs(rows: list[CostEstimate], how: str = "cross-validated") -> None:
    """Print a table with one row per classifier, then say which is the cheapest."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"cost per example, {how}")
    for name in ("cost", "95 % interval", "false alarms", "misses"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        interval = f"{row.low:.4g} to {row.high:.4g}"
        table.add_row(row.name, f"{row.cost:.4g}", interval, f"{row.false_positives:g}", f"{row.false_negatives:g}")
    console().print(table)
    click.echo(cheapest_in_words(rows))


def cheapest_in_words(rows: list[CostEstimate]) -> str:
    """Which row is the cheapest, seen from the first row, which is ours."""
    ours, *others = rows
    rival = min(others, key=lambda row: row.cost)
    if rival.cost == ours.cost:
        *first, last = [row.name for row in rows if row.cost == ours.cost]
        return f"{', '.join(first)} and {last} are the cheapest here, at the same cost."
    if ours.cost < rival.cost:
        close = " (their intervals overlap)" if rival.low < ours.high else ""
        return f"{ours.name} is the cheapest here; next is {rival.name}{close}."
    close = " (their intervals overlap)" if ours.low < rival.high else ""
    return f"{rival.name} is the cheapest here, not {ours.name}{close}."
