"""Boosting where the truth is known: probabilities are right, and decisions are those of eta > alpha.

The rows lie in cells with known probabilities of the positive class, which trees of depth 2 can tell apart. So what is
left is chance, whose size is known.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from registered import CALIBRATED

import uneven
from uneven import UnevenAdaBoostClassifier as Boosting

CONVEX = [name for name in CALIBRATED if uneven.phi(name).convex]
GAMMAS = (0.25, 1, 4)
RATIOS = (1, 20)
ROWS = 200_000
ROUNDS = 400


@lru_cache(maxsize=1)
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels, the cell of each row, and the probability in each cell: no sum of one term for each column."""
    random = np.random.default_rng(7)
    levels = random.integers(0, 4, size=(ROWS, 2))
    log_odds = np.linspace(-4.2, 1.5, 4)[:, None] + [-1, -0.3, 0.3, 1] + 0.8 * np.outer([1, -1, 1, -1], [1, 1, -1, -1])
    eta = 1 / (1 + np.exp(-log_odds))
    y = (random.random(ROWS) < eta[levels[:, 0], levels[:, 1]]).astype(int)
    X = np.column_stack([levels, random.integers(0, 3, ROWS)]).astype(float)  # the last column means nothing
    return X, y, 4 * levels[:, 0] + levels[:, 1], eta.ravel()


@lru_cache(maxsize=1)
def world() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same rows, each kind once, with their number as their weight. Then their cells, and eta of each cell."""
    X, y, _, eta = rows()
    kinds, weight = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    return kinds[:, :3], kinds[:, 3].astype(int), weight.astype(float), eta


def cells(X: np.ndarray) -> np.ndarray:
    return (4 * X[:, 0] + X[:, 1]).astype(int)


def has_link(loss: str) -> bool:
    try:
        uneven.UnevenMarginLoss(loss).inverse_link(0.0)
    except uneven.errors.LossError:
        return False
    return True


def fitted(loss: str, gamma: float, ratio: float, algorithm: str = "gradient", depth: int = 2) -> Boosting:
    X, y, weight, _ = world()
    return Boosting(
        loss, fn_cost=ratio, margin_gamma=gamma, max_depth=depth, algorithm=algorithm, n_estimators=ROUNDS
    ).fit(X, y, weight)


def chance() -> np.ndarray:
    """Standard error of the rate of positives in each cell."""
    X, _, weight, eta = world()
    return np.sqrt(eta * (1 - eta) / np.bincount(cells(X), weight, minlength=16))


def largest_error(model: Boosting) -> float:
    """The largest distance of a cell's mean probability from the truth, in standard errors of the cell's own rate."""
    X, _, weight, eta = world()
    cell = cells(X)
    said = np.bincount(cell, weight * model.predict_proba(X)[:, 1]) / np.bincount(cell, weight)
    return float((np.abs(said - eta) / chance()).max())


def wrong_cells(model: Boosting, alpha: float) -> set[int]:
    """Cells in which a row is decided against eta > alpha."""
    X, _, _, eta = world()
    cell = cells(X)
    assert (np.abs(eta - alpha) > 5 * chance()).all()  # chance turns no cell
    return set(cell[model.predict(X) != (eta > alpha)[cell]].tolist())


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("loss", CONVEX)
def test_probabilities_and_decisions(loss: str, gamma: float, ratio: float) -> None:
    model = fitted(loss, gamma, ratio)
    alpha = 1 / (1 + ratio)
    assert wrong_cells(model, alpha) == set()
    if has_link(loss):
        assert largest_error(model) < 4
        probability = model.predict_proba(world()[0])[:, 1]
        np.testing.assert_array_equal(model.predict(world()[0]), probability > alpha)


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_the_other_algorithms(loss: str, algorithm: str) -> None:
    model = fitted(loss, 4, 20, algorithm, depth=3)
    assert wrong_cells(model, 1 / 21) == set()
    assert largest_error(model) < 4


@pytest.mark.slow
def test_row_by_row() -> None:
    """All the rows one by one, as a check of the weights, and the curve of probabilities against rates."""
    X, y, _, _ = rows()
    model = Boosting("exponential", fn_cost=20, margin_gamma=4, max_depth=2, algorithm="gradient", n_estimators=60)
    model.fit(X, y)
    assert wrong_cells(model, 1 / 21) == set()
    probability = model.predict_proba(X)[:, 1]
    part = np.digitize(probability, np.quantile(probability, np.linspace(0.1, 0.9, 9)))
    count = np.bincount(part)
    rate, said = np.bincount(part, y) / count, np.bincount(part, probability) / count
    assert (np.abs(rate - said) < 4 * np.sqrt(said * (1 - said) / count)).all()


def test_other_costs_decide_by_the_same_probabilities() -> None:
    model = fitted("exponential", 4, 1)
    X, _, _, eta = world()
    for ratio in (0.1, 5, 20):
        alpha = 1 / (1 + ratio)
        clear = (np.abs(eta - alpha) > 5 * chance())[cells(X)]
        np.testing.assert_array_equal(model.predict(X, fn_cost=ratio)[clear], (eta > alpha)[cells(X)][clear])
