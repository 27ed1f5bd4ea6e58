"""scikit-learn's contract of the boosted learners: its own checks, files, searches, containers, parameters."""

from __future__ import annotations

import io
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven import UnevenAdaBoostClassifier as Boosting
from uneven import UnevenCascadeClassifier as Cascade
from uneven.errors import CostError, LossError, ParameterError
from uneven.metrics import make_cost_scorer

FOLDS_ARE_DRAWN = (
    "the folds that choose the alphas are drawn from the rows that are there, and two rows of weight 1 may come into "
    "different folds where one row of weight 2 cannot"
)
LEARNERS = [
    Boosting(n_estimators=20),
    Boosting("logistic", algorithm="gradient", max_depth=3, n_estimators=10),
    Boosting("hinge", algorithm="real", n_estimators=10),
    Cascade(n_estimators=7),
]


def data(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    return X, (X @ [1.0, -1.0, 0.5, 0, 0] + random.logistic(size=n) > 1).astype(int)


@pytest.mark.slow
@parametrize_with_checks(
    LEARNERS,
    expected_failed_checks=lambda estimator: (
        {"check_sample_weight_equivalence_on_dense_data": FOLDS_ARE_DRAWN} if isinstance(estimator, Cascade) else {}
    ),
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_copies_and_files_predict_the_same(learner: Any) -> None:
    X, y = data()
    X[::7, 2] = np.nan
    model = clone(learner).set_params(fn_cost=4, margin_gamma=2).fit(X, y)
    stored = io.BytesIO()
    joblib.dump(model, stored)
    stored.seek(0)
    dumped = skops.io.dumps(model)
    for other in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(stored),
        skops.io.loads(dumped, trusted=skops.io.get_untrusted_types(data=dumped)),
    ):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert other.loss_ == model.loss_
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(other.predict(X, fn_cost=2), model.predict(X, fn_cost=2))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_searches_and_pipelines(learner: Any) -> None:
    X, y = data()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), clone(learner).set_params(fn_cost=5)),
        {f"{type(learner).__name__.lower()}__margin_gamma": [0.5, 2]},
        scoring=make_cost_scorer(fp_cost=1, fn_cost=5),
        cv=2,
    ).fit(X, y)
    assert -1 < search.best_score_ < 0
    tuned = uneven.UnevenClassifierCV(clone(learner), fn_cost=5, margin_gammas=[0.5, 1, 2], cv=2).fit(X, y)
    assert tuned.best_params_["margin_gamma"] in (0.5, 1, 2)
    assert tuned.best_estimator_.analysis_.verdict.status == "calibrated"


def test_the_search_learns_or_decides_with_costs_of_each_row() -> None:
    X, y = data()
    amount = np.random.default_rng(1).exponential(5, y.size)
    for way in ("learn", "decide"):
        search = uneven.UnevenClassifierCV(Boosting(n_estimators=5), margin_gammas=[1, 2], cv=2, row_costs=way)
        said = search.fit(X, y, fn_cost=amount).predict(X, fn_cost=amount)
        assert set(said.tolist()) == {0, 1}


def test_costs_and_weights_are_routed() -> None:
    X, y = data()
    amount = np.random.default_rng(1).exponential(5, y.size)
    with config_context(enable_metadata_routing=True):
        model = Boosting(n_estimators=5).set_fit_request(fn_cost=True, sample_weight=True)
        model.set_score_request(fn_cost=True, sample_weight=False)
        given = {"fn_cost": amount, "sample_weight": np.ones(y.size)}
        result = cross_validate(model, X, y, cv=2, params=given, return_estimator=True)
    assert result["estimator"][0]._has_row_costs


