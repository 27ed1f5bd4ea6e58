"""What members of an ensemble, and classifiers behind a threshold, say of a row: in double precision, node by node.

The converters of skl2onnx compute trees and linear models in single precision, and sums of it say something else than
scikit-learn at a threshold. Trees of every library become the operator ``TreeEnsemble`` with doubles instead; numbers
are rounded to single precision where the library rounds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from uneven.adapters.onnx_converters.linear import linear_scores
from uneven.adapters.onnx_converters.multinomial import class_probability
from uneven.adapters.onnx_converters.svc import kernel_scores
from uneven.adapters.onnx_graph import SkGraph, by_inverse_link
from uneven.adapters.source.library_trees import is_of_library, trees_of_classes, trees_of_library
from uneven.adapters.source.source_trees import Tree, of_histograms, of_scikit_learn
from uneven.decisions.platt import Sigmoid
from uneven.errors import ParameterError
from uneven.learners.ensemble.member_models import FirstRounds, Forest, Landmarks, PlattScaled
from uneven.learners.ensemble.mixture import LARGEST
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.multinomial import UnevenMultinomialClassifier
from uneven.learners.svc import UnevenSVC
from uneven.tables.frame_encoder import ARRAY, LINEAR

#: The domain of trees, and its first version with doubles. skl2onnx allows earlier ones only, so the nodes have another
#: domain until it is done.
_DOMAIN, _VERSION, _TREES = "ai.onnx.ml", 5, "uneven.trees"


_CATEGORIES = "HistGradientBoostingClassifier with categorical columns cannot be exported to ONNX here"


def name_trees(model: Any) -> Any:
    """Give the trees of an exported model their own domain."""
    nodes = [node for node in model.graph.node if node.domain == _TREES]
    if not nodes:
        return model
    for node in nodes:
        node.domain = _DOMAIN
    versions = {one.domain: one.version for one in model.opset_import if one.domain != _TREES} | {_DOMAIN: _VERSION}
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in versions.items())
    return model


def can_be_written(model: Any) -> bool:
    """Whether :func:`positive_probability` knows a classifier."""
    model = model.booster if isinstance(model, FirstRounds) else model
    if isinstance(model, Pipeline):
        return len(model.steps) == 2 and isinstance(model.steps[0][1], Landmarks) and can_be_written(model.steps[1][1])
    return type(model) in _PROBABILITIES or is_of_library(model)


def positive_probability(graph: SkGraph, model: Any, X: str, positive: Any, sigmoid: Sigmoid | None = None) -> str:
    """P(positive) of a fitted classifier; ``X`` are doubles."""
    if sigmoid is not None or not can_be_written(model):
        kind = type(model[-1] if isinstance(model, Pipeline) else model).__name__
        raise ParameterError(f"{kind} is no classifier whose probabilities can be exported to ONNX here")
    classes = np.asarray(model.classes_).tolist()
    second = _second_class(graph, model, X)
    return second if classes.index(positive) == 1 else graph.node("Sub", graph.number(1.0), second)


def _second_class(graph: SkGraph, model: Any, X: str) -> str:
    """P(classes_[1])."""
    if isinstance(model, Pipeline):
        return _second_class(graph, model.steps[1][1], _landmarks(graph, model.steps[0][1], X))
    rounds = model.rounds if isinstance(model, FirstRounds) else None
    booster = model.booster if isinstance(model, FirstRounds) else model
    if is_of_library(booster):
        trees, start = trees_of_library(booster, rounds)
        return graph.node("Sigmoid", tree_sums(graph, _as_read(graph, booster, X), trees, start))
    if rounds is not None:
        return _histograms(graph, booster, X, rounds)
    return _PROBABILITIES[type(model)](graph, model, X)


def class_probabilities(graph: SkGraph, model: Any, X: str, labels: np.ndarray) -> str:
    """Probabilities of all classes of a fitted classifier, in the order of ``labels``; ``X`` are doubles."""
    if not can_be_written(model):
        kind = type(model[-1] if isinstance(model, Pipeline) else model).__name__
        raise ParameterError(f"{kind} is no classifier whose probabilities can be exported to ONNX here")
    known = np.asarray(model.classes_).tolist()
    if len(known) == 2:  # a fold may lack the others
        second = _second_class(graph, model, X)
        found = columns(graph, [graph.node("Sub", graph.number(1.0), second), second])
    else:
        found = _every_class(graph, model, X)
    return order_columns(graph, found, known, labels)


def order_columns(graph: SkGraph, probabilities: str, known: list[Any], labels: np.ndarray) -> str:
    """Columns in the order of labels; one that is not known is 0."""
    if known == labels.tolist():
        return probabilities
    places = np.array([[float(one == label) for label in labels.tolist()] for one in known])
    return graph.node("MatMul", probabilities, graph.constant(places))


def columns(graph: SkGraph, parts: list[str]) -> str:
    """Tensors of rows, side by side."""
    return graph.node("Concat", *(graph.node("Unsqueeze", part, graph.constant([1])) for part in parts), axis=1)


def _every_class(graph: SkGraph, model: Any, X: str) -> str:
    """Probabilities of more than two classes, in the classifier's own order."""
    if isinstance(model, Pipeline):
        return _every_class(graph, model.steps[1][1], _landmarks(graph, model.steps[0][1], X))
    rounds = model.rounds if isinstance(model, FirstRounds) else None
    booster = model.booster if isinstance(model, FirstRounds) else model
    if is_of_library(booster):
        sums, starts = trees_of_classes(booster, rounds)
        X = _as_read(graph, booster, X)
        scores = [tree_sums(graph, X, *one) for one in zip(sums, starts, strict=True)]
    elif isinstance(booster, HistGradientBoostingClassifier):
        if booster.is_categorical_ is not None and np.any(booster.is_categorical_):
            raise ParameterError(_CATEGORIES)
        trees = [
            [of_histograms(one) for one in of_class] for of_class in zip(*booster._predictors[:rounds], strict=True)
        ]
        starts = np.ravel(booster._baseline_prediction).tolist()
        scores = [tree_sums(graph, X, *one) for one in zip(trees, starts, strict=True)]
    elif isinstance(model, UnevenMultinomialClassifier):
        return class_probability(graph, model, X)
    elif isinstance(model, LogisticRegression):
        weights = graph.constant(np.ascontiguousarray(model.coef_.T, dtype=np.float64))
        line = graph.node("Add", graph.node("MatMul", X, weights), graph.constant(np.float64(model.intercept_)))
        return graph.node("Softmax", line, axis=1)
    else:
        kinds = {Forest: "trees_", RandomForestClassifier: "estimators_", ExtraTreesClassifier: "estimators_"}
        if type(model) not in (*kinds, DecisionTreeClassifier):
            raise ParameterError(f"{type(model).__name__} with several classes cannot be exported to ONNX here")
        every = list(range(len(model.classes_)))
        if type(model) is DecisionTreeClassifier:
            return columns(graph, [_mean_of_trees(graph, X, [model], y, every) for y in every])
        return columns(graph, [_mean_of_trees(graph, X, getattr(model, kinds[type(model)]), y) for y in every])
    return graph.node("Softmax", columns(graph, scores), axis=1)


