"""The search with costs of each row: both ways to use them, what it pays, what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from linear_data import binary
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven import UnevenClassifierCV as Search
from uneven import UnevenLinearClassifier as Linear
from uneven.errors import CostError, ParameterError
from uneven.metrics import make_cost_scorer

X, Y = binary(150, 3, seed=31)
RANDOM = np.random.default_rng(4)
AMOUNT = RANDOM.exponential(size=Y.size) + 0.1
COSTS = {
    "fp_cost": 1 + 0.2 * AMOUNT,
    "fn_cost": 6 * AMOUNT,
    "tp_cost": 0.3 * AMOUNT - 0.5,
    "tn_cost": RANDOM.normal(size=Y.size) / 9,
}
WEIGHT = RANDOM.uniform(0.2, 3, size=Y.size)
GAMMAS = [0.5, 1.0, 2.0]
FOLDS = StratifiedKFold(3)


def some(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: cost[rows] for name, cost in COSTS.items()}


def paid(truth: np.ndarray, said: np.ndarray, costs: dict[str, np.ndarray], weight: np.ndarray) -> float:
    """The mean cost of decisions, from the four outcomes."""
    positive = np.where(said == 1, costs["tp_cost"], costs["fn_cost"])
    negative = np.where(said == 1, costs["fp_cost"], costs["tn_cost"])
    return float(np.average(np.where(truth == 1, positive, negative), weights=weight))


def by_hand(model: Any, way: str, weight: np.ndarray | None) -> list[float]:
    """Minus the mean cost in each fold."""
    found = []
    for train, test in FOLDS.split(X, Y):
        mass = None if weight is None else weight[train]
        costs = some(test)
        if way == "learn":
            said = clone(model).fit(X[train], Y[train], mass, **some(train)).predict(X[test])
        else:
            said = clone(model).fit(X[train], Y[train], mass).predict(X[test], **costs)
        found.append(-paid(Y[test], said, costs, np.ones(test.size) if weight is None else weight[test]))
    return found


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])
def test_every_score_is_what_would_be_paid(weight: np.ndarray | None) -> None:
    learner = Linear("logistic", fn_cost=4, tol=1e-10)
    search = Search(learner, margin_gammas=GAMMAS, Cs=[0.1, 1.0], cv=FOLDS).fit(X, Y, weight, **COSTS)
    results = search.cv_results_
    assert set(results["row_costs"]) == {"learn", "decide"}
    assert len(results["params"]) == 2 * 2 * 3
    for number, (params, way) in enumerate(zip(results["params"], results["row_costs"], strict=True)):
        expected = by_hand(clone(learner).set_params(**params), way, weight)
        found = [results[f"split{k}_test_score"][number] for k in range(3)]
        assert found == pytest.approx(expected, rel=1e-9)
    best = search.best_index_
    assert search.best_score_ == results["mean_test_score"][best] == results["mean_test_score"].max()
    assert search.row_costs_ == results["row_costs"][best]


@pytest.mark.parametrize("estimator", ["svc", Linear("hinge"), uneven.UnevenPerceptron(tol=1e-2)], ids=str)
def test_losses_without_probabilities_can_only_learn(estimator: Any) -> None:
    search = Search(estimator, margin_gammas=GAMMAS, cv=FOLDS).fit(X, Y, **COSTS)
    assert search.row_costs_ == "learn"
    assert set(search.cv_results_["row_costs"]) == {"learn"}
    with pytest.raises(ParameterError, match=r"row_costs='decide' needs probabilities: .*row_costs='learn' would work"):
        Search(estimator, margin_gammas=GAMMAS, cv=FOLDS, row_costs="decide").fit(X, Y, **COSTS)
    number = search.best_index_
    if not isinstance(estimator, uneven.UnevenPerceptron):
        model = clone(search.best_estimator_).set_params(**search.best_params_)
        assert search.best_score_ == pytest.approx(np.mean(by_hand(model, "learn", None)), rel=1e-3)
    assert search.cv_results_["mean_test_score"][number] == search.best_score_


@pytest.mark.parametrize("way", ["learn", "decide"])
def test_a_way_can_be_demanded(way: str) -> None:
    search = Search("linear", margin_gammas=GAMMAS, cv=FOLDS, row_costs=way).fit(X, Y, **COSTS)
    assert search.row_costs_ == way
    assert len(search.cv_results_["params"]) == 3
    both = Search("linear", margin_gammas=GAMMAS, cv=FOLDS).fit(X, Y, **COSTS)
    assert both.best_score_ >= search.best_score_
    model = clone(search.best_estimator_)
    if way == "learn":
        np.testing.assert_array_equal(model.fit(X, Y, **COSTS).coef_, search.best_estimator_.coef_)
        np.testing.assert_array_equal(search.predict(X), search.predict(X, **COSTS))
        search.predict_proba(X, **COSTS)
        with pytest.raises(CostError, match="so a probability needs them"):
            search.predict_proba(X)
    else:
        np.testing.assert_array_equal(model.fit(X, Y).coef_, search.best_estimator_.coef_)
        np.testing.assert_array_equal(search.predict(X, **COSTS), search.best_estimator_.predict(X, **COSTS))
        for method in (search.predict, search.decision_function):
            with pytest.raises(CostError, match=r"chose to decide each row by its own costs.*give fp_cost and fn_cost"):
                method(X)
        assert search.predict_proba(X).shape == (Y.size, 2)
        np.testing.assert_array_equal(np.log(search.predict_proba(X)), search.predict_log_proba(X))


def test_score_is_minus_the_expected_cost() -> None:
    for way in ("learn", "decide"):
        search = Search("linear", margin_gammas=GAMMAS, cv=FOLDS, row_costs=way).fit(X, Y, **COSTS)
        expected = -paid(Y, search.predict(X, **COSTS), COSTS, WEIGHT)
        assert search.score(X, Y, WEIGHT, **COSTS) == pytest.approx(expected, rel=1e-12)
    numbers = Search("linear", fp_cost=2, fn_cost=9, margin_gammas=GAMMAS, cv=FOLDS).fit(X, Y)
    said = numbers.predict(X)
    wrong = np.where(Y == 1, 9.0, 2.0) * (said != Y)
    assert numbers.score(X, Y) == pytest.approx(-wrong.mean(), rel=1e-12)
    assert numbers.row_costs_ is None
    assert "row_costs" not in numbers.cv_results_


def test_score_of_one_split_is_its_entry_in_the_results() -> None:
    train, test = next(FOLDS.split(X, Y))
    search = Search("linear", margin_gammas=[2.0], cv=[(train, test)], row_costs="learn").fit(X, Y, **COSTS)
    alone = Search("linear", margin_gammas=[2.0], cv=2, row_costs="learn").fit(X[train], Y[train], **some(train))
    assert alone.score(X[test], Y[test], **some(test)) == pytest.approx(search.best_score_, rel=1e-12)


def test_a_pipeline_and_processes_change_nothing() -> None:
    scaled = StandardScaler().fit_transform(X)
    plain = Search("linear", margin_gammas=GAMMAS, cv=FOLDS).fit(scaled, Y, **COSTS)
    parallel = Search("linear", margin_gammas=GAMMAS, cv=FOLDS, n_jobs=2).fit(scaled, Y, **COSTS)
    for k in range(3):
        name = f"split{k}_test_score"
        np.testing.assert_array_equal(parallel.cv_results_[name], plain.cv_results_[name])
    assert parallel.best_params_ == plain.best_params_
    assert parallel.row_costs_ == plain.row_costs_
    pipe = make_pipeline(StandardScaler(), Linear())
    for way in ("learn", "decide"):
        whole = Search(pipe, margin_gammas=[2.0], cv=FOLDS, row_costs=way).fit(X, Y, **COSTS)
        inner = Search("linear", margin_gammas=[2.0], cv=FOLDS, row_costs=way).fit(scaled, Y, **COSTS)
        np.testing.assert_allclose(whole.best_estimator_[-1].coef_, inner.best_estimator_.coef_, rtol=1e-9)
        np.testing.assert_array_equal(whole.predict(X, **COSTS), inner.predict(scaled, **COSTS))


def test_names_and_words() -> None:
    words = np.where(Y == 1, "bad", "good")
    plain = Search("linear", margin_gammas=GAMMAS, cv=FOLDS).fit(X, Y, **COSTS)
    named = Search("linear", margin_gammas=GAMMAS, cv=FOLDS, pos_label="bad").fit(X, words, **COSTS)
    assert named.best_score_ == pytest.approx(plain.best_score_, rel=1e-9)
    np.testing.assert_array_equal(named.predict(X, **COSTS) == "bad", plain.predict(X, **COSTS) == 1)
    with pytest.raises(ParameterError, match="row_costs must be one of auto, learn, decide, got 'guess'"):
        Search("linear", row_costs="guess").fit(X, Y, **COSTS)
    with pytest.raises(CostError, match="pos_label must say which"):
        Search("linear").fit(X, words, **COSTS)


def test_the_automatic_grid_looks_at_the_costs_of_rows() -> None:
    cheap = {"fp_cost": np.full(Y.size, 1.0), "fn_cost": 30 * AMOUNT}
    search = Search("svc", cv=2).fit(X, Y, **cheap)
    ratio = (Y == 0).sum() / (Y == 1).sum()
    total = cheap["fn_cost"][Y == 1].sum() / (Y == 0).sum()
    assert search.margin_gammas_[-1] == pytest.approx(np.clip(max(ratio, total), 4, 64), rel=1e-2)


@pytest.mark.parametrize("way", ["learn", "decide"])
def test_a_cost_scorer_is_given_the_costs_of_the_rows(way: str) -> None:
    plain = Search(margin_gammas=GAMMAS, cv=FOLDS, row_costs=way)
    scored = clone(plain).set_params(scoring=make_cost_scorer())
    for search in (plain, scored):
        search.fit(X, Y, **COSTS)
    expected = plain.cv_results_["mean_test_score"]
    np.testing.assert_allclose(scored.cv_results_["mean_test_score"], expected, rtol=1e-9)
    assert scored.score(X, Y, WEIGHT, **COSTS) == pytest.approx(plain.score(X, Y, WEIGHT, **COSTS), rel=1e-9)


def test_score_ignores_nothing_that_is_given() -> None:
    search = Search(margin_gammas=[1.0], cv=FOLDS, scoring="accuracy").fit(X, Y)
    right = search.predict(X) == Y
    assert search.score(X, Y, WEIGHT) == pytest.approx(np.average(right, weights=WEIGHT))
    with pytest.raises(CostError, match="'accuracy' uses no costs, got fn_cost; make_cost_scorer"):
        search.score(X, Y, fn_cost=AMOUNT)


def test_a_split_that_tests_only_rows_of_weight_zero_is_refused() -> None:
    weight = np.where(np.arange(Y.size) < 50, 0.0, 1.0)
    with pytest.raises(CostError, match="sample_weight is 0 for every row that one split tests"):
        Search(margin_gammas=[1.0], cv=KFold(3)).fit(X, Y, weight)


@pytest.mark.parametrize("request_costs", [False, True])
def test_a_pipeline_is_refitted_with_metadata_routing(request_costs: bool) -> None:
    positive = {"fp_cost": COSTS["fp_cost"], "fn_cost": COSTS["fn_cost"]}
    learner = Linear()
    with config_context(enable_metadata_routing=True):
        if request_costs:
            learner.set_fit_request(fp_cost=True, fn_cost=True, sample_weight=True)
        search = Search(make_pipeline(StandardScaler(), learner), margin_gammas=GAMMAS, cv=FOLDS, row_costs="learn")
        routed = search.fit(X, Y, WEIGHT, **positive)
    other = clone(search).fit(X, Y, WEIGHT, **positive)
    np.testing.assert_array_equal(routed.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("way", ["learn", "decide"])
def test_a_score_needs_the_costs_that_the_fit_had_for_each_row(way: str) -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(90, 2))
    y = (X[:, 0] + random.logistic(size=90) > 0).astype(int)
    cost = np.linspace(1, 9, 90)
    search = uneven.UnevenClassifierCV("linear", margin_gammas=[1], cv=3, row_costs=way).fit(X, y, fn_cost=cost)
    with pytest.raises(CostError, match="the fit had fn_cost of each row, so score needs it"):
        search.score(X, y)
    said = search.predict(X, fn_cost=cost)
    assert search.score(X, y, fn_cost=cost) == pytest.approx(-uneven.metrics.expected_cost(y, said, fn_cost=cost))
