"""What a fold's model is comes from its training rows alone: its test rows may be anything."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import uneven
from uneven.learners import threshold_classifier
from uneven.learners.ensemble import training
from uneven.learners.ensemble.mixture import encode
from uneven.learners.out_of_fold import OutOfFolds, positive_scores
from uneven.tables import FrameEncoder

ROWS, FOLDS = 90, 3
FOLD = np.arange(ROWS) % FOLDS
SPLITS = [(np.flatnonzero(k != FOLD), np.flatnonzero(k == FOLD)) for k in range(FOLDS)]


def table() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    number, other = random.normal(size=(2, ROWS))
    words = random.choice(["red", "green", "blue", "dark red", "light blue", "grey"], size=ROWS)
    frame = pd.DataFrame(
        {"number": number, "other": np.where(other > 1.5, np.nan, other), "colour": words, "same": 1.0}
    )
    return frame, (number + (words == "red") + random.normal(size=ROWS) > 0.5).astype(int)


def changed(frame: pd.DataFrame, y: np.ndarray, rows: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """Other features and labels in some rows: new categories, huge numbers, gaps, a constant that is none any more."""
    frame, y = frame.copy(), y.copy()
    frame.loc[rows, "number"] = 1e6 * np.arange(rows.size)
    frame.loc[rows, "other"] = np.nan
    frame.loc[rows, "colour"] = [f"new {k}" for k in range(rows.size)]
    frame.loc[rows, "same"] = np.arange(rows.size)
    y[rows] = np.arange(rows.size) % 2
    return frame, y


def captured(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[tuple[Any, OutOfFolds]]:
    """The first argument and the result of each call of a function."""
    calls: list[tuple[Any, OutOfFolds]] = []
    original = getattr(module, name)

    def call(first: Any, *rest: Any, **named: Any) -> Any:
        found = original(first, *rest, **named)
        calls.append((first, found))
        return found

    monkeypatch.setattr(module, name, call)
    return calls


@pytest.mark.slow
def test_models_of_the_ensemble(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = table()
    calls = captured(monkeypatch, training, "_out_of_fold")

    def models(X: pd.DataFrame, y: np.ndarray, fold: int) -> dict[str, np.ndarray]:
        """What the models of a fold say about the first rows of the table as it was."""
        ensemble = uneven.UnevenEnsembleClassifier(fn_cost=3, cv=SPLITS, n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ensemble.fit(X, y)
        task, results = calls.pop()
        said = {}
        for name, result in results.items():
            view = "linear" if name.split()[0] in ("linear", "kernel", "svc") else "trees"
            rows = encode(task.views.encoder(view, fold), frame)
            said[name] = positive_scores(result.models[fold], rows, 1)[0]
        return said

    for fold, (_, test) in enumerate(SPLITS):
        before, after = models(frame, y, fold), models(*changed(frame, y, test), fold)
        assert list(before) == list(after)
        assert {name.split()[0] for name in before} >= {"linear", "kernel", "svc", "forest"}
        for name in before:
            np.testing.assert_array_equal(before[name], after[name], err_msg=name)


def test_models_of_a_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = table()
    calls = captured(monkeypatch, threshold_classifier, "out_of_fold")
    estimator = make_pipeline(FrameEncoder(view="linear"), LogisticRegression())

    def model(X: pd.DataFrame, y: np.ndarray, fold: int) -> Any:
        uneven.UnevenThresholdClassifierCV(estimator, fn_cost=3, cv=SPLITS).fit(X, y)
        (result,) = calls.pop()[1].values()
        return result.models[fold]

    for fold, (_, test) in enumerate(SPLITS):
        before, after = model(frame, y, fold), model(*changed(frame, y, test), fold)
        np.testing.assert_array_equal(before[-1].coef_, after[-1].coef_)
        np.testing.assert_array_equal(before.predict_proba(frame), after.predict_proba(frame))


@pytest.mark.parametrize("learner", ["linear", "svc"])
def test_models_of_a_search(learner: str) -> None:
    """A fit may start from the solution of the fold before, so it is the same within its tolerance."""
    frame, y = table()
    probe = np.column_stack([frame["number"], frame["colour"] == "red", np.arange(ROWS) % 7]).astype(float)
    model = {"linear": uneven.UnevenLinearClassifier(tol=1e-10), "svc": uneven.UnevenSVC(tol=1e-8)}[learner]

    def scores(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """What the models of each split and gamma say about the probe."""
        found = []

        def scoring(fitted: Any, *_: Any) -> float:
            found.append(fitted.decision_function(probe))
            return 0.0

        uneven.UnevenClassifierCV(model, fn_cost=3, margin_gammas=[0.5, 1, 2], cv=SPLITS, scoring=scoring).fit(X, y)
        return np.array(found[: 3 * FOLDS]).reshape(FOLDS, 3, ROWS)

    before = scores(probe, y)
    for fold, (_, test) in enumerate(SPLITS):
        other, labels = probe.copy(), y.copy()
        other[test] = 100 * np.random.default_rng(1).normal(size=(test.size, 3))
        labels[test] = np.arange(test.size) % 2
        np.testing.assert_allclose(scores(other, labels)[fold], before[fold], rtol=1e-4, atol=1e-4)