def _as_read(graph: SkGraph, booster: Any, X: str) -> str:
    """Numbers as a library's trees compare them: LightGBM as they come, XGBoost and CatBoost in single precision."""
    return X if type(booster).__module__.startswith("lightgbm") else single(graph, X)


def single(graph: SkGraph, X: str) -> str:
    """Numbers rounded to single precision."""
    return graph.double(graph.node("Cast", X, to=TensorProto.FLOAT))


# -- trees -------------------------------------------------------------------------------------------------------------


def tree_sums(graph: SkGraph, X: str, trees: list[Tree], start: float = 0.0) -> str:
    """``start`` plus the sum of what the trees say."""
    names = ("feature", "split", "missing", "yes", "no", "yes_leaf", "no_leaf")
    parts: dict[str, list[Any]] = {name: [] for name in names}
    roots: list[int] = []
    leaves: list[float] = []
    for tree in trees:
        if tree.node(0).feature < 0:
            start += tree.node(0).value
            continue
        roots.append(len(parts["feature"]))
        waiting: list[tuple[int, int | None, str]] = [(0, None, "")]
        while waiting:
            number, above, side = waiting.pop()
            node = tree.node(number)
            if node.feature < 0:
                place, leaf = len(leaves), 1
                leaves.append(node.value)
            else:
                place, leaf = len(parts["feature"]), 0
                for name, value in zip(
                    parts, (node.feature, node.threshold, int(node.missing_left), 0, 0, 0, 0), strict=True
                ):
                    parts[name].append(value)
                waiting += [(node.right, place, "no"), (node.left, place, "yes")]
            if above is not None:
                parts[side][above], parts[f"{side}_leaf"][above] = place, leaf
    if not roots:
        columns = graph.node("Shape", X, start=0, end=1)
        return graph.node("Expand", graph.number(start), columns)
    sums = graph.node(
        "TreeEnsemble",
        X,
        op_domain=_TREES,
        op_version=1,
        n_targets=1,
        aggregate_function=1,
        post_transform=0,
        tree_roots=roots,
        nodes_featureids=parts["feature"],
        nodes_splits=_tensor(parts["split"], TensorProto.DOUBLE),
        nodes_modes=_tensor([0] * len(parts["feature"]), TensorProto.UINT8),  # up to the threshold: left
        nodes_missing_value_tracks_true=parts["missing"],
        nodes_truenodeids=parts["yes"],
        nodes_trueleafs=parts["yes_leaf"],
        nodes_falsenodeids=parts["no"],
        nodes_falseleafs=parts["no_leaf"],
        leaf_targetids=[0] * len(leaves),
        leaf_weights=_tensor(leaves, TensorProto.DOUBLE),
    )
    flat = graph.node("Reshape", sums, graph.constant([-1]))
    return graph.node("Add", flat, graph.number(start)) if start else flat


