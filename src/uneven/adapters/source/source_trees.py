"""Decision trees as nested choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.adapters.source.source_columns import MISSING, CategoryFeature, Feature, FlagFeature, NumberFeature
from uneven.adapters.source.source_writer import SourceWriter
from uneven.errors import ParameterError
from uneven.solvers.boosting.trees import Trees

#: Leaves of all trees together. Beyond, the source has more than about 2 MB, and databases take long to read it.
MOST_LEAVES = 20_000


@dataclass(frozen=True)
class Split:
    """A node: rows whose number is above the threshold go right. A leaf has ``feature`` -1."""

    feature: int
    threshold: float
    missing_left: bool
    left: int
    right: int
    value: float


@dataclass(frozen=True)
class Tree:
    """A tree of any library: ``node`` gives the split or leaf with a number; the root is 0."""

    node: Callable[[int], Split]
    leaves: int


def of_scikit_learn(tree: Any, values: np.ndarray) -> Tree:
    """A tree of scikit-learn (``tree_``), with what each node says."""
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, dtype=bool))

    def node(k: int) -> Split:
        left = int(tree.children_left[k])
        feature = -1 if left < 0 else int(tree.feature[k])
        threshold = float(tree.threshold[k])
        return Split(feature, threshold, bool(missing_left[k]), left, int(tree.children_right[k]), float(values[k]))

    return Tree(node, int(tree.n_leaves))


def of_histograms(predictor: Any) -> Tree:
    """A tree of HistGradientBoostingClassifier."""
    nodes = predictor.nodes

    def node(k: int) -> Split:
        one = nodes[k]
        feature = -1 if one["is_leaf"] else int(one["feature_idx"])
        left, right = int(one["left"]), int(one["right"])
        return Split(
            feature, float(one["num_threshold"]), bool(one["missing_go_to_left"]), left, right, float(one["value"])
        )

    return Tree(node, int(predictor.get_n_leaf_nodes()))


def of_boosting(trees: Trees) -> list[Tree]:
    """The complete trees of this library; all rows go left at a node that is not split."""
    inner = trees.features.shape[1]

    def of(number: int) -> Tree:
        def node(k: int) -> Split:
            while k < inner and trees.features[number, k] < 0:
                k = 2 * k + 1
            if k >= inner:
                return Split(-1, 0.0, True, -1, -1, float(trees.leaves[number, k - inner]))
            threshold, missing_left = float(trees.thresholds[number, k]), bool(trees.missing_left[number, k])
            return Split(int(trees.features[number, k]), threshold, missing_left, 2 * k + 1, 2 * k + 2, 0.0)

        return Tree(node, inner + 1)

    return [of(number) for number in range(trees.count)]


def write_trees(
    writer: SourceWriter, trees: list[Tree], features: list[Feature], *, single: bool, start: float, factor: float = 1.0
) -> str:
    """``start`` plus ``factor`` times the sum of what the trees say. ``single``: they round numbers first."""
    leaves = sum(tree.leaves for tree in trees)
    if leaves > MOST_LEAVES:
        raise ParameterError(
            f"trees with {leaves:,} leaves are too large to be written in {writer.language}, which may have "
            f"{MOST_LEAVES:,}; fewer or shallower trees, or to_onnx, would work"
        )

    def write(tree: Tree, k: int) -> str:
        node = tree.node(k)
        if node.feature < 0:
            return writer.number(node.value)
        left, right = write(tree, node.left), write(tree, node.right)
        if left == right:
            return left
        feature = features[node.feature]
        if isinstance(feature, NumberFeature):
            rounded = single or feature.single
            threshold = before_rounding(node.threshold) if rounded else node.threshold
            value = _scaled(writer, feature)
            if threshold == np.inf:  # a split of missing values from all others
                return left if node.missing_left else writer.choose(writer.is_missing(value), right, left)
            return writer.choose(writer.exceeds(value, threshold, if_missing=not node.missing_left), right, left)
        ones, zeros = (right if value > node.threshold else left for value in _two_values(feature))
        return ones if ones == zeros else writer.choose(_is_one(writer, feature), ones, zeros)

    said = [write(tree, 0) for tree in trees]
    if factor != 1:
        said = [writer.product(writer.number(factor), one) for one in said]
    return writer.total([writer.number(start), *said])


def before_rounding(threshold: float) -> float:
    """The largest double that is not above the threshold after it is rounded to single precision.

    Databases have no single precision. A number rounds down to the single f if it is below the middle between f and
    the next one, and at the middle if f is even.
    """
    with np.errstate(over="ignore"):
        below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    if not (np.isfinite(below) and np.isfinite(above)):
        return threshold
    middle = (float(below) + float(above)) / 2
    even = int(np.abs(below).view(np.uint32)) % 2 == 0
    return middle if even else float(np.nextafter(middle, -np.inf))


def _scaled(writer: SourceWriter, feature: NumberFeature) -> str:
    value = feature.value
    if (feature.centre, feature.scale) == (0.0, 1.0) and not feature.filled:
        return value
    scaled = writer.quotient(writer.difference(value, writer.number(feature.centre)), writer.number(feature.scale))
    without = writer.number(0.0) if feature.filled else writer.missing
    return writer.keep(writer.choose(writer.is_missing(value), without, scaled))


def _two_values(feature: FlagFeature | CategoryFeature) -> tuple[float, float]:
    """What the feature is where its condition holds, and where not."""
    if isinstance(feature, FlagFeature):
        return (1 - feature.centre) / feature.scale, -feature.centre / feature.scale
    return 1.0, 0.0


def _is_one(writer: SourceWriter, feature: FlagFeature | CategoryFeature) -> str:
    if isinstance(feature, FlagFeature) or (not feature.is_literal and feature.category == MISSING):
        return writer.is_missing(feature.value)
    if feature.is_literal:
        return writer.equals(feature.value, feature.category)
    one, zero = writer.number(1.0), writer.number(0.0)
    found = writer.look_up(feature.value, dict.fromkeys(feature.known, zero), zero, one)
    return writer.above(writer.keep(found), zero)
