"""Costs, and what a classifier costs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uneven
from uneven.errors import CostError
from uneven.metrics import cost_curve, expected_cost, make_cost_scorer

costs = st.floats(1e-300, 1e300)


@given(costs, costs)
def test_alpha_is_the_nearest_double_inside_the_unit_interval(fp_cost: float, fn_cost: float) -> None:
    cost = uneven.Cost(fp_cost=fp_cost, fn_cost=fn_cost)
    exact = Fraction(fp_cost) / (Fraction(fp_cost) + Fraction(fn_cost))
    assert 0 < cost.alpha < 1
    assert cost.exact_alpha == exact
    assert abs(Fraction(cost.alpha) - exact) <= max(Fraction(math.ulp(cost.alpha)), Fraction(1, 2**1074))


def test_alpha_examples() -> None:
    assert uneven.Cost(fp_cost=1, fn_cost=9).alpha == 0.1
    assert uneven.Cost(fp_cost=1e-300, fn_cost=1e-300).alpha == 0.5
    assert uneven.Cost(fp_cost=1e300, fn_cost=1e300).alpha == 0.5
    assert uneven.Cost(fp_cost=0, fn_cost=2).alpha == 0.0
    assert uneven.Cost.from_alpha(0.25).alpha == 0.25
    with pytest.raises(TypeError):
        uneven.Cost(1, 9)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fp_cost", "fn_cost", "says"),
    [
        (-1, 1, "fp_cost must not be negative, got -1"),
        (0, 0, "one of the costs must be positive"),
        (math.nan, 1, "fp_cost must be a finite number, got nan"),
        (1, math.inf, "fn_cost must be a finite number, got inf"),
        (1, "much", "fn_cost must be a finite number, got 'much'"),
        (None, 1, "fp_cost must be a number, got None"),
    ],
)
def test_bad_costs(fp_cost: float, fn_cost: float, says: str) -> None:
    with pytest.raises(CostError, match=says):
        uneven.Cost(fp_cost=fp_cost, fn_cost=fn_cost)
    with pytest.raises(CostError, match=says):
        expected_cost([0, 1], [0, 1], fp_cost=fp_cost, fn_cost=fn_cost)


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
        ((["a", "b"], ["a", "b"]), "pos_label must say which of the labels 'a', 'b'"),
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
    with pytest.raises(CostError, match="pos_label must be one of the labels 0, 1, got 'yes'"):
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


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30))
def test_cost_curve_is_the_lower_envelope_of_all_thresholds(sample: list[tuple[bool, int]]) -> None:
    truth = np.array([label for label, _ in sample]).astype(int)
    score = np.array([value for _, value in sample], dtype=float)
    curve = cost_curve(truth, score)
    alphas = curve.alpha
    brute = np.full(alphas.shape, np.inf)
    for threshold in [-np.inf, *np.unique(score) + 0.5]:
        guess = (score > threshold).astype(int)
        lines = [expected_cost(truth, guess, fp_cost=a, fn_cost=1 - a, pos_label=1) for a in alphas]
        brute = np.minimum(brute, lines)
    assert np.allclose(curve.best_cost, brute, atol=1e-12)
    own = [expected_cost(truth, (score > 0).astype(int), fp_cost=a, fn_cost=1 - a, pos_label=1) for a in alphas]
    assert np.allclose(curve.cost, own, atol=1e-12)
    assert np.all(curve.best_cost <= curve.constant_cost + 1e-12)
    for a, threshold, cost in zip(alphas, curve.best_threshold, curve.best_cost, strict=True):
        guess = (score > threshold).astype(int)
        assert expected_cost(truth, guess, fp_cost=a, fn_cost=1 - a, pos_label=1) == pytest.approx(cost, abs=1e-12)


@pytest.mark.parametrize(
    ("score", "alphas", "says"),
    [
        ([0.1], None, "same length"),
        ([math.nan, 1], None, "y_score must not contain NaN"),
        (["a", "b"], None, "numbers"),
        ([0, 1], [2], "alphas"),
    ],
)
def test_cost_curve_refuses(score: list[float], alphas: list[float] | None, says: str) -> None:
    with pytest.raises(CostError, match=says):
        cost_curve([0, 1], score, alphas=alphas)


def test_cost_curve_of_probabilities_at_their_threshold() -> None:
    truth, probability = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    assert cost_curve(truth, probability, threshold=0.5, alphas=[0.5]).cost == pytest.approx([0.25])
    with pytest.raises(CostError, match="threshold must be a number"):
        cost_curve(truth, probability, threshold="half")
