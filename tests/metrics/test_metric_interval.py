"""An interval of any metric."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from row_costs import sample

from uneven.errors import CostError
from uneven.metrics import (
    compare_predictions,
    cost_by_threshold,
    expected_cost,
    metric_interval,
    net_benefit,
    regret_against_best_threshold,
    restricted_brier_score,
    savings_score,
    total_cost,
)

ROWS = sample(80, 200)
GIVEN = {"sample_weight": ROWS.weight, **ROWS.costs}


@pytest.mark.parametrize("metric", [expected_cost, total_cost])
def test_a_cost_has_the_interval_of_the_comparison(metric: Any) -> None:
    found = metric_interval(metric, ROWS.y, ROWS.guess, **GIVEN)
    assert found.value == metric(ROWS.y, ROWS.guess, **GIVEN)
    (ours,) = compare_predictions(ROWS.y, {"ours": ROWS.guess}, **GIVEN)
    factor = ROWS.weight.sum() if metric is total_cost else 1.0
    assert (found.low, found.high) == pytest.approx((factor * ours.low, factor * ours.high))
    half = metric_interval(metric, ROWS.y, ROWS.guess, confidence=0.5, **GIVEN)
    assert half.high - half.low == pytest.approx((found.high - found.low) * 0.6745 / 1.96, rel=0.3)
    paired = metric_interval(metric, ROWS.y, ROWS.guess, minus=1 - ROWS.guess, **GIVEN)
    _, ours = compare_predictions(ROWS.y, {"theirs": 1 - ROWS.guess, "ours": ROWS.guess}, **GIVEN)
    ends = (factor * ours.difference_low, factor * ours.difference_high)
    assert (paired.low, paired.high) == pytest.approx(ends)


def test_savings_are_one_minus_a_ratio_of_costs() -> None:
    """If the baseline costs the same in all rows, the ends are those of the cost."""
    y, guess = np.repeat([1, 0], 50), np.tile([1, 1, 1, 0, 1], 20)
    how = {"fp_cost": 1.0, "fn_cost": 4.0, "tp_cost": 1.0}  # flagging everyone costs 1 per row
    found = metric_interval(savings_score, y, guess, baseline=np.ones(100, dtype=int), **how)
    cost = metric_interval(expected_cost, y, guess, **how)
    assert (found.low, found.high) == pytest.approx((1 - cost.high, 1 - cost.low))


@pytest.mark.slow
def test_a_function_of_ones_own_is_resampled_to_nearly_the_same_ends() -> None:
    y, guess = np.repeat([1, 0], [100, 300]), np.tile([1, 1, 0, 0], 100)

    def same(truth: np.ndarray, said: np.ndarray) -> float:
        return expected_cost(truth, said, fn_cost=5)

    drawn, exact = metric_interval(same, y, guess), metric_interval(expected_cost, y, guess, fn_cost=5)
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.1 * (exact.high - exact.low))


def test_a_mistake_that_no_row_has_shown_is_in_resampled_intervals() -> None:
    """The ends were 0 and 0."""
    y = np.repeat([1, 0], [50, 450])
    found = metric_interval(lambda truth, said: float(20 * np.mean((truth == 1) & (said == 0))), y, y, draws=200)
    assert (found.value, found.low) == (0.0, 0.0)
    assert 2.9 * 20 / 500 < found.high < 4.1 * 20 / 500


@pytest.mark.parametrize(
    ("metric", "part"),
    [(savings_score, "guess"), (regret_against_best_threshold, "score"), (restricted_brier_score, "probability")],
)
def test_every_metric_has_an_interval(metric: object, part: str) -> None:
    found = metric_interval(metric, ROWS.y, getattr(ROWS, part), draws=200, **GIVEN)
    assert found.low < found.high
    assert found.low <= found.value <= found.high or metric is regret_against_best_threshold
    same = metric_interval(metric, ROWS.y, getattr(ROWS, part), minus=getattr(ROWS, part), draws=20, **GIVEN)
    assert same.value == 0.0
    assert same.low < 0 < same.high  # classifiers that agree here may differ on new rows


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

    def share(truth: np.ndarray, said: np.ndarray) -> float:
        return savings_score(truth, said, fn_cost=9, pos_label=1)  # a resample without positives has no savings

    found = metric_interval(share, y, guess)
    assert found.low < found.value < found.high
    assert found.rough  # four positives
    with pytest.raises(CostError, match=r"the metric does not exist on \d+ of 1000 resamples: the baseline costs 0"):
        metric_interval(share, y[3:], guess[3:])


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


@pytest.mark.parametrize("wrong", [3, None, "x"])
def test_predictions_that_are_no_rows(wrong: Any) -> None:
    truth = np.array([1, 0, 1, 0])
    with pytest.raises(CostError, match="y_pred must hold one entry for each row"):
        metric_interval(expected_cost, truth, wrong, fp_cost=1, fn_cost=2)
    with pytest.raises(CostError, match="predictions must be a dictionary"):
        compare_predictions(truth, wrong, fp_cost=1, fn_cost=2)
