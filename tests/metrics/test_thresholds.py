"""Cost at every threshold, against every threshold tried one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from row_costs import sample

from uneven.errors import CostError
from uneven.metrics import cost_by_threshold, cost_curve, expected_cost, regret_against_best_threshold


@pytest.mark.parametrize("pays", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_all_thresholds_are_those_tried_one_by_one(seed: int, pays: bool) -> None:
    rows = sample(seed, int(np.random.default_rng(seed).integers(2, 25)), pays=pays)
    given = {"sample_weight": rows.weight, **rows.costs}
    found = cost_by_threshold(rows.y, rows.score, **given)
    assert (np.diff(found.threshold) > 0).all()
    tried = [-math.inf, *np.unique(rows.score), *np.unique(rows.score) - 0.25, 99.0, math.inf]
    brute = [expected_cost(rows.y, (rows.score > t).astype(int), **given) for t in tried]
    assert found.at(tried) == pytest.approx(brute, rel=1e-12, abs=1e-12)
    assert found.best_cost == pytest.approx(min(brute), rel=1e-12, abs=1e-12)
    assert found.at(found.best_threshold) == found.best_cost
    parts = found.false_positive_cost + found.false_negative_cost + found.right_cost
    assert parts == pytest.approx(found.cost)
    for t in tried:
        regret = regret_against_best_threshold(rows.y, rows.score, threshold=t, **given)
        assert regret >= 0
        assert regret == pytest.approx(found.at(t) - min(brute), abs=1e-12)
    assert regret_against_best_threshold(rows.y, rows.score, threshold=found.best_threshold, **given) == 0.0


@pytest.mark.parametrize("score", [[-math.inf] * 3, [math.inf] * 3, [-math.inf, 0.0, math.inf], [2.0, 2.0, 2.0]])
def test_infinite_and_equal_scores(score: list[float]) -> None:
    y = [1, 0, 1]
    found = cost_by_threshold(y, score, fn_cost=5)
    for t in (-math.inf, -1.0, 0.0, 2.0, math.inf):
        guess = (np.array(score) > t).astype(int)
        assert found.at(t) == pytest.approx(expected_cost(y, guess, fn_cost=5))


def test_a_threshold_is_a_number() -> None:
    found = cost_by_threshold([0, 1], [0.0, 1.0])
    for bad in ("half", math.nan, None, True):
        with pytest.raises(CostError, match="threshold must be a number"):
            found.at(bad)
    assert repr(found) == "<ThresholdCosts: 3 thresholds, best 0 at cost 0 per row>"


@pytest.mark.parametrize("pays", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_cost_curve_moves_all_rows_together(seed: int, pays: bool) -> None:
    """At alpha each false positive costs alpha a/A, each false negative (1 - alpha) b/B."""
    rows = sample(100 + seed, 30, pays=pays)
    a, b = rows.costs["fp_cost"] - rows.costs["tn_cost"], rows.costs["fn_cost"] - rows.costs["tp_cost"]
    mean_a, mean_b = np.average(a, weights=rows.weight), np.average(b, weights=rows.weight)
    curve = cost_curve(rows.y, rows.score, sample_weight=rows.weight, **rows.costs)
    assert curve.own_alpha == pytest.approx(mean_a / (mean_a + mean_b))
    assert curve.unit == pytest.approx(mean_a + mean_b)
    for k in range(0, curve.alpha.size, 7):
        alpha = curve.alpha[k]
        scaled = {"fp_cost": alpha * a / mean_a, "fn_cost": (1 - alpha) * b / mean_b, "sample_weight": rows.weight}
        found = cost_by_threshold(rows.y, rows.score, **scaled)
        assert curve.cost[k] == pytest.approx(found.at(0.0), abs=1e-12)
        assert curve.best_cost[k] == pytest.approx(found.best_cost, abs=1e-12)
        assert found.at(curve.best_threshold[k]) == pytest.approx(found.best_cost, abs=1e-12)
        assert curve.constant_cost[k] == pytest.approx(min(found.at(-math.inf), found.at(math.inf)), abs=1e-12)


def test_the_cost_curve_at_the_given_costs_is_money() -> None:
    rows = sample(9)
    given = {"sample_weight": rows.weight, **rows.costs}
    own = cost_curve(rows.y, rows.score, **given).own_alpha
    curve = cost_curve(rows.y, rows.score, alphas=[own], **given)
    mistakes = expected_cost(rows.y, rows.guess, **given) - expected_cost(rows.y, rows.y, **given)
    assert curve.cost[0] * curve.unit == pytest.approx(mistakes)


def test_the_same_costs_for_all_rows_do_not_bend_the_cost_curve() -> None:
    rows = sample(10)
    plain = cost_curve(rows.y, rows.score)
    curve = cost_curve(rows.y, rows.score, fp_cost=1, fn_cost=9)
    for name in ("alpha", "cost", "best_cost", "best_threshold", "constant_cost"):
        assert np.array_equal(getattr(plain, name), getattr(curve, name))
    assert (curve.own_alpha, curve.unit) == (0.1, 10.0)
    assert (plain.own_alpha, plain.unit) == (0.5, 2.0)
    assert len(repr(curve)) < 80
    with pytest.raises(CostError, match="fp_cost minus tn_cost must be positive on average"):
        cost_curve([0, 1], [0.0, 1.0], fp_cost=[-1.0, 0.5])
