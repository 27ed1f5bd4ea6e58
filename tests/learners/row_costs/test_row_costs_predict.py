"""Decisions and probabilities for rows with costs of their own."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from linear_data import binary

import uneven
from uneven import UnevenLinearClassifier as Linear
from uneven.errors import CostError, LossError

X, Y = binary(150, 3, seed=4)
RANDOM = np.random.default_rng(8)
NEW = np.vstack([RANDOM.normal(size=(300, 3)), 30 * RANDOM.normal(size=(100, 3))])
COUNT = len(NEW)
IDENTIFYING = ["logistic", "exponential", "squared", "squared_hinge", "modified_huber"]


def costs_of_new(seed: int) -> dict[str, np.ndarray]:
    """Costs with alpha around 1e-12, 0 and 1, and regrets that are negative, one or both of them."""
    random = np.random.default_rng(seed)
    right = {name: np.round(random.normal(size=COUNT), 3) for name in ("tp_cost", "tn_cost")}
    fp, fn = random.exponential(size=(2, COUNT))
    kind = np.arange(COUNT) % 8
    fp = np.select([kind == 1, kind == 2, kind == 4, kind == 6], [1e-12 * fn, 0.0 * fp, -fp, -fp], fp)
    fn = np.select([kind == 3, kind == 5, kind == 6], [0.0 * fn, -fn, -fn], fn)
    return {"fp_cost": right["tn_cost"] + fp, "fn_cost": right["tp_cost"] + fn, **right}


def cheaper(probability: np.ndarray, costs: dict[str, np.ndarray]) -> np.ndarray:
    """Expected cost of predicting negative minus that of predicting positive; where both are clear."""
    positive = probability * costs["tp_cost"] + (1 - probability) * costs["fp_cost"]
    negative = probability * costs["fn_cost"] + (1 - probability) * costs["tn_cost"]
    return negative - positive


@pytest.mark.parametrize(("loss", "gamma"), [*product(IDENTIFYING, [0.3, 1.0, 4.0]), ("savage", 1.0), ("tangent", 1.0)])
def test_the_decision_is_the_cheaper_one_at_the_rows_probability(loss: str, gamma: float) -> None:
    model = Linear(loss, fp_cost=1, fn_cost=3, margin_gamma=gamma).fit(X, Y)
    probability = model.predict_proba(NEW)[:, 1]
    for seed in range(3):
        costs = costs_of_new(seed)
        said = model.predict(NEW, **costs)
        gain = cheaper(probability, costs)
        clear = np.abs(gain) > 1e-11
        assert clear.sum() > 0.6 * COUNT
        np.testing.assert_array_equal(said[clear] == 1, gain[clear] > 0)
        score = model.decision_function(NEW, **costs)
        assert not np.isnan(score).any()
        np.testing.assert_array_equal(score > 0, said == 1)


@pytest.mark.parametrize("alpha", [1e-12, 1e-3, 0.25, 0.5, 1 - 1e-3])
@pytest.mark.parametrize("loss", IDENTIFYING)
def test_one_alpha_is_a_threshold_on_the_probability(loss: str, alpha: float) -> None:
    model = Linear(loss, fn_cost=3).fit(X, Y)
    said = model.predict(NEW, fp_cost=alpha, fn_cost=1 - alpha) == 1
    exact = alpha / (alpha + (1 - alpha))
    np.testing.assert_array_equal(said, model.predict_proba(NEW)[:, 1] > exact)
    rows = model.predict(NEW, fp_cost=np.full(COUNT, alpha), fn_cost=np.full(COUNT, 1 - alpha))
    np.testing.assert_array_equal(rows == 1, said)


def test_alpha_of_zero_and_one() -> None:
    """Without a cost of false positives every row with some probability is positive, and the other way round."""
    model = Linear().fit(X, Y)
    assert (model.predict(X, fp_cost=0) == 1).all()
    assert (model.predict(X, fn_cost=0) == 0).all()
    assert np.isinf(model.decision_function(X, fn_cost=0)).all()


def test_a_mistake_that_pays_at_one_decision_only() -> None:
    model = Linear().fit(X, Y)
    ones, twos = np.ones(len(X)), np.linspace(1, 2, len(X))
    assert (model.predict(X, fp_cost=-ones, fn_cost=twos) == 1).all()
    assert (model.predict(X, fp_cost=twos, fn_cost=-ones) == 0).all()
    turned = model.predict(X, fp_cost=-ones, fn_cost=-twos)  # both pay: the less likely class is the cheaper one
    probability = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(turned == 1, -twos * probability > probability - 1)


def test_the_costs_of_the_fit_change_nothing() -> None:
    for loss, gamma in (("logistic", 2), ("squared_hinge", 0.5)):
        model = Linear(loss, fp_cost=2, fn_cost=9, margin_gamma=gamma).fit(X, Y)
        np.testing.assert_array_equal(model.predict(NEW, fp_cost=2, fn_cost=9), model.predict(NEW))
        np.testing.assert_allclose(model.decision_function(NEW, fn_cost=9), model.decision_function(NEW), atol=1e-9)
        np.testing.assert_array_equal(model.predict_proba(NEW, fn_cost=4), model.predict_proba(NEW))


def test_costs_that_are_not_given_are_the_constructors() -> None:
    model = Linear(fp_cost=2, fn_cost=9, tp_cost=1).fit(X, Y)
    amount = RANDOM.exponential(size=COUNT) + 1
    full = model.predict(NEW, fp_cost=2, fn_cost=amount, tp_cost=1, tn_cost=0)
    np.testing.assert_array_equal(model.predict(NEW, fn_cost=amount), full)


def test_names_of_the_classes_and_the_other_positive_class() -> None:
    words = np.where(Y == 1, "bad", "good")
    plain = Linear(fn_cost=3).fit(X, Y)
    named = Linear(fn_cost=3, pos_label="bad").fit(X, words)
    costs = costs_of_new(0)
    np.testing.assert_array_equal(named.predict(NEW, **costs) == "bad", plain.predict(NEW, **costs) == 1)
    np.testing.assert_allclose(named.decision_function(NEW, **costs), -plain.decision_function(NEW, **costs))


@pytest.mark.parametrize(
    "model", [Linear("hinge", fn_cost=3), Linear("sigmoid", fn_cost=3), uneven.UnevenSVC(fn_cost=3)], ids=str
)
def test_a_loss_without_probabilities_says_why(model: Any) -> None:
    model.fit(X, Y)
    for method in (model.predict, model.decision_function):
        with pytest.raises(LossError, match="does not identify probabilities") as raised:
            method(NEW, fn_cost=np.arange(COUNT) + 1.0)
        assert "\n" not in str(raised.value)
    learnt = model.fit(X, Y, fn_cost=RANDOM.exponential(size=Y.size) + 1)
    np.testing.assert_array_equal(learnt.predict(NEW, fn_cost=np.arange(COUNT) + 1.0), learnt.predict(NEW))


# -- after a fit with costs of each row -------------------------------------------------------------------------------


def test_after_a_fit_with_row_costs_the_threshold_stays() -> None:
    amount = RANDOM.exponential(size=Y.size) + 1
    model = Linear(fp_cost=2).fit(X, Y, fn_cost=amount)
    rows = RANDOM.exponential(size=COUNT)
    np.testing.assert_array_equal(model.predict(NEW, fn_cost=rows), model.predict(NEW))
    np.testing.assert_array_equal(model.decision_function(NEW, fn_cost=rows), model.decision_function(NEW))
    for method in (model.predict, model.decision_function):
        with pytest.raises(CostError, match="this model learnt with the costs of each row, which its scores contain"):
            method(NEW, fn_cost=3)
    for method in (model.predict_proba, model.predict_log_proba):
        with pytest.raises(CostError, match="so a probability needs them: give fp_cost and fn_cost"):
            method(NEW)


@pytest.mark.parametrize("pays", [False, True])
@pytest.mark.parametrize(("loss", "gamma"), [("logistic", 1), ("logistic", 3), ("exponential", 0.5), ("squared", 1)])
def test_row_costs_are_taken_out_of_the_probability(loss: str, gamma: float, pays: bool) -> None:
    """A saturated model: one coefficient for each point, so the fit finds the minimiser at every point.

    Weighted by c1 eta against c0 (1 - eta) it sees other odds; with the costs the true probability comes back.
    """
    points = 12
    eta = np.linspace(0.05, 0.95, points)
    random = np.random.default_rng(3)
    fp, fn = random.uniform(0.5, 4, size=(2, points))
    if pays:
        fp[:3], fn[:3] = -fp[:3], -fn[:3]
    rows, y = np.repeat(np.eye(points), 2, axis=0), np.tile([1, 0], points)
    weight = np.stack([eta, 1 - eta], axis=1).ravel()
    model = Linear(loss, margin_gamma=gamma, C=1e9, tol=1e-12, fit_intercept=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, y, weight, fp_cost=np.repeat(fp, 2), fn_cost=np.repeat(fn, 2))
    found = model.predict_proba(np.eye(points), fp_cost=fp, fn_cost=fn)[:, 1]
    np.testing.assert_allclose(found, eta, atol=1e-4)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(np.eye(points), fp_cost=fp, fn_cost=fn))[:, 1], found)
    np.testing.assert_array_equal(model.predict(np.eye(points)) == 1, eta * fn > (1 - eta) * fp)


def test_a_finished_loss_with_its_own_alpha() -> None:
    """The loss contains costs of 1:4; rows are weighted by what is missing to their own."""
    points = 10
    eta = np.linspace(0.05, 0.95, points)
    fp, fn = np.random.default_rng(5).uniform(0.5, 4, size=(2, points))
    rows, y = np.repeat(np.eye(points), 2, axis=0), np.tile([1, 0], points)
    weight = np.stack([eta, 1 - eta], axis=1).ravel()
    loss = uneven.UnevenMarginLoss("logistic", gamma=2, alpha="1/5")
    model = Linear(loss, fn_cost=4, C=1e9, tol=1e-12, fit_intercept=False)
    model.fit(rows, y, weight, fp_cost=np.repeat(fp, 2), fn_cost=np.repeat(fn, 2))
    np.testing.assert_array_equal(model.predict(np.eye(points)) == 1, eta * fn > (1 - eta) * fp)
    found = model.predict_proba(np.eye(points), fp_cost=fp, fn_cost=fn)[:, 1]
    np.testing.assert_allclose(found, eta, atol=1e-4)


def test_a_probability_where_the_model_learnt_none() -> None:
    model = Linear().fit(X, Y, fn_cost=RANDOM.exponential(size=Y.size) + 1)
    cost = np.ones(COUNT)
    cost[7] = 0
    with pytest.raises(CostError, match="row 7 has the regrets 1 for a false positive and 0 for a false negative"):
        model.predict_proba(NEW, fn_cost=cost)


def test_costs_not_given_to_predict_are_those_of_the_fit() -> None:
    """Numbers given to fit count, not those of the constructor that they replaced; also in a search."""
    amount = np.linspace(1, 40, Y.size)
    fitted = Linear().fit(X, Y, fp_cost=5)
    said = Linear(fp_cost=5).fit(X, Y).predict(X, fn_cost=amount)
    assert (said != Linear(fp_cost=5).fit(X, Y).predict(X, fp_cost=1, fn_cost=amount)).any()
    np.testing.assert_array_equal(fitted.predict(X, fn_cost=amount), said)
    for way in ("learn", "decide"):
        search = uneven.UnevenClassifierCV("linear", margin_gammas=[1], cv=3, row_costs=way)
        search.fit(X, Y, fp_cost=5, fn_cost=amount)
        other = uneven.UnevenClassifierCV("linear", fp_cost=5, margin_gammas=[1], cv=3, row_costs=way)
        other.fit(X, Y, fn_cost=amount)
        assert search.score(X, Y, fn_cost=amount) == pytest.approx(
            -uneven.metrics.expected_cost(Y, search.predict(X, fn_cost=amount), fp_cost=5, fn_cost=amount)
        )
        if way == "learn":
            np.testing.assert_array_equal(search.predict(X, fn_cost=amount), other.predict(X, fn_cost=amount))
        else:
            decided = search.best_estimator_.predict(X, fp_cost=5, fn_cost=amount)
            np.testing.assert_array_equal(search.predict(X, fn_cost=amount), decided)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_thresholds_are_sharp_where_the_two_margins_are_far_apart(loss: str) -> None:
    far_apart = uneven.calibrated_loss(loss, alpha=1e-12, gamma=1e-8)
    alpha = np.array([0.1, 0.5, 0.9])
    threshold = far_apart.link(alpha)
    assert (far_apart.inverse_link(threshold) <= alpha).all()
    assert (far_apart.inverse_link(np.nextafter(threshold, np.inf)) > alpha).all()


def test_costs_of_the_fit_need_no_probabilities() -> None:
    model = uneven.UnevenSVC(fp_cost=2, fn_cost=6).fit(X, Y)
    expected = model.decision_function(NEW)
    np.testing.assert_array_equal(model.decision_function(NEW, fp_cost=1, fn_cost=np.full(COUNT, 3.0)), expected)
    with pytest.raises(LossError, match="does not identify probabilities"):
        model.predict(NEW, fn_cost=7)


def test_probabilities_of_rows_whose_costs_are_far_apart() -> None:
    model = Linear().fit(X, Y, fn_cost=np.linspace(1, 3, Y.size))
    found = model.predict_proba(NEW[:2], fp_cost=[1e-200, 1e200], fn_cost=[1e200, 1e-200])
    np.testing.assert_array_equal(found, [[1, 0], [0, 1]])
    with pytest.raises(CostError, match="row 1 has the regrets 200 for a false positive and 0 for a false negative"):
        model.predict_proba(NEW[:2], fp_cost=[100, 200], fn_cost=[3, 0])


@pytest.mark.parametrize("given", ["loss", "finished loss"])
def test_a_mean_regret_that_is_known_gives_a_bound(given: str) -> None:
    random = np.random.default_rng(12)
    loss = "logistic" if given == "loss" else uneven.calibrated_loss("logistic", alpha=0.2, gamma=2)
    model = Linear(loss).fit(X, Y, fn_cost=np.linspace(1, 5, Y.size))
    a = 0.5 if given == "loss" else 0.2
    factor = 1.0 if given == "loss" else np.array([1 / a, 1 / (1 - a)])[:, None]
    t = np.linspace(-12, 12, 2401)
    losses = np.stack([np.asarray(model.loss_(-1, t)), np.asarray(model.loss_(1, t))])
    for _ in range(300):  # one point; masses that speak for the negative and for the positive class
        mass = random.exponential(size=2)
        risk = (factor * mass[:, None] * losses).sum(axis=0)
        k = int(random.integers(t.size))
        regret = mass[0 if t[k] > 0 else 1] - mass.min()
        surrogate = model.cost_scale_ * (risk[k] - risk.min())
        bound = model.analysis_.cost_regret_bound(surrogate, mean_regret=mass.sum())
        assert regret <= bound * (1 + 1e-6)
