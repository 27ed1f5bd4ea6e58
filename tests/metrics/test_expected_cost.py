"""Expected cost and its scorer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from uneven.errors import CostError
from uneven.metrics import expected_cost, make_cost_scorer


def test_expected_cost_counts_each_mistake_once() -> None:
    truth = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    guess = np.array([1, 0, 0, 1, 0, 0, 0, 0])
    assert expected_cost(truth, guess, fp_cost=2, fn_cost=10) == pytest.approx((2 + 20) / 8)
    weight = np.arange(8.0)
    assert expected_cost(truth, guess, fp_cost=2, fn_cost=10, sample_weight=weight) == pytest.approx((6 + 30) / 28)
    assert expected_cost(truth == 1, guess == 1, fp_cost=2, fn_cost=10) == pytest.approx(22 / 8)
    assert expected_cost(2 * truth - 1, 2 * guess - 1, fp_cost=2, fn_cost=10) == pytest.approx(22 / 8)
    names = np.where(truth == 1, "fraud", "ok"), np.where(guess == 1, "fraud", "ok")
    assert expected_cost(*names, fp_cost=2, fn_cost=10, pos_label="fraud") == pytest.approx(22 / 8)
    assert expected_cost(*names, fp_cost=2, fn_cost=10, pos_label="ok") == pytest.approx((4 + 10) / 8)
    assert expected_cost([1, 1], [1, 1]) == 0.0
    assert expected_cost(["ok", "ok"], ["ok", "ok"], pos_label="fraud") == 0.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([0, 1, 2], [0, 1, 1]), "two classes, got 3"),
        (([0, 1], [0, 2]), "two classes, got 3"),
        ((["a", "b"], ["a", "b"]), "pos_label must say which of the labels 'a' and 'b'"),
        (([0, 1], [0]), "same length, got 2 and 1"),
        (([], []), "at least one label"),
        (([[0, 1]], [[0, 1]]), "one-dimensional"),
        (([0.0, math.nan], [0.0, 1.0]), "NaN"),
        (([None, "a"], ["a", "a"]), "missing"),
    ],
)
def test_bad_labels(arguments: tuple[object, object], says: str) -> None:
    with pytest.raises(CostError, match=says):
        expected_cost(*arguments)


@pytest.mark.parametrize("weight", [[1], [-1, 1], [0, 0], [math.nan, 1], ["a", "b"], [math.inf, 1]])
def test_bad_weights(weight: list[float]) -> None:
    with pytest.raises(CostError, match="sample_weight"):
        expected_cost([0, 1], [0, 1], sample_weight=weight)


def test_pos_label_must_be_a_label() -> None:
    with pytest.raises(CostError, match="pos_label must be one of the labels 0 and 1, got 'yes'"):
        expected_cost([0, 1], [0, 1], pos_label="yes")


def test_scorer_routes_sample_weight() -> None:
    import sklearn
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import cross_validate

    features, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1])
    weight = np.array([1.0, 5.0, 1.0, 5.0, 1.0, 5.0])
    guess = DummyClassifier(strategy="constant", constant=0)
    scorer = make_cost_scorer(fp_cost=1, fn_cost=2)
    assert scorer(guess.fit(features, y), features, y) == pytest.approx(-1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_cost_scorer(fp_cost=1, fn_cost=2).set_score_request(sample_weight=True)
        result = cross_validate(
            guess.set_fit_request(sample_weight=False),
            features,
            y,
            scoring=routed,
            params={"sample_weight": weight},
            cv=3,
        )
    assert result["test_score"] == pytest.approx([-10 / 6] * 3)
