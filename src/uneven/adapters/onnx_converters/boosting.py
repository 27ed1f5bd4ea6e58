"""Boosted trees: complete ones, computed level by level from the leaves to the root."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.adapters.onnx_graph import Converter, SkGraph
from uneven.learners.adaboost import UnevenAdaBoostClassifier


def _scores(graph: SkGraph, model: Any, X: str) -> str:
    trees = model._trees
    if not trees.count:  # a tree that adds nothing
        features, thresholds, missing_left = np.array([[-1]]), np.zeros((1, 1)), np.ones((1, 1))
        leaves = np.zeros((1, 2))
    else:
        features, thresholds, missing_left = trees.features, trees.thresholds, trees.missing_left
        leaves = trees.leaves
    values = graph.constant(leaves.reshape(1, -1))
    width = leaves.shape[1]
    while width > 1:
        width //= 2
        level = slice(width - 1, 2 * width - 1)
        right = _goes_right(graph, X, features[:, level], thresholds[:, level], missing_left[:, level])
        pairs = np.arange(2 * width * len(leaves)).reshape(-1, 2)
        of_left, of_right = (graph.node("Gather", values, graph.constant(side), axis=1) for side in pairs.T)
        values = graph.node("Where", right, of_right, of_left)
    total = graph.node("MatMul", values, graph.constant(np.ones(len(leaves))))
    return graph.node("Add", total, graph.number(float(model.init_score_)))


def _goes_right(graph: SkGraph, X: str, features: np.ndarray, thresholds: np.ndarray, missing_left: np.ndarray) -> str:
    """Whether each row goes right at each node of one level; at a node that is not split all go left."""
    split = features.ravel() >= 0
    columns = graph.constant(np.where(split, features.ravel(), 0).astype(np.int64))
    x = graph.node("Gather", X, columns, axis=1)
    above = graph.node("Greater", x, graph.constant(np.where(split, thresholds.ravel(), np.inf)))
    missing_right = split & (missing_left.ravel() == 0)
    if not missing_right.any():
        return above
    return graph.node("Or", above, graph.node("And", graph.node("IsNaN", x), graph.constant(missing_right)))


CONVERTERS = [Converter(UnevenAdaBoostClassifier, _scores)]
