"""The card of a model of several classes: of a fitted learner, and of a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.app.models.apply_model import row_hashes
from uneven.app.models.candidates import AUTO
from uneven.app.models.compare_candidates import class_rows_out_of_fold
from uneven.app.models.written_matrix import WrittenMatrix
from uneven.app.report.card_sections import (
    COMMON_LIMITS,
    NOT_KNOWN,
    CardSection,
    chosen_model,
    guarantee_section,
    hash_of_rows,
    listed,
    member_section,
    study_section,
    version_section,
    versions_here,
)
from uneven.app.report.class_report import class_cells, fitted_rows
from uneven.app.report.file_card import about_study, data_section, hashes_of, limits_of
from uneven.app.report.model_card import ModelCard, describe_columns
from uneven.app.report.sentences import Choice, first_line, likeliest_in_words
from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.inputs import brief, show_above

#: How far above the best log loss probabilities may be, for the table of what is proved.
_LEVELS = (0.1, 0.01, 0.001)
_CLASSES = ("class", "rows", "cheapest decision", "most often", "cost in all", "cost per 1,000 of them")


def class_file_card(content: dict[str, Any], name: str, decided_by: str | None = None) -> ModelCard:
    """The card of the content of a model file of several classes; as :func:`uneven.app.report.file_card.file_card`."""
    about, last = content["about"], content["pipeline"][-1]
    given = WrittenMatrix.of_model(about["costs"])
    matrix, unit = given.matrix, given.unit
    decided_by = about.get("decided_by") or decided_by
    rows: Any = fitted_rows(about)
    study, more = "it was fitted without a comparison. `uneven report` tells it.", []
    if rows:
        choice = Choice(rows, about["learner"] == AUTO, unit)
        more = [choice.warning() or first_line(rows, unit), choice.in_words(), likeliest_in_words(rows, unit)]
        study = about["compared"]
    elif hasattr(last, "out_of_fold_cost_"):
        rows = class_rows_out_of_fold(last, about["model"], matrix.classes)
        study = "out of fold: of models that did not learn from the row"
    warnings = [one for one in (about["broken_promise"], about.get("order", "")) if one]
    hashes = hashes_of(content)
    limits = [*warnings, *limits_of(content, last)]
    when = f"on {about['fitted']}" if about.get("fitted") else f"at a time that is {NOT_KNOWN}"
    first = (
        f"It is the model {about['model']} ({type(last).__name__}), in the file {name}, fitted {when}.",
        f"The true {about['target']} of a row is {_or(matrix.classes)}; its decisions are {_or(matrix.actions)}.",
    )
    return _card(
        f"Model card: decisions about {about['target']}",
        first,
        data_section(about),
        (matrix, unit, decided_by),
        (rows, study, more),
        last,
        limits,
        version_section(content["versions"], {what: value or NOT_KNOWN for what, value in hashes.items()}),
        {
            "model": {
                "name": about["model"],
                "class": type(last).__name__,
                "file": name,
                "fitted": about.get("fitted"),
                "target": about["target"],
            },
            "data": {
                "rows": about["rows"],
                "classes": about["classes"],
                **{key: about.get(key) for key in ("columns", "missing", "unlabelled", "skipped", "dropped", "table")},
            },
            "study": about_study(about),
            "leaks": about.get("leaks"),
            "versions": {"made": content["versions"], "card": versions_here()},
            "hashes": dict(zip(("model", "table", "rows"), hashes.values(), strict=True)),
        },
    )


def class_learner_card(
    model: Any, X: Any = None, *, decided_by: str | None = None, unit: str | None = None
) -> ModelCard:
    """The card of a fitted estimator of several classes; see ``model.card``."""
    matrix, name = model.costs_.for_classes(model.classes_.tolist()), type(model).__name__
    rows: Any = class_rows_out_of_fold(model, "this model", matrix.classes)
    counts = dict(zip(matrix.classes, rows[-1].counts.sum(axis=1).tolist(), strict=True))
    columns = [str(column) for column in getattr(model, "feature_names_in_", ())]
    found = [
        f"It learnt from {sum(counts.values()):,.0f} rows: "
        f"{', '.join(f'{label} ({count:,.0f})' for label, count in counts.items())}."
    ]
    shown = (f": {listed(columns)}" if columns else "; their names are not known") if X is None else ""
    found.append(f"It uses {getattr(model, 'n_features_in_', NOT_KNOWN)} columns{shown}.")
    cells: list[tuple[str, ...]] = []
    missing = None
    if X is None:
        found.append("Types and missing values of the columns are not known: a model keeps no table.")
    else:
        cells, missing = describe_columns(X)
        found.append(f"The table given for this card has {len(cells):,} columns:")
    limits = [
        f"It decides between {_or(matrix.actions)}; rows of a class other than {_or(matrix.classes)} are taken for one "
        "of these.",
        "Its costs are fixed until somebody gives others; predict and with_costs take them, without a new fit.",
        *([f"It needs all of its {len(columns):,} columns, under the same names."] if columns else []),
        *COMMON_LIMITS,
        f"Whether a column tells the label by accident (a leak) is {NOT_KNOWN}.",
    ]
    table_hash = None if X is None or not hasattr(X, "columns") else hash_of_rows(row_hashes(X))
    hashes = {"SHA-256 of the model": f"{NOT_KNOWN} before it is a file"}
    if table_hash is not None:
        hashes["SHA-256 of the rows of the table given here"] = table_hash
    return _card(
        f"Model card: {name}",
        (f"{name}, a classifier of {len(matrix.classes)} classes.", " ".join(repr(model).split())),
        CardSection("The data", tuple(found), ("column", "type", "missing"), tuple(cells), words=(0, 1)),
        (matrix, unit, decided_by),
        (rows, "out of fold: of models that did not learn from the row", []),
        model,
        limits,
        version_section(None, hashes),
        {
            "model": {
                "name": name,
                "parameters": {key: brief(value) for key, value in model.get_params(deep=False).items()},
            },
            "data": {"rows": sum(counts.values()), "classes": counts, "columns": columns or None, "missing": missing},
            "study": {"how": "out of fold", "costs": [_plain(row.to_dict()) for row in rows]},
            "versions": {"made": None, "card": versions_here()},
            "hashes": {"model": None, "rows": table_hash},
        },
    )


def _card(
    title: str,
    first: tuple[str, ...],
    data: CardSection,
    costs: tuple[CostMatrix, str | None, str | None],
    study: tuple[Any, str, list[str]],
    model: Any,
    limits: list[str],
    versions: CardSection,
    facts: dict[str, Any],
) -> ModelCard:
    """The sections in their order; ``costs`` are the matrix, the unit and who decided, ``study`` what was compared."""
    (matrix, unit, decided_by), (rows, how, more) = costs, study
    chosen = chosen_model(model)
    guarantee, about_guarantee = guarantee_section(chosen, unit)
    members = member_section(chosen, unit)
    proved, bounds = _proved(matrix, unit)
    by_class: tuple[CardSection, ...] = ()
    if rows:
        cells = tuple(map(tuple, class_cells(rows[0], matrix)))
        by_class = (CardSection("What it costs in each class", (f"Counted {how}.",), _CLASSES, cells, words=(0, 3)),)
    sections = (
        CardSection("The model", first),
        data,
        _costs(matrix, unit, decided_by),
        study_section(
            rows, how if rows else f"What it costs on new rows is not known: {how}", unit, list(filter(None, more))
        ),
        *by_class,
        *(() if members is None else (members,)),
        guarantee,
        proved,
        CardSection("What it cannot do", tuple(limits), listed=True),
        versions,
    )
    exact = matrix.exact_costs
    facts |= {
        "costs": {
            "classes": list(map(_plain_label, matrix.classes)),
            "actions": list(map(_plain_label, matrix.actions)),
            "matrix": matrix.costs.tolist() if exact is None else [[str(cost) for cost in row] for row in exact],
        },
        "unit": unit,
        "decided_by": decided_by,
        "guarantee": about_guarantee,
        "proved": bounds,
        "limits": limits,
    }
    return ModelCard(title, sections, facts)


def _costs(matrix: CostMatrix, unit: str | None, decided_by: str | None) -> CardSection:
    """What every decision costs in every class, and who decided that."""
    who = f"Decided by: {decided_by}." if decided_by else f"Who decided these costs is {NOT_KNOWN}."
    in_unit = f" Costs are in {unit}." if unit else ""
    header = ("true class", *(f"decided {action}" for action in matrix.actions))
    rows = tuple(
        (str(label), *(money(float(cost)) for cost in row))
        for label, row in zip(matrix.classes, matrix.costs, strict=True)
    )
    odd = tuple(f"{words[:1].upper()}{words[1:]}." for words in matrix.remarks)
    return CardSection("What each decision costs, and who decided it", (f"{who}{in_unit}", *odd), header, rows)


def _proved(matrix: CostMatrix, unit: str | None) -> tuple[CardSection, dict[str, Any]]:
    """Theorem M: what good probabilities guarantee for the cost of the cheapest decision."""
    bounds = np.asarray(matrix.regret_bound(np.array(_LEVELS))).tolist()
    rows = tuple((f"{level:g}", show_above(bound, 3)) for level, bound in zip(_LEVELS, bounds, strict=True))
    sentences = (
        "There is no certificate: certificates are about losses of two classes.",
        "What the costs themselves guarantee (Theorem M): if the log loss of the probabilities of new rows is on "
        "average at most so much above that of the true ones, the cheapest decisions at these probabilities cost per "
        "row at most so much more than the best ones. How far the model is from the true probabilities is not known.",
    )
    header = ("log loss above the best", f"cost above the best{f' ({unit})' if unit else ''}")
    section = CardSection("What is proved", sentences, header, rows, words=())
    return section, {"log_loss_above_the_best": list(_LEVELS), "cost_above_the_best": bounds}


def _or(names: Any) -> str:
    *first, last = map(str, names)
    return f"{listed(first)} or {last}"


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in row.items()}


def _plain_label(label: Any) -> Any:
    return label if isinstance(label, str | int | float | bool) else str(label)
