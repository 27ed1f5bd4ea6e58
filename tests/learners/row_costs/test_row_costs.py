"""Laws of fits with costs of each row: constants, the unit of the costs, weights, rows that cost nothing or pay."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from linear_data import binary
from mean_regret import mean_regret, regrets
from sklearn.base import clone

import uneven
from uneven import UnevenClassifierCV, UnevenLinearClassifier, UnevenPerceptron, UnevenSVC
from uneven.errors import CostError

X, Y = binary(160, 4, seed=11)
RANDOM = np.random.default_rng(5)
COSTS = {"fp_cost": RANDOM.exponential(size=Y.size) + 0.1, "fn_cost": 5 * RANDOM.exponential(size=Y.size) + 0.1}
WEIGHT = RANDOM.uniform(0.2, 3, size=Y.size)

LEARNERS = [
    UnevenLinearClassifier(),
    UnevenLinearClassifier("exponential", margin_gamma=2, solver="lbfgs"),
    UnevenLinearClassifier("squared_hinge", margin_gamma=0.5, solver="newton"),
    UnevenLinearClassifier("hinge", margin_gamma=3, tol=1e-9),
    UnevenLinearClassifier("logistic", penalty="l1", C=0.3),
    UnevenLinearClassifier("logistic", penalty="elasticnet", l1_ratio=0.5, C=0.3, margin_gamma=2),
    UnevenLinearClassifier("modified_huber", penalty=None),
    UnevenLinearClassifier("savage", margin_gamma=2),
    UnevenLinearClassifier("sigmoid", random_state=1),
    UnevenLinearClassifier("2*log(1 + exp(-t))"),
    UnevenSVC(margin_gamma=2),
    UnevenSVC(kernel="linear", C=0.01),
    UnevenPerceptron(margin_gamma=2),
    UnevenPerceptron(average=False, max_iter=20, tol=None),
    UnevenClassifierCV("svc", margin_gammas=[0.5, 1, 2], Cs=[0.1, 1], cv=3),
    UnevenClassifierCV("linear", loss="logistic", margin_gammas=[0.5, 1, 2], cv=2, row_costs="learn"),
]
pytestmark = pytest.mark.filterwarnings("ignore:UnevenPerceptron did not settle")


def numbers(model: Any) -> np.ndarray:
    """All that a fit learnt: coefficients, or support vectors and their coefficients."""
    if isinstance(model, UnevenClassifierCV):
        return np.concatenate([numbers(model.best_estimator_), [model.best_params_["margin_gamma"]]])
    if isinstance(model, UnevenSVC):
        return np.concatenate([model.support_, model.dual_coef_[0], model.intercept_])
    return np.append(model.coef_[0], model.intercept_)


def scores(model: Any) -> np.ndarray:
    return getattr(model, "best_estimator_", model).decision_function(X)


def scale_of(model: Any) -> float:
    return (model.best_estimator_ if isinstance(model, UnevenClassifierCV) else model).cost_scale_


def same(one: Any, other: Any) -> None:
    """Bit for bit."""
    np.testing.assert_array_equal(numbers(one), numbers(other))
    np.testing.assert_array_equal(scores(one), scores(other))
    assert scale_of(one) == scale_of(other)


# -- constants ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_constants_for_each_row_are_the_numbers_of_the_constructor(learner: Any) -> None:
    given = clone(learner).set_params(fp_cost=1.5, fn_cost=7).fit(X, Y, WEIGHT)
    for one_cost, other in ((1.5, 7), (np.full(Y.size, 1.5), np.full(Y.size, 7)), ([1.5] * Y.size, 7)):
        model = clone(learner).fit(X, Y, WEIGHT, fp_cost=one_cost, fn_cost=other)
        same(model, given)
        best, reference = (getattr(m, "best_estimator_", m) for m in (model, given))
        assert best.loss_ == reference.loss_
        assert best.analysis_.verdict == reference.analysis_.verdict
        assert not reference.analysis_.per_row


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_equal_costs_of_each_row_are_not_claimed_of_new_rows(learner: Any) -> None:
    """The bound is that of two numbers if new rows have them; ``mean_regret`` says what new rows cost instead."""
    numbers = clone(learner).fit(X, Y, fp_cost=1.5, fn_cost=7)
    rows = clone(learner).fit(X, Y, fp_cost=1.5, fn_cost=np.full(Y.size, 7.0))
    rows = pickle.loads(pickle.dumps(rows))
    fixed, by_row = (getattr(model, "best_estimator_", model).analysis_ for model in (numbers, rows))
    assert (fixed.per_row, by_row.per_row) == (False, True)
    assert "costs of each row" in by_row.report()
    for regret in (0.01, 100):
        assert by_row.cost_regret_bound(regret) == fixed.cost_regret_bound(regret)
    assert by_row.cost_regret_bound(100, mean_regret=1000) > fixed.cost_regret_bound(100)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_only_regrets_matter(learner: Any) -> None:
    """Costs of right decisions that leave the regrets as they are change nothing, whoever names them."""
    plain = clone(learner).set_params(fp_cost=2, fn_cost=6).fit(X, Y)
    shifted = {"fp_cost": 5, "fn_cost": 2, "tp_cost": -4, "tn_cost": 3}
    same(clone(learner).set_params(**shifted).fit(X, Y), plain)
    same(clone(learner).fit(X, Y, **shifted), plain)
    gain = np.round(RANDOM.normal(size=Y.size) * 8) / 8  # sums without rounding
    moved = {"fp_cost": 2 + gain, "tn_cost": gain, "fn_cost": 6 - gain, "tp_cost": -gain}
    same(clone(learner).fit(X, Y, **moved), plain)
    rows = {"fp_cost": np.round(8 * COSTS["fp_cost"]) / 8, "fn_cost": np.round(8 * COSTS["fn_cost"]) / 8}
    moved = {"fp_cost": rows["fp_cost"] + gain, "tn_cost": gain, "fn_cost": rows["fn_cost"] - gain, "tp_cost": -gain}
    if not isinstance(learner, UnevenClassifierCV):  # whose choice is by what is paid, in which the gains are
        same(clone(learner).fit(X, Y, **moved), clone(learner).fit(X, Y, **rows))


@pytest.mark.parametrize("learner", LEARNERS[:13], ids=str)
def test_cost_scale_is_one_over_the_mean_regret(learner: Any) -> None:
    worst = isinstance(learner, UnevenPerceptron)
    for weight in (None, WEIGHT):
        for costs in (COSTS, {"fp_cost": 2, "fn_cost": 30}, {**COSTS, "tn_cost": -1, "tp_cost": 0.01}):
            model = clone(learner).fit(X, Y, weight, **costs)
            unit = regrets(Y, **costs).max() if worst else mean_regret(Y, sample_weight=weight, **costs)
            assert model.cost_scale_ == pytest.approx(1 / unit, rel=1e-12)


# -- the unit of the costs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_power_of_two_changes_no_bit(learner: Any) -> None:
    for costs in (COSTS, {"fp_cost": 1, "fn_cost": 20}):
        plain = clone(learner).fit(X, Y, WEIGHT, **costs)
        for factor in (2.0**-20, 4.0, 2.0**40):
            other = clone(learner).fit(X, Y, WEIGHT, **{name: factor * cost for name, cost in costs.items()})
            np.testing.assert_array_equal(numbers(other), numbers(plain))
            assert scale_of(other) * factor == scale_of(plain)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_unit_does_not_matter(learner: Any) -> None:
    """The same model to rounding, whatever the currency. A solver may amplify the last bit, up to its own tol."""
    for costs in (COSTS, {"fp_cost": 1, "fn_cost": 20}):
        plain = clone(learner).fit(X, Y, **costs)
        for factor in (0.01, 100, 1e-9, 3e7):
            other = clone(learner).fit(X, Y, **{name: factor * cost for name, cost in costs.items()})
            np.testing.assert_allclose(numbers(other), numbers(plain), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(scores(other), scores(plain), rtol=1e-9, atol=1e-9)
            assert scale_of(other) * factor == pytest.approx(scale_of(plain), rel=1e-12)


def test_the_unit_does_not_matter_for_paths_and_choices() -> None:
    for costs in (COSTS, {"fp_cost": 1, "fn_cost": 20}):
        cents = {name: 100 * cost for name, cost in costs.items()}
        for loss, penalty in (("logistic", "l2"), ("hinge", "l2"), ("logistic", "l1")):
            learner = UnevenLinearClassifier(loss, penalty=penalty, margin_gamma=2)
            both = (learner.fit_path(X, Y, [0.01, 0.1, 1], **given) for given in (costs, cents))
            for one, other in zip(*both, strict=True):
                np.testing.assert_allclose(numbers(other), numbers(one), rtol=1e-8, atol=1e-8)
        for estimator in ("linear", "svc"):
            search = UnevenClassifierCV(estimator, cv=2, Cs=[0.1, 1] if estimator == "svc" else None)
            one, other = (clone(search).fit(X, Y, **given) for given in (costs, cents))
            assert one.best_params_ == other.best_params_
            assert other.best_score_ == pytest.approx(100 * one.best_score_, rel=1e-12)
            np.testing.assert_array_equal(one.margin_gammas_, other.margin_gammas_)


def test_the_smallest_and_the_largest_costs() -> None:
    plain = UnevenLinearClassifier().fit(X, Y, **COSTS)
    for factor in (2.0**-1000, 2.0**1000):
        other = UnevenLinearClassifier().fit(X, Y, **{name: factor * cost for name, cost in COSTS.items()})
        np.testing.assert_array_equal(numbers(other), numbers(plain))


# -- weights --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS[:12], ids=str)
def test_weights_times_costs(learner: Any) -> None:
    """C sum s r / mean(r): with a mean weight of 1, weights may as well be in the costs."""
    weight = WEIGHT / WEIGHT.mean()
    fixed = {"tol": 1e-10, **({"gamma": 0.2} if isinstance(learner, UnevenSVC) else {})}  # "scale" looks at weights
    one = clone(learner).set_params(**fixed).fit(X, Y, weight, **COSTS)
    other = clone(learner).set_params(**fixed).fit(X, Y, **{name: weight * cost for name, cost in COSTS.items()})
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-4, atol=1e-4)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)
    assert one.cost_scale_ == pytest.approx(other.cost_scale_, rel=1e-12)


@pytest.mark.parametrize("learner", LEARNERS[:11], ids=str)
def test_weights_are_repetitions(learner: Any) -> None:
    count = np.random.default_rng(0).integers(0, 4, Y.size)
    one = clone(learner).set_params(tol=1e-10).fit(X, Y, count, **COSTS)
    repeated = {name: np.repeat(cost, count) for name, cost in COSTS.items()}
    other = clone(learner).set_params(tol=1e-10).fit(np.repeat(X, count, axis=0), np.repeat(Y, count), **repeated)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-4, atol=1e-4)
    assert one.cost_scale_ == pytest.approx(other.cost_scale_, rel=1e-12)


def test_a_fit_minimises_what_it_says() -> None:
    """The objective, written out for regrets of each row and a loss that is calibrated for equal costs."""
    for loss, gamma in (("logistic", 2.0), ("squared_hinge", 0.5), ("exponential", 1.0)):
        model = UnevenLinearClassifier(loss, margin_gamma=gamma, C=0.7, tol=1e-12).fit(X, Y, WEIGHT, **COSTS)
        score, phi = X @ model.coef_[0] + model.intercept_[0], uneven.phi(loss)
        factor = 0.7 * WEIGHT * regrets(Y, **COSTS) / mean_regret(Y, sample_weight=WEIGHT, **COSTS)
        losses = np.where(Y == 1, phi(score), phi(-gamma * score) / gamma)
        slopes = np.where(Y == 1, phi.slope(score), -phi.slope(-gamma * score))
        w = model.coef_[0]
        assert model.objective_ == pytest.approx(w @ w / 2 + factor @ losses, rel=1e-12)
        np.testing.assert_allclose(w + X.T @ (factor * slopes), 0, atol=1e-4)
        assert abs(factor @ slopes) < 1e-4


# -- rows that cost nothing, and rows whose mistake pays ------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS[:10], ids=str)
def test_a_row_without_regret_does_not_matter(learner: Any) -> None:
    """alpha is 0 or 1 there, or anything; C of the smaller sample is the same sum of weights over another mean."""
    free = np.random.default_rng(1).random(Y.size) < 0.3
    costs = {
        "fp_cost": np.where(free & (Y == 0), 0.0, COSTS["fp_cost"]),
        "fn_cost": np.where(free & (Y == 1), 0.0, COSTS["fn_cost"]),
    }
    one = clone(learner).set_params(tol=1e-10).fit(X, Y, **costs)
    kept = {name: cost[~free] for name, cost in costs.items()}
    fewer = clone(learner).set_params(C=learner.C * Y.size / (~free).sum(), tol=1e-10).fit(X[~free], Y[~free], **kept)
    np.testing.assert_allclose(one.decision_function(X), fewer.decision_function(X), rtol=1e-4, atol=1e-4)
    other = X.copy()
    other[free] = 7.0  # what such a row says does not matter
    if learner.loss != "hinge":  # the solver may scale columns by what it sees
        again = clone(learner).set_params(tol=1e-10).fit(other, Y, **costs)
        np.testing.assert_allclose(one.decision_function(X), again.decision_function(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("learner", LEARNERS[:14], ids=str)
def test_a_mistake_that_pays_turns_the_label(learner: Any) -> None:
    pays = np.random.default_rng(2).random(Y.size) < 0.1
    sign = np.where(pays, -1.0, 1.0)
    with pytest.warns(UserWarning, match=rf"in {pays.sum()} of 160 rows the mistake costs less than the right dec"):
        model = clone(learner).fit(X, Y, **{name: sign * cost for name, cost in COSTS.items()})
    # By hand: the other label, whose mistake costs what this one's earned.
    turned = np.where(pays, 1 - Y, Y)
    size = regrets(Y, **COSTS)
    by_hand = clone(learner).fit(X, turned, fp_cost=size, fn_cost=size)
    same(model, by_hand)


def test_one_row_that_pays_is_said_in_the_singular() -> None:
    cost = COSTS["fn_cost"].copy()
    cost[np.argmax(Y)] = -1
    with pytest.warns(UserWarning, match="in 1 of 160 rows .*: it is learnt with the other label"):
        UnevenLinearClassifier().fit(X, Y, fn_cost=cost)


def test_alpha_of_zero_and_one_in_single_rows() -> None:
    """A row of either class without a cost, and one where only one decision can be wrong."""
    costs = {name: cost.copy() for name, cost in COSTS.items()}
    costs["fp_cost"][:40], costs["fn_cost"][40:80] = 0.0, 0.0
    for learner in LEARNERS:
        assert np.isfinite(scores(clone(learner).fit(X, Y, **costs))).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize(("cost", "label", "other"), [("fp_cost", 0, 1), ("fn_cost", 1, 0)])
def test_a_class_without_costs_leaves_nothing_to_learn(learner: Any, cost: str, label: int, other: int) -> None:
    free = {**COSTS, cost: np.where(label == Y, 0.0, COSTS[cost])}
    with pytest.raises(CostError, match=f"no row with a cost speaks for class {label}: predicting {other} always"):
        clone(learner).fit(X, Y, **free)
