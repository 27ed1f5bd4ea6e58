"""Smooth losses on wide data without the Gram matrix: the same optimum, and a way back where it does not pay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from problems import linear_objective, settings

from uneven.solvers.linear.algorithms import row_space
from uneven.solvers.linear.algorithms.row_space import (
    Subspace,
    gram_times,
    is_worth_trying,
    minimise_over_directions,
)
from uneven.solvers.linear.design import Dense
from uneven.solvers.linear.gram import gram_of
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import minimise, prove


def wide(n: int = 401, d: int = 700, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are nearly orthogonal, with a common part, and labels with noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1))
    score = X @ random.normal(size=d)
    return X, (score + 0.5 * score.std() * random.normal(size=n) > score.std()).astype(int)


X, Y = wide()
ORDERS: dict[str, Any] = {
    "rows": lambda X: X,
    "columns": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [1, 2, 5, 400, 1023])
def test_the_product_with_the_gram_matrix(n: int, order: str) -> None:
    matrix = ORDERS[order](np.random.default_rng(n).normal(size=(n, 1300)))
    vectors = np.random.default_rng(1).normal(size=(4, n))
    exact = matrix.astype(np.float64)
    np.testing.assert_allclose(gram_times(Dense(matrix), vectors), vectors @ exact @ exact.T, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("loss", "penalty"), [("logistic", 100.0), ("exponential", 300.0), ("log(1 + exp(-2*t))", 1e4)]
)
def test_the_same_optimum_as_with_the_gram_matrix(loss: str, penalty: float, fit_intercept: bool, order: str) -> None:
    weight = np.random.default_rng(2).uniform(0, 2, Y.size) * (np.arange(Y.size) % 7 > 0)  # some are 0
    objective = linear_objective(
        loss, ORDERS[order](X), Y, penalty=penalty, fit_intercept=fit_intercept, sample_weight=weight
    )
    found = minimise_over_directions(objective, settings(1e-8))
    assert found is not None
    proof = prove(objective, found.theta, wanted=1e-8 * found.value)
    assert proof.gap <= 1e-8 * proof.value
    gram_of(objective.design)  # at hand, so it is used
    other = minimise(objective, settings(1e-9), solver="gram")
    assert other.duality_gap is not None
    assert abs(proof.value - other.value) <= proof.gap + other.duality_gap + proof.error
    assert fit_intercept or found.theta[-1] == 0.0


def test_directions_are_orthonormal_and_the_value_falls() -> None:
    objective = linear_objective("logistic", X, Y, penalty=1.0)
    state, values, whole = Subspace(objective, settings(1e-6), 6), [np.inf], X @ X.T
    for _ in range(6):
        values.append(state.value)
        gradient = objective.value_and_gradient(np.append(X.T @ state.c, state.b))
        assert gradient[0] == pytest.approx(state.value, rel=1e-10)
        before = 0.5 * float(gradient[1][:-1] @ gradient[1][:-1])
        assert state.grow()
        assert state.gap == pytest.approx(before, rel=1e-6)  # the penalty is 1
    directions = state._directions[: state._at.size]
    np.testing.assert_allclose(directions @ whole @ directions.T, np.eye(len(directions)), atol=1e-9)
    assert (np.diff(values) < 0).all()


def test_equal_rows_add_their_direction_once() -> None:
    twice, labels = np.repeat(X[:205], 2, axis=0), np.repeat(Y[:205], 2)
    objective = linear_objective("logistic", twice, labels, penalty=100.0)
    found = minimise_over_directions(objective, settings(1e-6))
    assert found is not None
    assert prove(objective, found.theta, wanted=1e-6 * found.value).gap <= 1e-6 * found.value


@pytest.mark.parametrize("case", ["dependent", "too large"])
def test_it_gives_up_where_it_does_not_pay(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    noise = random.normal(size=(410, 500))
    hard = np.cumsum(noise, axis=1) if case == "dependent" else 1e200 * noise
    objective = linear_objective("logistic", hard, (hard[:, -1] > 0).astype(int), penalty=1e-3)
    reads = []
    monkeypatch.setattr(row_space, "gram_times", lambda *given: reads.append(1) or gram_times(*given))
    with np.errstate(over="ignore", invalid="ignore"):
        assert minimise_over_directions(objective, settings(1e-6)) is None
    assert len(reads) <= 6
    if case == "dependent":
        assert minimise(objective, settings(1e-6), solver="gram").converged


def test_when_it_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Objective] = []
    monkeypatch.setattr(row_space, "minimise_over_directions", lambda objective, settings: tried.append(objective))
    smooth = linear_objective("logistic", X, Y, penalty=30.0)
    solution = minimise(smooth, settings(1e-6))
    assert len(tried) == 1
    minimise(smooth, settings(1e-6), solver="gram")  # now the Gram matrix is at hand
    minimise(replace(smooth, design=Dense(X)), settings(1e-6), theta=solution.theta, solver="gram")
    assert len(tried) == 1
    assert not is_worth_trying(linear_objective("squared_hinge", X, Y))  # its curvature jumps
    assert not is_worth_trying(linear_objective("hinge", X, Y))
    assert not is_worth_trying(linear_objective("logistic", X[:300], Y[:300]))
    assert not is_worth_trying(linear_objective("logistic", X[:, :300], Y))
