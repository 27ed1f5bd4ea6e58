"""Reasons for the decisions of a model file, and what the file keeps for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.app.files.table_columns import read_columns
from uneven.app.models.apply_model import Application
from uneven.app.models.compare_candidates import Clock, Progress, listener
from uneven.app.models.written_costs import costs_by_name
from uneven.errors import UnevenError
from uneven.learners.explaining.counterfactuals import in_words
from uneven.learners.explaining.explanation import Explanation, explain
from uneven.learners.explaining.shapley import SAMPLED
from uneven.solvers.running import listening
from uneven.tables.columns import DATE, NUMBER, TEXT, Column

#: Rows that a model file keeps to compare with, and values of all of them together if there are many columns.
_ROWS, _VALUES = 32, 50_000
_FEWEST_ROWS = 4


def keep_background(X: Any, columns: list[Column]) -> dict[str, list[Any]]:
    """Values of training rows to compare with, as plain data.

    Each column is shuffled by itself, and free texts are left out: no row of the training table can be read in a model
    file. Reasons are still compared with values that are as frequent as they were.
    """
    random = np.random.default_rng(0)
    most = max(_FEWEST_ROWS, min(_ROWS, _VALUES // max(1, len(columns))))
    kept: dict[str, list[Any]] = {}
    for column in columns:
        values = X[column.name]
        chosen = values.iloc[random.permutation(len(X))[:most]]
        if column.role == NUMBER:
            kept[column.name] = [None if np.isnan(value) else float(value) for value in chosen]
        elif column.role == TEXT:
            kept[column.name] = [None] * len(chosen)
        else:
            known = chosen.isna().to_numpy()
            kept[column.name] = [None if out else str(value) for value, out in zip(chosen, known, strict=True)]
    return kept


def read_background(kept: dict[str, list[Any]], columns: list[Column]) -> Any:
    """The rows to compare with, as typed columns."""
    import pandas as pd

    found: dict[str, Any] = {}
    for column in columns:
        values = kept[column.name]
        if column.role == NUMBER:
            found[column.name] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        elif column.role == DATE:
            found[column.name] = pd.to_datetime(pd.Series(values, dtype=object))
        else:
            found[column.name] = pd.Categorical(values)
    return pd.DataFrame(found)


def add_reasons(
    frame: Any,
    content: dict[str, Any],
    used: Application,
    most: int,
    progress: Progress,
    *,
    changed: bool,
    decimal: str = ".",
) -> tuple[Any, str]:
    """The table of predictions with so many reasons, and with a change that would change the decision; a sentence.

    ``changed``: the costs are not those of the fit. ``decimal`` is the decimal sign of values in texts.
    """
    import pandas as pd

    with listening(listener(progress, "reasons", Clock(0))):
        why = _explain(content, used, told=used.given.per_row or changed)
    reasons = why.to_frame(most).reset_index(drop=True)
    found = why.reasons(most)
    for k in range(most):
        values = [in_words(row[k].value, decimal) if k < len(row) else None for row in found]
        reasons[f"reason_{k + 1}_value"] = pd.Series(values, dtype=object)
    with listening(listener(progress, "changes of decisions", Clock(0))):
        turning = why.counterfactuals()
    changes = [
        changes[0].in_words(bool(flagged), decimal) if changes else None
        for changes, flagged in zip(turning, why.flagged, strict=True)
    ]
    reasons["change"] = pd.Series(changes, dtype=object)
    taken = [name for name in reasons.columns if name in frame.columns]
    if taken:
        raise UnevenError(f"the column {taken[0]!r} that names the rows has the name of a result; rename it")
    compared = "values of the training table" if "background" in content["about"] else "the other rows of this table"
    how = "sampled" if why.method == SAMPLED else "exact"
    total = "the score" if why.money is None else "the score and to what flagging saves"
    sentence = f"Reasons compare each row with {compared}; they are {how}, and those of all columns sum to {total}."
    return pd.concat([frame.reset_index(drop=True), reasons], axis=1), sentence


def _explain(content: dict[str, Any], used: Application, *, told: bool) -> Explanation:
    """Why the rows of a table were decided as they were; ``told``: the model is told their costs."""
    about = content["about"]
    if "background" not in about and len(used.X) < 2:
        raise UnevenError(
            "this model file was made before --reasons: it keeps no rows to compare one row with; fit it again, or "
            "give more rows"
        )
    kept = read_background(about["background"], read_columns(about["columns"])) if "background" in about else None
    found = explain(content["pipeline"], used.X, kept, **(costs_by_name(used.decisions.costs) if told else {}))
    assert isinstance(found, Explanation)  # of two classes
    return found
