"""Exported thresholds and ensembles of several classes decide in onnxruntime as in Python: labels are actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import uneven
from uneven.adapters.onnx import to_onnx
from uneven.errors import CostError, ParameterError
from uneven.learners.ensemble.members import FAMILIES

Threshold = uneven.UnevenThresholdClassifierCV
NAMES = np.array(["low", "middle", "high"])  # in another order than sorted
COSTS = [[0, 1, 4, 1.2], [2, 0, 1, 1.2], [9, 3, 0, 1.2]]
ASK = uneven.CostMatrix(COSTS, classes=NAMES.tolist(), actions=["home", "ward", "operate", "ask"])
PLAIN = uneven.CostMatrix([row[:3] for row in COSTS])


def data(rows: int = 180, *, gaps: bool = True) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    y = np.arange(rows) % 3
    X = random.normal(size=(rows, 4)) + 1.3 * np.eye(3, 4)[y]
    X[:, 3] = np.round(X[:, 3], 1)
    if gaps:
        X[::9, 1] = np.nan
    return X, y


def assert_same(model: Any, X: np.ndarray, *, rounding: float = 1e-12) -> None:
    """The same labels in every row, probabilities and scores up to rounding; in double and in single precision."""
    random = np.random.default_rng(1)
    drawn = 2 * random.normal(size=(600, X.shape[1]))
    if np.isnan(X).any():
        drawn[::7, 1] = np.nan
    for kind, tolerance in ((np.float64, rounding), (np.float32, max(rounding, 2e-7))):
        exported = to_onnx(model, X.astype(kind)[:20])
        session = onnxruntime.InferenceSession(exported.SerializeToString())
        rows = np.concatenate([X, drawn, 10 * drawn]).astype(kind)
        label, score, probability = session.run(["label", "score", "probability"], {"X": rows})
        assert label.tolist() == model.predict(rows).tolist()
        assert len(set(label.tolist())) > 2
        np.testing.assert_allclose(probability, model.predict_proba(rows), rtol=0, atol=tolerance)
        np.testing.assert_allclose(score, model.decision_function(rows), rtol=0, atol=20 * tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if family.several])
def test_every_family_with_actions_that_are_no_classes(family: str) -> None:
    X, y = data()
    model = uneven.UnevenEnsembleClassifier(costs=ASK, members=[family], cv=2, n_jobs=1).fit(X, NAMES[y])
    assert_same(model, X, rounding=1e-6 if family == "xgboost" else 1e-11)


@pytest.mark.slow
def test_several_members_and_other_costs() -> None:
    X, y = data()
    members = {"tree": DecisionTreeClassifier(max_depth=4, random_state=0), "trees": RandomForestClassifier(7)}
    model = uneven.UnevenEnsembleClassifier(costs=PLAIN, members=members, cv=2, n_jobs=1, weighting="equal").fit(X, y)
    assert_same(model, X)
    assert_same(model.with_costs(costs=uneven.CostMatrix([[0, 1, 9], [9, 0, 1], [1, 9, 0]])), X)


@pytest.mark.parametrize(
    "inner",
    [
        LogisticRegression(),
        uneven.UnevenMultinomialClassifier(C=0.1),
        DecisionTreeClassifier(max_depth=4, random_state=0),
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
        LGBMClassifier(n_estimators=5, min_child_samples=3, verbosity=-1, n_jobs=1),
        XGBClassifier(n_estimators=5, n_jobs=1),
        CatBoostClassifier(iterations=5, depth=3, verbose=False, allow_writing_files=False, thread_count=1),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_a_threshold_around_classifiers_that_our_nodes_know(inner: Any) -> None:
    X, y = data(gaps=not isinstance(inner, LogisticRegression | uneven.UnevenMultinomialClassifier))
    model = Threshold(inner, costs=PLAIN, cv=2).fit(X, y)
    assert_same(model, X, rounding=1e-6 if isinstance(inner, XGBClassifier) else 1e-11)


@pytest.mark.parametrize("inner", [GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())], ids=str)
def test_a_threshold_around_what_skl2onnx_knows(inner: Any) -> None:
    """In its precision; to_onnx itself compares the labels."""
    X, y = data(gaps=False)
    model = Threshold(inner, costs=ASK, cv=2).fit(X, NAMES[y])
    session = onnxruntime.InferenceSession(to_onnx(model, X).SerializeToString())
    label, _, probability = session.run(["label", "score", "probability"], {"X": X})
    assert (label == model.predict(X)).mean() > 0.99
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=0, atol=1e-4)


def test_a_class_that_the_model_never_saw_has_no_probability_before_the_calibration() -> None:
    X, y = data()
    train, test = np.flatnonzero((np.arange(180) % 2 == 0) & (y != 1)), np.flatnonzero(np.arange(180) % 2)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = Threshold(tree, costs=ASK, cv=[(train, test)], refit=False).fit(X, NAMES[y])
    assert len(model.estimator_.classes_) == 2
    assert_same(model, X)


def test_what_cannot_be_exported_is_named() -> None:
    X, y = data(gaps=False)
    mixed = uneven.CostMatrix(COSTS, actions=[0, 1, 2, "ask"])
    with pytest.raises(ParameterError, match="labels of a model to export must be numbers, truth values or texts"):
        to_onnx(Threshold(DecisionTreeClassifier(max_depth=2), costs=mixed, cv=2).fit(X, y), X)
    of_rows = np.repeat(PLAIN.costs[None], 180, axis=0)
    with pytest.raises(CostError, match="fitted with costs of each row cannot be exported"):
        to_onnx(Threshold(DecisionTreeClassifier(max_depth=2), costs=PLAIN, cv=2).fit(X, y, costs=of_rows), X)
    with pytest.raises(ParameterError, match="RidgeClassifier, which has no predict_proba, cannot be exported"):
        to_onnx(Threshold(RidgeClassifier(), costs=PLAIN, cv=2).fit(X, y), X)
    two = uneven.CostMatrix([[0, 1, 4], [10, 3, 0]], actions=["clear", "review", "block"])
    with pytest.raises(ParameterError, match="with two classes the actions of a model to export must be the classes"):
        to_onnx(Threshold(DecisionTreeClassifier(max_depth=2), costs=two, cv=2).fit(X, y > 1), X)
    members = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)}
    mixture = uneven.UnevenEnsembleClassifier(costs=PLAIN, members=members, cv=2, n_jobs=1, weighting="equal")
    with pytest.raises(ParameterError, match=r"the member 'bayes' of the ensemble stops the export: GaussianNB"):
        to_onnx(mixture.fit(X, y), X)
