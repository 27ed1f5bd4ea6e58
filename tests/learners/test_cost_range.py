"""Costs known as a range only: one law each, over all estimators that take ``cost_range``."""

from __future__ import annotations

import inspect
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from public_estimators import ESTIMATORS, FINE, FRAUD, make, rows
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import uneven
from uneven import UnevenLinearClassifier as Linear
from uneven import UnevenThresholdClassifierCV as Threshold
from uneven.decisions.cost_pairs import CostPairs, central_ratio
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.errors import CostError, LossError, ParameterError, UnevenError
from uneven.learners.cost_range import loss_over
from uneven.metrics import expected_cost, make_mean_cost_scorer, mean_cost

RANGED = [estimator for estimator in ESTIMATORS if "cost_range" in inspect.signature(estimator).parameters]
X, Y, _ = rows()
each = pytest.mark.parametrize("estimator", RANGED, ids=lambda e: e.__name__)


def ranged(estimator: Any, cost_range: Any = (5, 50), /, **params: Any) -> Any:
    return make(estimator, cost_range=cost_range, **{"pos_label": FRAUD, **params})


def quietly(model: Any, method: str, *args: Any, **costs: Any) -> Any:
    """Without the warnings about probabilities of few rows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="do not take predict_proba")
        return getattr(model, method)(*args, **costs)


def test_the_estimators_are_found() -> None:
    names = ("Linear", "XGB", "LGBM", "CatBoost", "Ensemble")
    assert {f"Uneven{name}Classifier" for name in names} | {"UnevenThresholdClassifierCV"} == {
        estimator.__name__ for estimator in RANGED
    }


# -- what a range means -----------------------------------------------------------------------------------------------


@each
def test_a_range_of_one_ratio_is_a_fit_with_two_costs(estimator: Any) -> None:
    point = ranged(estimator, (10, 10)).fit(X, Y)
    fixed = make(estimator, pos_label=FRAUD, fn_cost=10).fit(X, Y)
    for costs in ({}, {"fn_cost": 3}, {"fp_cost": 2, "fn_cost": 30}):
        np.testing.assert_array_equal(point.predict(X, **costs), fixed.predict(X, **costs))
    np.testing.assert_array_equal(quietly(point, "predict_proba", X), quietly(fixed, "predict_proba", X))
    assert point.score(X, Y) == fixed.score(X, Y)


@each
def test_it_decides_at_the_ratio_that_is_known_later(estimator: Any) -> None:
    model = ranged(estimator).fit(X, Y)
    central = central_ratio(uneven.CostPrior.range(5, 50))
    np.testing.assert_array_equal(model.predict(X), model.predict(X, fn_cost=central))
    before = np.zeros(Y.size, dtype=bool)
    assert 0 < (model.predict(X, fn_cost=5) == FRAUD).mean() < 1
    for ratio in (5, 8, 20, 50):
        said = model.predict(X, fn_cost=ratio) == FRAUD
        assert not (before & ~said).any()  # who is flagged at one ratio is flagged at larger ones
        np.testing.assert_array_equal(said, model.predict(X, fp_cost=3, fn_cost=3 * ratio) == FRAUD)  # in any unit
        np.testing.assert_array_equal(said, model.predict(X, fn_cost=np.full(Y.size, ratio)) == FRAUD)
        before = said
    probability = quietly(model, "predict_proba", X)
    assert ((probability > 0) & (probability < 1)).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    with pytest.warns(UserWarning, match=r"the ratio fn_cost/fp_cost = 51 lies outside the range from 5 to 50"):
        model.predict(X, fn_cost=51)


@each
def test_score_and_constant_costs_are_those_at_the_central_ratio(estimator: Any) -> None:
    model = ranged(estimator).fit(X, Y)
    costs = {"fp_cost": 1, "fn_cost": central_ratio(uneven.CostPrior.range(5, 50)), "pos_label": FRAUD}
    assert model.score(X, Y) == pytest.approx(-expected_cost(Y, model.predict(X), **costs), rel=1e-12)
    everyone = expected_cost(Y, np.full(Y.size, FINE), **costs)
    assert model.constant_costs_["all negative"].cost == pytest.approx(everyone, rel=1e-12)


@pytest.mark.slow
@each
def test_exchanged_classes_and_inverted_ratios_give_the_same_decisions(estimator: Any) -> None:
    one = ranged(estimator, (4, 32)).fit(X, Y)
    other = ranged(estimator, (1 / 32, 1 / 4), pos_label=FINE).fit(X, Y)
    for ratio in (4.0, 12.5, 32.0):
        same = one.predict(X, fn_cost=ratio) == other.predict(X, fn_cost=1 / ratio)
        assert same.mean() > 0.98  # libraries of trees find their splits in another order
        if estimator in (Linear, Threshold):
            assert same.all()


def test_the_order_of_the_rows_does_not_matter() -> None:
    order = np.random.default_rng(3).permutation(Y.size)
    fitted = {"estimator": LogisticRegression().fit(X, Y), "prefit": True}
    for estimator, params in ((Linear, {}), (Threshold, fitted)):
        one, other = (ranged(estimator, **params).fit(X[part], Y[part]) for part in (np.arange(Y.size), order))
        for ratio in (5, 20, 50):
            np.testing.assert_array_equal(one.predict(X, fn_cost=ratio), other.predict(X, fn_cost=ratio))


# -- how it is given --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each
@pytest.mark.parametrize("cost_range", [(5, 50), uneven.CostPrior.range(5, 50, weight="money")])
def test_copies_and_files_keep_it(estimator: Any, cost_range: Any, tmp_path: Path) -> None:
    model = ranged(estimator, cost_range)
    assert clone(model).get_params()["cost_range"] == cost_range
    model.fit(X, Y)
    stored = [pickle.loads(pickle.dumps(model)), _through_skops(model)]
    if hasattr(model, "load"):
        model.save(tmp_path / "model.json")
        stored.append(estimator.load(tmp_path / "model.json"))
    for copy in stored:
        for costs in ({}, {"fn_cost": 7}):
            np.testing.assert_array_equal(copy.predict(X, **costs), model.predict(X, **costs))
        np.testing.assert_array_equal(quietly(copy, "predict_proba", X), quietly(model, "predict_proba", X))


def _through_skops(model: Any) -> Any:
    return skops.io.loads(skops.io.dumps(model), trusted=uneven.trusted_types())


def test_an_exported_model_decides_at_the_central_ratio() -> None:
    runtime = pytest.importorskip("onnxruntime")
    model = ranged(Linear).fit(X, Y)
    graph = uneven.adapters.onnx.to_onnx(model, X)
    session = runtime.InferenceSession(graph.SerializeToString())
    said = session.run(None, {session.get_inputs()[0].name: X})[0]
    np.testing.assert_array_equal(said, model.predict(X))


@each
def test_a_range_and_costs_exclude_each_other(estimator: Any) -> None:
    for costs, said in (({"fn_cost": 7}, "fn_cost=7"), ({"fp_cost": 2.5}, "fp_cost=2.5"), ({"tp_cost": -1}, "tp_cost")):
        with pytest.raises(CostError, match=rf"cost_range=\(5, 50\) stands in place of the costs, got {said}"):
            ranged(estimator, **costs).fit(X, Y)
        with pytest.raises(CostError, match=rf"cost_range=\(5, 50\) stands in place of the costs, got {said}"):
            ranged(estimator).fit(X, Y, **costs)
    with pytest.raises(CostError, match="stands in place of the costs, got fn_cost="):
        ranged(estimator).fit(X, Y, fn_cost=np.ones(Y.size))
    with pytest.raises(CostError, match="pos_label"):
        make(estimator, cost_range=(5, 50)).fit(X, Y)


@pytest.mark.parametrize(
    "wrong", ["5:50", 7, (5,), (1, 2, 3), (50, 5), (0, 3), (-1, 2), (5, np.inf), (5, np.nan), ("a", 2)]
)
def test_what_is_no_range_gets_one_sentence(wrong: Any) -> None:
    with pytest.raises(UnevenError, match=r"range|ratio"):
        ranged(Linear, wrong).fit(X, Y)


def test_a_range_brings_its_own_loss() -> None:
    for params in ({"loss": "hinge"}, {"margin_gamma": 2}):
        with pytest.raises(ParameterError, match="cost_range brings its own loss"):
            ranged(Linear, **params).fit(X, Y)
    with pytest.raises(LossError, match="penalty='l1' needs a convex loss, but the mean cost over cost_range is not"):
        ranged(Linear, penalty="l1").fit(X, Y)
    with pytest.raises(
        LossError, match=r"data in parts need a convex loss, and the mean cost over cost_range=\(5, 50\)"
    ):
        ranged(Linear).fit([(X[:120], Y[:120]), (X[120:], Y[120:])])
    with pytest.raises(ParameterError, match=r"tunes a learner for two costs, got one with cost_range=\(5, 50\)"):
        uneven.UnevenClassifierCV(ranged(Linear)).fit(X, Y)
    for prior in (uneven.CostPrior.density("exp(-ratio/10)", between=(1, 100)), uneven.CostPrior.beta(2, 6)):
        with pytest.raises(LossError, match=r"a learner of a loss needs a formula that keeps its digits, and uneven\."):
            ranged(Linear, prior).fit(X, Y)
        assert ranged(Threshold, prior).fit(X, Y).shift_ != 0


@pytest.mark.parametrize(
    "prior",
    [
        uneven.CostPrior.log_normal(median=15, factor=2, weight="money"),
        uneven.CostPrior.range(5, 50, softness="1/3"),
    ],
    ids=["log_normal", "soft"],
)
def test_other_priors_with_a_formula_can_be_learnt(prior: Any) -> None:
    model = ranged(Linear, prior).fit(X, Y)
    cuts = 1 / (1 + np.asarray(prior.quantile([0.2, 0.8])))
    for cut in cuts:  # near the alphas of the prior, the scores are log-odds
        said = quietly(model, "predict", X, fp_cost=cut, fn_cost=1 - cut) == FRAUD
        np.testing.assert_array_equal(said, quietly(model, "predict_proba", X)[:, 0] > cut)


def test_a_range_has_no_guarantee_and_says_so() -> None:
    model = ranged(Threshold).fit(X, Y)
    with pytest.raises(ParameterError, match="the theorem is for two costs, not for cost_range"):
        model.guarantee()
    assert not hasattr(model, "guarantee_")


# -- what it is worth -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", ["unit", "money"])
def test_with_rich_features_it_attains_the_least_mean_cost(weight: str) -> None:
    random = np.random.default_rng(5)
    prior = uneven.CostPrior.range(5, 50, weight=weight)
    for _ in range(5):
        eta = expit(random.uniform(-5, 0, size=12))
        mass = random.dirichlet(np.ones(12))
        points, y = np.repeat(np.eye(12), 2, axis=0), np.tile([0, 1], 12)
        masses = 1e6 * np.stack([mass * (1 - eta), mass * eta], axis=1).ravel()
        model = Linear(cost_range=prior, C=100, tol=1e-9).fit(points, y, masses)
        said = quietly(model, "predict_proba", points)[:, 1]
        least = mean_cost(y, np.repeat(eta, 2), prior, sample_weight=masses)
        assert mean_cost(y, said, prior, sample_weight=masses) == pytest.approx(least, rel=1e-4)


def regret_over_the_range(eta: np.ndarray, probability: np.ndarray) -> float:
    """The mean cost of the decisions above that of the best ones, over ratios from 5 to 50."""
    prior = uneven.CostPrior.range(5, 50)
    y, masses = np.tile([0, 1], eta.size), np.stack([1 - eta, eta], axis=1).ravel()
    paid, least = (mean_cost(y, np.repeat(p, 2), prior, sample_weight=masses) for p in (probability, eta))
    return paid - least


def test_where_the_log_odds_are_not_linear_it_costs_less_than_logistic_regression() -> None:
    random = np.random.default_rng(6)
    points = random.normal(size=(4000, 3))
    z = points @ [1.0, -1.0, 0.7]
    eta = expit(np.where(z < 0, 3 * z, 0.3 * z) - 1.5)
    y = (random.random(4000) < eta).astype(int)
    over = quietly(Linear(cost_range=(5, 50)).fit(points, y), "predict_proba", points)[:, 1]
    plain = Linear().fit(points, y).predict_proba(points)[:, 1]
    assert regret_over_the_range(eta, over) < 0.3 * regret_over_the_range(eta, plain)


def test_probabilities_are_checked_within_the_range() -> None:
    random = np.random.default_rng(6)
    points = random.normal(size=(4000, 3))
    z = points @ [1.0, -1.0, 0.7]
    y = (random.random(4000) < expit(np.where(z < 0, 3 * z, 0.3 * z) - 1.5)).astype(int)
    model = Linear(cost_range=(5, 50)).fit(points, y)
    said = model.predict_proba(points)[:, 1]  # no warning
    within = (said >= 1 / 51) & (said <= 1 / 6)
    assert model.probability_ratio_ == pytest.approx(said[within].mean() / y[within].mean(), rel=0.01)
    assert said.mean() > 1.5 * y.mean()  # outside the range only the side is right
    grid = GridSearchCV(Linear(cost_range=(5, 50)), {"C": [0.01, 1.0]}, cv=3, error_score="raise")
    grid.set_params(scoring=make_mean_cost_scorer(uneven.CostPrior.range(5, 50))).fit(points, y)
    assert -0.1 < grid.best_score_ < 0


# -- the loss and the pairs of costs ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["unit", "money"])
@pytest.mark.parametrize("ends", [(5, 50), ("1/3", 2), (1e-6, 1e-3), (1, 1e6)])
def test_the_loss_of_a_range_is_calibrated_for_its_central_ratio(ends: Any, weight: Any) -> None:
    prior = uneven.CostPrior.range(*ends, weight=weight)
    loss, central = loss_over(prior), central_ratio(prior)
    assert uneven.implied_alpha(loss).exact == loss.exact_alpha
    assert float(loss.exact_alpha) == pytest.approx(1 / (1 + central), rel=1e-15)
    alphas = 1 / (1 + prior.quantile([0.1, 0.5, 0.9]))
    np.testing.assert_allclose(loss.link(alphas), np.log(alphas / (1 - alphas)) + np.log(central), atol=1e-9)


def test_the_central_ratio_is_the_best_one_for_decisions_before_the_costs_are_known() -> None:
    random = np.random.default_rng(9)
    eta = random.random(400)
    for prior in (uneven.CostPrior.range(5, 50), uneven.CostPrior.log_normal(median=3, factor=4, weight="money")):
        missed, alarmed = prior.positive_cost(0.0), prior.negative_cost(1.0)  # of one decision at all ratios

        def paid(ratio: float, missed: float = missed, alarmed: float = alarmed) -> float:
            said = eta > 1 / (1 + ratio)
            return float(np.where(said, (1 - eta) * alarmed, eta * missed).sum())

        others = np.exp(random.normal(np.log(central_ratio(prior)), 1, size=200))
        assert paid(central_ratio(prior)) <= min(map(paid, others)) + 1e-12


PRIORS = [
    uneven.CostPrior.range(5, 50),
    uneven.CostPrior.range(1, 1000, weight="money"),
    uneven.CostPrior.log_normal(median=15, factor=2),
    uneven.CostPrior.discrete({3: 1, 30: 2}),
]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("order", [1, 8, 64])
def test_pairs_of_costs_add_up_to_the_prior(prior: Any, order: int) -> None:
    pairs = CostPairs.of(prior, order=order)
    assert pairs.fn_cost.sum() == pytest.approx(prior.positive_cost(0.0), rel=1e-9)
    assert pairs.fp_cost.sum() == pytest.approx(prior.negative_cost(1.0), rel=1e-9)
    for p in (0.01, 0.05, 0.2, 0.6):  # each pair decides for itself
        cut = pairs.fp_cost / (pairs.fp_cost + pairs.fn_cost)
        wide = pairs.fn_cost.max() if pairs.fn_cost.size > 2 else 1e-9
        assert pairs.fn_cost[cut >= p].sum() == pytest.approx(prior.positive_cost(p), abs=wide)


@pytest.mark.parametrize("ends", [("1e-300", "1e300"), (1e-18, 1e-15), (1e15, 1e18), ("1", "1.000001")])
@pytest.mark.parametrize("weight", ["unit", "money"])
def test_pairs_of_extreme_ranges_are_positive_and_finite(ends: Any, weight: Any) -> None:
    prior = uneven.CostPrior.range(*ends, weight=weight)
    pairs = CostPairs.of(prior, order=8)
    both = np.array([pairs.fp_cost, pairs.fn_cost])
    assert both.shape[1] > 0
    assert (both > 0).all()
    assert np.isfinite(both).all()
    assert (np.diff(pairs.fn_cost / pairs.fp_cost) > 0).all()  # one cell after the other
    assert float(ends[0]) <= central_ratio(prior) <= float(ends[1])


def test_the_shift_over_a_range_is_least_for_the_mean_of_the_window_losses() -> None:
    random = np.random.default_rng(11)
    log_odds = random.normal(-2, 2, size=3000)
    y = random.random(3000) < expit(log_odds)
    given = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    given.coef_, given.intercept_ = np.ones((1, 1)), np.full(1, 0.8)
    model = Threshold(given, cost_range=(5, 50), prefit=True, method="argmin", order=8)
    model.fit(log_odds[:, None], y.astype(int))
    assert model.shift_ == pytest.approx(0.8, abs=0.2)  # the log-odds are 0.8 too high
    window = uneven.phi("beta", order=8)

    def smooth(shift: float) -> float:
        total = 0.0
        for ratio in uneven.CostPrior.range(5, 50).quantile((np.arange(60) + 0.5) / 60):
            distance = log_odds + 0.8 - shift + np.log(ratio)
            total += float((ratio * window(distance[y]).sum() + window(-distance[~y]).sum()) / (1 + ratio))
        return total

    least = min(map(smooth, np.linspace(model.shift_ - 1, model.shift_ + 1, 41)))
    assert smooth(model.shift_) <= least * (1 + 1e-5)
    curve = model.curve_  # what the decisions cost over the range at each shift
    for k in (200, 400, 600):
        paid = mean_cost(y, expit(log_odds + 0.8 - curve.shift[k]), uneven.CostPrior.range(5, 50))
        assert curve.cost[k] == pytest.approx(paid, rel=0.02)


def test_many_rows_are_grouped_before_they_are_repeated() -> None:
    random = np.random.default_rng(12)
    log_odds = random.normal(-2, 2, size=24_000)
    rows = OutOfFoldRows(expit(log_odds + 0.5), random.random(24_000) < expit(log_odds), np.ones(24_000))
    pairs = CostPairs.of(uneven.CostPrior.range(5, 50), order=8)
    scored = rows.with_costs(pairs)
    assert scored.log_odds.size < 24_000 * pairs.fp_cost.size / 2
    assert scored.weight.sum() == pytest.approx(24_000)
    halves = [rows.take(np.arange(start, 24_000, 2)).find_correction(pairs, "argmin", 8) for start in (0, 1)]
    whole = rows.find_correction(pairs, "argmin", 8).correction.shift
    assert whole == pytest.approx(np.mean([half.correction.shift for half in halves]), abs=0.02)
