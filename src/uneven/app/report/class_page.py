"""The page of a report about several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.app.report.class_report import CLASS_HEADER, ClassReport, class_cells
from uneven.app.report.page import (
    appendix,
    bullets,
    cost_table,
    ensemble_parts,
    figure_of,
    grid,
    page,
    paragraph,
    picture,
    section,
    stack,
    table,
    text,
    title_per_thousand,
)
from uneven.app.report.pages import HOW_INTERVALS, column_parts, comparison_parts, fitted_in_words
from uneven.app.report.sentences import capitalise, model_in_words, never_chosen_in_words
from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.metrics.matrix_estimates import MatrixCostEstimate


def class_report_page(made: ClassReport) -> str:
    """The report as HTML."""
    about, unit, (kept, same) = made.about, made.unit, made.compared
    rows = _any(kept)
    title = f"{capitalise(about['target'])}: what the decisions cost"
    warned = made.answer.startswith("WARNING")
    return page(
        title,
        f"<h1>{text(title)}</h1>",
        paragraph(made.answer, "warning" if warned else "lead"),
        paragraph(made.likeliest, "lead") if made.likeliest else "",
        paragraph(made.volume, "lead") if made.volume else "",
        paragraph(made.seen, "warning" if warned else "note") if made.seen else "",
        paragraph(f"{made.read_as} {made.counts_in_words} {made.given.in_words(made.matrix)}".strip(), "soft"),
        paragraph(about["random_folds"], "note") if about.get("random_folds") else "",
        *(comparison_parts(rows, made.how, unit) if rows else ()),
        paragraph(same, "soft") if same else "",
        section("What was decided, and what it cost", *decided_parts(made.judged, made.matrix, unit, made.shown_on)),
        grid(
            stack(
                section("Which columns matter?", *column_parts(made)),
                section("What the model was not able to know", bullets(made.unknowns)),
            ),
            stack(
                section("What does each decision cost?", *costs_parts(made.matrix, unit)),
                section("What is guaranteed?", paragraph(made.guarantee)),
            ),
        ),
        appendix(
            "Appendix: the model, and how the numbers were found",
            paragraph(fitted_in_words(about)),
            *(paragraph(words) for words in model_in_words(made.pipeline)),
            *ensemble_parts(made.pipeline[-1], unit),
            paragraph(f"Intervals hold 95 % and allow for mistakes that no row has shown yet. {HOW_INTERVALS}", "soft"),
            *_on_known_rows(made),
        ),
    )


def _any(rows: list[MatrixCostEstimate]) -> Any:
    """Estimates of several classes where those of two are named: tables ask for what both have."""
    return rows


def decided_parts(one: MatrixCostEstimate, matrix: CostMatrix, unit: str | None, how: str) -> list[str]:
    """A picture of classes and decisions in rows and money, and a line for each class."""
    from uneven.figures import CostConfusionDisplay

    display = CostConfusionDisplay(
        np.round(one.counts, 1), one.counts * matrix.costs, labels=matrix.classes, actions=matrix.actions, unit=unit
    ).plot()
    with figure_of(display) as figure:
        title_per_thousand(display)
        shown = picture(figure, "True classes and decisions: how many rows, and what they cost", wide=True)
    header = [f"{name} ({unit})" if unit and name.startswith("cost") else name for name in CLASS_HEADER]
    never = never_chosen_in_words(one.counts, matrix)
    return [
        shown,
        table(header, class_cells(one, matrix), words=(0, 3)),
        paragraph(f"{capitalise(how)}. {never}".strip(), "soft"),
    ]


def costs_parts(matrix: CostMatrix, unit: str | None) -> list[str]:
    """The table of costs, with what is odd about it."""
    header = ["true class", *(f"{action}{f' ({unit})' if unit else ''}" for action in matrix.actions)]
    cells = [[str(y), *(money(float(c)) for c in row)] for y, row in zip(matrix.classes, matrix.costs, strict=True)]
    return [table(header, cells), *(paragraph(f"{capitalise(words)}.", "soft") for words in matrix.remarks)]


def _on_known_rows(made: ClassReport) -> list[str]:
    """What the model costs on rows of the training table, with a warning."""
    if not made.known:
        return []
    words = f"Costs per 1,000 rows, {made.known_how}: do not expect them on new rows."
    return [paragraph(words, "warning"), cost_table(_any(made.known), made.unit)]
