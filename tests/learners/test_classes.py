"""Which class is positive, in one place: turning scores, order of the classes, labels."""

from __future__ import annotations

import numpy as np
import pytest

from uneven.labels import Classes

LABELS = [np.array([0, 1]), np.array(["fraud", "ok"]), np.array([False, True]), np.array([-1.0, 1.0])]


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_labels_and_order(labels: np.ndarray, positive: int) -> None:
    classes = Classes(labels, positive)
    assert classes.pos_label == labels[positive]
    assert classes.in_order("negative", "positive")[positive] == "positive"
    decisions = np.array([True, False, True])
    named = classes.label(decisions)
    assert named.dtype == labels.dtype
    assert np.array_equal(named == classes.pos_label, decisions)
    assert np.array_equal(classes.label(decisions.astype(np.int8)), named)


@pytest.mark.parametrize("positive", [0, 1])
def test_turning_twice_is_nothing_and_once_favours_the_second_label(positive: int) -> None:
    classes = Classes(np.array(["fraud", "ok"]), positive)
    score = np.array([2.0, -3.0])  # positive, negative
    assert np.array_equal(classes.turned(classes.turned(score)), score)
    assert np.array_equal(classes.turned(score) > 0, classes.label(score > 0) == "ok")
