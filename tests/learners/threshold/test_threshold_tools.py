"""UnevenThresholdClassifierCV among other tools: boosters, scikit-learn's wrappers, metadata routing, files."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import skops.io
from scored_model import ScoredModel
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from uneven import UnevenThresholdClassifierCV as Threshold
from uneven.decisions.correction_methods import METHODS
from uneven.metrics import compare, make_cost_scorer

COSTS = {"fp_cost": 1, "fn_cost": 9}
X, Y = make_classification(240, 5, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=3)
WORDS = np.array(["ok", "fraud"])[Y]  # the positive class comes first in sorted order
AMOUNT = np.random.default_rng(2).lognormal(size=Y.size)
ROW_COSTS = {"fp_cost": 0.3 * AMOUNT + 0.2, "fn_cost": 4 * AMOUNT}
NAMED = {**COSTS, "pos_label": "fraud", "neg_label": "ok"}


def booster(name: str) -> Any:
    if name == "xgboost":
        return pytest.importorskip(name).XGBClassifier(n_estimators=15, max_depth=3, n_jobs=1)
    if name == "lightgbm":
        return pytest.importorskip(name).LGBMClassifier(n_estimators=15, num_leaves=7, verbose=-1, n_jobs=1)
    module = pytest.importorskip(name)
    return module.CatBoostClassifier(iterations=15, depth=3, verbose=0, thread_count=1, allow_writing_files=False)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost"])
def test_boosting_libraries(name: str) -> None:
    estimator = booster(name)
    model = Threshold(estimator, **COSTS, cv=3).fit(X, Y)
    probability = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X), (probability > model.threshold_).astype(int))
    weighted = Threshold(estimator, **COSTS, cv=3).fit(X, Y, sample_weight=np.where(Y == 1, 5.0, 1.0))
    assert weighted.shift_ != model.shift_
    held_out = Threshold(model.estimator_, prefit=True, **COSTS).fit(X[::2], Y[::2])
    assert held_out.estimator_ is model.estimator_
    booleans = Threshold(estimator, **COSTS, cv=3).fit(X, Y == 1)
    np.testing.assert_array_equal(booleans.predict(X), model.predict(X) == 1)
    if name != "xgboost":  # which takes no words as labels
        words = Threshold(estimator, **COSTS, pos_label="fraud", cv=3).fit(X, WORDS)
        np.testing.assert_array_equal(words.predict(X) == "fraud", model.predict(X) == 1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


# -- labels that tools encode -----------------------------------------------------------------------------------------


def test_words_inside_a_calibration() -> None:
    model = CalibratedClassifierCV(Threshold(GaussianNB(), **NAMED), cv=3).fit(X, WORDS)
    numbers = CalibratedClassifierCV(Threshold(GaussianNB(), **COSTS), cv=3).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], numbers.predict_proba(X)[:, 1], atol=1e-6)


def test_words_inside_stacking_and_voting() -> None:
    for outer in (StackingClassifier, VotingClassifier):
        settings = {"cv": 3} if outer is StackingClassifier else {"voting": "soft"}
        model = outer(
            [("one", Threshold(GaussianNB(), **NAMED)), ("two", DecisionTreeClassifier(max_depth=2))], **settings
        )
        found = model.fit(X, WORDS).predict_proba(X)[:, 0]
        plain = outer(
            [("one", Threshold(GaussianNB(), **COSTS)), ("two", DecisionTreeClassifier(max_depth=2))], **settings
        )
        np.testing.assert_allclose(found, plain.fit(X, Y).predict_proba(X)[:, 1], atol=5e-3)


def test_words_inside_cross_val_predict() -> None:
    words = cross_val_predict(Threshold(GaussianNB(), **NAMED), X, WORDS, cv=3, method="predict_proba")[:, 0]
    folds = StratifiedKFold(3)
    numbers = cross_val_predict(Threshold(GaussianNB(), **COSTS), X, Y, cv=folds, method="predict_proba")[:, 1]
    np.testing.assert_allclose(words, numbers, atol=1e-6)
    said = cross_val_predict(Threshold(GaussianNB(), **NAMED), X, WORDS, cv=3)
    plain = cross_val_predict(Threshold(GaussianNB(), **COSTS), X, Y, cv=folds)
    np.testing.assert_array_equal(said == "fraud", plain == 1)


def test_a_search_over_the_estimator_inside() -> None:
    search = GridSearchCV(
        Threshold(DecisionTreeClassifier(random_state=0), **COSTS, cv=3),
        {"estimator__max_depth": [1, 4], "method": ["gibbs", "none"]},
        cv=3,
    ).fit(X, Y)
    best = search.best_estimator_
    assert search.best_score_ == pytest.approx(search.cv_results_["mean_test_score"].max())
    assert best.estimator_.max_depth == best.estimator.max_depth
    scored = GridSearchCV(Threshold(GaussianNB(), cv=3), {"order": [4]}, scoring=make_cost_scorer(**COSTS), cv=3)
    assert scored.fit(X, Y).best_score_ < 0


def test_pipelines_inside_and_outside() -> None:
    inside = Threshold(make_pipeline(StandardScaler(), LogisticRegression()), **COSTS).fit(X, Y, sample_weight=Y + 1.0)
    by_hand = LogisticRegression().fit(StandardScaler().fit_transform(X), Y, sample_weight=Y + 1.0)
    np.testing.assert_allclose(inside.estimator_[-1].coef_, by_hand.coef_)
    named = Threshold(make_pipeline(StandardScaler(), LogisticRegression()), **COSTS)
    named.fit(X, Y, logisticregression__sample_weight=Y + 1.0)
    np.testing.assert_allclose(named.estimator_[-1].coef_, by_hand.coef_)
    outside = make_pipeline(StandardScaler(), Threshold(LogisticRegression(), **COSTS)).fit(X, Y)
    assert outside.score(X, Y) < 0
    costly = make_pipeline(StandardScaler(), Threshold(LogisticRegression()))
    costly.fit(X, Y, **{f"uneventhresholdclassifiercv__{name}": cost for name, cost in ROW_COSTS.items()})
    assert costly[-1].threshold_ is None


def test_a_frozen_estimator_is_not_fitted_again() -> None:
    fitted = GaussianNB().fit(X[:120], Y[:120])
    model = Threshold(FrozenEstimator(fitted), **COSTS).fit(X[120:], Y[120:])
    same = Threshold(fitted, prefit=True, **COSTS).fit(X[120:], Y[120:])
    assert model.shift_ == same.shift_


def test_comparison_in_money() -> None:
    models = {
        "plain": GaussianNB(),
        "none": Threshold(GaussianNB(), method="none", cv=3),
        "gibbs": Threshold(GaussianNB()),
    }
    plain, none, gibbs = compare(models, X, Y, **ROW_COSTS, folds=3, repeats=1, decide="alpha")
    assert none.cost == pytest.approx(plain.cost)
    assert gibbs.cost != plain.cost
    (decided,) = compare({"gibbs": models["gibbs"]}, X, Y, **ROW_COSTS, folds=3, repeats=1)
    assert (
        decided.cost < gibbs.cost
    )  # its own thresholds, which look near alpha, against a cut of probabilities at alpha


# -- metadata routing -------------------------------------------------------------------------------------------------


@pytest.fixture
def _routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("_routing")
def test_routing_of_weights_and_groups() -> None:
    weight, groups = Y + 1.0, np.arange(Y.size) % 7
    asks = LogisticRegression().set_fit_request(sample_weight=True)
    model = Threshold(asks, **COSTS, cv=GroupKFold(4)).fit(X, Y, sample_weight=weight, groups=groups)
    np.testing.assert_allclose(model.estimator_.coef_, LogisticRegression().fit(X, Y, weight).coef_)
    expected = cross_val_predict(
        LogisticRegression().set_fit_request(sample_weight=True),
        X,
        Y,
        cv=GroupKFold(4),
        method="predict_proba",
        params={"sample_weight": weight, "groups": groups},
    )
    np.testing.assert_allclose(model.out_of_fold_probability_, expected[:, 1])
    refuses = LogisticRegression().set_fit_request(sample_weight=False)
    model = Threshold(refuses, **COSTS).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.estimator_.coef_, LogisticRegression().fit(X, Y).coef_)
    assert model.shift_ != Threshold(refuses, **COSTS).fit(X, Y).shift_
    with pytest.raises(ValueError, match="sample_weight"):
        Threshold(LogisticRegression(), **COSTS).fit(X, Y, sample_weight=weight)
    with pytest.raises(TypeError, match="nonsense"):
        Threshold(LogisticRegression(), **COSTS).fit(X, Y, nonsense=weight)


@pytest.mark.usefixtures("_routing")
def test_routing_of_costs() -> None:
    inner = Threshold(GaussianNB()).set_fit_request(fp_cost=True, fn_cost=True)
    inner = inner.set_predict_request(fp_cost=True, fn_cost=True).set_score_request(fp_cost=True, fn_cost=True)
    pipe = make_pipeline(StandardScaler(), inner).fit(X, Y, **ROW_COSTS)
    by_hand = Threshold(GaussianNB()).fit(StandardScaler().fit_transform(X), Y, **ROW_COSTS)
    assert pipe[-1].shift_ == by_hand.shift_
    np.testing.assert_array_equal(
        pipe.predict(X, **ROW_COSTS), by_hand.predict(StandardScaler().fit_transform(X), **ROW_COSTS)
    )
    found = cross_validate(inner, X, Y, params=ROW_COSTS, cv=3, return_estimator=True)
    for model, score, (train, test) in zip(
        found["estimator"], found["test_score"], StratifiedKFold(3).split(X, Y), strict=True
    ):
        expected = Threshold(GaussianNB()).fit(
            X[train], Y[train], **{name: cost[train] for name, cost in ROW_COSTS.items()}
        )
        assert model.shift_ == expected.shift_
        told = {name: cost[test] for name, cost in ROW_COSTS.items()}
        assert score == expected.score(X[test], Y[test], **told)


def test_without_routing_groups_and_arguments_reach_their_place() -> None:
    groups = np.arange(Y.size) % 5
    model = Threshold(GaussianNB(), cv=GroupKFold(5)).fit(X, Y, groups=groups)
    expected = cross_val_predict(GaussianNB(), X, Y, groups=groups, cv=GroupKFold(5), method="predict_proba")[:, 1]
    np.testing.assert_array_equal(model.out_of_fold_probability_, expected)
    with pytest.warns(UserWarning, match="KNeighborsClassifier takes no sample_weight"):
        model = Threshold(KNeighborsClassifier(), **COSTS).fit(X, Y, sample_weight=Y + 1.0)
    assert model.shift_ != Threshold(KNeighborsClassifier(), **COSTS).fit(X, Y).shift_


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_copies_and_files(method: str) -> None:
    model = Threshold(LogisticRegression(), **COSTS, method=method).fit(X, Y)
    model.predict(X[:2], fn_cost=77)  # kept corrections stay out of the file
    stored = skops.io.dumps(model)
    loaded = skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), loaded):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(other.predict(X, **ROW_COSTS), model.predict(X, **ROW_COSTS))
        np.testing.assert_array_equal(other.predict(X, fn_cost=30), model.predict(X, fn_cost=30))
        assert other.out_of_fold_cost_ == model.out_of_fold_cost_
        assert other.threshold_ == model.threshold_
    assert not hasattr(clone(model), "classes_")


def test_a_file_of_a_fit_with_costs_of_each_row() -> None:
    model = Threshold(LogisticRegression()).fit(X, Y, **ROW_COSTS)
    stored = skops.io.dumps(model)
    loaded = skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored))
    np.testing.assert_array_equal(loaded.predict(X, **ROW_COSTS), model.predict(X, **ROW_COSTS))
    np.testing.assert_array_equal(loaded.predict(X, fp_cost=1, fn_cost=3), model.predict(X, fp_cost=1, fn_cost=3))


def test_a_new_fit_forgets_the_one_before() -> None:
    model = Threshold(ScoredModel(), **COSTS).fit(X, Y, **ROW_COSTS)
    model.fit(X, Y)
    fresh = Threshold(ScoredModel(), **COSTS).fit(X, Y)
    assert model.threshold_ == fresh.threshold_
    np.testing.assert_array_equal(model.predict(X, fn_cost=50), fresh.predict(X, fn_cost=50))
