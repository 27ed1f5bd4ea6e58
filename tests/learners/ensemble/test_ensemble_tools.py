"""UnevenEnsembleClassifier among other tools: scikit-learn's wrappers, metadata routing, searches and pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import uneven
from uneven.metrics import compare

X, Y = make_classification(240, 5, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=3)
WORDS = np.array(["ok", "fraud"])[Y]  # the positive class comes first in sorted order
AMOUNT = np.random.default_rng(2).lognormal(size=Y.size)
ROW_COSTS = {"fp_cost": 0.3 * AMOUNT + 0.2, "fn_cost": 4 * AMOUNT}
MEMBERS = {"bayes": GaussianNB(), "logistic": LogisticRegression()}


def ensemble(**parameters: Any) -> Any:
    return uneven.UnevenEnsembleClassifier(**{"fp_cost": 1, "fn_cost": 9, "members": MEMBERS, "cv": 3, **parameters})


def named(**parameters: Any) -> Any:
    return ensemble(pos_label="fraud", neg_label="ok", **parameters)


def test_words_inside_a_calibration() -> None:
    words = CalibratedClassifierCV(named(), cv=3).fit(X, WORDS)
    numbers = CalibratedClassifierCV(ensemble(), cv=3).fit(X, Y)
    np.testing.assert_allclose(words.predict_proba(X)[:, 0], numbers.predict_proba(X)[:, 1], atol=1e-6)


def test_words_inside_stacking() -> None:
    tree = ("tree", DecisionTreeClassifier(max_depth=2))
    words = StackingClassifier([("one", named()), tree], cv=3).fit(X, WORDS)
    numbers = StackingClassifier([("one", ensemble()), tree], cv=3).fit(X, Y)
    np.testing.assert_allclose(words.predict_proba(X)[:, 0], numbers.predict_proba(X)[:, 1], atol=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("members", [MEMBERS, ["linear"]], ids=str)
def test_words_inside_cross_val_predict(members: Any) -> None:
    words = cross_val_predict(named(members=members), X, WORDS, cv=3, method="predict_proba")[:, 0]
    numbers = cross_val_predict(ensemble(members=members), X, Y, cv=3, method="predict_proba")[:, 1]
    np.testing.assert_allclose(words, numbers, atol=1e-6)
    said = cross_val_predict(named(members=members), X, WORDS, cv=3)
    plain = cross_val_predict(ensemble(members=members), X, Y, cv=3)
    np.testing.assert_array_equal(said == "fraud", plain == 1)


@pytest.mark.slow
def test_a_search_and_a_comparison() -> None:
    search = GridSearchCV(ensemble(), {"weighting": ["greedy", "equal"], "order": [2, 8]}, cv=3).fit(X, Y)
    assert search.best_score_ == pytest.approx(search.cv_results_["mean_test_score"].max())
    assert search.best_score_ < 0  # minus a cost
    found, plain = compare({"ensemble": ensemble(), "bayes": GaussianNB()}, X, Y, fp_cost=1, fn_cost=9, folds=3)
    assert found.name == "ensemble"
    assert found.cost < plain.cost


def test_a_pipeline_outside() -> None:
    outside = make_pipeline(StandardScaler(), ensemble())
    costs = {f"unevenensembleclassifier__{name}": cost for name, cost in ROW_COSTS.items()}
    outside.fit(X, Y, **costs)
    assert outside[-1].threshold_ is None
    assert outside.predict(X, **ROW_COSTS).shape == Y.shape
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert make_pipeline(StandardScaler().set_output(transform="pandas"), ensemble()).fit(frame, Y).score(frame, Y) < 0


@pytest.mark.slow
def test_routing_of_costs_and_weights() -> None:
    asks = {"fp_cost": True, "fn_cost": True}
    with config_context(enable_metadata_routing=True):
        inner = ensemble().set_fit_request(**asks, sample_weight=True).set_predict_request(**asks)
        inner = inner.set_score_request(**asks)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
        pipe.fit(X, Y, **ROW_COSTS, sample_weight=Y + 1.0)
        scaled = StandardScaler().fit_transform(X)
        by_hand = ensemble().fit(scaled, Y, Y + 1.0, **ROW_COSTS)
        assert pipe[-1].shift_ == by_hand.shift_
        np.testing.assert_array_equal(pipe.predict(X, **ROW_COSTS), by_hand.predict(scaled, **ROW_COSTS))
        found = cross_validate(inner, X, Y, params=ROW_COSTS, cv=3, return_estimator=True)
    folds = StratifiedKFold(3).split(X, Y)
    for model, score, (train, test) in zip(found["estimator"], found["test_score"], folds, strict=True):
        expected = ensemble().fit(X[train], Y[train], **{name: cost[train] for name, cost in ROW_COSTS.items()})
        assert model.shift_ == expected.shift_
        assert score == expected.score(X[test], Y[test], **{name: cost[test] for name, cost in ROW_COSTS.items()})
