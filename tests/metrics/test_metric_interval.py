"""A bootstrap interval of any metric."""

from __future__ import annotations

import numpy as np
import pytest
from row_costs import sample

from uneven.errors import CostError
from uneven.metrics import (
    cost_by_threshold,
    expected_cost,
    metric_interval,
    net_benefit,
    regret_against_best_threshold,
    restricted_brier_score,
    savings_score,
)
from uneven.metrics.intervals import bootstrap_interval

ROWS = sample(80, 200)
GIVEN = {"sample_weight": ROWS.weight, **ROWS.costs}


def test_it_agrees_with_the_interval_of_a_mean() -> None:
    found = metric_interval(expected_cost, ROWS.y, ROWS.guess, **GIVEN)
    assert found.value == expected_cost(ROWS.y, ROWS.guess, **GIVEN)
    paid = [
        expected_cost(ROWS.y[[k]], ROWS.guess[[k]], **ROWS.taken(np.array([k])).costs, pos_label=1) for k in range(200)
    ]
    width = found.high - found.low
    assert (found.low, found.high) == pytest.approx(bootstrap_interval(np.array(paid), ROWS.weight), abs=0.1 * width)
    half = metric_interval(expected_cost, ROWS.y, ROWS.guess, confidence=0.5, **GIVEN)
    assert half.high - half.low == pytest.approx(width * 0.6745 / 1.96, rel=0.1)


@pytest.mark.parametrize(
    ("metric", "part"),
    [(savings_score, "guess"), (regret_against_best_threshold, "score"), (restricted_brier_score, "probability")],
)
def test_every_metric_has_an_interval(metric: object, part: str) -> None:
    found = metric_interval(metric, ROWS.y, getattr(ROWS, part), draws=200, **GIVEN)
    assert found.low < found.high
    assert found.low <= found.value <= found.high or metric is regret_against_best_threshold
    same = metric_interval(metric, ROWS.y, getattr(ROWS, part), minus=getattr(ROWS, part), draws=20, **GIVEN)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def test_curves_have_bands() -> None:
    band = metric_interval(
        lambda y, p, **given: net_benefit(y, p, thresholds=[0.1, 0.2, 0.5], **given).net_benefit,
        ROWS.y,
        ROWS.probability,
        draws=100,
        **GIVEN,
    )
    assert band.value.shape == band.low.shape == band.high.shape == (3,)
    assert (band.low < band.high).all()
    assert cost_by_threshold(ROWS.y, ROWS.score, **GIVEN).best_cost <= expected_cost(ROWS.y, ROWS.guess, **GIVEN)


def test_resamples_without_a_score_are_left_out_or_said() -> None:
    y, guess = np.array([1] * 4 + [0] * 60), np.array([1] * 3 + [0] * 55 + [1] * 6)
    found = metric_interval(savings_score, y, guess, fn_cost=9)  # a resample without positives has no savings
    assert found.low < found.value < found.high
    with pytest.raises(CostError, match=r"the metric does not exist on \d+ of 1000 resamples: the baseline costs 0"):
        metric_interval(savings_score, y[3:], guess[3:], fn_cost=9)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"draws": 3}, "draws must be a whole number, at least 20, got 3"),
        ({"confidence": 95.0}, "confidence must lie strictly between 0 and 1, got 95.0"),
        ({"minus": [1]}, "y_true and minus must have the same length"),
        ({"fn_cost": [1.0, 2.0]}, "y_true and fn_cost must have the same length"),
    ],
)
def test_bad_arguments(given: dict[str, object], says: str) -> None:
    with pytest.raises(CostError, match=says):
        metric_interval(expected_cost, ROWS.y, ROWS.guess, **given)
