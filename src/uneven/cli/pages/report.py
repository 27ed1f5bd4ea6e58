"""The page of ``uneven report --html``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from uneven._money import money
from uneven.cli._fitted import loss_in_words
from uneven.cli.decisions.answers import (
    better_constant,
    cheapest_in_words,
    difference_in_words,
    first_line,
    per_thousand,
    probability_in_words,
    question,
    stability_in_words,
    threshold_in_words,
)
from uneven.cli.decisions.given_costs import four
from uneven.cli.decisions.reporting import Report
from uneven.cli.pages.page import bullets, heading, page, paragraph, picture, sentence, table, text
from uneven.metrics import CostEstimate


def report_page(made: Report, read_as: str) -> str:
    """The report as HTML; ``read_as`` says how the table was read."""
    used, unit = made.used, made.unit
    about = used.about
    title = f"Is {about['target']} {about['positive']}? What the decisions cost"
    answer = first_line(made.rows, unit)
    given = next(what for what in made.what_ifs if what.label == "as given")
    count, positives = made.is_positive.size, int(made.is_positive.sum())
    return page(
        title,
        f"<h1>{text(title)}</h1>",
        paragraph(answer, "warning" if answer.startswith("WARNING") else "lead"),
        paragraph(made.seen, "warning") if made.seen else "",
        paragraph(f"{read_as} {count:,} rows with a label, {positives:,} positive ({positives / count:.1%}).", "soft"),
        paragraph(used.given.in_words(used.decisions.costs)),
        heading("Who is the cheapest?"),
        sentence(cheapest_in_words(made.rows)),
        cost_figure(made.rows, unit),
        cost_table(made.rows, unit),
        paragraph(
            "Costs per 1,000 rows, with 95 % intervals. Differences are paired: all models are seen on the same rows.",
            "soft",
        ),
        heading("What was decided, and what it cost"),
        _confusion(made),
        heading(question(given)),
        paragraph(stability_in_words(made.what_ifs)),
        _what_if_table(made),
        paragraph(f"At other costs: {made.how_moved}. Costs and savings per 1,000 rows.", "soft"),
        heading("Where is the threshold?"),
        paragraph(threshold_in_words(used.decisions.threshold)),
        _threshold_figure(made),
        heading("The rows it would flag first"),
        _first_table(made),
        heading("What the model was not able to know"),
        bullets(made.unknowns),
        heading("The model"),
        paragraph(loss_in_words(made.pipeline), "soft"),
    )


def cost_table(rows: list[CostEstimate], unit: str | None) -> str:
    """What each classifier costs per 1,000 rows; ours is the first."""
    ours = rows[0].name
    header = ["", f"cost{f' ({unit})' if unit else ''}", f"more than {ours}", "95 % interval", "false alarms", "misses"]
    cells = [
        [
            row.name,
            per_thousand(row.cost),
            difference_in_words(row),
            f"{per_thousand(row.low)} to {per_thousand(row.high)}",
            f"{row.false_positives:,g}",
            f"{row.false_negatives:,g}",
        ]
        for row in rows
    ]
    return table(header, cells, strong=ours)


def _what_if_table(made: Report) -> str:
    unit = f" ({made.unit})" if made.unit else ""
    header = ["a miss costs", f"this model saves{unit}", "against", "cheapest", "it costs"]
    cells = []
    for what in made.what_ifs:
        rule = better_constant(what.rows)
        cheapest = f"{what.cheapest} (may be chance)" if what.may_be_chance else what.cheapest
        saved = difference_in_words(rule)
        cells.append([f"{what.label}, {what.ratio}", saved, rule.name, cheapest, per_thousand(what.rows[0].cost)])
    return table(header, cells, words=(0, 2, 3))


def _first_table(made: Report) -> str:
    if not made.first:
        return paragraph("It flags no row of this table.")
    name = made.used.names[0] if made.used.names else "row"
    target = made.used.about["target"]
    unit = f" ({made.unit})" if made.unit else ""
    rows = made.first
    if rows[0].saved is None:
        header = [name, "score", target]
        return table(header, [[row.name, f"{row.score:.3g}", _word(made, row.is_positive)] for row in rows])
    header = [name, f"expected to save{unit}", "probability", "threshold", target]
    return table(
        header,
        [
            [
                row.name,
                money(row.saved or 0.0),
                probability_in_words(row.probability or 0.0),
                probability_in_words(row.threshold),
                _word(made, row.is_positive),
            ]
            for row in rows
        ],
    )


def _word(made: Report, is_positive: bool) -> str:
    return made.used.words[int(is_positive)]


# -- figures ----------------------------------------------------------------------------------------------------------


@contextmanager
def _closed(display: Any) -> Iterator[Any]:
    """The figure of a display; closed afterwards."""
    import matplotlib.pyplot as plt

    try:
        yield display.figure_
    finally:
        plt.close(display.figure_)


def cost_figure(rows: list[CostEstimate], unit: str | None) -> str:
    """The costs per 1,000 rows with their intervals; much dearer rules are in the table only."""
    from uneven import figures
    from uneven.figures.style import without_caption

    near = 1.6 * max(rows[0].high, better_constant(rows).cost)
    shown = [(row.name, 1000 * row.cost, 1000 * row.low, 1000 * row.high) for row in rows if row.cost <= near]
    label = f"expected cost per 1,000 rows{f' ({unit})' if unit else ''}"
    figure = figures.costs_compared(shown, highlight=rows[0].name, label=label)
    return picture(without_caption(figure), "Costs of the models, with intervals")


def _confusion(made: Report) -> str:
    from uneven.figures import CostConfusionDisplay

    negative, positive = made.used.words
    words = np.array([negative, positive])
    truth, said = words[made.is_positive.astype(int)], words[made.used.decisions.said_positive.astype(int)]
    display = CostConfusionDisplay.from_predictions(
        truth, said, pos_label=positive, unit=made.unit, **four(made.used.decisions.costs)
    )
    with _closed(display) as figure:
        return picture(figure, "The four outcomes: how many rows, and what they cost", narrow=True)


def _threshold_figure(made: Report) -> str:
    from uneven.figures import ThresholdCostDisplay

    score = made.used.decisions.score
    finite = score[np.isfinite(score)]  # infinite where one decision is always the cheaper one
    score = np.clip(score, finite.min(initial=0.0) - 1, finite.max(initial=0.0) + 1)
    display = ThresholdCostDisplay.from_predictions(
        made.is_positive.astype(int),
        score,
        threshold=0.0,
        name="this model",
        unit=made.unit,
        **four(made.used.decisions.costs),
    )
    with _closed(display) as figure:
        return picture(figure, "Cost at every threshold of the score") + paragraph(
            "Scores are moved so that 0 is the threshold of every row. If the cheapest threshold is far from 0, or "
            "much cheaper, the probabilities are off for these rows.",
            "soft",
        )
