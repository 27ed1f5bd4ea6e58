"""Probabilities and decisions where the truth is known: one column with ten levels, each with its own probability."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from tree_models import CATBOOST, LIBRARIES, XGBOOST, Library

import uneven
from uneven.errors import LossError

LEVELS = np.array([0.01, 0.03, 0.08, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97])
COUNT = 30_000


@lru_cache(maxsize=1)
def world() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    level = random.integers(0, LEVELS.size, COUNT)
    return level[:, None].astype(np.float64), (random.random(COUNT) < LEVELS[level]).astype(int)


def fitted(library: Library, loss: str, gamma: Any, fn_cost: Any, rounds: int = 60) -> Any:
    """Enough rounds and hardly any penalty, so that each level gets its own score."""
    weak = {"l2_leaf_reg": 1e-6} if library is CATBOOST else {"reg_lambda": 1e-6, "min_child_weight": 0}
    model = library.make(loss, rounds=rounds, margin_gamma=gamma, fn_cost=fn_cost, depth=4, learning_rate=0.4, **weak)
    return model.fit(*world(), eval_set=[world()])  # without one, predict_proba would warn at uneven costs


def require_right(model: Any, alpha: float) -> None:
    rows = np.arange(LEVELS.size, dtype=np.float64)[:, None]
    said = model.predict_proba(rows)[:, 1]
    error = 4 * np.sqrt(LEVELS * (1 - LEVELS) * LEVELS.size / COUNT) + 0.004
    assert (np.abs(said - LEVELS) < error).all(), np.abs(said - LEVELS) / error
    clear = np.abs(LEVELS - alpha) > error
    assert clear.sum() >= LEVELS.size - 2
    assert np.array_equal(model.predict(rows)[clear] == 1, LEVELS[clear] > alpha)
    assert np.array_equal(model.decision_function(rows) > 0, said > alpha)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
@pytest.mark.parametrize("fn_cost", [1, 20])
@pytest.mark.parametrize("gamma", ["1/4", 1, 4])
def test_probabilities_and_decisions_are_right(library: Library, gamma: Any, fn_cost: int) -> None:
    require_right(fitted(library, "logistic", gamma, fn_cost), 1 / (1 + fn_cost))


def identifying() -> list[str]:
    """Convex phis whose scores stand for probabilities from 0 to 1, and whose Newton steps have no straight piece."""
    found = []
    for name in uneven.losses.names():
        try:
            uneven.UnevenMarginLoss(name).inverse_link(0.0)
        except LossError:
            continue
        if uneven.phi(name).convex and name != "logistic":
            found.append(name)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fn_cost", [1, 20])
@pytest.mark.parametrize("gamma", ["1/4", 1, 4])
@pytest.mark.parametrize("name", identifying())
def test_every_convex_phi_that_identifies_probabilities(name: str, gamma: Any, fn_cost: int) -> None:
    """All rows of one level and label as one row of their weight: for XGBoost that is the same."""
    X, y = world()
    cells, place = np.unique(np.column_stack([X[:, 0], y]), axis=0, return_inverse=True)
    params = {"depth": 4, "learning_rate": 0.4, "reg_lambda": 1e-6, "min_child_weight": 0}
    model = XGBOOST.make(name, rounds=300, margin_gamma=gamma, fn_cost=fn_cost, **params)
    rows = (cells[:, :1], cells[:, 1].astype(int))
    weight = np.bincount(place.ravel())
    model.fit(*rows, sample_weight=weight, eval_set=[rows], eval_sample_weight=[weight])
    require_right(model, 1 / (1 + fn_cost))
