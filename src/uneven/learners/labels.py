"""Read labels: their two classes, and which of them is the positive one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uneven._inputs import brief
from uneven.errors import CostError


def two_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two classes, sorted, and for each label the index of its class, as int8.

    It compares each label twice. Sorting a million labels would take longer than the fit.
    """
    _require_labels(y)
    first = y[0]
    same = np.asarray(y == first)
    others = np.flatnonzero(~same)
    if not others.size:
        raise CostError(
            f"the labels must come from two classes, got one class only: {brief(first)}; a classifier needs examples "
            "of both"
        )
    second = y[others[0]]
    if not np.asarray(y[others] == second).all():
        found = np.unique(y)
        raise CostError(
            "Only binary classification is supported. The type of the target is multiclass: got "
            f"{found.size} classes, {brief(found.tolist())}; one class against the rest would work"
        )
    classes = np.unique(np.array([first, second], dtype=y.dtype))
    swapped = bool(classes[0] != first)
    return classes, (same if swapped else ~same).astype(np.int8)


def _require_labels(y: np.ndarray) -> None:
    """Raise unless these are numbers, booleans or strings that can be labels; measurements cannot."""
    from sklearn.utils.multiclass import check_classification_targets

    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise CostError("y must hold labels, got NaN or an infinite number among them; drop those rows")
    quick = y.dtype.kind in "biuUS" or (y.dtype.kind == "f" and bool((y == np.floor(y)).all()))
    if not quick:
        if y.dtype.kind == "O" and any(label is None or _is_nan(label) for label in y.tolist()):
            raise CostError("y must not contain missing labels (None or NaN); drop those rows")
        check_classification_targets(y)


def _is_nan(label: Any) -> bool:
    return isinstance(label, float) and math.isnan(label)


def positive_class(classes: np.ndarray, pos_label: Any, *, symmetric: bool) -> int:
    """Index of the positive class.

    Without ``pos_label``, the positive label is 1 among {0, 1} and {-1, 1}, and True among {False, True}. For other
    labels the alphabet would decide which mistake costs what, so ``pos_label`` is needed unless both classes are
    treated alike.
    """
    labels = classes.tolist()
    if pos_label is None:
        if symmetric or labels in ([0, 1], [-1, 1]):
            return 1
        raise CostError(
            f"pos_label must say which of the labels {labels[0]!r} and {labels[1]!r} is the positive class, the one "
            "whose misses cost fn_cost"
        )
    for index, label in enumerate(labels):
        if type(pos_label) is not bool and not isinstance(pos_label, np.bool_) and label == pos_label:
            return index
        if isinstance(pos_label, bool | np.bool_) and isinstance(label, bool) and label == pos_label:
            return index
    raise CostError(f"pos_label must be one of the labels {labels[0]!r} and {labels[1]!r}, got {brief(pos_label)}")
