"""Names of the classes and actions of a cost matrix: read from what the user gave, and looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import read_labels


def read_names(costs: Any) -> tuple[Any, list[Any] | None, list[Any] | None]:
    """The numbers, and names of the classes and actions if ``costs`` has them."""
    if isinstance(costs, Mapping):
        rows = list(costs.values())
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise CostError("a mapping of costs must have the form {class: {action: cost}}")
        actions = list(rows[0])
        for label, row in costs.items():
            if set(row) != set(actions):
                raise CostError(
                    f"every class needs a cost for each of the actions {brief(actions)}; {brief(label)} differs"
                )
        return [[row[action] for action in actions] for row in rows], list(costs), actions
    if hasattr(costs, "columns") and hasattr(costs, "index"):
        return costs.to_numpy().tolist(), list(costs.index), list(costs.columns)
    rows = costs.tolist() if isinstance(costs, np.ndarray) and costs.ndim == 2 else costs
    try:
        np.shape(rows)
    except ValueError:
        raise CostError("every class needs a cost for the same number of actions") from None
    return rows, None, None


def read_label_names(
    name: str, given: Sequence[Any] | None, known: Sequence[Any] | None, count: int
) -> tuple[Any, ...]:
    """The names that were given, else those that the costs have, else 0, 1, 2, ..."""
    if given is not None and (isinstance(given, str) or inputs.ndim(given) != 1):
        raise CostError(f"{name} must be a list of {count} names, got {brief(given)}")
    labels = tuple(given if given is not None else known if known is not None else range(count))
    labels = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if len(labels) != count:
        raise CostError(f"{name} must have {count} names, got {len(labels)}")
    if len(set(labels)) != count:
        raise CostError(f"{name} must have different names, got {brief(list(labels))}")
    return labels


def place_of(kind: str, label: Any, labels: tuple[Any, ...]) -> int:
    """The number of a class or action."""
    label = label.item() if isinstance(label, np.generic) else label
    if label not in labels:
        raise CostError(f"{brief(label)} is no {kind} of the cost matrix, which has {brief(list(labels))}")
    return labels.index(label)


def places_of(name: str, given: Any, labels: tuple[Any, ...], kind: str) -> np.ndarray:
    """The number of the class or action of each row."""
    values = read_labels(name, given)
    distinct, inverse = np.unique(values, return_inverse=True) if values.dtype != object else _distinct(values)
    return np.array([place_of(kind, label, labels) for label in distinct], dtype=np.intp)[inverse]


def _distinct(values: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Different labels that need not be comparable, and the number of that of each row."""
    numbers: dict[Any, int] = {}
    inverse = [numbers.setdefault(value, len(numbers)) for value in values]
    return list(numbers), np.array(inverse, dtype=np.intp)
