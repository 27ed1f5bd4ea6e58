"""Which estimators take the costs of rows in ``fit`` and ``predict``, and how the costs get there.

scikit-learn's scorers never pass anything but X to ``predict``, and a search or a pipeline has no costs in its own
signature. So the costs follow the estimator that decides: the last step of a pipeline, the best estimator of a search.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from uneven.costs import COSTS, RowCosts
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import positive_label

#: How a classifier decides: with the rows' costs if its ``predict`` takes them, without, or by its probabilities.
DECIDE = ("auto", "predict", "alpha")


def require_way_to_decide(decide: Any) -> None:
    """Raise unless it is one of the ways to decide."""
    if decide not in DECIDE:
        raise CostError(f"decide must be one of {', '.join(map(repr, DECIDE))}, got {decide!r}")


def takes_costs(estimator: Any, method: str = "predict") -> bool:
    """Whether a method of the estimator, or of the one inside that decides, takes fp_cost and fn_cost."""
    if _has_costs(getattr(estimator, method, None)):
        return True
    inside = _inside(estimator)
    return inside is not None and takes_costs(inside, method)


def answer_with_costs(estimator: Any, method: str, X: Any, costs: RowCosts) -> Any:
    """What ``predict`` or ``predict_proba`` says, told what each row costs if the estimator takes it."""
    if not takes_costs(estimator, method):
        return getattr(estimator, method)(X)
    own: Any = getattr(estimator, method, None)
    if _has_costs(own):
        return own(X, **_costs_for(own, costs))
    if _is_pipeline(estimator) and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    return answer_with_costs(_inside(estimator), method, X, costs)


def fit_with_costs(estimator: Any, X: Any, y: Any, costs: RowCosts, **more: Any) -> Any:
    """``fit``, told what each row costs if the estimator takes it; with metadata routing, if it requests it.

    ``more`` are further arguments of ``fit``.
    """
    return estimator.fit(X, y, **_fit_parameters(estimator, costs), **more)


def predict_labels(
    estimator: Any,
    X: Any,
    costs: RowCosts,
    *,
    decide: str,
    costs_of_rows: bool,
    pos_label: Any,
    call: Callable[..., Any] | None = None,
) -> np.ndarray:
    """Labels that a classifier predicts, in one of the ways to decide.

    ``call(estimator, method, X, pos_label=...)`` answers if no costs are passed; by default it is the method itself.
    """
    method = "predict_proba" if decide == "alpha" else "predict"
    positive = _positive_of_two(estimator, pos_label) if decide == "alpha" else pos_label
    if decide != "predict" and costs_of_rows and takes_costs(estimator, method):
        found = answer_with_costs(estimator, method, X, costs)
    elif call is not None:
        found = call(estimator, method, X, pos_label=positive)
    else:
        found = getattr(estimator, method)(X)
    if decide != "alpha":
        return np.asarray(found)
    classes = np.asarray(estimator.classes_)
    index = classes.tolist().index(positive)
    probability = found if np.ndim(found) == 1 else np.asarray(found)[:, index]
    return classes[np.where(costs.prefers_positive(probability), index, 1 - index)]


def _positive_of_two(estimator: Any, pos_label: Any) -> Any:
    classes = np.asarray(estimator.classes_).tolist()
    if len(classes) != 2:
        raise CostError(f"a classifier of two classes is needed to decide by alpha, got classes {brief(classes)}")
    return positive_label(pos_label, classes)


def _has_costs(method: Any) -> bool:
    return {"fp_cost", "fn_cost"} <= _parameters(method)


def _parameters(method: Any) -> set[str]:
    try:
        return set(inspect.signature(method).parameters)
    except (TypeError, ValueError):
        return set()


def _inside(estimator: Any) -> Any:
    """The estimator whose ``predict`` this one calls with the same rows, if it is a pipeline or a search."""
    if _is_pipeline(estimator):
        return estimator.steps[-1][1]
    return getattr(estimator, "best_estimator_", None)


def _is_pipeline(estimator: Any) -> bool:
    from sklearn.pipeline import Pipeline

    return isinstance(estimator, Pipeline)


def _costs_for(method: Any, costs: RowCosts) -> dict[str, Any]:
    """All four costs, or the two regrets if the method takes only two costs: they decide the same."""
    if set(COSTS) <= _parameters(method):
        return {name: costs.of_each_row(name) for name in COSTS}
    return {"fp_cost": costs.of_each_row("fp_regret"), "fn_cost": costs.of_each_row("fn_regret")}


def _fit_parameters(estimator: Any, costs: RowCosts) -> dict[str, Any]:
    from sklearn import get_config
    from sklearn.model_selection._search import BaseSearchCV

    if _has_costs(estimator.fit):
        return _costs_for(estimator.fit, costs)
    if get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing"):
        from sklearn.utils.metadata_routing import get_routing_for_object

        requested = get_routing_for_object(estimator).consumes("fit", COSTS)
        return {name: costs.of_each_row(name) for name in COSTS if name in requested}
    if _is_pipeline(estimator):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in _fit_parameters(last, costs).items()}
    if isinstance(estimator, BaseSearchCV):
        return _fit_parameters(estimator.estimator, costs)
    return {}
