"""Metrics with a cost for every confusion: two classes as ever, weights are repetitions, actions as predictions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven.errors import CostError
from uneven.metrics import (
    compare,
    compare_predictions,
    expected_cost,
    make_cost_scorer,
    savings_score,
    total_cost,
)

ASK = uneven.CostMatrix([[0, 1, 2, 0.3], [5, 0, 1, 0.3], [20, 5, 0, 0.3]], actions=[0, 1, 2, "ask"])
FOUR = {"fp_cost": 3.0, "fn_cost": 20.0, "tp_cost": 1.0, "tn_cost": -2.0}
TWO = uneven.CostMatrix([[-2, 3], [20, 1]])


def some(count: int = 300, actions: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, count), rng.integers(0, actions, count), rng.integers(0, 4, count)


def test_two_classes_are_those_of_four_costs() -> None:
    y, said, weight = some()
    for metric in (expected_cost, total_cost, savings_score):
        for more in ({}, {"sample_weight": weight}):
            assert metric(y, said, costs=TWO, **more) == pytest.approx(metric(y, said, **FOUR, **more), rel=1e-12)
    assert savings_score(y, said, costs=TWO, baseline=y) == pytest.approx(savings_score(y, said, **FOUR, baseline=y))
    both = {"one": said, "all": np.ones(300, int), "other": 1 - said}
    for weights in (None, weight):
        ours = compare_predictions(y, both, costs=TWO, rules=["all"], sample_weight=weights)
        theirs = compare_predictions(y, both, **FOUR, rules=["all"], sample_weight=weights)
        for one, other in zip(ours, theirs, strict=True):
            for name in ("cost", "low", "high", "difference", "difference_low", "difference_high"):
                expected = getattr(other, name)
                assert getattr(one, name) == (expected if expected is None else pytest.approx(expected, rel=1e-6)), name
            assert one.counts[0, 1] == other.false_positives
            assert one.counts[1, 0] == other.false_negatives


def test_two_classes_with_costs_of_rows_of_heavy_tails_have_the_intervals_of_four_costs() -> None:
    """Also the unseen row knows how few rows of its class are known."""
    rng = np.random.default_rng(3)
    y, amount = (rng.random(300) < 0.1).astype(int), 30 * rng.lognormal(0, 1.5, 300)
    both = {name: np.where(rng.random(300) < 0.3, 1 - y, y) for name in ("one", "other")}
    matrix = uneven.CostMatrix([[0, 1], [20, 0]]).with_costs_of_rows({(1, 0): amount})
    ours = compare_predictions(y, both, costs=matrix)
    theirs = compare_predictions(y, both, fp_cost=1, fn_cost=amount)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.low, one.high, one.rough) == (pytest.approx(other.low), pytest.approx(other.high), other.rough)
    assert ours[1].difference_low == pytest.approx(theirs[1].difference_low)
    assert ours[1].difference_high == pytest.approx(theirs[1].difference_high)


def test_brute_force_actions_and_repetitions() -> None:
    rng = np.random.default_rng(1)
    y, taken = rng.integers(0, 3, 200), np.array([0, 1, 2, "ask"], dtype=object)[rng.integers(0, 4, 200)]
    paid = np.array([ASK.costs[t, ASK.actions.index(a)] for t, a in zip(y, taken, strict=True)])
    weight = rng.integers(0, 3, 200)
    assert expected_cost(y, taken, costs=ASK) == pytest.approx(paid.mean())
    assert total_cost(y, taken, costs=ASK, sample_weight=weight) == pytest.approx(weight @ paid)
    repeated = np.repeat(np.arange(200), weight)
    assert expected_cost(y, taken, costs=ASK, sample_weight=weight) == pytest.approx(
        expected_cost(y[repeated], taken[repeated], costs=ASK)
    )
    least = min(np.mean(ASK.costs[y, a]) for a in range(4))
    assert savings_score(y, taken, costs=ASK) == pytest.approx(1 - paid.mean() / least)
    of_rows = ASK.with_costs_of_rows({(2, 0): np.linspace(1, 50, 200)})
    assert expected_cost(y, taken, costs=of_rows) == pytest.approx(of_rows.paid(y, taken).mean())
    (one,) = compare_predictions(y, {"it": taken}, costs=of_rows)
    assert one.low <= one.cost <= one.high
    assert one.counts.sum() == 200


def test_compare_and_scorer() -> None:
    X, y = load_wine(return_X_y=True)
    model = uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=ASK)
    models = {"never": DummyClassifier(strategy="constant", constant=0), "bayes": GaussianNB()}
    never, bayes = compare(models, X, y, costs=ASK, rules=["never"], repeats=1)
    assert never.cost == pytest.approx(ASK.costs[y, 0].mean())
    assert bayes.difference < 0
    (cheapest,) = compare({"bayes": GaussianNB()}, X, y, costs=ASK, decide="alpha", repeats=1)
    assert cheapest.counts[:, 3].sum() > 0
    scores = cross_val_score(GaussianNB(), X, y, scoring=make_cost_scorer(costs=ASK, decide="alpha"), cv=3)
    assert scores.mean() < 0
    scorer = make_cost_scorer(costs=ASK)
    fitted = model.fit(X, y)
    assert scorer(fitted, X, y) == pytest.approx(fitted.score(X, y))


def test_bad_input_gets_one_sentence() -> None:
    y = np.array([0, 1, 2])
    with pytest.raises(CostError, match="costs stand in place of fn_cost"):
        expected_cost(y, y, costs=ASK, fn_cost=3)
    with pytest.raises(CostError, match="costs stand in place of pos_label"):
        total_cost(y, y, costs=ASK, pos_label=1)
    with pytest.raises(CostError, match=r"costs must be uneven.CostMatrix"):
        expected_cost(y, y, costs=[[0, 1], [1, 0]])
    with pytest.raises(CostError, match="7 is no action of the cost matrix"):
        expected_cost(y, [0, 1, 7], costs=ASK)
    with pytest.raises(CostError, match="7 is no class of the cost matrix"):
        expected_cost([0, 1, 7], y, costs=ASK)
    with pytest.raises(CostError, match="one matrix for all rows"):
        make_cost_scorer(costs=ASK.with_costs_of_rows({(0, 0): [1, 2]}))


def test_costs_whose_squares_are_beyond_doubles_are_refused_in_a_sentence() -> None:
    y = np.array(["a", "b", "c"] * 4)
    matrix = uneven.CostMatrix([[0, 1e-12, 1e200], [1, 0, 1], [1, 1, 0]], classes=["a", "b", "c"])
    with pytest.raises(CostError, match="costs above 1e\\+150 have no intervals, got 1e\\+200; use another unit"):
        uneven.metrics.compare_predictions(y, {"always b": np.repeat("b", 12)}, costs=matrix)
