"""Laws of every metric with costs for each row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from row_costs import NAMES, Sample, sample

from uneven.errors import CostError
from uneven.metrics import (
    cost_by_threshold,
    cost_curve,
    expected_cost,
    net_benefit,
    regret_against_best_threshold,
    restricted_brier_score,
    restricted_log_loss,
    savings_score,
    total_cost,
)

Metric = Callable[..., Any]


def curve_numbers(y: Any, score: Any, **given: Any) -> np.ndarray:
    curve = cost_curve(y, score, alphas=np.linspace(0, 1, 11), **given)
    return np.concatenate([curve.cost, curve.best_cost, curve.constant_cost, [curve.own_alpha]])


def threshold_numbers(y: Any, score: Any, **given: Any) -> np.ndarray:
    return cost_by_threshold(y, score, **given).at(np.arange(-4.5, 6, 0.5))


def benefit_numbers(y: Any, probability: Any, **given: Any) -> np.ndarray:
    found = net_benefit(y, probability, thresholds=np.arange(0.03, 1, 0.1), **given)
    return np.concatenate([found.net_benefit, found.treat_all, [found.own_threshold]])


def brier_near(y: Any, probability: Any, **given: Any) -> float:
    return restricted_brier_score(y, probability, low=0.1, high=0.6, **given)


def log_loss_near(y: Any, probability: Any, **given: Any) -> float:
    return restricted_log_loss(y, probability, low=0.1, high=0.6, as_cost=True, **given)


#: Metric, the name of the part of a sample it reads, and how it grows with the unit of the costs.
MONEY: list[tuple[Metric, str]] = [
    (expected_cost, "guess"),
    (total_cost, "guess"),
    (threshold_numbers, "score"),
    (regret_against_best_threshold, "score"),
]
SCORES: list[tuple[Metric, str]] = [
    (savings_score, "guess"),
    (curve_numbers, "score"),
    (benefit_numbers, "probability"),
    (brier_near, "probability"),
    (log_loss_near, "probability"),
]
ALL = MONEY + SCORES


def value(metric: Metric, part: str, rows: Sample, **changed: Any) -> Any:
    return metric(rows.y, getattr(rows, part), **{"sample_weight": rows.weight, **rows.costs, **changed})


@pytest.mark.parametrize(("metric", "part"), ALL)
def test_a_number_is_the_same_as_one_number_per_row(metric: Metric, part: str) -> None:
    rows = sample(0)
    numbers = {"fp_cost": 8.7, "fn_cost": 13.1, "tp_cost": -6.3, "tn_cost": -5.1}
    for name in NAMES:
        mixed = {**rows.costs, name: numbers[name]}
        arrays = {**mixed, name: np.full(rows.y.size, numbers[name])}
        assert np.array_equal(value(metric, part, rows, **mixed), value(metric, part, rows, **arrays))
    arrays = {name: [number] * rows.y.size for name, number in numbers.items()}
    assert np.array_equal(value(metric, part, rows, **numbers), value(metric, part, rows, **arrays))


@pytest.mark.parametrize(("metric", "part"), ALL)
@pytest.mark.parametrize("unit", [1e-9, 0.5, 3.7, 1e12])
def test_the_unit_of_the_costs_changes_money_only(metric: Metric, part: str, unit: float) -> None:
    rows = sample(1)
    scaled = {name: unit * cost for name, cost in rows.costs.items()}
    expected = value(metric, part, rows) * (unit if (metric, part) in MONEY else 1.0)
    assert value(metric, part, rows, **scaled) == pytest.approx(expected, rel=1e-9, abs=1e-9 * unit)


@pytest.mark.parametrize(("metric", "part"), ALL)
def test_a_weight_is_a_repetition(metric: Metric, part: str) -> None:
    rows = sample(2)
    repeated = rows.taken(np.repeat(np.arange(rows.y.size), rows.weight.astype(int)))
    assert value(metric, part, repeated, sample_weight=None) == pytest.approx(value(metric, part, rows), rel=1e-9)


@pytest.mark.parametrize(("metric", "part"), ALL)
def test_the_order_of_the_rows_does_not_matter(metric: Metric, part: str) -> None:
    rows = sample(3)
    shuffled = rows.taken(np.random.default_rng(0).permutation(rows.y.size))
    assert value(metric, part, shuffled) == pytest.approx(value(metric, part, rows), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("metric", "part"), ALL)
def test_the_positive_class_may_have_any_name(metric: Metric, part: str) -> None:
    rows = sample(4)
    named = Sample(np.where(rows.y == 1, "fraud", "ok"), rows.score, rows.probability, rows.weight, rows.costs)
    other = np.where(rows.guess == 1, "fraud", "ok") if part == "guess" else getattr(rows, part)
    found = metric(named.y, other, pos_label="fraud", sample_weight=rows.weight, **rows.costs)
    assert np.array_equal(found, value(metric, part, rows))
    with pytest.raises(CostError, match="pos_label must say which"):
        metric(named.y, other, **rows.costs)


@pytest.mark.parametrize(("metric", "part"), [MONEY[-1], *SCORES[1:]])
def test_a_constant_added_to_both_outcomes_of_a_class_changes_no_regret(metric: Metric, part: str) -> None:
    rows = sample(5)
    random = np.random.default_rng(5)
    both = {"positive": random.normal(size=rows.y.size), "negative": random.normal(size=rows.y.size)}
    kinds = {"fp_cost": "negative", "tn_cost": "negative", "fn_cost": "positive", "tp_cost": "positive"}
    moved = {name: rows.costs[name] + both[kind] for name, kind in kinds.items()}
    assert value(metric, part, rows, **moved) == pytest.approx(value(metric, part, rows), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("metric", "part"), ALL)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([1.0, math.nan, 1.0, 1.0], "must not contain NaN"),
        ([1.0, math.inf, 2.0, 1.0], "must hold finite numbers, got inf"),
        ([1.0, 2.0], r"must be a number or 4 numbers, one for each row, got shape \(2,\)"),
        ([[1.0, 2.0, 3.0, 4.0]], r"must be a number or 4 numbers, one for each row, got shape \(1, 4\)"),
        (np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0]), "must not be masked"),
        (["a", "b", "c", "d"], "must hold numbers"),
        ("dear", "must be a finite number, got 'dear'"),
        (None, "must be a number, got None"),
        ({"a": 1}, "must hold numbers"),
    ],
)
def test_bad_costs_get_one_sentence(metric: Metric, part: str, name: str, bad: object, says: str) -> None:
    rows = sample(6, 4)
    with pytest.raises(CostError, match=f"{name} {says}") as caught:
        value(metric, part, rows, **{name: bad})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("metric", "part"), ALL)
def test_bad_weights_get_one_sentence(metric: Metric, part: str) -> None:
    for weight in ([1.0], [math.nan] * 4, [-1.0, 1, 1, 1], [0.0] * 4, ["a"] * 4):
        with pytest.raises(CostError, match="sample_weight must"):
            value(metric, part, sample(6, 4), sample_weight=weight)
