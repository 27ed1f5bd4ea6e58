"""Learners with coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.adapters.onnx_graph import Converter, SkGraph
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.perceptron import UnevenPerceptron


def linear_scores(graph: SkGraph, model: Any, X: str) -> str:
    turned = model._classes.turned
    weights = graph.constant(np.asarray(turned(model.coef_[0]), dtype=np.float64))
    return graph.node("Add", graph.node("MatMul", X, weights), graph.number(float(turned(model.intercept_[0]))))


CONVERTERS = [Converter(UnevenLinearClassifier, linear_scores), Converter(UnevenPerceptron, linear_scores)]
