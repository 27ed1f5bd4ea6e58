"""Mean cost over a prior of the costs: the integral it is, its symmetries, its scorer, and the curve behind it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from row_costs import sample
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import uneven
from uneven.errors import CostError
from uneven.metrics import cost_curve, expected_cost, make_mean_cost_scorer, mean_cost, metric_interval

RANGES = [(5, 50), (0.2, 3), (1e-3, 1e4), (9.99, 10.01)]


def rows(seed: int, count: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, probabilities (some are 0, 1 or equal) and weights."""
    random = np.random.default_rng(seed)
    probability = np.round(random.beta(0.6, 1.5, size=count), 2)
    y = (random.random(count) < probability).astype(int)
    y[:2] = 0, 1
    return y, probability, random.integers(0, 4, size=count) + (np.arange(count) < 2)


def cost_at(ratio: float, y: np.ndarray, probability: np.ndarray, masses: np.ndarray) -> float:
    """What the decisions at one ratio cost, by the ordinary metric, if both costs sum to 1."""
    said = (probability > 1 / (1 + ratio)).astype(int)
    return expected_cost(y, said, fp_cost=1 / (1 + ratio), fn_cost=ratio / (1 + ratio), sample_weight=masses)


@pytest.mark.parametrize("weight", ["unit", "money"])
@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_mean_of_expected_costs_over_the_ratios(low: float, high: float, weight: str, seed: int) -> None:
    y, probability, masses = rows(seed)
    turns = [np.log((1 - p) / p) for p in np.unique(probability) if 0 < p < 1]
    ends = [np.log(low), *sorted(t for t in turns if np.log(low) < t < np.log(high)), np.log(high)]
    whole = 0.0
    for a, b in pairwise(ends):  # between two turns the decisions stay, and the costs have simple integrals
        said = (probability > 1 / (1 + np.exp((a + b) / 2))).astype(int)
        both = (b - a, np.exp(b) - np.exp(a))  # in money
        if weight == "unit":
            missed = np.logaddexp(0, b) - np.logaddexp(0, a)
            both = (b - a - missed, missed)
        whole += expected_cost(y, said, fp_cost=both[0], fn_cost=both[1], sample_weight=masses)
    found = mean_cost(y, probability, uneven.CostPrior.range(low, high, weight=weight), sample_weight=masses)
    assert found == pytest.approx(whole / np.log(high / low), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("prior", [uneven.CostPrior.log_normal(median=8, factor=3), uneven.CostPrior.beta(2, 5)])
def test_for_any_prior_it_is_the_mean_over_its_quantiles(prior: Any) -> None:
    y, probability, masses = rows(2)
    ratios = prior.quantile((np.arange(500) + 0.5) / 500)
    mean = np.mean([cost_at(ratio, y, probability, masses) for ratio in ratios])
    assert mean_cost(y, probability, prior, sample_weight=masses) == pytest.approx(mean, rel=5e-3)


@dataclass
class TwoRatios:
    """A prior of one's own: the ratios 4.1 and 24.3 are alike."""

    def positive_cost(self, p: Any) -> np.ndarray:
        return (4.1 / 5.1 * (p <= 1 / 5.1) + 24.3 / 25.3 * (p <= 1 / 25.3)) / 2

    def negative_cost(self, p: Any) -> np.ndarray:
        return (1 / 5.1 * (p > 1 / 5.1) + 1 / 25.3 * (p > 1 / 25.3)) / 2


def test_any_object_with_the_two_costs_is_a_prior() -> None:
    y, probability, masses = rows(7)
    by_hand = np.mean([cost_at(ratio, y, probability, masses) for ratio in (4.1, 24.3)])
    assert mean_cost(y, probability, TwoRatios(), sample_weight=masses) == pytest.approx(by_hand, rel=1e-12)
    ours = uneven.CostPrior.discrete({4.1: 1, 24.3: 1})
    assert mean_cost(y, probability, ours, sample_weight=masses) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("prior", [uneven.CostPrior.range(5, 50), uneven.CostPrior.log_normal(median=8, factor=3)])
def test_the_true_probabilities_cost_least(prior: Any) -> None:
    random = np.random.default_rng(3)
    eta = random.random(30) ** 2
    y, masses = np.tile([0, 1], 30), np.stack([1 - eta, eta], axis=1).ravel()
    least = mean_cost(y, np.repeat(eta, 2), prior, sample_weight=masses)
    for _ in range(50):
        other = np.clip(eta + random.normal(scale=0.05, size=30), 0, 1)
        assert mean_cost(y, np.repeat(other, 2), prior, sample_weight=masses) >= least - 1e-15


def test_classes_rows_and_weights_may_be_exchanged() -> None:
    y, probability, masses = rows(4, 60)
    prior, turned = uneven.CostPrior.range(5, 50), uneven.CostPrior.range("1/50", "1/5")
    found = mean_cost(y, probability, prior, sample_weight=masses)
    assert mean_cost(1 - y, 1 - probability, turned, sample_weight=masses) == pytest.approx(found, rel=1e-12)
    assert mean_cost(y, probability, prior, sample_weight=1e300 * masses) == pytest.approx(found, rel=1e-12)
    shuffled = np.random.default_rng(0).permutation(60)
    again = mean_cost(y[shuffled], probability[shuffled], prior, sample_weight=masses[shuffled])
    assert again == pytest.approx(found, rel=1e-12)
    repeated = mean_cost(np.repeat(y, masses), np.repeat(probability, masses), prior)
    assert repeated == pytest.approx(found, rel=1e-12)
    named = mean_cost(np.where(y == 1, "bad", "good"), probability, prior, sample_weight=masses, pos_label="bad")
    assert named == found


def test_the_interval_of_the_metrics_works_with_it() -> None:
    y, probability, _ = rows(5, 400)
    prior = uneven.CostPrior.range(5, 50)
    found = metric_interval(mean_cost, y, probability, prior=prior, draws=50)
    assert found.value == mean_cost(y, probability, prior)
    assert found.low < found.value < found.high


def test_bad_input_gets_one_sentence() -> None:
    y, probability, _ = rows(6)
    with pytest.raises(CostError, match=r"prior must be a CostPrior, such as .*, got \(5, 50\), which has no method"):
        mean_cost(y, probability, (5, 50))
    with pytest.raises(CostError, match="y_prob"):
        mean_cost(y, 2 * probability + 1, uneven.CostPrior.range(5, 50))
    with pytest.raises(CostError, match="the same length, got 40 and 39"):
        mean_cost(y, probability[1:], uneven.CostPrior.range(5, 50))


def test_the_scorer_is_minus_the_mean_cost() -> None:
    random = np.random.default_rng(8)
    X = random.normal(size=(300, 3))
    y = np.where(X[:, 0] + random.logistic(size=300) > 1, "bad", "good")
    prior, weight = uneven.CostPrior.range(5, 50), random.integers(1, 4, size=300)
    model = LogisticRegression().fit(X, y)
    scorer = make_mean_cost_scorer(prior, pos_label="bad")
    probability = model.predict_proba(X)[:, 0]
    assert scorer(model, X, y) == -mean_cost(y, probability, prior, pos_label="bad")
    assert cross_val_score(model, X, y, scoring=scorer, cv=3).max() < 0
    with config_context(enable_metadata_routing=True):
        asked = make_mean_cost_scorer(prior, pos_label="bad").set_score_request(sample_weight=True)
        found = asked(model, X, y, sample_weight=weight)
    assert found == -mean_cost(y, probability, prior, pos_label="bad", sample_weight=weight)


# -- the curve: each alpha decides for itself -------------------------------------------------------------------------


def test_the_curve_at_alpha_is_the_expected_cost_of_decisions_at_alpha() -> None:
    y, probability, masses = rows(9)
    alphas = np.concatenate([[0.0, 1.0], np.unique(probability), np.linspace(0.01, 0.99, 37)])
    curve = cost_curve(y, probability, threshold="alpha", alphas=alphas, sample_weight=masses)
    for alpha, cost in zip(alphas, curve.cost, strict=True):
        said = (probability > alpha).astype(int)
        expected = expected_cost(y, said, fp_cost=alpha, fn_cost=1 - alpha, sample_weight=masses)
        assert cost == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert (curve.cost >= curve.best_cost - 1e-15).all()
    fixed = cost_curve(y, probability, threshold=0.5, alphas=alphas, sample_weight=masses)
    np.testing.assert_array_equal(curve.best_cost, fixed.best_cost)


def test_with_costs_of_rows_the_curve_decides_each_row_at_its_own() -> None:
    data = sample(10, 30)
    r, s = data.costs["fp_cost"] - data.costs["tn_cost"], data.costs["fn_cost"] - data.costs["tp_cost"]
    r, s = r / np.average(r, weights=data.weight), s / np.average(s, weights=data.weight)
    given = {**data.costs, "sample_weight": data.weight}
    curve = cost_curve(data.y, data.probability, threshold="alpha", alphas=[0.1, 0.4, 0.8], **given)
    for alpha, cost in zip(curve.alpha, curve.cost, strict=True):
        said = data.probability * (1 - alpha) * s > (1 - data.probability) * alpha * r
        paid = {"fp_cost": alpha * r, "fn_cost": (1 - alpha) * s, "sample_weight": data.weight}
        assert cost == pytest.approx(expected_cost(data.y, said.astype(int), **paid), rel=1e-12)


def test_the_mean_of_the_curve_is_the_mean_cost() -> None:
    y, probability, masses = rows(11)
    middles = -np.log(5) - (np.arange(20_000) + 0.5) / 20_000 * np.log(10)
    curve = cost_curve(y, probability, threshold="alpha", alphas=1 / (1 + np.exp(-middles)), sample_weight=masses)
    prior = uneven.CostPrior.range(5, 50)
    assert curve.cost.mean() == pytest.approx(mean_cost(y, probability, prior, sample_weight=masses), rel=1e-4)


def test_a_curve_at_alpha_needs_probabilities_and_mistakes_that_cost() -> None:
    y, probability, _ = rows(12)
    with pytest.raises(CostError, match="y_score"):
        cost_curve(y, probability - 0.5, threshold="alpha")
    with pytest.raises(CostError, match="threshold must be a number or 'alpha', got 'best'"):
        cost_curve(y, probability, threshold="best")
    paying = np.where(np.arange(40) == 0, -1.0, 5.0)
    with pytest.raises(CostError, match="no mistake costs less than the right decision; a number works"):
        cost_curve(y, probability, threshold="alpha", fn_cost=paying)
