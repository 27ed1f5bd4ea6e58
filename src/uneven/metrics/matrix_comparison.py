"""Classifiers of several classes compared by a cost matrix: on folds, or from their decisions about the same rows."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import read_groups, read_labels, read_relative_weights, require_same_length
from uneven.metrics.matrix_estimates import MatrixCostEstimate, matrix_estimates
from uneven.metrics.matrix_rows import read_matrix_rows


def compare_by_matrix(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    matrix: Any,
    *,
    sample_weight: Any,
    folds: int,
    repeats: int,
    decide: str,
    rules: Collection[str],
    progress: Callable[[str, float], None] | None,
) -> list[MatrixCostEstimate]:
    """Cross-validated expected cost of several classifiers; see :func:`uneven.metrics.compare`."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import _safe_indexing

    labels = read_labels("y", y)
    rows = read_matrix_rows(matrix, labels, sample_weight)
    weight = None if sample_weight is None else read_relative_weights(sample_weight, labels.size)
    smallest = int(np.unique(labels, return_counts=True)[1].min())
    if smallest < 2:
        raise CostError(f"cross-validation needs two examples of each class, got {smallest} of one")
    folds = min(folds, smallest)
    taken = {name: np.zeros((repeats, labels.size), dtype=np.intp) for name in models}
    learnt = []
    for repeat in range(repeats):
        splitter = StratifiedKFold(folds, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(splitter.split(np.zeros(labels.size), rows.truth)):
            if progress is not None:
                share = (repeat * folds + fold) / (repeats * folds)
                progress(f"repeat {repeat + 1} of {repeats}, fold {fold + 1} of {folds}", share)
            learnt.append(train.size)
            seen, unseen = _safe_indexing(X, train), _safe_indexing(X, test)
            for name, model in models.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    fitted = clone(model).fit(seen, labels[train], **_told(model.fit, matrix.take(train)))
                    said = decide_by_matrix(fitted, unseen, matrix.take(test), decide)
                taken[name][repeat, test] = matrix.number_actions(f"predictions of {name!r}", said)
    trained = float(np.mean(learnt))
    return matrix_estimates(matrix.costs, rows.truth, taken, weight, trained=trained, rules=rules)


def compare_decisions(
    y_true: Any,
    decisions: Mapping[str, Any],
    matrix: Any,
    *,
    sample_weight: Any,
    rules: Collection[str],
    groups: Any = None,
) -> list[MatrixCostEstimate]:
    """Expected cost of several classifiers from their decisions; see :func:`uneven.metrics.compare_predictions`."""
    rows = read_matrix_rows(matrix, y_true, sample_weight)
    weight = None if sample_weight is None else read_relative_weights(sample_weight, rows.truth.size)
    taken = {name: rows.read_actions(f"predictions[{name!r}]", said)[None] for name, said in decisions.items()}
    group = None if groups is None else read_groups(groups)
    if group is not None:
        require_same_length(y_true=rows.truth, groups=group)
    return matrix_estimates(matrix.costs, rows.truth, taken, weight, rules=rules, groups=group)


def decide_by_matrix(model: Any, X: Any, matrix: Any, decide: str) -> Any:
    """What a classifier does with rows: by its ``predict``, or the cheapest action at its probabilities ("alpha").

    A matrix for each row is passed to ``predict`` if it takes ``costs``, and ``decide`` is not "predict".
    """
    if decide == "alpha":
        known = np.asarray(model.classes_).tolist()
        absent = [label for label in known if label not in matrix.classes]
        if absent:
            raise CostError(f"the model knows the class {brief(absent[0])}, which the cost matrix does not have")
        return matrix.for_classes(known).decide(np.asarray(model.predict_proba(X), dtype=np.float64))
    return model.predict(X, **({} if decide == "predict" else _told(model.predict, matrix)))


def _told(method: Any, matrix: Any) -> dict[str, Any]:
    """A matrix for each row, for methods that take costs; one for all rows is a parameter of the model."""
    return {"costs": matrix} if matrix.per_row and takes_matrix(method) else {}


def takes_matrix(method: Any) -> bool:
    """Whether a method takes a cost matrix as ``costs``."""
    try:
        return "costs" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False
