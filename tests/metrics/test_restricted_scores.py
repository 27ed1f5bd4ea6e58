"""Brier score and log loss on a range of alphas: the integral they are, properness, and both limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from row_costs import sample
from scipy.integrate import quad
from sklearn.metrics import brier_score_loss, log_loss

from uneven.errors import CostError
from uneven.metrics import expected_cost, restricted_brier_score, restricted_log_loss

Score = Callable[..., float]
WEIGHTS: list[tuple[Score, Callable[[float], float]]] = [
    (restricted_brier_score, lambda _: 2.0),
    (restricted_log_loss, lambda a: 1 / (a * (1 - a))),
]
RANGES = [(0.0, 1.0), (0.0, 0.3), (0.2, 0.45), (0.6, 1.0), (0.39, 0.41)]


@pytest.mark.parametrize(("score", "weight"), WEIGHTS)
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("per_row", [False, True])
def test_the_score_is_the_integral_of_costs(
    score: Score, weight: Callable[[float], float], low: float, high: float, per_row: bool
) -> None:
    rows = sample(50, 12)
    rows.probability[:] = np.clip(rows.probability, 0.02, 0.98)
    r, s = np.ones(12), np.ones(12)
    if per_row:
        r, s = rows.costs["fp_cost"] - rows.costs["tn_cost"], rows.costs["fn_cost"] - rows.costs["tp_cost"]
        r, s = r / np.average(r, weights=rows.weight), s / np.average(s, weights=rows.weight)

    def cost_at(alpha: float) -> float:
        costs = {"fp_cost": alpha * r, "fn_cost": (1 - alpha) * s}
        said = rows.probability * costs["fn_cost"] > (1 - rows.probability) * costs["fp_cost"]
        return expected_cost(rows.y, said.astype(int), sample_weight=rows.weight, **costs)

    turns = rows.probability * s / (rows.probability * s + (1 - rows.probability) * r)
    ends = [low, *sorted(t for t in turns if low < t < high), high]
    integral = sum(
        quad(lambda a: weight(a) * cost_at(a), a, b, epsabs=1e-11, epsrel=1e-11)[0] for a, b in pairwise(ends) if b > a
    )
    costs = rows.costs if per_row else {"fp_cost": 1, "fn_cost": 7}
    found = score(rows.y, rows.probability, low=low, high=high, sample_weight=rows.weight, **costs)
    assert found == pytest.approx(integral, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(("score", "weight"), WEIGHTS)
def test_the_whole_range_is_the_ordinary_score(score: Score, weight: object) -> None:
    rows = sample(51)
    probability = np.clip(rows.probability, 0.01, 0.99)
    ordinary = {restricted_brier_score: brier_score_loss, restricted_log_loss: log_loss}[score]
    expected = ordinary(rows.y, probability, sample_weight=rows.weight)
    assert score(rows.y, probability, sample_weight=rows.weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("score", "weight"), WEIGHTS)
@pytest.mark.parametrize("alpha", [0.033, 0.22, 0.5, 0.91])
def test_a_range_that_shrinks_gives_the_cost_at_alpha(score: Score, weight: object, alpha: float) -> None:
    rows = sample(52)
    probability = np.where(rows.probability == alpha, 0.3, rows.probability)
    cost = expected_cost(rows.y, (probability > alpha).astype(int), fp_cost=alpha, fn_cost=1 - alpha)
    for width in (1e-3, 1e-6, 1e-9):
        found = score(rows.y, probability, low=alpha - width, high=alpha + width, as_cost=True)
        assert found == pytest.approx(cost, rel=100 * width + 1e-6)


@pytest.mark.parametrize(("score", "weight"), WEIGHTS)
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_the_score_is_proper_and_strictly_so_inside_the_range(
    score: Score, weight: object, low: float, high: float
) -> None:
    grid = np.linspace(0.01, 0.99, 50)
    for truth in (0.01, 0.13, 0.25, 0.4, 0.77, 0.99):
        y, weights = [1, 0], [truth, 1 - truth]
        at = np.array([score(y, [p, p], low=low, high=high, sample_weight=weights) for p in grid])
        best = score(y, [truth, truth], low=low, high=high, sample_weight=weights)
        same = np.clip(grid, low, high) == np.clip(truth, low, high)
        assert at[same] == pytest.approx(best, rel=1e-12, abs=1e-15)
        assert (at[~same] > best).all()


@pytest.mark.parametrize("per_row", [False, True])
def test_probabilities_of_0_and_1_are_exact(per_row: bool) -> None:
    costs = {"fp_cost": [1.0, 2.0], "fn_cost": [3.0, 1.0]} if per_row else {}
    for score in (restricted_brier_score, restricted_log_loss):
        assert score([1, 0], [1.0, 0.0], **costs) == 0.0
        assert score([1, 0], [1.0, 0.0], low=0.2, high=0.7, **costs) == 0.0
    assert restricted_log_loss([1, 0], [0.0, 0.0], **costs) == math.inf
    assert restricted_log_loss([1, 0], [0.0, 0.0], sample_weight=[0, 1], **costs) == 0.0
    wrong = restricted_log_loss([1, 0], [0.0, 1.0], low=0.2, high=0.7)
    assert wrong == pytest.approx((math.log(0.7 / 0.2) + math.log(0.8 / 0.3)) / 2)


def test_a_row_without_regret_does_not_count() -> None:
    costs = {"fp_cost": [1.0, 1.0, 0.0, 1.0], "fn_cost": [2.0, 5.0, 0.0, 0.0]}
    found = restricted_log_loss([1, 0, 1, 0], [0.5, 0.5, 0.0, 1.0], **costs)
    assert math.isfinite(found)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"low": 0.5, "high": 0.5}, "the range must be 0 <= low < high <= 1, got low=0.5 and high=0.5"),
        ({"low": -0.1}, "the range must be"),
        ({"high": 1.1}, "the range must be"),
        ({"low": "few"}, "low must be a finite number, got 'few'"),
        ({"high": math.nan}, "high must be a finite number"),
        ({"as_cost": True}, "as_cost needs 0 < low and high < 1"),
        ({"fp_cost": [1.0, -0.5]}, "no mistake may cost less than the right decision"),
    ],
)
def test_bad_ranges(given: dict[str, object], says: str) -> None:
    with pytest.raises(CostError, match=says):
        restricted_log_loss([0, 1], [0.5, 0.5], **given)
