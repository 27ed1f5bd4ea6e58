"""Trees of LightGBM, XGBoost and CatBoost, read from what these libraries write down themselves."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from uneven.adapters.source.source_trees import Split, Tree
from uneven.errors import ParameterError


def trees_of_library(booster: Any, rounds: int | None = None) -> tuple[list[Tree], float]:
    """The trees of a fitted classifier of two classes, and what is added to their sum: log-odds of the second class.

    ``rounds``: of the first rounds only.
    """
    sums, starts = trees_of_classes(booster, rounds)
    if len(sums) > 1:
        raise _refuse(booster, "with more than two classes")
    return sums[0], starts[0]


def trees_of_classes(booster: Any, rounds: int | None = None) -> tuple[list[list[Tree]], list[float]]:
    """The same of a classifier of several classes: trees and start for the score of each, whose softmax it says.

    Of two classes there is one score, the log-odds of the second.
    """
    library = type(booster).__module__.partition(".")[0]
    sums, starts = _READERS[library](booster)
    return [trees[:rounds] for trees in sums], starts


def is_of_library(model: Any) -> bool:
    """Whether a classifier is one whose trees can be read."""
    return f"{type(model).__module__.partition('.')[0]}.{type(model).__name__}" in _NAMES


def _refuse(booster: Any, what: str) -> ParameterError:
    return ParameterError(f"{type(booster).__name__} {what} cannot be written as trees; the default would work")


def _of_lightgbm(booster: Any) -> tuple[list[list[Tree]], list[float]]:
    """With several classes each round has a tree for each."""
    dump = booster.booster_.dump_model()
    words = dump["objective"].split()
    if (words[:2] != ["binary", "sigmoid:1"] and words[0] != "multiclass") or dump["average_output"]:
        raise _refuse(booster, f"with objective={dump['objective']!r}, or one that averages trees,")
    width = int(dump["num_tree_per_iteration"])
    trees = [_nested(booster, tree["tree_structure"]) for tree in dump["tree_info"]]
    return [trees[k::width] for k in range(width)], [0.0] * width


def _nested(booster: Any, root: dict[str, Any]) -> Tree:
    nodes: list[Split] = []

    def add(node: dict[str, Any]) -> int:
        number = len(nodes)
        if "split_feature" not in node:
            nodes.append(Split(-1, 0.0, True, -1, -1, float(node["leaf_value"])))
            return number
        kind, threshold = node["missing_type"], float(node["threshold"]) if node["decision_type"] == "<=" else np.nan
        if np.isnan(threshold) or kind not in ("None", "NaN"):
            raise _refuse(booster, "with categorical columns, or zeros as missing values,")
        missing_left = threshold >= 0.0 if kind == "None" else bool(node["default_left"])
        nodes.append(Split(-1, 0.0, True, -1, -1, 0.0))
        left, right = add(node["left_child"]), add(node["right_child"])
        nodes[number] = Split(int(node["split_feature"]), threshold, missing_left, left, right, 0.0)
        return number

    add(root)
    return _listed(nodes)


def _listed(nodes: list[Split]) -> Tree:
    return Tree(nodes.__getitem__, sum(node.feature < 0 for node in nodes))


def _of_xgboost(booster: Any) -> tuple[list[list[Tree]], list[float]]:
    """A number below the split goes left: in single precision, one up to the number before it."""
    learner = json.loads(booster.get_booster().save_raw("json"))["learner"]
    gradient, objective = learner["gradient_booster"], learner["objective"]["name"]
    if objective not in ("binary:logistic", "multi:softprob") or gradient["name"] != "gbtree":
        raise _refuse(booster, "with another objective than log loss, or another booster than gbtree,")
    written = learner["learner_model_param"]["base_score"].strip("[]").split(",")
    base = np.array([float(number) for number in written], dtype=np.float32).astype(np.float64)
    found = []
    for tree in gradient["model"]["trees"]:
        if any(tree["split_type"]):
            raise _refuse(booster, "with categorical columns")
        at = np.array(tree["split_conditions"], dtype=np.float32)
        before = np.nextafter(at, np.float32(-np.inf))
        parts = (tree[name] for name in ("split_indices", "default_left", "left_children", "right_children"))
        nodes = [
            Split(-1, 0.0, True, -1, -1, float(at[k]))
            if left < 0
            else Split(feature, float(before[k]), bool(missing_left), left, right, 0.0)
            for k, (feature, missing_left, left, right) in enumerate(zip(*parts, strict=True))
        ]
        found.append(_listed(nodes))
    if objective == "binary:logistic":
        return [found], [float(np.log(base[0] / (1 - base[0])))]
    width = int(learner["learner_model_param"]["num_class"])
    of_class = gradient["model"]["tree_info"]
    sums = [[tree for tree, y in zip(found, of_class, strict=True) if y == k] for k in range(width)]
    return sums, np.broadcast_to(base, width).tolist()


def _of_catboost(booster: Any) -> tuple[list[list[Tree]], list[float]]:
    """All nodes of a level have one split; the first split is the last bit of a leaf's number."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        booster.save_model(str(path), format="json")
        dump = json.loads(path.read_text(encoding="utf-8"))
    scale, biases = dump["scale_and_bias"]
    width = len(biases)
    splits = [split for tree in dump.get("oblivious_trees", [{"splits": [{}]}]) for split in tree["splits"] or []]
    if any(split.get("split_type") != "FloatFeature" for split in splits):
        raise _refuse(booster, "with categorical columns, or trees that are not symmetric,")
    missing_right = {
        one["feature_index"]: one["nan_value_treatment"] == "AsTrue" for one in dump["features_info"]["float_features"]
    }
    sums: list[list[Tree]] = [[] for _ in range(width)]
    for tree in dump["oblivious_trees"]:
        levels = (tree["splits"] or [])[::-1]
        inner = 2 ** len(levels) - 1
        nodes = []
        for k in range(inner):
            split = levels[(k + 1).bit_length() - 1]
            feature = int(split["float_feature_index"])
            left = not missing_right[feature]
            nodes.append(Split(feature, float(split["border"]), left, 2 * k + 1, 2 * k + 2, 0.0))
        for k, trees in enumerate(sums):  # the numbers of a leaf follow one another
            leaves = [Split(-1, 0.0, True, -1, -1, float(scale * value)) for value in tree["leaf_values"][k::width]]
            trees.append(_listed([*nodes, *leaves]))
    return sums, [float(bias) for bias in biases]


_READERS = {"catboost": _of_catboost, "lightgbm": _of_lightgbm, "xgboost": _of_xgboost}
_NAMES = ("catboost.CatBoostClassifier", "lightgbm.LGBMClassifier", "xgboost.XGBClassifier")