def _tensor(values: list[Any], kind: int) -> Any:
    return helper.make_tensor("values", kind, [len(values)], values)


def _tree(graph: SkGraph, model: Any, X: str) -> str:
    return tree_sums(graph, single(graph, X), [of_scikit_learn(model.tree_, model.tree_.value[:, 0, 1])])


def _mean_of_trees(graph: SkGraph, X: str, trees: list[Any], y: int = 1, of_all: list[int] | None = None) -> str:
    """The mean share of a class in trees. ``of_all``: the classes of all trees, where they do not know numbers."""
    found = []
    for tree in trees:  # of a forest: they know classes as 0, 1 and so on, and some may have seen a few only
        share = tree.tree_.value[:, 0, :]
        known = np.asarray(tree.classes_).astype(int).tolist() if of_all is None else of_all
        found.append(of_scikit_learn(tree.tree_, share[:, known.index(y)] if y in known else np.zeros(len(share))))
    return graph.node("Div", tree_sums(graph, single(graph, X), found), graph.number(float(len(trees))))


def _histograms(graph: SkGraph, model: Any, X: str, rounds: int | None = None) -> str:
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise ParameterError(_CATEGORIES)
    trees = [of_histograms(one) for (one,) in model._predictors[:rounds]]
    return graph.node("Sigmoid", tree_sums(graph, X, trees, float(np.ravel(model._baseline_prediction)[0])))


# -- others ------------------------------------------------------------------------------------------------------------


def _linear(graph: SkGraph, model: Any, X: str) -> str:
    positive = by_inverse_link(graph, model, linear_scores(graph, model, X))
    return positive if model._positive == 1 else graph.node("Sub", graph.number(1.0), positive)


def _multinomial(graph: SkGraph, model: Any, X: str) -> str:
    return graph.node("Gather", class_probability(graph, model, X), graph.constant(np.int64(1)), axis=1)


