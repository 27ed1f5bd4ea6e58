"""Cost matrices as learners take them: from arrays, from words, and as the four costs or the actions of two classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from uneven.decisions.actions import Actions
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import read_target

#: Cost matrices that are made from the classes of a fit.
_BY_NAME = ("equal", "ordinal")


def require_two_classes(learner: Any, y: Any, count: int) -> None:
    """Raise an error that shows the line to write if there are more than two classes and no cost matrix."""
    labels = read_target(y, count)
    distinct = np.unique(labels) if labels.dtype.kind in "biuUS" else np.empty(0)
    if distinct.size > 2:
        few = distinct[:3].tolist()
        ones = "[[0, 1, 1], [1, 0, 1], [1, 1, 0]]" if distinct.size == 3 else "[[0, 1, ...], [1, 0, ...], ...]"
        names = brief(few) if distinct.size == 3 else f"[{', '.join(map(repr, few))}, ...]"
        raise CostError(
            "Only binary classification is supported. The type of the target is multiclass: got "
            f"{distinct.size} classes, {brief(distinct.tolist())}, and no cost for every confusion; with "
            f"{type(learner).__name__}(costs=uneven.CostMatrix({ones}, classes={names})) several classes work"
        )


def as_matrix(costs: Any, own: CostMatrix | None) -> CostMatrix:
    """A cost matrix, or an array of them with the names of another one."""
    if isinstance(costs, CostMatrix):
        return costs
    if own is None:
        raise CostError(f"costs must be uneven.CostMatrix(...), got {brief(costs)}")
    return CostMatrix(np.asarray(costs), own.classes, own.actions)


def matrix_of_fit(own: Any, costs: Any, classes: np.ndarray) -> CostMatrix:
    """The cost matrix of a fit: the one given to ``fit``, or the learner's ``own``."""
    if own is not None and not isinstance(own, CostMatrix) and own not in _BY_NAME:
        raise CostError(f"costs must be uneven.CostMatrix(...), 'equal' or 'ordinal', got {brief(own)}")
    if isinstance(own, CostMatrix) and own.per_row:
        raise CostError("costs of the learner itself must be one matrix for all rows; give one for each row to fit")
    if isinstance(own, str):
        own = _named_matrix(own, classes)
    found: CostMatrix = own if costs is None else as_matrix(costs, own)
    unknown = [label for label in classes.tolist() if label not in found.classes]
    if unknown:
        raise CostError(
            f"y has the class {brief(unknown[0])}, which is none of the cost matrix, whose classes are "
            f"{brief(list(found.classes))}"
        )
    return found


def _named_matrix(name: str, classes: np.ndarray) -> CostMatrix:
    """Every confusion costs 1, or as many levels as lie between."""
    count, labels = classes.size, classes.tolist()
    if name == "equal":
        return CostMatrix(1 - np.eye(count), labels)
    if classes.dtype.kind not in "iuf":
        raise CostError(
            f"costs='ordinal' needs levels that are numbers, got {brief(labels)}; a CostMatrix with its classes in "
            "their order would work"
        )
    places = np.arange(count)
    return CostMatrix(np.abs(places[:, None] - places), labels)


def four_costs(matrix: CostMatrix, positive: int) -> dict[str, Any]:
    """The four costs of a matrix of two classes whose actions are the classes."""
    exact = matrix.exact_costs

    def cost(truth: int, said: int) -> Any:
        action = matrix.actions.index(matrix.classes[said])
        return matrix.costs[:, truth, action] if exact is None else exact[truth][action]

    negative = 1 - positive
    return {
        "fp_cost": cost(negative, positive),
        "fn_cost": cost(positive, negative),
        "tp_cost": cost(positive, positive),
        "tn_cost": cost(negative, negative),
    }


def as_actions(matrix: CostMatrix, positive: int) -> Actions:
    """The actions of a matrix of two classes, in its order."""
    exact = matrix.exact_costs
    if exact is None:
        raise CostError("with two classes and costs of each row the actions must be the classes")
    costs: Mapping[str, tuple[Any, Any]] = {
        str(a): (exact[positive][k], exact[1 - positive][k]) for k, a in enumerate(matrix.actions)
    }
    if len(costs) < len(matrix.actions):
        raise CostError(f"actions must have different names as texts, got {brief(list(matrix.actions))}")
    return Actions(**costs)
