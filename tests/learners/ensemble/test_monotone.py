"""``monotone`` holds by brute force: one column changes, all else is equal, and the score never moves the wrong way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

import uneven
from uneven.errors import ParameterError
from uneven.learners.ensemble.member_models import LinearPath
from uneven.learners.ensemble.members import FAMILIES

SIGNS = {"income": -1, "age": 1}
MONOTONE = [name for name, family in FAMILIES.items() if family.monotone]


def table(count: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows in which the truth waves with the income, and falls with the age."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.normal(size=count),
            "city": random.choice(["Graz", "Linz", "Wien"], count),
            "income": np.where(random.random(count) < 0.1, np.nan, random.normal(size=count)),
        }
    )
    odds = 2 * np.sin(3 * frame["income"].fillna(0.0)) + frame["age"] + (frame["city"] == "Graz")
    return frame, random.random(count) < 1 / (1 + np.exp(odds))


def wrong_way(model: Any, rows: Any, column: Any, sign: int, values: np.ndarray) -> float:
    """By how much the score moves the wrong way, at most, when only the column changes."""
    worst = 0.0
    for i in range(len(rows)):
        if isinstance(rows, pd.DataFrame):
            changed: Any = pd.concat([rows[i : i + 1]] * values.size, ignore_index=True).assign(**{column: values})
        else:
            changed = np.repeat(rows[i : i + 1], values.size, axis=0)
            changed[:, column] = values
        score = np.nan_to_num(sign * model.decision_function(changed))  # isotonic cuts may be infinite
        worst = max(worst, float(-np.diff(score).min()))
    return worst


def fit(members: Any, frame: Any, y: Any, **params: Any) -> Any:
    return uneven.UnevenEnsembleClassifier(fn_cost=4, members=members, cv=2, **params).fit(frame, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", MONOTONE)
def test_every_member_that_says_so_is_monotone(name: str) -> None:
    frame, y = table()
    model = fit([name], frame, y, monotone=SIGNS)
    grid = np.linspace(-4, 4, 80)
    for column, sign in SIGNS.items():
        assert wrong_way(model, frame[:15], column, sign, grid) <= 1e-9
    free = fit([name], frame, y)
    assert max(wrong_way(free, frame[:15], column, sign, grid) for column, sign in SIGNS.items()) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "affine", "isotonic", "platt"])
def test_average_and_correction_keep_it(method: str) -> None:
    frame, y = table(700)  # enough for a calibration with several slopes
    model = fit(["linear", "forest", "histogram"], frame, y, monotone=SIGNS, method=method)
    for column, sign in SIGNS.items():
        assert wrong_way(model, frame[:15], column, sign, np.linspace(-4, 4, 80)) <= 1e-9
    assert model.left_out_ == {"forest": "cannot be monotone"}
    assert "forest" not in model.weights_


@pytest.mark.slow
def test_columns_of_an_array_go_by_number() -> None:
    frame, y = table()
    X = frame[["age", "income"]].to_numpy()
    model = fit(["linear", "histogram"], X, y, monotone={1: -1})
    assert wrong_way(model, X[:15], 1, -1, np.linspace(-4, 4, 80)) <= 1e-9
    assert wrong_way(model, X[:15], 0, 1, np.linspace(-4, 4, 80)) > 0.01


def test_a_linear_path_leaves_out_columns_of_the_wrong_sign() -> None:
    frame, y = table()
    X = frame[["age", "age", "income"]].fillna(0.0).to_numpy() + np.random.default_rng(1).normal(size=(300, 3)) / 9
    for rows in (X, csr_matrix(X)):
        path = LinearPath((0.1, 1.0), signs=(1, 0, 0)).fit(rows, y)
        assert all(model.coef_[0, 0] == 0 for model in path.models_)
        alone = LinearPath((0.1, 1.0)).fit(X[:, 1:], y)
        for model, other in zip(path.models_, alone.models_, strict=True):
            np.testing.assert_allclose(model.coef_[0, 1:], other.coef_[0], atol=1e-3)
    kept = LinearPath((1.0,), signs=(-1, -1, 0)).fit(X, y)
    np.testing.assert_allclose(kept.models_[0].coef_, LinearPath((1.0,)).fit(X, y).models_[0].coef_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"monotone": {"city": 1}}, "'city' holds categories"),
        ({"monotone": {"size": 1}}, "X has none such"),
        ({"monotone": {"age": 0}}, "got 0 for 'age'"),
        ({"monotone": {"age": True}}, "got True"),
        ({"monotone": ["age"]}, "must be a dictionary"),
        ({"monotone": SIGNS, "members": ["forest", "extra_trees"]}, "none of the members .* can be monotone; linear"),
        ({"monotone": SIGNS, "members": {"own": LogisticRegression()}}, "constrain each yourself"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(params: dict[str, Any], message: str) -> None:
    frame, y = table(60)
    with pytest.raises(ParameterError, match=message):
        uneven.UnevenEnsembleClassifier(**{"members": ["linear"], **params}).fit(frame, y)