def test_frames_single_precision_and_orders() -> None:
    X, y = data()
    X = X.astype(np.float32).astype(float)
    plain = Boosting(fn_cost=3, n_estimators=10).fit(X, y)
    for other in (X.astype(np.float32), np.asfortranarray(X), pd.DataFrame(X), X.tolist()):
        model = clone(plain).fit(other, y)
        np.testing.assert_array_equal(model.decision_function(other), plain.decision_function(X))
    table = pd.DataFrame(X, columns=list("abcde"))
    assert clone(plain).fit(table, y).feature_names_in_.tolist() == list("abcde")


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[3]], ids=str)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n_estimators": 0}, "n_estimators must be a positive integer, got 0"),
        ({"max_depth": 9}, "max_depth must be at most 8, got 9"),
        ({"max_depth": 1.5}, "max_depth must be a positive integer, got 1.5"),
        ({"learning_rate": 0}, "learning_rate must be positive, got 0"),
        ({"learning_rate": 1.5}, "learning_rate must be at most 1, got 1.5"),
        ({"algorithm": "samme"}, "algorithm must be one of discrete, real, gradient, got 'samme'"),
        ({"min_weight_fraction_leaf": 0.5}, "min_weight_fraction_leaf must be at least 0 and below 0.5, got 0.5"),
        ({"loss": "sigmoid"}, "boosting needs a convex loss, but 'sigmoid' is not known to be convex"),
        ({"loss": "perceptron"}, "calibrated for no alpha"),
        ({"fn_cost": -1}, "fn_cost must be positive, got -1"),
    ],
    ids=str,
)
def test_bad_parameters(learner: Any, change: dict[str, Any], says: str) -> None:
    X, y = data(40)
    with pytest.raises((ParameterError, LossError, CostError), match=says):
        clone(learner).set_params(**change).fit(X, y)


@pytest.mark.parametrize(
    ("learner", "says"),
    [
        (Boosting(init="mean"), "init must be one of constant, zero, got 'mean'"),
        (Boosting(monitor="auc"), "monitor must be one of loss, cost, got 'auc'"),
        (Boosting(n_iter_no_change=0), "n_iter_no_change must be a positive integer, got 0"),
        (Boosting(validation_fraction=0), "validation_fraction must be positive and below 1, got 0"),
        (Boosting(tol=-1), "tol must be at least 0, got -1"),
        (Cascade(feature_price=-1), "feature_price must be at least 0, got -1"),
        (Cascade(feature_price="much"), "feature_price must be at least 0, got 'much'"),
        (Cascade(feature_price="auto", max_rise=-1), "max_rise must be at least 0, got -1"),
        (Cascade(cv=1), "cv must be a whole number of at least 2, got 1"),
        (Cascade(stage_sizes="many"), "stage_sizes must be 'auto' or whole numbers, got 'many'"),
        (Cascade(stage_sizes=[]), "stage_sizes is empty"),
        (Cascade(stage_sizes=[2, 0]), "stage_sizes must be a positive integer, got 0"),
        (Cascade("hinge"), "does not identify probabilities"),
        (Cascade(uneven.UnevenMarginLoss("logistic", alpha="1/2")), "each stage has costs of its own"),
    ],
    ids=str,
)
def test_bad_parameters_of_one_learner(learner: Any, says: str) -> None:
    X, y = data(40)
    with pytest.raises((ParameterError, LossError, CostError), match=says):
        learner.fit(X, y)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_bad_data(learner: Any) -> None:
    X, y = data(40)
    with pytest.raises(ValueError, match="infinity"):
        clone(learner).fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(TypeError, match="parse"):
        clone(learner).fit(sparse.csr_matrix(X), y)
    one = np.zeros(40, int)
    one[0] = 1
    if isinstance(learner, Cascade):
        with pytest.raises(CostError, match="class 1 has 1 rows that count, too few to make 2 folds"):
            clone(learner).fit(X, one)
        with pytest.raises(CostError, match="one cost for all rows"):
            clone(learner).fit(X, y, fn_cost=np.arange(1, 41))
    else:
        with pytest.raises(CostError, match="class 1 has 1 rows that count, too few to hold out"):
            clone(learner).set_params(n_iter_no_change=3).fit(X, one)
