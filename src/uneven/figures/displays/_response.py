"""What a fitted estimator says about rows: scores, probabilities or labels, and the costs it was made for."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven._inputs import brief
from uneven.costs import RowCosts
from uneven.errors import ParameterError
from uneven.metrics.labels import positive_class
from uneven.metrics.passing_costs import answer_with_costs, takes_costs
from uneven.metrics.rows import Rows
from uneven.metrics.scaled_costs import ScaledCosts

_METHODS = {"auto": ("decision_function", "predict_proba")}
_COSTS = {"fp_cost": 1.0, "fn_cost": 1.0, "tp_cost": 0.0, "tn_cost": 0.0}


def _chain(estimator: Any) -> list[Any]:
    """The estimator and the learner inside it: the best estimator of a search, the last step of a pipeline."""
    found = [estimator]
    while True:
        inside = getattr(found[-1], "best_estimator_", None)
        if inside is None and getattr(found[-1], "steps", None):
            inside = found[-1].steps[-1][1]
        if inside is None:
            return found
        found.append(inside)


def _own(estimator: Any, parameter: str) -> Any:
    """A parameter of the estimator or of one inside, where it is not None; None if there is none."""
    values = (getattr(one, parameter, None) for one in _chain(estimator))
    return next((value for value in values if value is not None), None)


def name_of(estimator: Any, name: str | None) -> str:
    """The name for the legend: the given one, or the class of the learner."""
    return type(_chain(estimator)[-1]).__name__ if name is None else name


def costs_of(estimator: Any, **given: Any) -> dict[str, Any]:
    """The costs that are given; for those that are None, the estimator's own, or 1 for a mistake and 0 otherwise."""
    known = {cost: _own(estimator, cost) if value is None else value for cost, value in given.items()}
    return {cost: _COSTS[cost] if value is None else value for cost, value in known.items()}


def positive_of(estimator: Any, pos_label: Any) -> Any:
    """The positive class: the given one, the estimator's own, or 1."""
    chosen = _own(estimator, "pos_label") if pos_label is None else pos_label
    classes = _classes(estimator)
    return classes.tolist()[positive_class(classes, chosen, symmetric=False)]


def scores_of(
    estimator: Any, X: Any, pos_label: Any, response_method: str = "auto", costs: dict[str, Any] | None = None
) -> np.ndarray:
    """Scores that rise with the probability of the positive class; ``costs`` are for estimators that need them."""
    from sklearn.utils.validation import _num_samples

    methods = _METHODS.get(response_method, (response_method,))
    known = ("auto", *_METHODS["auto"])
    if response_method not in known:
        raise ParameterError(f"response_method must be one of {', '.join(known)}, got {brief(response_method)}")
    found = next((method for method in methods if hasattr(estimator, method)), None)
    if found is None:
        raise ParameterError(f"{brief(estimator)} has no {' or '.join(methods)}, which this display needs")
    if costs and _needs(estimator, found, costs):
        values = np.asarray(answer_with_costs(estimator, found, X, RowCosts.read(_num_samples(X), **costs)))
    else:
        values = np.asarray(getattr(estimator, found)(X))
    index = _classes(estimator).tolist().index(pos_label)
    if found == "predict_proba":
        return values[:, index]
    return values if index == 1 else -values


def _needs(estimator: Any, method: str, costs: dict[str, Any]) -> bool:
    """Whether the answer may need costs of rows: a probability after a fit with them, a search that decides by them."""
    if not any(np.ndim(cost) for cost in costs.values()) or not takes_costs(estimator, method):
        return False
    return method == "predict_proba" or _own(estimator, "row_costs_") == "decide"


def default_threshold(rows: Rows, score: np.ndarray) -> float:
    """0 for decision values; for probabilities (all scores lie in [0, 1]) the alpha of the average costs."""
    if score.min() >= 0 and score.max() <= 1:
        return ScaledCosts.of(rows).own_alpha
    return 0.0


def _classes(estimator: Any) -> np.ndarray:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2:
        what = "no classes_" if classes is None else f"{len(classes)} classes"
        raise ParameterError(f"a display needs a fitted classifier of two classes, got {brief(estimator)} with {what}")
    return np.asarray(classes)
