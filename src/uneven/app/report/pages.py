"""The page of a report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from uneven.app.models.apply_model import Decisions
from uneven.app.models.candidates import AUTO
from uneven.app.models.written_costs import costs_by_name
from uneven.app.report.page import (
    appendix,
    bars,
    bullets,
    confusion_figure,
    cost_figure,
    cost_table,
    ensemble_parts,
    figure_of,
    grid,
    heading,
    label_per_thousand,
    page,
    paragraph,
    picture,
    section,
    stack,
    table,
    text,
    what_if_table,
)
from uneven.app.report.sentences import (
    PER,
    Choice,
    capitalise,
    cheapest_in_words,
    model_in_words,
    per_thousand,
    stability_in_words,
    threshold_in_words,
    what_if_title,
)
from uneven.app.report.table_report import Judgement, Report
from uneven.metrics import CostEstimate

if TYPE_CHECKING:
    from uneven.app.report.class_report import ClassReport


def report_page(made: Report, read_as: str = "") -> str:
    """The report as HTML; ``read_as`` says how the table was read. The first two printed pages hold all but details."""
    used, unit = made.used, made.unit
    about = used.about
    plain = about["positive"] in ("True", "1", "yes")  # then the name of the target is the question
    asked = about["target"] if plain else f"Is {about['target']} {about['positive']}"
    title = f"{capitalise(asked)}? What the decisions cost"
    count, positives = made.is_positive.size, int(made.is_positive.sum())
    warned = made.answer.startswith("WARNING")
    judged = made.new or made.known
    return page(
        title,
        f"<h1>{text(title)}</h1>",
        paragraph(made.answer, "warning" if warned else "lead"),
        paragraph(made.volume, "lead") if made.volume else "",
        paragraph(made.seen, "warning" if warned else "note") if made.seen else "",
        paragraph(
            f"{read_as} {count:,} rows with a label, {positives:,} positive ({positives / count:.1%}). "
            f"{used.given.in_words(used.decisions.costs)}".strip(),
            "soft",
        ),
        paragraph(about["random_folds"], "note") if about.get("random_folds") else "",
        *(comparison_parts(made.rows, made.how, unit) if made.rows else ()),
        grid(
            stack(
                section("Which columns matter?", *column_parts(made)),
                section("What was decided, and what it cost", *_outcome_parts(made)) if made.new is not None else "",
                section("What the model was not able to know", bullets(made.unknowns)),
            ),
            stack(
                section("What if only so many rows can be flagged?", *_limit_parts(made)),
                section("Where is the threshold?", *_threshold_parts(made)),
            ),
        ),
        *(_what_if_parts(made, made.new) if made.new is not None else ()),
        *_action_parts(made),
        section("The rows it would flag first", _first_table(made)),
        *([_on_known_rows(made, made.known)] if made.known is not None and made.new is None else ()),
        appendix(
            "Appendix: the model, its threshold, and how the numbers were found",
            paragraph(fitted_in_words(about)),
            *_choice_parts(about, unit),
            *(paragraph(words) for words in model_in_words(made.pipeline)),
            *ensemble_parts(made.pipeline[-1], unit),
            paragraph(f"Intervals hold 95 % and allow for mistakes that no row has shown yet. {HOW_INTERVALS}", "soft"),
            *([_on_known_rows(made, made.known)] if made.known is not None and made.new is not None else ()),
        )
        if judged is not None
        else "",
    )


#: Said in the appendix: what the numbers rest on.
HOW_INTERVALS = (
    "Differences are paired: all models are seen on the same rows. They are for new rows of the same kind: a change of "
    "times, of prices or of who is asked is not in them."
)


def fitted_in_words(about: dict[str, Any]) -> str:
    fitted = f", fitted to {about['rows']:,} rows" if about["rows"] is not None else ""
    return f"It is the model {about['model']}{fitted}."


def column_parts(made: Report | ClassReport) -> list[str]:
    """What each column is worth, as bars."""
    if not made.columns:
        return [paragraph(made.columns_how, "soft")] if made.columns_how else []
    unit = f" ({made.unit})" if made.unit else ""
    worth = [column for column in made.columns if column.cost > 0][:_COLUMNS]
    if not worth:
        changes = any(column.low or column.high for column in made.columns)
        none = "No column makes the decisions dearer if it is shuffled"
        words = none if changes else "No column changes what the decisions cost"
        same = _same_decision(made)
        return [paragraph(f"{words}{same}."), paragraph(made.columns_how, "soft")]
    shown = [(column.name, per_thousand(column.cost), column.cost / worth[0].cost) for column in worth]
    left = len(made.columns) - len(shown)
    rest = f" {left} {'other matters' if left == 1 else 'others matter'} less, or not at all." if left else ""
    return [bars(shown), paragraph(f"{made.columns_how} Costs per 1,000 rows{unit}.{rest}", "soft")]


def _same_decision(made: Report | ClassReport) -> str:
    """What every row gets, after a colon; "" if their decisions differ."""
    if not isinstance(made, Report):
        taken = np.flatnonzero(made.judged.counts.sum(axis=0))
        return f": every row gets {made.matrix.actions[taken[0]]!r}" if taken.size == 1 else ""
    judged = made.new or made.known
    if judged is None or judged.decisions.said_positive.any() != judged.decisions.said_positive.all():
        return ""
    return ": every row is flagged" if judged.decisions.said_positive.all() else ": no row is flagged"


#: Columns that are shown.
_COLUMNS = 8


def comparison_parts(rows: list[CostEstimate], how: str, unit: str | None) -> list[str]:
    """What the models cost on rows that no fit has seen."""
    return [
        heading("Who is the cheapest?"),
        paragraph(capitalise(cheapest_in_words(rows))),
        grid(cost_figure(rows, unit), stack(cost_table(rows, unit)), kind="compared"),
        paragraph(
            f"Costs per 1,000 rows, {how}, with 95 % intervals, which allow for mistakes that no row has shown yet. "
            "Differences are paired: all models are seen on the same rows.",
            "soft",
        ),
    ]


def _outcome_parts(made: Report) -> list[str]:
    """The four outcomes."""
    judged = made.new or made.known
    if judged is None:
        return []
    costs, said = judged.decisions.costs, judged.decisions.said_positive
    return [confusion_figure(judged.is_positive, said, made.used.words, costs, made.unit)]


def _what_if_parts(made: Report, judged: Judgement) -> list[str]:
    """What it would be at other costs of a miss."""
    given = next(what for what in judged.what_ifs if what.label == "as given")
    return [
        heading(what_if_title(given)),
        paragraph(stability_in_words(judged.what_ifs)) if judged is made.new else "",
        what_if_table(judged.what_ifs, made.unit),
        paragraph(f"At other costs: {made.how_moved}. Costs and savings per 1,000 rows.", "soft"),
    ]


def _on_known_rows(made: Report, judged: Judgement) -> str:
    """What the model costs on rows of the training table, with a warning; all that is known without new rows."""
    parts = [
        paragraph(f"Costs per 1,000 rows, {judged.how}: do not expect them on new rows.", "warning"),
        cost_table(judged.rows, made.unit),
    ]
    if made.new is None:
        parts += [*_outcome_parts(made), *_what_if_parts(made, judged), _threshold_figure(made, judged)]
    return section("On rows of the training table", *parts)


def _threshold_parts(made: Report) -> list[str]:
    """In words, and as a curve of costs on rows that no fit has seen."""
    used = made.used
    words = "It is a model of others, and its decisions follow no threshold of its probabilities."
    if not used.about.get("own_threshold"):
        words = threshold_in_words(used.decisions.threshold, has_probability=used.decisions.probability is not None)
    return [paragraph(words), _threshold_figure(made, made.new) if made.new is not None else ""]


def _choice_parts(about: dict[str, Any], unit: str | None) -> list[str]:
    """What the comparison at the fit found; nothing if there was none."""
    rows = [CostEstimate(**row) for row in about["comparison"]]
    if not rows:
        return [paragraph("It was fitted with --quick, without a comparison.", "soft")] if "costs" in about else []
    choice = Choice(rows, about["learner"] == AUTO, unit)
    how = f"Costs per 1,000 rows at the fit: {about['compared']}. Every model was tested on rows that it had not seen."
    found = choice.in_words()  # "" of a quick fit: nothing but constant rules was compared
    return [
        paragraph(choice.warning(), "warning") if choice.warning() else "",
        paragraph(f"When it was fitted: {found[:1].lower()}{found[1:]}") if found else "",
        cost_table(rows, unit),
        paragraph(how, "soft"),
    ]


def _limit_parts(made: Report) -> list[str]:
    """What a limit on flagged rows would have cost, as a picture and a table; what further actions did."""
    if made.capacity is None:
        return []
    from uneven.figures import CapacityCostDisplay

    unit = f" ({made.unit})" if made.unit else ""
    count = int(made.capacity.capacity[-1])
    where = capitalise(made.how) if f"{count:,} rows" in made.how else f"{capitalise(made.how)}: {count:,} rows"
    header = ["most rows flagged", f"cost per 1,000 rows{unit}", "positives found", f"each further flag saves{unit}"]
    curve = replace(made.capacity, cost=PER * made.capacity.cost)
    display = CapacityCostDisplay(curve, name="this model", unit=made.unit).plot()
    with figure_of(display) as figure:
        label_per_thousand(display)
        shown = picture(figure, "Cost against the number of rows that may be flagged")
    return [
        shown,
        table(header, [row.cells(count) for row in made.limits]),
        paragraph(
            f"{where}. The rows whose flag is expected to save most come "
            "first, by the probabilities alone. What a further flag saves is a mean up to the next line: a reviewer "
            "who costs less pays.",
            "soft",
        ),
    ]


def _action_parts(made: Report) -> list[str]:
    """Where each of several actions is the cheapest, and what they did; nothing if there are only two."""
    if made.further is None:
        return []
    from uneven.figures import ActionRegionsDisplay

    shown = ""
    if made.further.actions.rows is None:
        with figure_of(ActionRegionsDisplay(made.further.actions, unit=made.unit).plot()) as figure:
            shown = picture(figure, "Expected cost of each action against the probability")
    return [heading("When is each action the cheapest?"), shown, *map(paragraph, made.further.sentences)]


def _first_table(made: Report) -> str:
    if not made.first:
        return paragraph("It flags no row of this table.")
    name = made.used.names[0] if made.used.names else "row"
    target = made.used.about["target"]
    unit = f" ({made.unit})" if made.unit else ""
    header = [name, "score", target]
    if made.first[0].saved is not None:
        header = [name, f"expected to save{unit}", "probability", "threshold", target]
    cells = [[*row.cells, made.used.words[int(row.is_positive)]] for row in made.first]
    return table(header, cells, words=(0, len(header) - 1))


# -- figures ----------------------------------------------------------------------------------------------------------


def _threshold_figure(made: Report, judged: Judgement) -> str:
    from uneven.figures import ThresholdCostDisplay

    score, used, label, words = _drawn_score(judged.decisions)
    display = ThresholdCostDisplay.from_predictions(
        judged.is_positive.astype(int),
        score,
        threshold=used,
        name="this model",
        unit=made.unit,
        **{name: PER * cost for name, cost in costs_by_name(judged.decisions.costs).items()},
    )
    with figure_of(display) as figure:
        display.ax_.set_xlabel(label)
        label_per_thousand(display)
        return picture(figure, "Cost at every threshold") + paragraph(
            f"{words} If the cheapest threshold is far from it, or much cheaper, the model is off for these rows.",
            "soft",
        )


def _drawn_score(found: Decisions) -> tuple[np.ndarray, float, str, str]:
    """What a threshold figure is drawn over: the score, the threshold in use, the label of the axis, and its words.

    Probabilities if one threshold of them makes all decisions; else scores with the threshold of each row at 0.
    """
    p, cut = found.probability, np.unique(found.threshold[:])
    if p is not None and cut.size == 1 and ((p > cut[0]) == found.said_positive).all():
        words = "The threshold in use is that of every row."
        return p, float(cut[0]), "probability above which a row is flagged", words
    finite = found.score[np.isfinite(found.score)]  # infinite where one decision is always the cheaper one
    score = np.clip(found.score, finite.min(initial=0.0) - 1, finite.max(initial=0.0) + 1)
    words = "Scores are moved so that 0 is the threshold of every row."
    if p is None or not finite.size:
        return score, 0.0, "score above which a row is flagged", words
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = special.logit(p) - special.logit(found.threshold)
    kept = np.isfinite(apart) & np.isfinite(found.score)
    if kept.any() and np.allclose(apart[kept], found.score[kept], rtol=1e-6, atol=1e-6):
        return score, 0.0, "log-odds minus those of the row's threshold", f"{words} They are differences of log-odds."
    return score, 0.0, "score minus the threshold of the row", words
