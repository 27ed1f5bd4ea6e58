"""The scorer itself; :func:`uneven.metrics.make_cost_scorer` makes it.

A file of its own, so that the metrics can be imported without scikit-learn.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

# TunedThresholdClassifierCV reads the four private fields of this class, and scikit-learn has no public one.
from sklearn.metrics._scorer import _BaseScorer, _cached_call
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from uneven.costs import COSTS, RowCosts
from uneven.labels import read_labels
from uneven.metrics.expected_cost import expected_cost
from uneven.metrics.passing_costs import predict_labels


class CostScorer(_BaseScorer):  # type: ignore[misc]
    """Minus the expected cost of an estimator's decisions. ``kwargs`` are numbers that the costs of rows override."""

    def __init__(self, kwargs: dict[str, Any], decide: str = "auto") -> None:
        super().__init__(expected_cost, -1, kwargs, "predict_proba" if decide == "alpha" else "predict")
        self._decide = decide

    def __call__(self, estimator: Any, X: Any, y_true: Any, *, sample_weight: Any = None, **costs: Any) -> float:
        """Minus the expected cost on these rows; ``costs`` are fp_cost, fn_cost, tp_cost and tn_cost."""
        unknown = sorted(set(costs) - set(COSTS))
        if unknown:
            raise TypeError(f"a cost scorer takes sample_weight, {', '.join(COSTS)}, got {unknown[0]!r}")
        call = partial(_cached_call, None)
        return self._score(call, estimator, X, y_true, sample_weight=sample_weight, **costs)

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **given: Any) -> float:
        given = {name: value for name, value in given.items() if value is not None}
        arguments = {**self._kwargs, **given}
        if "costs" in arguments:
            matrix, method = arguments["costs"], "predict_proba" if self._decide == "alpha" else "predict"
            said = method_caller(estimator, method, X)
            if self._decide == "alpha":
                known = np.asarray(estimator.classes_).tolist()
                said = matrix.for_classes(known).decide(np.asarray(said, dtype=np.float64))
            return self._sign * expected_cost(y_true, said, **arguments)
        y_pred = predict_labels(
            estimator,
            X,
            RowCosts.read(read_labels("y_true", y_true).size, **{name: arguments[name] for name in COSTS}),
            decide=self._decide,
            costs_of_rows=not given.keys().isdisjoint(COSTS),
            pos_label=arguments["pos_label"],
            call=method_caller,
        )
        return self._sign * expected_cost(y_true, y_pred, **arguments)

    def set_score_request(self, **requests: Any) -> CostScorer:
        """As in scikit-learn. The four costs are requested unless they are switched off, such as ``fp_cost=False``."""
        super().set_score_request(**{**dict.fromkeys(COSTS, True), **requests})
        return self

    def _get_metadata_request(self) -> Any:
        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)
        request = MetadataRequest(owner=self)
        for name, alias in {**dict.fromkeys(COSTS, True), "sample_weight": None}.items():
            request.score.add_request(param=name, alias=alias)
        return request

    def _warn_overlap(self, message: str, kwargs: dict[str, Any]) -> None:
        """The numbers of the scorer are defaults: costs of rows may override them without a warning."""

    def __repr__(self) -> str:
        shown = {**self._kwargs, "decide": self._decide}
        return f"make_cost_scorer({', '.join(f'{name}={value!r}' for name, value in shown.items())})"
