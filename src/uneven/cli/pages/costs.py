"""Costs of classifiers, as tables and a figure of a page."""

from __future__ import annotations

import numpy as np

from uneven.cli.decisions.answers import (
    WhatIf,
    better_constant,
    cost_interval_in_words,
    difference_in_words,
    per_thousand,
    rough_in_words,
)
from uneven.cli.decisions.given_costs import four
from uneven.cli.pages.page import closed, paragraph, picture, table
from uneven.costs import RowCosts
from uneven.metrics import CostEstimate


def cost_figure(rows: list[CostEstimate], unit: str | None) -> str:
    """The costs per 1,000 rows with their intervals; much dearer rules are in the table only."""
    from uneven import figures
    from uneven.figures.style import without_caption

    near = 1.6 * max(rows[0].high, better_constant(rows).cost)
    shown = [(row.name, 1000 * row.cost, 1000 * row.low, 1000 * row.high) for row in rows if row.cost <= near]
    rough = {row.name for row in rows if row.rough}
    label = "expected cost per 1,000 rows"
    figure = figures.costs_compared(shown, highlight=rows[0].name, label=label, unit=unit, rough=rough)
    return picture(without_caption(figure), "Costs of the models, with intervals")


def cost_table(rows: list[CostEstimate], unit: str | None) -> str:
    """What each classifier costs per 1,000 rows; ours is the first."""
    ours = rows[0].name
    header = ["", f"cost{f' ({unit})' if unit else ''}", f"more than {ours}", "false alarms", "misses"]
    cells = [
        [
            row.name,
            f"{per_thousand(row.cost)} ({cost_interval_in_words(row)})",
            difference_in_words(row),
            f"{row.false_positives:,g}",
            f"{row.false_negatives:,g}",
        ]
        for row in rows
    ]
    rough = rough_in_words(rows)
    return table(header, cells, strong=ours) + (paragraph(rough, "soft") if rough else "")


def what_if_table(what_ifs: list[WhatIf], unit: str | None) -> str:
    """Which classifier is the cheapest if a miss costs half or double, and what ours saves."""
    in_unit = f" ({unit})" if unit else ""
    header = ["a miss costs", "cheapest", f"this model costs{in_unit}", "it saves", "against"]
    cells = []
    for what in what_ifs:
        rule = better_constant(what.rows)
        cheapest = f"{what.cheapest} (may be chance)" if what.may_be_chance else what.cheapest
        saved = difference_in_words(rule)
        cells.append([f"{what.label}, {what.ratio}", cheapest, per_thousand(what.rows[0].cost), saved, rule.name])
    return table(header, cells, words=(0, 1, 4))


def confusion_figure(
    is_positive: np.ndarray, said_positive: np.ndarray, words: tuple[str, str], costs: RowCosts, unit: str | None
) -> str:
    """The four outcomes; ``words`` name a negative and a positive row."""
    from uneven.figures import CostConfusionDisplay

    names = np.array(words)
    truth, said = names[is_positive.astype(int)], names[said_positive.astype(int)]
    display = CostConfusionDisplay.from_predictions(truth, said, pos_label=words[1], unit=unit, **four(costs))
    with closed(display) as figure:
        return picture(figure, "The four outcomes: how many rows, and what they cost", narrow=True)
