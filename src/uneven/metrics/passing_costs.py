"""Which estimators take the costs of rows in ``fit`` and ``predict``, and how the costs get there.

scikit-learn's scorers never pass anything but X to ``predict``, and a search or a pipeline has no costs in its own
signature. So the costs follow the estimator that decides: the last step of a pipeline, the best estimator of a search.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from uneven.costs import RowCosts
from uneven.errors import CostError

#: The names of the four costs, in ``fit``, in ``predict`` and as metadata.
COSTS = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")

#: How a classifier decides: with the rows' costs if its ``predict`` takes them, without, or by its probabilities.
DECIDE = ("auto", "predict", "alpha")


def require_way_to_decide(decide: Any) -> None:
    """Raise unless it is one of the ways to decide."""
    if decide not in DECIDE:
        raise CostError(f"decide must be one of {', '.join(map(repr, DECIDE))}, got {decide!r}")


def predict_takes_costs(estimator: Any) -> bool:
    """Whether ``predict`` of the estimator, or of the one inside that decides, takes fp_cost and fn_cost."""
    if _takes_costs(estimator, "predict"):
        return True
    inside = _inside(estimator)
    return inside is not None and predict_takes_costs(inside)


def predict_with_costs(estimator: Any, X: Any, costs: RowCosts) -> Any:
    """``predict``, told what each row costs if the estimator takes it."""
    if _takes_costs(estimator, "predict"):
        return estimator.predict(X, **_passed(estimator.predict, costs))
    if not predict_takes_costs(estimator):
        return estimator.predict(X)
    if _is_pipeline(estimator) and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    return predict_with_costs(_inside(estimator), X, costs)


def fit_with_costs(estimator: Any, X: Any, y: Any, costs: RowCosts) -> Any:
    """``fit``, told what each row costs if the estimator takes it. With metadata routing, what it requests is passed."""
    return estimator.fit(X, y, **_fit_parameters(estimator, costs))


def decided_by_alpha(probability: np.ndarray, costs: RowCosts, classes: np.ndarray, positive: Any) -> np.ndarray:
    """Labels: the positive one where it is the cheaper decision at the row's own costs."""
    (negative,) = (label for label in classes.tolist() if label != positive)
    labels = np.array([negative, positive], dtype=classes.dtype)
    return labels[costs.prefers_positive(probability).astype(np.intp)]


def _takes_costs(estimator: Any, method: str) -> bool:
    return {"fp_cost", "fn_cost"} <= _parameters(getattr(estimator, method, None))


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


def _passed(method: Any, costs: RowCosts) -> dict[str, Any]:
    """All four costs, or the two regrets if the method takes only two costs: they decide the same."""
    if set(COSTS) <= _parameters(method):
        return {name: getattr(costs, name) for name in COSTS}
    return {"fp_cost": costs.fp_regret, "fn_cost": costs.fn_regret}


def _fit_parameters(estimator: Any, costs: RowCosts) -> dict[str, Any]:
    from sklearn import get_config

    if _takes_costs(estimator, "fit"):
        return _passed(estimator.fit, costs)
    if get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing"):
        from sklearn.utils.metadata_routing import get_routing_for_object

        requested = get_routing_for_object(estimator).consumes("fit", COSTS)
        return {name: getattr(costs, name) for name in COSTS if name in requested}
    if _is_pipeline(estimator):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in _fit_parameters(last, costs).items()}
    if hasattr(estimator, "estimator") and hasattr(estimator, "scoring"):  # a search, before it is fitted
        return _fit_parameters(estimator.estimator, costs)
    return {}