def _logistic_regression(graph: SkGraph, model: Any, X: str) -> str:
    line = graph.node("MatMul", X, graph.constant(np.asarray(model.coef_[0], dtype=np.float64)))
    return graph.node("Sigmoid", graph.node("Add", line, graph.number(float(model.intercept_[0]))))


def _landmarks(graph: SkGraph, landmarks: Any, X: str) -> str:
    """Nystroem's features: a Gaussian depends on differences only; centred, squared norms lose less to rounding."""
    nystroem = landmarks.nystroem_
    Z = np.asarray(nystroem.components_, dtype=np.float64)
    centre = Z.mean(axis=0)
    X, Z = graph.node("Sub", X, graph.constant(centre)), Z - centre
    squares = graph.node("MatMul", graph.node("Mul", X, X), graph.constant(np.ones((Z.shape[1], 1))))
    norms = graph.node("Add", squares, graph.constant((Z * Z).sum(axis=1)[None, :]))
    product = graph.node("Mul", graph.number(2.0), graph.node("MatMul", X, graph.constant(Z.T.copy())))
    distance = graph.node("Relu", graph.node("Sub", norms, product))
    kernel = graph.node("Exp", graph.node("Mul", graph.number(-float(nystroem.gamma)), distance))
    return graph.node("MatMul", kernel, graph.constant(np.asarray(nystroem.normalization_, dtype=np.float64).T.copy()))


def _platt_scaled(graph: SkGraph, model: Any, X: str) -> str:
    if not isinstance(model.estimator_, UnevenSVC):
        raise ParameterError(f"{type(model.estimator_).__name__} has no probabilities that can be exported to ONNX")
    line = graph.node("Mul", graph.number(model.sigmoid_.slope), kernel_scores(graph, model.estimator_, X))
    return graph.node("Sigmoid", graph.node("Add", line, graph.number(model.sigmoid_.offset)))


_PROBABILITIES: dict[type, Callable[[SkGraph, Any, str], str]] = {
    UnevenLinearClassifier: _linear,
    UnevenMultinomialClassifier: _multinomial,
    LogisticRegression: _logistic_regression,
    DecisionTreeClassifier: _tree,
    RandomForestClassifier: lambda graph, model, X: _mean_of_trees(graph, X, model.estimators_),
    ExtraTreesClassifier: lambda graph, model, X: _mean_of_trees(graph, X, model.estimators_),
    Forest: lambda graph, model, X: _mean_of_trees(graph, X, model.trees_),
    HistGradientBoostingClassifier: _histograms,
    PlattScaled: _platt_scaled,
}


# -- the matrices that members see -------------------------------------------------------------------------------------


def encode(graph: SkGraph, encoder: Any, X: str) -> str:
    """What a fitted FrameEncoder makes of an array of numbers."""
    if encoder.kind_ != ARRAY:
        raise ParameterError(
            "it was fitted to a table or a sparse matrix, and ONNX models take arrays: a fit to an array of numbers "
            "would work, such as X.to_numpy() or what your own encoder makes of X"
        )
    if encoder.view != LINEAR:
        return _within(graph, single(graph, X))
    block = encoder.blocks_
    missing = graph.node("IsNaN", X)
    filled = graph.node("Where", missing, graph.constant(block.mean_[None, : encoder.n_features_in_]), X)
    if block.flagged_.size:
        flags = graph.node("Gather", graph.double(missing), graph.constant(block.flagged_.astype(np.int64)), axis=1)
        filled = graph.node("Concat", filled, flags, axis=1)
    return graph.node("Div", graph.node("Sub", filled, graph.constant(block.mean_)), graph.constant(block.scale_))


def _within(graph: SkGraph, X: str) -> str:
    """Cut to the numbers that trees take; NaN stays."""
    for sign, compare in ((1.0, "Greater"), (-1.0, "Less")):
        limit = graph.number(sign * float(np.float32(LARGEST)))
        X = graph.node("Where", graph.node(compare, X, limit), limit, X)
    return X
