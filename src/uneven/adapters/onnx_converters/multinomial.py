"""The linear classifier for several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.adapters.onnx_graph import Converter, SkGraph
from uneven.errors import ParameterError
from uneven.learners.multinomial import UnevenMultinomialClassifier


def _linear(graph: SkGraph, model: Any, X: str) -> str:
    """One score for each row of the coefficients."""
    weights = graph.constant(np.ascontiguousarray(model.coef_.T, dtype=np.float64))
    return graph.node("Add", graph.node("MatMul", X, weights), graph.constant(model.intercept_.astype(np.float64)))


def class_probability(graph: SkGraph, model: Any, X: str) -> str:
    """Probabilities of the classes in the order of ``classes_``."""
    if not hasattr(model, "predict_proba"):
        raise ParameterError(f"UnevenMultinomialClassifier({model.loss!r}) has no probabilities to export to ONNX")
    return graph.node("Softmax", _linear(graph, model, X), axis=1)


def _scores(graph: SkGraph, model: Any, X: str) -> str:
    """What the decision compares: minus the expected costs, or the scores themselves."""
    if not hasattr(model, "predict_proba"):
        return _linear(graph, model, X)
    if model.costs_ is None:
        raise ParameterError(
            "a model of probabilities that was fitted with costs of each row has no costs of its own, so it cannot be "
            "exported to ONNX; fit it with one cost matrix"
        )
    places = [model.costs_.classes.index(label) for label in model.classes_.tolist()]
    costs = model.costs_.costs - model.costs_.costs.min(axis=1, keepdims=True)
    return graph.node("MatMul", class_probability(graph, model, X), graph.constant(-costs[places]))


CONVERTERS = [
    Converter(
        UnevenMultinomialClassifier,
        _scores,
        probability=class_probability,
        has_probability=lambda model: hasattr(model, "predict_proba"),
        actions=lambda model: model.actions_,
    )
]
