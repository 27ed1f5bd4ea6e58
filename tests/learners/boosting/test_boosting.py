"""UnevenAdaBoostClassifier: it is AdaBoost, its loss never rises, and the laws of costs, labels, weights and stages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from registered import CALIBRATED
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import uneven
from uneven import UnevenAdaBoostClassifier as Boosting
from uneven.errors import CostError

CONVEX = [name for name in CALIBRATED if uneven.phi(name).convex]
ALGORITHMS = ("discrete", "real", "gradient")
WRITTEN = "log(1 + exp(-t)) + relu(-t)**2/2"


def data(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Floats that single precision holds exactly, because trees of scikit-learn do."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).astype(np.float32).astype(np.float64)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] / 2 + random.normal(size=n) > 0.3).astype(int)


# -- AdaBoost -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_it_is_adaboost(rate: float, weighted: bool) -> None:
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.5, 2, y.size) if weighted else None
    theirs = AdaBoostClassifier(n_estimators=40, learning_rate=rate).fit(X, y, sample_weight=weight)
    ours = Boosting(n_estimators=40, learning_rate=rate, init="zero").fit(X, y, weight)
    stumps = [(tree.tree_.feature[0], tree.tree_.threshold[0]) for tree in theirs.estimators_]
    assert ours.tree_features_[:, 0].tolist() == [feature for feature, _ in stumps]
    np.testing.assert_allclose(ours.tree_thresholds_[:, 0], [threshold for _, threshold in stumps], rtol=1e-12)
    np.testing.assert_allclose(np.abs(ours.tree_leaves_), np.outer(theirs.estimator_weights_ / 2, [1, 1]), rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for one, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_cost_weighted_rows_are_cost_sensitive_adaboost() -> None:
    """gamma = 1: AdaBoost that starts with weights in the ratio of the costs."""
    X, y = data()
    theirs = AdaBoostClassifier(n_estimators=25).fit(X, y, sample_weight=np.where(y == 1, 7.0, 2.0))
    ours = Boosting(n_estimators=25, init="zero", fp_cost=2, fn_cost=7).fit(X, y)
    np.testing.assert_allclose(np.abs(ours.tree_leaves_[:, 0]), theirs.estimator_weights_ / 2, rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_the_boosting_of_masnadi_shirazi_and_vasconcelos_is_one_gamma() -> None:
    """exp(-c_FN f) and exp(c_FP f), in other units: margin_gamma = fp_cost/fn_cost."""
    X, y = data()
    model = Boosting(fp_cost=1, fn_cost=4, margin_gamma="1/4", n_estimators=20, init="zero").fit(X, y)
    theirs = uneven.Loss("exp(-4*t)", "exp(t)")
    t = np.linspace(-1, 1, 21)
    ratio = model.loss_.positive(4 * t) / theirs.positive(t)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
    np.testing.assert_allclose(model.loss_.negative(4 * t) / theirs.negative(t), ratio, rtol=1e-12)
    assert uneven.implied_alpha(theirs).alpha == pytest.approx(1 / 5)
    plain = Boosting(theirs, fp_cost=1, fn_cost=4, n_estimators=20, init="zero").fit(X, y)
    np.testing.assert_allclose(4 * plain.tree_leaves_, model.tree_leaves_, rtol=1e-7)


def test_real_leaves_are_half_the_log_odds() -> None:
    """Real AdaBoost of Schapire and Singer, gamma = 1: log(W+/W-)/2 in each leaf."""
    X, y = data()
    model = Boosting(algorithm="real", n_estimators=1, init="zero").fit(X, y)
    right = X[:, model.tree_features_[0, 0]] > model.tree_thresholds_[0, 0]
    expected = [np.log(y[side].sum() / (1 - y[side]).sum()) / 2 for side in (~right, right)]
    np.testing.assert_allclose(model.tree_leaves_[0], expected, rtol=1e-12)


# -- the loss -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("loss", [*CONVEX, WRITTEN])
def test_the_loss_never_rises(loss: str, algorithm: str) -> None:
    X, y = data(seed=3)
    for gamma, depth, rate in ((1, 1, 1.0), (4, 2, 0.3), (0.25, 1, 1.0)):
        model = Boosting(
            loss,
            fn_cost=5,
            margin_gamma=gamma,
            max_depth=depth,
            learning_rate=rate,
            algorithm=algorithm,
            n_estimators=30,
        ).fit(X, y)
        assert np.diff(model.train_loss_).max() <= 1e-12 * model.train_loss_[0]
        assert model.n_estimators_ == 30
        assert model.train_loss_[-1] < (0.999 if algorithm == "discrete" else 0.99) * model.train_loss_[0]
        if not uneven.phi(loss).kinks:
            weight = np.where(y == 1, 5.0, 1.0) / np.where(y == 1, 5.0, 1.0).mean()
            unit = np.where(y == 1, 5 / 6, 1 / 6)
            again = (weight / unit) @ model.loss_(2 * y - 1, model.decision_function(X)) / y.size
            assert again == pytest.approx(model.train_loss_[-1], rel=1e-9)


@pytest.mark.parametrize("loss", CONVEX)
def test_the_start_is_the_best_constant(loss: str) -> None:
    X, y = data()
    start = Boosting(loss, fn_cost=3, margin_gamma=2, n_estimators=1).fit(X, y).init_score_
    loss_ = Boosting(loss, fn_cost=3, margin_gamma=2)._current_loss()

    def risk(t: float) -> float:
        return float(loss_(2 * y - 1, np.full(y.size, t)).mean())

    slack = 0.04 if uneven.phi(loss).kinks else 1e-9  # kinks are rounded
    assert all(risk(start) <= risk(start + step) * (1 + slack) for step in (-1.0, -0.01, 0.01, 1.0))


def test_deeper_trees_learn_what_stumps_cannot() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(2000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    cost = [-Boosting(max_depth=depth, n_estimators=20).fit(X, y).score(X, y) for depth in (1, 2, 3)]
    assert cost[0] > 0.3
    assert max(cost[1:]) < 0.05


@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared_hinge", "hinge"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_separable_data_and_constant_columns_end_in_finite_scores(loss: str, algorithm: str) -> None:
    X, y = np.column_stack([np.arange(30.0), np.zeros(30)]), (np.arange(30) >= 12).astype(int)
    model = Boosting(loss, algorithm=algorithm, fn_cost=1e6, margin_gamma=100).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_array_equal(model.predict(X), y)
    flat = Boosting(loss, algorithm=algorithm, fn_cost=3).fit(np.zeros((30, 2)), y)
    assert flat.n_estimators_ == 0
    assert flat.feature_importances_.tolist() == [0, 0]
    assert set(flat.predict(np.zeros((3, 2)))) == {1}


# -- laws -----------------------------------------------------------------------------------------------------------

CASES = [
    Boosting(n_estimators=15),
    Boosting("logistic", algorithm="real", max_depth=2, n_estimators=10, margin_gamma=3),
    Boosting(algorithm="gradient", max_depth=3, learning_rate=0.5, n_estimators=10, margin_gamma=0.5),
    Boosting("hinge", algorithm="gradient", n_estimators=10),
]


@pytest.mark.parametrize("learner", CASES, ids=str)
def test_the_unit_of_the_costs_does_not_matter(learner: Any) -> None:
    X, y = data()
    amount = np.random.default_rng(1).exponential(3, y.size)
    for costs in ({"fp_cost": 2, "fn_cost": 14}, {"fp_cost": 1, "fn_cost": amount}):
        plain = clone(learner).fit(X, y, **costs)
        for factor in (0.01, 100, 2.0**40):
            other = clone(learner).fit(X, y, **{name: factor * cost for name, cost in costs.items()})
            np.testing.assert_allclose(other.decision_function(X), plain.decision_function(X), rtol=1e-7, atol=1e-9)
            assert other.cost_scale_ * factor == pytest.approx(plain.cost_scale_)


@pytest.mark.parametrize("learner", CASES, ids=str)
def test_constants_for_each_row_are_numbers(learner: Any) -> None:
    X, y = data()
    plain = clone(learner).set_params(fp_cost=2, fn_cost=9).fit(X, y)
    given = clone(learner).fit(X, y, fp_cost=np.full(y.size, 2.0), fn_cost=[9] * y.size)
    np.testing.assert_array_equal(plain.decision_function(X), given.decision_function(X))


@pytest.mark.parametrize("learner", CASES, ids=str)
def test_labels_and_costs_swap_together(learner: Any) -> None:
    """The other class as the positive one, with 1/gamma and the costs exchanged: scores times -gamma."""
    X, y = data()
    gamma = float(learner.margin_gamma)
    one = clone(learner).set_params(fp_cost=2, fn_cost=9).fit(X, y)
    other = clone(learner).set_params(fp_cost=9, fn_cost=2, margin_gamma=1 / gamma, pos_label=0).fit(X, y)
    expected = gamma * one.decision_function(X)
    np.testing.assert_allclose(other.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    words = clone(learner).set_params(fp_cost=2, fn_cost=9, pos_label="bad").fit(X, np.where(y == 1, "bad", "good"))
    np.testing.assert_array_equal(words.decision_function(X), -one.decision_function(X))
    assert words.predict(X).tolist() == np.where(one.predict(X) == 1, "bad", "good").tolist()


@pytest.mark.parametrize("learner", CASES, ids=str)
@pytest.mark.parametrize("many", [False, True])
def test_a_weight_of_two_is_a_row_twice(learner: Any, many: bool) -> None:
    X, y = data(1200 if many else 240)  # more than 255 different values: bins of equal weight
    weight = np.random.default_rng(2).integers(0, 4, y.size)
    weighted = clone(learner).fit(X, y, weight)
    repeated = clone(learner).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.tree_thresholds_, repeated.tree_thresholds_)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-7, atol=1e-9)


def test_regrets_of_rows_are_weights_of_rows() -> None:
    X, y = data()
    random = np.random.default_rng(3)
    fp, fn = random.exponential(size=(2, y.size))
    fp[:5] = 0.0  # rows that do not count, if negative
    by_cost = Boosting(n_estimators=15).fit(X, y, fp_cost=fp, fn_cost=fn)
    by_weight = Boosting(n_estimators=15).fit(X, y, np.where(y == 1, fn, fp))
    np.testing.assert_allclose(by_cost.tree_leaves_, by_weight.tree_leaves_, rtol=1e-8)
    with pytest.raises(CostError, match="staged_cost needs them"):
        list(by_cost.staged_cost(X, y))
    assert len(list(by_cost.staged_cost(X, y, fp_cost=fp, fn_cost=fn))) == 15


def test_other_costs_at_predict_move_the_threshold() -> None:
    X, y = data(2000)
    model = Boosting("logistic", algorithm="gradient", n_estimators=60, learning_rate=0.3).fit(X, y)
    probability = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X, fp_cost=1, fn_cost=9), probability > 0.1)
    each = np.random.default_rng(0).uniform(1, 9, y.size)
    np.testing.assert_array_equal(model.predict(X, fn_cost=each), probability > 1 / (1 + each))


# -- missing values -------------------------------------------------------------------------------------------------


def test_missing_values_go_to_the_better_side() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    for high_means_missing in (True, False):
        y = ((X[:, 0] > 0.5) == high_means_missing).astype(int)
        holed = X.copy()
        holed[(y == 1) & (random.random(400) < 0.5), 0] = np.nan  # missing speaks for 1
        model = Boosting(n_estimators=1).fit(holed, y)
        assert (model.predict(holed) == y).all()
        assert model.predict([[np.nan, 0.0]]).tolist() == [1]
    only = np.where(y[:, None] == 1, np.nan, 1.0)  # nothing but the hole tells
    model = Boosting(n_estimators=1).fit(only, y)
    assert (model.predict(only) == y).all()


def test_a_hole_that_training_did_not_have_goes_with_most_rows() -> None:
    X, y = np.arange(10.0)[:, None], (np.arange(10) >= 7).astype(int)
    assert Boosting(n_estimators=1).fit(X, y).predict([[np.nan]]).tolist() == [0]


# -- stages and stopping --------------------------------------------------------------------------------------------


def test_stages_end_in_the_model() -> None:
    X, y = data()
    model = Boosting(fn_cost=4, n_estimators=12, pos_label=0).fit(X, y)
    scores, said = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(scores) == len(said) == 12
    np.testing.assert_array_equal(scores[-1], model.decision_function(X))
    np.testing.assert_array_equal(said[-1], model.predict(X))
    for m in (1, 5):
        shorter = Boosting(fn_cost=4, n_estimators=m, pos_label=0).fit(X, y)
        np.testing.assert_array_equal(scores[m - 1], shorter.decision_function(X))
    costs = list(model.staged_cost(X, y))
    assert costs[-1] == uneven.metrics.expected_cost(y, model.predict(X), fn_cost=4, pos_label=0)


def test_importances() -> None:
    X, y = data(800)
    X[:, 3] = 0
    found = Boosting(n_estimators=30).fit(X, y).feature_importances_
    assert found.sum() == pytest.approx(1)
    assert found.argmax() == 0
    assert found[3] == 0


@pytest.mark.parametrize("monitor", ["loss", "cost"])
def test_early_stopping_keeps_the_best_round(monitor: str) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 8))
    y = (X[:, 0] + 2 * random.normal(size=600) > 0).astype(int)
    model = Boosting(
        fn_cost=3, n_estimators=400, max_depth=3, algorithm="gradient", n_iter_no_change=10, monitor=monitor
    ).fit(X, y)
    assert model.n_estimators_ < 100
    assert model.n_estimators_ == int(np.argmin(model.validation_loss_))
    assert model.train_loss_.size == model.n_estimators_ + 1
    assert len(list(model.staged_predict(X))) == model.n_estimators_
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.tree_leaves_, model.tree_leaves_)
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(other.validation_loss_, model.validation_loss_)


def test_early_stopping_on_cost_counts_the_costs_also_of_a_finished_loss() -> None:
    X, y = data(600)
    made = Boosting(fp_cost=1, fn_cost=6, n_iter_no_change=5, monitor="cost").fit(X, y)
    given = Boosting(made.loss_, fp_cost=1, fn_cost=6, n_iter_no_change=5, monitor="cost").fit(X, y)
    np.testing.assert_allclose(given.validation_loss_, made.validation_loss_, rtol=1e-12)
    assert made.validation_loss_[0] == pytest.approx((y == 0).mean() / (1 + 5 * y.mean()), rel=0.05)  # all are positive


def test_least_weight_of_a_leaf() -> None:
    X, y = data()
    weight = np.random.default_rng(0).uniform(0.1, 3, y.size)
    model = Boosting(min_weight_fraction_leaf=0.2, n_estimators=20, max_depth=2).fit(X, y, weight)
    for m in range(model.n_estimators_):
        leaf = np.zeros(y.size, int)
        node = np.zeros(y.size, int)
        for _ in range(2):
            feature = model.tree_features_[m, node]
            right = (feature >= 0) & (X[np.arange(y.size), feature] > model.tree_thresholds_[m, node])
            leaf, node = 2 * leaf + right, 2 * node + 1 + right
        masses = np.bincount(leaf, weight, minlength=4)
        assert (masses[masses > 0] >= 0.2 * weight.sum() * (1 - 1e-12)).all()


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 12))
    y = (X[:, 0] + random.normal(size=60_000) > 0).astype(int)
    two = Boosting("logistic", n_estimators=5, max_depth=2).fit(X, y)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    one = Boosting("logistic", n_estimators=5, max_depth=2).fit(X, y)
    np.testing.assert_array_equal(one.tree_leaves_, two.tree_leaves_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_a_tree_of_depth_two_is_scikit_learns_where_values_are_few() -> None:
    """Weighted Gini at each node: the same splits as a decision tree, on values that both cut alike."""
    random = np.random.default_rng(4)
    X = random.integers(0, 2, size=(500, 6)).astype(float)
    y = (X @ [3, 2, 1, 0, 0, 0] + random.normal(size=500) > 3).astype(int)
    theirs = DecisionTreeClassifier(max_depth=2).fit(X, y)
    ours = Boosting(max_depth=2, n_estimators=1, init="zero").fit(X, y)
    assert ours.tree_features_[0].tolist() == [theirs.tree_.feature[k] for k in (0, 1, 4)]
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
