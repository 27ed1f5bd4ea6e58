"""How labels, the positive class and weights are read."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uneven.errors import CostError
from uneven.labels import distinct_labels, positive_class, positive_label, two_classes
from uneven.metrics import expected_cost


@given(st.lists(st.lists(st.integers(0, 6), max_size=20), max_size=3))
def test_distinct_labels_are_those_of_a_set(lists: list[list[int]]) -> None:
    found = distinct_labels(*(np.array(labels, dtype=int) for labels in lists))
    assert sorted(found) == sorted({label for labels in lists for label in labels})


@pytest.mark.parametrize(
    ("labels", "pos_label", "positive"),
    [
        ([0, 1], None, 1),
        ([-1, 1], None, 1),
        ([False, True], None, True),
        ([1.0], None, 1),
        (["fraud", "ok"], "fraud", "fraud"),
        ([1, 2], 2, 2),
        ([0, 1], 0, 0),
    ],
)
def test_the_positive_label(labels: list[object], pos_label: object, positive: object) -> None:
    assert positive_label(pos_label, labels) == positive


def test_the_alphabet_decides_only_where_nothing_depends_on_it() -> None:
    with pytest.raises(CostError, match="pos_label must say which of the labels 'fraud' and 'ok' is the positive"):
        positive_label(None, ["fraud", "ok"])
    assert positive_label(None, ["fraud", "ok"], symmetric=True) == "ok"
    classes = np.array(["fraud", "ok"])
    assert positive_class(classes, None, symmetric=True) == 1
    assert positive_class(classes, "fraud", symmetric=False) == 0


@pytest.mark.parametrize("labels", [[3, 1, 3, 3], ["b", "a", "a"], [True, False], [2.0, -5.0, 2.0]])
def test_two_classes_are_sorted_and_indexed(labels: list[object]) -> None:
    y = np.array(labels)
    classes, index = two_classes(y)
    assert classes.tolist() == sorted(set(labels))
    assert index.dtype == np.int8
    assert classes[index].tolist() == labels


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (np.array([1, 1]), "got one class only: 1"),
        (np.arange(5), r"Only binary .* multiclass: got 5 classes, \[0, 1, 2, 3, 4\]"),
        (np.array([0.0, math.nan]), "y must hold labels, got NaN"),
        (np.array(["a", None], dtype=object), "missing labels"),
        (np.array(["a", math.nan], dtype=object), "missing labels"),
    ],
)
def test_what_no_classifier_can_learn(labels: np.ndarray, says: str) -> None:
    with pytest.raises(CostError, match=says):
        two_classes(labels)
    with pytest.raises(ValueError, match="continuous"):
        two_classes(np.array([0.3, 0.7]))


def test_labels_of_different_types_are_different_labels() -> None:
    assert expected_cost(["a", "a"], [1, 1], fp_cost=3, pos_label=1) == 3.0
