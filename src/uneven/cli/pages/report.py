"""The page of ``uneven report --html``."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven._money import money
from uneven.cli._fitted import model_in_words
from uneven.cli.decisions.answers import (
    capitalised,
    cheapest_in_words,
    probability_in_words,
    question,
    stability_in_words,
    threshold_in_words,
)
from uneven.cli.decisions.choice import Choice
from uneven.cli.decisions.given_costs import four
from uneven.cli.decisions.reporting import Judged, Report
from uneven.cli.decisions.wish import AUTO
from uneven.cli.pages.costs import confusion_figure, cost_figure, cost_table, what_if_table
from uneven.cli.pages.ensemble import ensemble_parts
from uneven.cli.pages.page import bullets, closed, heading, page, paragraph, picture, table, text
from uneven.metrics import CostEstimate


def report_page(made: Report, read_as: str) -> str:
    """The report as HTML; ``read_as`` says how the table was read."""
    used, unit = made.used, made.unit
    about = used.about
    title = f"Is {about['target']} {about['positive']}? What the decisions cost"
    count, positives = made.is_positive.size, int(made.is_positive.sum())
    return page(
        title,
        f"<h1>{text(title)}</h1>",
        paragraph(made.answer, "warning" if made.answer.startswith("WARNING") else "lead"),
        paragraph(made.seen, "warning") if made.seen else "",
        paragraph(f"{read_as} {count:,} rows with a label, {positives:,} positive ({positives / count:.1%}).", "soft"),
        paragraph(used.given.in_words(used.decisions.costs)),
        *(_compared(made.rows, made.how, unit) if made.rows else ()),
        *(_details(made, made.new) if made.new is not None else ()),
        heading("Where is the threshold?"),
        paragraph(threshold_in_words(used.decisions.threshold, has_probability=used.decisions.probability is not None)),
        _threshold_figure(made, made.new) if made.new is not None else "",
        heading("The rows it would flag first"),
        _first_table(made),
        heading("What the model was not able to know"),
        bullets(made.unknowns),
        heading("The model"),
        paragraph(f"It is the model {about['model']}, fitted to {about['rows']:,} rows."),
        *_chosen(about, unit),
        *(paragraph(words) for words in model_in_words(made.pipeline)),
        *ensemble_parts(made.pipeline[-1], unit),
        *(_on_known_rows(made, made.known) if made.known is not None else ()),
    )


def _compared(rows: list[CostEstimate], how: str, unit: str | None) -> list[str]:
    """What the models cost on rows that no fit has seen."""
    return [
        heading("Who is the cheapest?"),
        paragraph(capitalised(cheapest_in_words(rows))),
        cost_figure(rows, unit),
        cost_table(rows, unit),
        paragraph(
            f"Costs per 1,000 rows, {how}, with 95 % intervals. Differences are paired: all models are seen on the "
            "same rows.",
            "soft",
        ),
    ]


def _details(made: Report, judged: Judged) -> list[str]:
    """What was decided about some rows, and what it would be at other costs."""
    used, given = made.used, next(what for what in judged.what_ifs if what.label == "as given")
    costs, said = used.decisions.costs.take(judged.which), used.decisions.said_positive[judged.which]
    return [
        heading("What was decided, and what it cost"),
        confusion_figure(made.is_positive[judged.which], said, used.words, costs, made.unit),
        heading(question(given)),
        paragraph(stability_in_words(judged.what_ifs)),
        what_if_table(judged.what_ifs, made.unit),
        paragraph(f"At other costs: {made.how_moved}. Costs and savings per 1,000 rows.", "soft"),
    ]


def _on_known_rows(made: Report, judged: Judged) -> list[str]:
    """What the model costs on rows of the training table, with a warning; all that is known without new rows."""
    return [
        heading("On rows of the training table"),
        paragraph(f"Costs per 1,000 rows, {judged.how}: do not expect them on new rows.", "warning"),
        cost_table(judged.rows, made.unit),
        *([] if made.new is not None else [*_details(made, judged), _threshold_figure(made, judged)]),
    ]


def _chosen(about: dict[str, Any], unit: str | None) -> list[str]:
    """What the comparison at the fit found; nothing if there was none."""
    rows = [CostEstimate(**row) for row in about["comparison"]]
    if not rows:
        return [paragraph("It was fitted with --quick, without a comparison.", "soft")]
    choice = Choice(rows, about["learner"] == AUTO, unit)
    how = f"Costs per 1,000 rows at the fit: {about['compared']}. Every model was tested on rows that it had not seen."
    return [
        paragraph(choice.warning(), "warning") if choice.warning() else "",
        paragraph(f"When it was fitted: {choice.in_words()[:1].lower()}{choice.in_words()[1:]}"),
        cost_table(rows, unit),
        paragraph(how, "soft"),
    ]


def _first_table(made: Report) -> str:
    if not made.first:
        return paragraph("It flags no row of this table.")
    name = made.used.names[0] if made.used.names else "row"
    target = made.used.about["target"]
    unit = f" ({made.unit})" if made.unit else ""
    rows = made.first
    if rows[0].saved is None:
        header = [name, "score", target]
        cells = [[row.name, f"{row.score:.3g}", _word(made, row.is_positive)] for row in rows]
        return table(header, cells, words=(0, 2))
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
        words=(0, 4),
    )


def _word(made: Report, is_positive: bool) -> str:
    return made.used.words[int(is_positive)]


# -- figures ----------------------------------------------------------------------------------------------------------


def _threshold_figure(made: Report, judged: Judged) -> str:
    from uneven.figures import ThresholdCostDisplay

    score = made.used.decisions.score[judged.which]
    finite = score[np.isfinite(score)]  # infinite where one decision is always the cheaper one
    score = np.clip(score, finite.min(initial=0.0) - 1, finite.max(initial=0.0) + 1)
    display = ThresholdCostDisplay.from_predictions(
        made.is_positive[judged.which].astype(int),
        score,
        threshold=0.0,
        name="this model",
        unit=made.unit,
        **four(made.used.decisions.costs.take(judged.which)),
    )
    with closed(display) as figure:
        return picture(figure, "Cost at every threshold of the score") + paragraph(
            "Scores are moved so that 0 is the threshold of every row. If the cheapest threshold is far from 0, or "
            "much cheaper, the model is off for these rows.",
            "soft",
        )
