"""Which rows a report in memory judges by: those that the model has not learnt from, behind whatever pipeline it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from uneven.app.models.apply_model import seen_in_words
from uneven.app.report.table_report import ENOUGH

#: The share of rows with the values of training rows up to which that is taken for chance, if not all are known.
_BY_CHANCE = 0.05
OUT_OF_FOLD = "out of fold: each row was decided by models that had not learnt from it"


def decides_classes(model: Any, costs: Any) -> bool:
    """Whether a report of this model is one of several classes: it has more than two, or a cost matrix is given."""
    learner, _ = unwrap(model)
    return costs is not None or len(getattr(learner, "classes_", ())) > 2


def unwrap(model: Any) -> tuple[Any, list[Any]]:
    """The classifier behind pipelines and searches, and the steps before it."""
    steps: list[Any] = []
    while True:
        if isinstance(model, Pipeline):
            steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return model, steps


def split_rows(
    known: np.ndarray | float | None, truth: np.ndarray, instead: str
) -> tuple[np.ndarray | None, str, list[str]]:
    """The rows to judge by, None if there are too few; what to say first, and what to say last.

    ``instead`` says what follows if there are too few.
    """
    count = truth.size
    every = np.ones(count, dtype=bool)
    if known is None:
        return every, "", ["Whether the model has learnt from these rows is not known: give it others."]
    if isinstance(known, float):
        if known <= _BY_CHANCE:
            return every, "", []
        return None, f"About {known:.0%} of these {count:,} rows are rows of the fit: {instead}.", []
    new = int((~known).sum())
    if not known.any():
        return every, "", []
    if new >= ENOUGH and np.unique(truth[~known]).size > 1:
        said = seen_in_words(known, f"they are left out, and the answer is that of the {new:,} others")
        return ~known, *(("", [said]) if known.mean() <= _BY_CHANCE else (said, []))
    few = f"; the {new:,} others are too few to judge by" if new else ""
    return None, seen_in_words(known, instead + few), []
