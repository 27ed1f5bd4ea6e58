"""A model of `uneven fit` as source code: its pipeline, how its file writes columns, its costs and words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.dummy import DummyClassifier

from uneven.adapters.python import python_source
from uneven.adapters.source.source_columns import Feature, Inputs
from uneven.adapters.source.source_models import CLASSIFIERS, Said, write_line
from uneven.adapters.sql import sql_source
from uneven.app.files.table_columns import read_columns
from uneven.app.models.apply_model import can_move, words_of
from uneven.app.models.candidates import MOVED, WEIGHTED, LogisticRule
from uneven.app.models.written_costs import WrittenCosts, cost_tree, number_in
from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.errors import UnevenError

PYTHON, SQL = KINDS = ("python", "sql")


def export_model(
    content: dict[str, Any],
    to: str,
    changes: dict[str, str],
    *,
    table: str = "",
    dialect: str = "",
    keep: tuple[str, ...] = (),
) -> str:
    """The source of the model of a file; ``changes`` are costs in place of those of the fit."""
    about = content["about"]
    if about.get("streamed"):
        raise UnevenError(
            f"a model that was fitted in parts cannot be exported to {to}; fit it to a table that fits into memory"
        )
    if changes and not can_move(content["pipeline"]):
        raise UnevenError(
            f"this model ({about['model']}) decides only at the costs of its fit, got others; fit it again with them"
        )
    given = WrittenCosts(**{**about["costs"], **changes})
    reading = {column.name: column for column in read_columns(about["columns"])}
    costs = _costs(given, changes, [*reading, *about["dropped"]])
    others = {"reading": reading, "labels": words_of(about["positive"], about["negatives"])[:2]}
    pipeline = content["pipeline"]
    if isinstance(pipeline[-1], DummyClassifier):
        raise UnevenError("a model that says the same of every row needs no export")
    if to == PYTHON:
        return python_source(pipeline, costs, **others)
    kept = keep or ((about["id"],) if about["id"] is not None else None)
    return sql_source(pipeline, table, dialect, kept, costs, **others)


def _costs(given: WrittenCosts, changes: dict[str, str], known: list[str]) -> dict[str, Any]:
    """The costs that the export is told: none if they are those of the fit and the same in all rows."""
    if not given.per_row:
        return {name: number_in(name, getattr(given, name)) for name in COSTS} if changes else {}
    names = SimpleNamespace(frame=SimpleNamespace(columns=known), require=lambda *_: None)  # the table is not here
    return {name: cost_tree(name, getattr(given, name), names) for name in COSTS}


def _logistic_rule(inputs: Inputs, model: Any, features: list[Feature] | None) -> Said:
    """scikit-learn's logistic regression, with the weights of "weighted" taken out of its probability."""
    assert features is not None
    used = features if model.used_ is None else [features[k] for k in model.used_]
    writer, inner = inputs.writer, model.model_
    score = write_line(inputs, used, inner.coef_[0], inner.intercept_[0])
    moved = float(np.log(model.fn_cost / model.fp_cost)) if model.way == WEIGHTED else 0.0
    probability = writer.expit(score if not moved else writer.difference(score, writer.number(moved)))

    def threshold(given: GivenCosts) -> float:
        if model.way != MOVED:
            return 0.0
        own = {"fp_cost": model.fp_cost, "fn_cost": model.fn_cost, "tp_cost": 0.0, "tn_cost": 0.0}
        return float(logit(model.thresholds(RowCosts.read(1, **given.filled(own)))[0]))

    return Said(1, score, probability, threshold)


CLASSIFIERS[LogisticRule] = _logistic_rule
