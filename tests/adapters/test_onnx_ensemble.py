"""Exported ensembles, and thresholds around trees of every library, decide in onnxruntime as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import uneven
from uneven.adapters.onnx import to_onnx
from uneven.errors import CostError, ParameterError
from uneven.learners.ensemble.members import FAMILIES

COSTS: dict[str, Any] = {"fp_cost": 1, "fn_cost": 9}


def data(rows: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Columns of fine and of coarse numbers, one with gaps; labels that are no numbers."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 4))
    X[:, 3] = np.round(X[:, 3], 1)
    eta = 1 / (1 + np.exp(1 - 2 * X[:, 0] - X[:, 1] * X[:, 2]))
    X[::9, 1] = np.nan
    return X, np.where(random.random(rows) < eta, "fraud", "ok")


def hostile_rows(X: np.ndarray) -> np.ndarray:
    """Rows of the fit, random ones, gaps where the fit had none, extremes, and numbers next to those of the fit."""
    random = np.random.default_rng(1)
    drawn = random.normal(size=(600, X.shape[1]))
    drawn[::7, 2] = np.nan
    far = drawn[:60] * 10.0 ** random.integers(3, 36, size=(60, 1))
    beside = np.nextafter(X.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return np.concatenate([X, drawn, far, beside, np.zeros((1, X.shape[1])), np.full((1, X.shape[1]), np.nan)])


def assert_same(model: Any, X: np.ndarray, *, rounding: float = 1e-12, gaps: bool = True) -> None:
    """The same labels in every row, and the same probabilities up to rounding; in double and in single precision."""
    for kind, tolerance in ((np.float64, rounding), (np.float32, max(rounding, 1e-7))):
        exported = to_onnx(model, X.astype(kind)[:20])
        session = onnxruntime.InferenceSession(exported.SerializeToString())
        rows = hostile_rows(X if gaps else np.nan_to_num(X)).astype(kind)
        rows = rows if gaps else np.nan_to_num(rows)
        label, score, probability = session.run(["label", "score", "probability"], {"X": rows})
        assert label.tolist() == model.predict(rows).tolist()
        np.testing.assert_allclose(probability, model.predict_proba(rows), rtol=0, atol=tolerance)
        assert ((score > 0) == (label == model.classes_[1]))[score != 0].all()


def ensemble(**more: Any) -> uneven.UnevenEnsembleClassifier:
    return uneven.UnevenEnsembleClassifier(**(COSTS | {"pos_label": "fraud", "cv": 2, "n_jobs": 1} | more))


@pytest.mark.slow
@pytest.mark.parametrize("family", list(FAMILIES))
def test_every_family(family: str) -> None:
    """XGBoost adds its trees in single precision, all others are doubles; a line near 1 loses digits of 1 - P."""
    X, y = data()
    rounding = {"xgboost": 1e-6, "linear": 1e-7}.get(family, 1e-11)
    assert_same(ensemble(members=[family]).fit(X, y), X, rounding=rounding)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "affine", "isotonic", "none"])
def test_calibration_and_threshold_of_several_members(method: str) -> None:
    X, y = data(400)
    model = ensemble(members=["linear", "forest", "lightgbm"], method=method).fit(X, y)
    assert_same(model, X, rounding=1e-7)
    assert_same(model.with_costs(fn_cost=2, prevalence=0.2), X, rounding=1e-7)


@pytest.mark.parametrize("positive", ["fraud", "ok"])
def test_classifiers_of_the_user_as_members(positive: str) -> None:
    X, y = data()
    members = {
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "trees": ExtraTreesClassifier(7, random_state=0),
    }
    assert_same(ensemble(members=members, pos_label=positive).fit(X, y), X)


@pytest.mark.parametrize(
    "inner",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(9, random_state=0),
        HistGradientBoostingClassifier(max_iter=9, min_samples_leaf=5),
        LGBMClassifier(n_estimators=9, min_child_samples=3, verbosity=-1, n_jobs=1),
        LGBMClassifier(n_estimators=5, min_child_samples=3, verbosity=-1, n_jobs=1, use_missing=False),
        XGBClassifier(n_estimators=9, n_jobs=1),
        XGBClassifier(n_estimators=9, n_jobs=1, base_score=0.2, max_depth=2),
        CatBoostClassifier(iterations=9, depth=3, verbose=False, allow_writing_files=False, thread_count=1),
        CatBoostClassifier(
            iterations=9, depth=2, verbose=False, allow_writing_files=False, thread_count=1, nan_mode="Max"
        ),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_a_threshold_around_trees_of_every_library(inner: Any) -> None:
    """With gaps, where the classifier takes them. Boosters know classes as 0 and 1."""
    X, y = data()
    gaps = not isinstance(inner, LogisticRegression)
    filled = X if gaps else np.nan_to_num(X)
    if isinstance(inner, CatBoostClassifier):  # it takes gaps only in columns that had some
        filled = np.where(np.arange(X.size).reshape(X.shape) % 13 == 0, np.nan, X)
    model = uneven.UnevenThresholdClassifierCV(clone(inner), cv=2, **COSTS).fit(filled, (y == "fraud").astype(int))
    assert_same(model, filled, gaps=gaps, rounding=1e-6 if isinstance(inner, XGBClassifier) else 1e-11)


def test_trees_of_a_single_leaf() -> None:
    X, _ = data()
    y = np.arange(len(X)) % 2
    stump = LGBMClassifier(n_estimators=2, min_child_samples=len(X), verbosity=-1, n_jobs=1)
    model = uneven.UnevenThresholdClassifierCV(stump, cv=2, method="none", **COSTS).fit(X, y)
    assert_same(model, X)


def test_probabilities_exactly_at_the_threshold() -> None:
    """Shares of a tree of few rows are multiples of 1/k, and alpha is one of them: a tie is negative."""
    X, y = data(400)
    model = uneven.UnevenThresholdClassifierCV(
        DecisionTreeClassifier(max_leaf_nodes=12, random_state=0), cv=2, method="none", fp_cost=1, fn_cost=1
    ).fit(X, (y == "fraud").astype(int))
    shares = np.unique(model.predict_proba(X)[:, 1])
    for share in shares[(shares > 0) & (shares < 1)]:
        at = model.with_costs(fp_cost=float(share), fn_cost=float(1 - share))
        assert_same(at, X)


def test_what_cannot_be_exported_is_named() -> None:
    X, y = data()
    with pytest.raises(ParameterError, match=r"the member 'bayes' of the ensemble stops the export: GaussianNB"):
        to_onnx(ensemble(members={"bayes": GaussianNB(), "tree": DecisionTreeClassifier()}).fit(np.nan_to_num(X), y), X)
    table = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ParameterError, match=r"fitted to a table .* a fit to an array of numbers would work"):
        to_onnx(ensemble(members=["linear"]).fit(table, y), X)
    with pytest.raises(CostError, match="fitted with costs of each row"):
        to_onnx(ensemble(members=["linear"]).fit(X, y, fn_cost=np.arange(1.0, 161.0)), X)
    is_fraud = (y == "fraud").astype(int)
    tree = uneven.UnevenThresholdClassifierCV(DecisionTreeClassifier(max_depth=2), cv=2, **COSTS).fit(X, is_fraud)
    with pytest.raises(CostError, match="always says the same"):
        to_onnx(tree.with_costs(fn_cost=0), X)
    other = LGBMClassifier(n_estimators=3, objective="cross_entropy", verbosity=-1, n_jobs=1)
    refused = ensemble(members={"other": other}, pos_label=1).fit(X, is_fraud)
    with pytest.raises(ParameterError, match="LGBMClassifier with objective"):
        to_onnx(refused, X)
    dart = XGBClassifier(n_estimators=3, booster="dart", n_jobs=1)
    wrapped = uneven.UnevenThresholdClassifierCV(dart, cv=2, **COSTS).fit(X, is_fraud)
    with pytest.raises(ParameterError, match="another booster than gbtree"):
        to_onnx(wrapped, X)


def test_a_dummy_is_none_of_ours() -> None:
    """What our nodes do not know goes to skl2onnx, as before."""
    X, y = data()
    model = uneven.UnevenThresholdClassifierCV(DummyClassifier(), cv=2, **COSTS).fit(X, (y == "fraud").astype(int))
    with pytest.raises(ParameterError, match="DummyClassifier"):
        to_onnx(model, X)
