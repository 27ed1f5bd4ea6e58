"""scikit-learn's contract of the linear learner: its own checks, containers, labels, routing, persistence."""

from __future__ import annotations

import io
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import skops.io
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven import UnevenLinearClassifier as Linear
from uneven.metrics import make_cost_scorer


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    X = random.normal(size=(400, 5))
    y = (X @ [1.0, -2.0, 0.5, 0, 0] + random.logistic(size=400) > 1).astype(int)
    return X, y


@parametrize_with_checks([Linear(), Linear("hinge"), Linear("sigmoid"), Linear(cost_range=(0.125, 8))])
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_in_a_pipeline_and_a_grid(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Linear(fp_cost=1, fn_cost=10)),
        {"unevenlinearclassifier__margin_gamma": [0.5, 1, 2], "unevenlinearclassifier__loss": ["logistic", "hinge"]},
        scoring=make_cost_scorer(fp_cost=1, fn_cost=10),
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > -1
    assert search.best_estimator_[-1].analysis_.verdict.status == "calibrated"


def test_set_output_changes_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    pipeline = make_pipeline(StandardScaler(), Linear()).set_output(transform="pandas").fit(X, y)
    assert isinstance(pipeline.predict(X), np.ndarray)
    assert isinstance(pipeline.predict_proba(X), np.ndarray)


