"""The scorer passes the costs of rows to predict and to the score, wherever scikit-learn calls it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from cost_stubs import ByCosts, ByTwoCosts, Plain
from row_costs import Sample, sample
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import uneven
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics import expected_cost, make_cost_scorer

ROWS = sample(60, 90)
X = np.stack([ROWS.probability, ROWS.score], axis=1)
CV = StratifiedKFold(3)


def by_alpha(rows: Sample, taken: np.ndarray) -> float:
    """Minus the expected cost of deciding each row by its own costs."""
    part = rows.taken(taken)
    said = RowCosts.read(part.y.size, **part.costs).prefers_positive(part.probability)
    return -expected_cost(part.y, said.astype(int), **part.costs)


def at_half(rows: Sample, taken: np.ndarray) -> float:
    part = rows.taken(taken)
    return -expected_cost(part.y, (part.probability > 0.5).astype(int), **part.costs)


ALL_ROWS = np.arange(ROWS.y.size)
BY_ALPHA = [by_alpha(ROWS, test) for _, test in CV.split(X, ROWS.y)]
AT_HALF = [at_half(ROWS, test) for _, test in CV.split(X, ROWS.y)]


def wrapped(learner: Any) -> list[Any]:
    same = FunctionTransformer()
    return [
        learner,
        Pipeline([("last", learner)]),
        make_pipeline(same, "passthrough", learner),
        make_pipeline(same, make_pipeline(same, learner)),
        GridSearchCV(learner, {"threshold": [0.5]}, cv=2),
        make_pipeline(same, GridSearchCV(make_pipeline(same, learner), {}, cv=2)),
        FrozenEstimator(clone(learner).fit(X, ROWS.y)),
    ]


@pytest.mark.parametrize("kind", range(7))
@pytest.mark.parametrize("routing", [False, True])
def test_costs_reach_the_predict_that_decides(kind: int, routing: bool) -> None:
    scorer = make_cost_scorer()
    with sklearn.config_context(enable_metadata_routing=routing):
        takes = wrapped(ByCosts())[kind].fit(X, ROWS.y)
        assert scorer(takes, X, ROWS.y, **ROWS.costs) == pytest.approx(by_alpha(ROWS, ALL_ROWS))
        assert make_cost_scorer(decide="predict")(takes, X, ROWS.y, **ROWS.costs) == at_half(ROWS, ALL_ROWS)
        takes_none = wrapped(Plain())[kind].fit(X, ROWS.y)
        assert scorer(takes_none, X, ROWS.y, **ROWS.costs) == at_half(ROWS, ALL_ROWS)
        by_probability = make_cost_scorer(decide="alpha")
        for model in (takes, takes_none):
            assert by_probability(model, X, ROWS.y, **ROWS.costs) == pytest.approx(by_alpha(ROWS, ALL_ROWS))


def test_a_threshold_that_was_tuned_stays() -> None:
    model = FixedThresholdClassifier(ByCosts(), threshold=0.3, response_method="predict_proba").fit(X, ROWS.y)
    found = make_cost_scorer()(model, X, ROWS.y, **ROWS.costs)
    said = (ROWS.probability >= 0.3).astype(int)
    assert found == -expected_cost(ROWS.y, said, **ROWS.costs)


def test_a_predict_with_two_costs_gets_the_regrets() -> None:
    model = ByTwoCosts().fit(X, ROWS.y)
    assert make_cost_scorer()(model, X, ROWS.y, **ROWS.costs) == pytest.approx(by_alpha(ROWS, ALL_ROWS))


def test_numbers_of_the_scorer_are_not_passed_to_predict() -> None:
    """A model has its own costs; only costs of rows override them."""
    model = ByCosts().fit(X, ROWS.y)
    said = (ROWS.probability > 0.5).astype(int)
    scorer = make_cost_scorer(fp_cost=1, fn_cost=9)
    assert scorer(model, X, ROWS.y) == -expected_cost(ROWS.y, said, fp_cost=1, fn_cost=9)
    weighted = scorer(model, X, ROWS.y, sample_weight=ROWS.weight)
    assert weighted == -expected_cost(ROWS.y, said, fp_cost=1, fn_cost=9, sample_weight=ROWS.weight)
    amount = ROWS.costs["fn_cost"] ** 2
    said = RowCosts.read(ROWS.y.size, fp_cost=1, fn_cost=amount).prefers_positive(ROWS.probability)
    assert scorer(model, X, ROWS.y, fn_cost=amount) == pytest.approx(
        -expected_cost(ROWS.y, said.astype(int), fp_cost=1, fn_cost=amount)
    )


@pytest.mark.parametrize(("learner", "expected"), [(ByCosts(), BY_ALPHA), (Plain(), AT_HALF)])
def test_cross_validation_routes_the_costs_of_each_fold(learner: Any, expected: list[float]) -> None:
    scorer = make_cost_scorer()
    with sklearn.config_context(enable_metadata_routing=True):
        if isinstance(learner, ByCosts):
            learner.set_fit_request(fp_cost=True, fn_cost=True, tp_cost=False, tn_cost=False)
        model = make_pipeline(FunctionTransformer(), learner)
        assert cross_val_score(model, X, ROWS.y, scoring=scorer, cv=CV, params=ROWS.costs) == pytest.approx(expected)
        several = cross_validate(
            model, X, ROWS.y, scoring={"cost": scorer, "accuracy": "accuracy"}, cv=CV, params=ROWS.costs
        )
        assert several["test_cost"] == pytest.approx(expected)
        if isinstance(learner, ByCosts):
            fitted = model.fit(X, ROWS.y, fp_cost=ROWS.costs["fp_cost"], fn_cost=ROWS.costs["fn_cost"])
            assert np.array_equal(fitted[-1].fitted_["fn_cost"], ROWS.costs["fn_cost"])


def test_a_search_chooses_by_the_costs_of_rows() -> None:
    scorer = make_cost_scorer(decide="predict")
    grid = {"threshold": [0.1, 0.3, 0.5, 0.8]}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(Plain(), grid, scoring=scorer, cv=CV).fit(X, ROWS.y, **ROWS.costs)
        outer = cross_val_score(search, X, ROWS.y, scoring=scorer, cv=CV, params=ROWS.costs)
    costs = [
        np.mean([
            -expected_cost(part.y, (part.probability > t).astype(int), **part.costs)
            for part in (ROWS.taken(test) for _, test in CV.split(X, ROWS.y))
        ])
        for t in grid["threshold"]
    ]  # fmt: skip
    assert search.cv_results_["mean_test_score"] == pytest.approx(costs)
    assert search.best_index_ == int(np.argmax(costs))
    assert np.isfinite(outer).all()


def test_a_tuned_threshold_is_the_best_at_the_costs_of_rows() -> None:
    """scikit-learn makes its curve scorer from _score_func, _sign, _kwargs and the requests of ours."""
    thresholds = np.linspace(0.02, 0.98, 25)
    with sklearn.config_context(enable_metadata_routing=True):
        tuned = TunedThresholdClassifierCV(
            Plain(), scoring=make_cost_scorer(), cv="prefit", refit=False, thresholds=thresholds, store_cv_results=True
        )
        tuned.estimator.fit(X, ROWS.y)
        tuned.fit(X, ROWS.y, **ROWS.costs)
        folded = TunedThresholdClassifierCV(Plain(), scoring=make_cost_scorer(), cv=3).fit(X, ROWS.y, **ROWS.costs)
    brute = [-expected_cost(ROWS.y, (ROWS.probability >= t).astype(int), **ROWS.costs) for t in thresholds]
    assert tuned.cv_results_["scores"] == pytest.approx(brute)
    assert tuned.best_score_ == pytest.approx(max(brute))
    assert 0 <= folded.best_threshold_ <= 1
    plain = TunedThresholdClassifierCV(Plain(), scoring=make_cost_scorer(fn_cost=9, pos_label=1), cv=3)
    assert plain.fit(X, ROWS.y).best_threshold_ < 0.5


def test_weights_must_be_requested_and_costs_can_be_refused() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_cost_scorer()
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            cross_val_score(
                Plain().set_fit_request(sample_weight=False), X, ROWS.y, scoring=scorer,
                params={"sample_weight": ROWS.weight}, error_score="raise",
            )  # fmt: skip
        learner = ByCosts().set_fit_request(fn_cost=True, fp_cost=False, tp_cost=False, tn_cost=False)
        refuses = make_cost_scorer(fn_cost=9).set_score_request(fn_cost=False, sample_weight=True)
        found = cross_val_score(learner, X, ROWS.y, scoring=refuses, cv=CV, params={"fn_cost": ROWS.costs["fn_cost"]})
        numbers = cross_val_score(Plain(), X, ROWS.y, scoring=make_cost_scorer(fn_cost=9), cv=CV)
    assert found == pytest.approx(numbers)


def test_labels_with_names() -> None:
    words, features = np.where(ROWS.y == 1, "a fraud", "b ok"), np.stack([1 - ROWS.probability], axis=1)
    model = Plain().fit(features, words)
    at_threshold = -expected_cost(words, model.predict(features), pos_label="a fraud", **ROWS.costs)
    for decide, expected in (("alpha", by_alpha(ROWS, ALL_ROWS)), ("predict", at_threshold)):
        found = make_cost_scorer(pos_label="a fraud", decide=decide)(model, features, words, **ROWS.costs)
        assert found == pytest.approx(expected)
        with pytest.raises(CostError, match="pos_label must say which of the labels 'a fraud' and 'b ok'"):
            make_cost_scorer(decide=decide)(model, features, words, **ROWS.costs)


def test_a_scorer_is_pickled_copied_and_shown() -> None:
    scorer = make_cost_scorer(fp_cost=1, fn_cost=9, decide="predict")
    model = Plain().fit(X, ROWS.y)
    for copy in (pickle.loads(pickle.dumps(scorer)), clone(GridSearchCV(Plain(), {}, scoring=scorer)).scoring):
        assert copy(model, X, ROWS.y) == scorer(model, X, ROWS.y)
    assert repr(scorer) == (
        "make_cost_scorer(fp_cost=1, fn_cost=9, tp_cost=0.0, tn_cost=0.0, pos_label=None, decide='predict')"
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"decide": "threshold"}, "decide must be one of 'auto', 'predict', 'alpha', got 'threshold'"),
        ({"fn_cost": [1.0, 2.0]}, "fn_cost of a scorer must be a number; give the costs of rows as metadata"),
        ({"fp_cost": -1}, "fp_cost must not be negative"),
        ({"tp_cost": "much"}, "tp_cost must be a finite number, got 'much'"),
    ],
)
def test_bad_scorers(given: dict[str, Any], says: str) -> None:
    with pytest.raises(CostError, match=says):
        make_cost_scorer(**given)
    with pytest.raises(TypeError, match=r"a cost scorer takes sample_weight, fp_cost, .* got 'costs'"):
        make_cost_scorer()(Plain(), X, ROWS.y, costs=1)


def test_our_learners_decide_by_the_costs_of_rows() -> None:
    random = np.random.default_rng(3)
    features = random.normal(size=(200, 3))
    y = (features[:, 0] + random.normal(size=200) > 0.8).astype(int)
    costs = {"fp_cost": 1.0, "fn_cost": random.lognormal(1.5, 1.0, 200)}
    scorer = make_cost_scorer()
    fixed = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier("logistic")).fit(features, y)
    said = fixed[-1].predict(fixed[0].transform(features), **costs)
    assert (said != fixed.predict(features)).any()
    assert scorer(fixed, features, y, **costs) == pytest.approx(-expected_cost(y, said, **costs))
    assert scorer(fixed, features, y, **costs) == pytest.approx(
        make_cost_scorer(decide="alpha")(fixed, features, y, **costs)
    )
    learnt = uneven.UnevenLinearClassifier("logistic").fit(features, y, **costs)
    assert scorer(learnt, features, y, **costs) == -expected_cost(y, learnt.predict(features), **costs)
    by_probability = make_cost_scorer(decide="alpha")(learnt, features, y, **costs)
    assert by_probability == pytest.approx(scorer(learnt, features, y, **costs), rel=0.05)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = uneven.UnevenLinearClassifier("logistic").set_fit_request(fp_cost=True, fn_cost=True)
        given = {**costs, "fp_cost": np.full(200, 1.0)}
        routed = cross_val_score(learner, features, y, scoring=scorer, cv=CV, params=given, error_score="raise")
        by_hand = []
        for train, test in CV.split(features, y):
            model = clone(learner).fit(features[train], y[train], fp_cost=1.0, fn_cost=costs["fn_cost"][train])
            by_hand.append(
                -expected_cost(y[test], model.predict(features[test]), fp_cost=1.0, fn_cost=costs["fn_cost"][test])
            )
    assert routed == pytest.approx(by_hand)
    logistic = LogisticRegression().fit(features, y)
    assert make_cost_scorer(decide="alpha")(logistic, features, y, **costs) > scorer(logistic, features, y, **costs)


@pytest.mark.parametrize("folds", [LeaveOneOut(), KFold(3)], ids=["one row", "equal costs"])
def test_a_model_that_learnt_with_costs_of_rows_is_tested_on_rows_of_equal_costs(folds: Any) -> None:
    amount = np.where(np.arange(30) < 10, 3.0, np.arange(30) + 1.0)
    y = np.arange(30) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        learner = uneven.UnevenLinearClassifier().set_fit_request(fn_cost=True)
        found = cross_val_score(learner, X[:30], y, cv=folds, scoring=make_cost_scorer(), params={"fn_cost": amount})
    assert np.isfinite(found).all()
