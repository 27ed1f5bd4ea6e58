"""``uneven.report`` of a model that knows several classes, from X and y in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from uneven.app.models.candidates import ALWAYS
from uneven.app.models.class_candidates import AlwaysAction
from uneven.app.models.compare_candidates import class_rows_out_of_fold
from uneven.app.models.written_matrix import WrittenMatrix
from uneven.app.report.class_report import ClassReport, compare_on_rows, guarantee_in_words, rare_classes
from uneven.app.report.columns_in_money import ColumnWorth, columns_in_money
from uneven.app.report.judged_rows import OUT_OF_FOLD, split_rows, unwrap
from uneven.app.report.table_report import OURS
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.matrix_table import MatrixTable
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief
from uneven.learners.seen_rows import known_rows
from uneven.metrics import compare
from uneven.metrics.matrix_estimates import MatrixCostEstimate


@dataclass(frozen=True)
class _Asked:
    """A fitted classifier of several classes, and the costs that its decisions are judged by."""

    model: Any
    matrix: CostMatrix
    told: bool

    @classmethod
    def of(cls, model: Any, costs: Any, labels: np.ndarray) -> _Asked:
        """The model with the given costs, or those of its fit."""
        learner, _ = unwrap(model)
        if not hasattr(learner, "predict") or not hasattr(learner, "classes_"):
            raise ParameterError(f"report needs a fitted classifier, got {brief(learner)}")
        own = getattr(learner, "costs_", None)
        if costs is None and own is None:
            raise CostError(
                f"{type(learner).__name__} does not know what confusions cost: give costs=uneven.CostMatrix(...)"
            )
        if costs is not None and not isinstance(costs, CostMatrix):
            raise CostError(f"costs must be uneven.CostMatrix(...), got {brief(costs)}")
        matrix: CostMatrix = own if costs is None else costs  # type: ignore[assignment]
        if matrix.per_row:
            raise CostError("report takes one cost matrix for all rows, got one for each row")
        classes = np.asarray(learner.classes_).tolist()
        if len(classes) < 3:
            raise CostError(
                f"costs of a report are for several classes, and this model knows {brief(classes)}; give fp_cost and "
                "fn_cost, or leave costs out"
            )
        strange = sorted(set(labels.tolist()) - set(classes), key=str)
        if strange:
            raise CostError(f"y has labels that the model does not know: {brief(strange)}; it knows {brief(classes)}")
        ordered = [label for label in matrix.classes if label in classes]
        lacking = [label for label in classes if label not in matrix.classes]
        if lacking:
            raise CostError(f"the model knows the class {brief(lacking[0])}, which the cost matrix does not have")
        if not hasattr(learner, "predict_proba"):
            raise ParameterError(
                f"a report of several classes needs probabilities, and {type(learner).__name__} has none"
            )
        told = costs is not None and own is not None
        return cls(model, matrix.for_classes(ordered), told)

    @property
    def learner(self) -> Any:
        """The classifier itself."""
        return unwrap(self.model)[0]

    def read(self, X: Any) -> Any:
        """Rows as the learner takes them."""
        for step in unwrap(self.model)[1]:
            X = step.transform(X)
        return X

    def choose(self, X: Any) -> np.ndarray:
        """The number of the action of each row."""
        features, given = self.read(X), {"costs": self.matrix} if self.told else {}
        return self.matrix.number_actions("predictions", self.learner.predict(features, **given))

    def decide(self, X: Any) -> MatrixTable:
        """What it does with rows."""
        known = np.asarray(self.learner.classes_).tolist()
        places = [known.index(label) for label in self.matrix.classes]
        probability = np.asarray(self.learner.predict_proba(self.read(X)), dtype=np.float64)[:, places]
        return MatrixTable(probability, self.choose(X), self.matrix)


def class_model_report(
    model: Any,
    X: Any,
    y: Any,
    labels: np.ndarray,
    *,
    costs: Any,
    against: Mapping[str, Any],
    unit: str | None,
    rows_per_year: float | None,
    folds: int | None,
    columns: bool,
) -> ClassReport:
    """What a fitted model of several classes costs and saves; see :func:`uneven.report`."""
    asked = _Asked.of(model, costs, labels)
    for name in against:
        if name == OURS or name.startswith(ALWAYS):
            raise ParameterError(f"against has a model with the name {name!r}, which the report needs; rename it")
    others = {
        name: _Asked.of(one, costs if costs is not None else asked.matrix, labels) for name, one in against.items()
    }
    matrix, learner = asked.matrix, asked.learner
    truth = matrix.number_classes("y", labels)
    kept = hasattr(learner, "out_of_fold_cost_") and hasattr(learner, "constant_costs_")
    instead = f"the answer is {OUT_OF_FOLD}" if kept else "they say little about new rows"
    fresh, seen, remarks = split_rows(known_rows(learner, asked.read(X)), truth, instead)

    def judge(which: np.ndarray) -> list[MatrixCostEstimate]:
        some = _safe_indexing(X, which)
        there = {name: one.choose(some) for name, one in others.items()}
        return compare_on_rows(matrix, truth[which], asked.decide(some), there)

    shown = np.arange(truth.size) if fresh is None else np.flatnonzero(fresh)
    rows: list[MatrixCostEstimate] = []
    known: list[MatrixCostEstimate] = []
    how = ""
    if fresh is not None:
        rows, how = judge(shown), f"on {shown.size:,} rows that the model has not learnt from"
    else:
        known = judge(shown)
        if kept:
            at = learner.with_costs(costs=matrix) if asked.told else learner
            rows, how = class_rows_out_of_fold(at, OURS, matrix.classes), OUT_OF_FOLD
        elif folds is not None:
            rows, how = _cross_validate(asked, against, X, y, folds), f"cross-validated, {folds} folds"

    def decide(some: Any, _: np.ndarray) -> np.ndarray:
        return asked.choose(some)

    worths: list[ColumnWorth] = []
    worths_how = ""
    if columns:
        worths, worths_how = columns_in_money(
            decide, _safe_indexing(X, shown), truth[shown], matrix, learnt=fresh is None
        )
    counts = np.bincount(truth, minlength=len(matrix.classes)).tolist()
    rare = rare_classes(dict(zip(matrix.classes, counts, strict=True)), "There are")
    return ClassReport(
        about=_about(learner, y),
        given=WrittenMatrix(matrix, unit, "The cost matrix"),
        truth=truth,
        rows=rows,
        how=how,
        known=known,
        known_how=f"on {truth.size:,} rows, of which the model has learnt from most",
        seen=seen,
        unknowns=[
            *remarks,
            *rare,
            "Whether things change over time cannot be seen: rows of another time may cost more.",
        ],
        guarantee=guarantee_in_words(learner),
        pipeline=Pipeline([("classifier", learner)]),
        rows_per_year=None if rows_per_year is None else float(rows_per_year),
        columns=worths,
        columns_how=worths_how,
    )


def _cross_validate(asked: _Asked, against: Mapping[str, Any], X: Any, y: Any, folds: int) -> list[MatrixCostEstimate]:
    """Copies of the models, fitted and tested on folds of the rows."""
    rules = {f"{ALWAYS}{action}": AlwaysAction(action) for action in asked.matrix.actions}
    models = {OURS: asked.model, **against, **rules}
    found = compare(models, X, y, costs=asked.matrix, folds=folds, repeats=1, rules=rules)
    first, *rest = found
    cheapest = min((row for row in rest if row.name in rules), key=lambda row: row.cost)
    return [first, *sorted((row for row in rest if row.name not in rules or row is cheapest), key=lambda row: row.cost)]


def _about(learner: Any, y: Any) -> dict[str, Any]:
    name = type(learner).__name__
    seen = learner.__dict__.get("_seen", {}) if hasattr(learner, "__dict__") else {}
    return {
        "target": str(getattr(y, "name", None) or "y"),
        "model": name,
        "rows": seen.get("rows"),
        "comparison": [],
        "lacking": f"{name} keeps no decisions out of fold (folds=5 would fit copies of it on folds)",
    }
