"""What a model of several classes says about the rows of a table: decisions, probabilities, and expected costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.app.files.remarks import new_categories
from uneven.app.files.table import Table
from uneven.app.files.table_columns import read_columns, type_columns
from uneven.app.models.apply_model import in_training, name_rows, seen_in_words
from uneven.app.models.written_limits import WrittenLimits
from uneven.app.models.written_matrix import WrittenMatrix
from uneven.costs import money
from uneven.decisions.decide import Limits
from uneven.decisions.matrix_limits import decide_within
from uneven.decisions.matrix_table import MatrixTable
from uneven.errors import UnevenError
from uneven.metrics.matrix_comparison import takes_matrix

#: Draws of what all decisions together cost, and rows up to which the classes of all rows are drawn.
_DRAWS, _DRAWN_ROWS = 1000, 20_000
#: Rows whose classes are drawn at once.
_BLOCK = 500


def has_several_classes(content: dict[str, Any]) -> bool:
    """Whether a model file decides between several classes."""
    return "classes" in content["about"]


def require_two_classes(content: dict[str, Any], model: str, what: str) -> None:
    """Raise if a model file decides between several classes; ``what`` is for two."""
    if has_several_classes(content):
        count = len(content["about"]["classes"])
        raise UnevenError(f"{model} decides between {count} classes, and {what} is for two classes only")


@dataclass(frozen=True)
class ClassApplication:
    """What a model says about the rows of a table.

    Attributes
    ----------
    about : dict
        What the model file says of the training.
    given : WrittenMatrix
    X : DataFrame
        The typed columns.
    decisions : MatrixTable
        Its classes and actions are in the order of the table of costs.
    names : (str, Series) or None
        The column that names the rows, and its values.
    remarks : list of str
    """

    about: dict[str, Any]
    given: WrittenMatrix
    X: Any
    decisions: MatrixTable
    names: tuple[str, Any] | None
    remarks: list[str]

    def counts_in_words(self) -> str:
        """How many rows get each action, for a sentence; actions that no row gets are named."""
        found = ", ".join(f"{action} ({count:,})" for action, count in self.decisions.counts.items() if count)
        absent = ", ".join(repr(action) for action, count in self.decisions.counts.items() if not count)
        return f"{found}{f'; never {absent}' if absent else ''}."

    def expected_in_words(self) -> str:
        """What all decisions together are expected to cost, and the cheapest decision that is the same for all."""
        found, unit = self.decisions, self.given.unit
        all_alike = found.expected_costs.sum(axis=0)
        best = int(all_alike.argmin())
        low, high = range_of_total(found)
        words = (
            f"If its probabilities are right, these decisions cost {money(float(found.expected_cost.sum()), unit)} "
            f"(chance alone, 95 %: {money(low)} to {money(high)}); deciding {found.costs.actions[best]!r} for every "
            f"row would cost {money(float(all_alike[best]), unit)}."
        )
        kept = () if found.limits is None else found.limits.in_words(unit)
        return " ".join([words, *(f"{part[:1].upper()}{part[1:]}." for part in kept)])


def range_of_total(found: MatrixTable) -> tuple[float, float]:
    """Quantiles of what all decisions together cost, 2.5 and 97.5 %, if every probability is right.

    The classes of all rows are drawn; beyond some thousand rows a normal distribution does.
    """
    paid = found.costs.costs[:, found.choice].T  # what each row pays in each class
    mean = (found.probability * paid).sum(axis=1)
    if len(found) > _DRAWN_ROWS:
        variance = (found.probability * (paid - mean[:, None]) ** 2).sum()
        half = 1.96 * float(np.sqrt(variance))
        return float(mean.sum()) - half, float(mean.sum()) + half
    random, totals = np.random.default_rng(0), np.zeros(_DRAWS)
    ends = found.probability.cumsum(axis=1)
    for start in range(0, len(found), _BLOCK):
        some = slice(start, start + _BLOCK)
        drawn = random.random((_DRAWS, len(mean[some])))
        cost = np.broadcast_to(paid[some, 0], drawn.shape).copy()
        for k in range(1, paid.shape[1]):
            cost += np.where(drawn > ends[some, k - 1], paid[some, k] - paid[some, k - 1], 0.0)
        totals += cost.sum(axis=1)
    low, high = np.quantile(totals, [0.025, 0.975])
    return float(low), float(high)


def apply_to_classes(
    content: dict[str, Any],
    table: Table,
    id_column: str | None = None,
    changed: WrittenMatrix | None = None,
    limits: WrittenLimits | None = None,
) -> ClassApplication:
    """Apply the model to all rows of the table; an error names a column that is missing.

    ``changed`` are costs in place of those of the model.
    """
    about = content["about"]
    given = WrittenMatrix.of_model(about["costs"])
    notes: list[str] = []
    if changed is not None:
        given, notes = replace(changed, unit=given.unit).for_labels(about["target"], about["classes"])
        if not can_decide_otherwise(content["pipeline"][-1]):
            raise UnevenError(
                f"this model ({about['model']}) decides only at the costs of its fit, got --costs {given.name}; fit it "
                "again with them"
            )
    X = type_columns(table, read_columns(about["columns"]))
    names, remarks = name_rows(table, about, id_column)
    remarks += new_categories(content["preprocessing"], X)
    remarks += filter(None, [seen_in_words(in_training(X, content["seen"]))])
    found = decide_classes(content["pipeline"], X, given, told=changed is not None)
    if limits is not None and limits.given:
        kept = Limits(**limits.read_of_actions(table))
        found = decide_within(found.costs, found.probability, kept, found.choice)
    return ClassApplication(about, given, X, found, names, [*notes, *remarks])


def can_decide_otherwise(last: Any) -> bool:
    """Whether a fitted classifier of several classes can decide at other costs than those of its fit."""
    return takes_matrix(last.predict) and bool(getattr(last, "moves", True))


def decide_classes(pipeline: Any, X: Any, given: WrittenMatrix, *, told: bool = False) -> MatrixTable:
    """What a fitted pipeline does with rows, in the order of the table of costs; ``told``: it is told these costs."""
    features, last, matrix = pipeline[:-1].transform(X), pipeline[-1], given.matrix
    places = [np.asarray(last.classes_).tolist().index(label) for label in matrix.classes]
    probability = np.asarray(last.predict_proba(features))[:, places]
    options = {"costs": matrix} if told else {}
    choice = matrix.number_actions("predictions", last.predict(features, **options))
    return MatrixTable(probability, choice, matrix)


def class_prediction_table(used: ClassApplication) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """For each row its name, decision, expected costs and probabilities; and columns whose order in a row decides."""
    import pandas as pd

    found = used.decisions
    columns: dict[str, Any] = {"decision": found.action, "expected_cost": found.expected_cost}
    costs = [f"cost_if_{action}" for action in found.costs.actions]
    columns |= dict(zip(costs, found.expected_costs.T, strict=True))
    columns |= {f"P({label})": found.probability[:, k] for k, label in enumerate(found.costs.classes)}
    if used.names is not None:
        name, values = used.names
        if name in columns:
            raise UnevenError(f"the column {name!r} that names the rows has the name of a result; rename it")
        columns = {name: values.reset_index(drop=True), **columns}
    return pd.DataFrame(columns), tuple((a, b) for k, a in enumerate(costs) for b in costs[:k])