def test_sample_weight_is_routed(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    weight = np.where(np.arange(y.size) < 200, 1.0, 0.1)
    with config_context(enable_metadata_routing=True):
        coefficients = []
        for wanted in (True, False):
            model = Linear().set_fit_request(sample_weight=wanted).set_score_request(sample_weight=True)
            pipeline = make_pipeline(MinMaxScaler(), model)
            scores = cross_validate(pipeline, X, y, cv=3, params={"sample_weight": weight}, return_estimator=True)
            coefficients.append(scores["estimator"][0][-1].coef_)
    assert not np.allclose(*coefficients)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    names = ["a", "b", "c", "d", "e"]
    table = frame({name: X[:, k] for k, name in enumerate(names)})
    labels = pd.Series(y) if frame is pd.DataFrame else pl.Series(y)
    model = Linear().fit(table, labels)
    assert model.feature_names_in_.tolist() == names
    assert np.allclose(model.coef_, Linear().fit(X, y).coef_, rtol=1e-9)
    assert np.array_equal(model.predict(table), Linear().fit(X, y).predict(X))
    shuffled = table[names[::-1]]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(shuffled)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_float32_scores_are_kept_but_the_proved_coefficients_are_not_rounded(
    order: Any, loss: str, data: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = data
    single = np.asarray(X, dtype=np.float32, order=order)
    model = Linear(loss, fn_cost=3).fit(single, y)
    assert model.decision_function(single).dtype == np.float32
    assert model.coef_.dtype == model.intercept_.dtype == np.float64
    double = Linear(loss, fn_cost=3).fit(single.astype(np.float64), y)
    assert np.allclose(model.coef_, double.coef_, rtol=1e-4, atol=1e-5)
    if loss == "logistic":
        assert model.predict_proba(single).dtype == np.float32


@pytest.mark.parametrize("loss", ["logistic", "hinge", "savage"])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.coo_array])
def test_sparse_and_dense_are_the_same(kind: Any, loss: str, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    sparse, dense = Linear(loss, fn_cost=3, tol=1e-9).fit(kind(X), y), Linear(loss, fn_cost=3, tol=1e-9).fit(X, y)
    assert np.allclose(sparse.coef_, dense.coef_, atol=1e-4)
    assert np.isclose(sparse.objective_, dense.objective_, rtol=1e-8)
    assert np.allclose(sparse.decision_function(kind(X)), sparse.decision_function(X), rtol=1e-12)


def test_f_order_and_strided_views_are_the_same(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    plain = Linear(margin_gamma=2).fit(X, y)
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    assert not wide.flags.c_contiguous
    for other in (np.asfortranarray(X), wide):
        assert np.allclose(Linear(margin_gamma=2).fit(other, y).coef_, plain.coef_, rtol=1e-9)


def test_labels_and_pos_label(data: tuple[np.ndarray, np.ndarray]) -> None:
    """'fraud' < 'ok': the alphabet must not decide which mistake costs what."""
    X, y = data
    words = np.where(y == 1, "fraud", "ok")
    reference = Linear(fp_cost=1, fn_cost=20, margin_gamma=2).fit(X, y)
    model = Linear(fp_cost=1, fn_cost=20, margin_gamma=2, pos_label="fraud").fit(X, words)
    assert model.classes_.tolist() == ["fraud", "ok"]
    assert np.array_equal(model.predict(X) == "fraud", reference.predict(X) == 1)
    # As everywhere in scikit-learn, positive values speak for classes_[1].
    assert np.allclose(model.decision_function(X), -reference.decision_function(X))
    assert np.allclose(model.predict_proba(X)[:, 0], reference.predict_proba(X)[:, 1])
    assert roc_auc_score(words, model.decision_function(X)) > 0.7
    assert cross_val_score(model, X, words, scoring="roc_auc", cv=3).min() > 0.6
    for labels in (y.astype(bool), 2 * y - 1, y.astype(float), y.astype(np.uint8)):
        again = Linear(fp_cost=1, fn_cost=20, margin_gamma=2).fit(X, labels)
        assert np.allclose(again.coef_, reference.coef_)
        assert again.predict(X).dtype == labels.dtype


def test_a_score_of_exactly_zero_is_negative(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    for labels, positive in ((y, 1), (1 - y, 0)):
        model = Linear(pos_label=positive).fit(X, labels)
        model.intercept_[:] = 0
        assert model.predict(np.zeros((1, 5)))[0] == 1 - positive


@pytest.mark.parametrize("loss", ["logistic", "hinge", uneven.phi("ramp", cap=3), "softplus(-t)**2"])
def test_pickle_joblib_and_clone(loss: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = Linear(loss, fn_cost=5).fit(X, y)
    assert model.analysis_.verdict.status == "calibrated"
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(buffer)):
        assert np.array_equal(copy.decision_function(X), model.decision_function(X))
        assert copy.loss_ == model.loss_
        assert copy.analysis_.verdict == model.analysis_.verdict
    assert not hasattr(clone(model), "coef_")
    assert clone(model).get_params()["loss"] == loss


@pytest.mark.parametrize("learner", [Linear("squared_hinge"), uneven.UnevenSVC(), uneven.UnevenPerceptron()])
def test_the_loss_is_made_once(
    learner: Any, data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In fit; a change of a parameter after it does not change what was fitted, a new fit does."""
    from uneven.learners import base

    X, y = data
    made = []
    make = base.loss_for
    monkeypatch.setattr(base, "loss_for", lambda *arguments: made.append(arguments) or make(*arguments))
    model = learner.set_params(fn_cost=5, margin_gamma=2).fit(X, y)
    assert model.loss_ is model.loss_
    assert len(made) == 1
    kept = model.loss_
    assert model.set_params(margin_gamma=3).loss_ is kept
    copy = pickle.loads(pickle.dumps(model))
    assert copy.loss_ == kept
    assert copy.loss_ is copy.loss_
    assert model.fit(X, y).loss_ != kept


def test_skops(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = make_pipeline(StandardScaler(), Linear(fp_cost=1, fn_cost=5, margin_gamma=2)).fit(X, y)
    stored = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=stored)
    assert all(name.startswith("uneven.") for name in unknown)
    copy = skops.io.loads(stored, trusted=unknown)
    assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert copy[-1].loss_ == model[-1].loss_


def test_predict_proba_is_there_only_where_the_loss_identifies_it(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    for loss, there in (("logistic", True), ("squared_hinge", True), ("hinge", False), ("sigmoid", False)):
        assert hasattr(Linear(loss), "predict_proba") is there
        assert hasattr(Linear(loss).fit(X, y), "predict_proba") is there
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as raised:
        Linear("hinge").predict_proba(X)
    assert "does not identify probabilities" in str(raised.value.__cause__)
    assert not hasattr(Linear("no_such_loss"), "predict_proba")


def test_probabilities_invert_the_uneven_loss() -> None:
    """On a saturated model they are the weighted frequencies, for every gamma and all costs; expit(f) is not."""
    X = np.repeat(np.eye(3), 1000, axis=0)
    y = np.concatenate([np.arange(1000) < count for count in (100, 500, 900)]).astype(int)
    for gamma in (0.3, 1, 3):
        model = Linear(fp_cost=1, fn_cost=9, margin_gamma=gamma, C=1e6, tol=1e-12).fit(X, y)
        probability = model.predict_proba(np.eye(3))
        assert np.allclose(probability[:, 1], [0.1, 0.5, 0.9], atol=1e-4)
        assert np.allclose(probability.sum(axis=1), 1)
        naive = 1 / (1 + np.exp(-model.decision_function(np.eye(3))))
        assert np.abs(naive - [0.1, 0.5, 0.9]).max() > 0.1


def test_replacing_one_line(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    theirs = LogisticRegression().fit(X, y)
    ours = Linear().fit(X, y)
    for name in ("coef_", "intercept_", "classes_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y) - 1)  # minus the cost: here the share of mistakes
