"""Quadratic models with an l1 norm, with and without their matrix, and the columns that they read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from l1_problems import l1_objective
from linear_data import binary

from uneven.solvers.linear import quadratic
from uneven.solvers.linear.design import design
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.supporting_lines import balance

X, Y = binary(200, 12, seed=4)
X = np.where(np.abs(X) > 0.5, X, 0.0)
X[:, 3], X[:, 4], X[:, 5] = 1.0, X[:, 2], 0.0  # a constant column, a copy, an empty one
LAYOUTS = [X, np.asfortranarray(X), sp.csr_matrix(X)]


def value_of_model(curvature: np.ndarray, g: np.ndarray, w: np.ndarray, x: np.ndarray, l1: float) -> float:
    scores = np.column_stack([X, np.ones(len(X))]) @ (x - w)
    return float(g @ (x - w) + 0.5 * curvature @ scores**2 + l1 * np.abs(x[:-1]).sum())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("matrix", LAYOUTS)
def test_the_minimum_is_the_same_with_and_without_a_matrix(
    matrix: Any, fit_intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    objective = l1_objective("logistic", matrix, Y, l1=2.0, fit_intercept=fit_intercept)
    random = np.random.default_rng(0)
    w = np.where(random.random(objective.size) < 0.5, random.normal(size=objective.size), 0.0)
    w[-1] *= fit_intercept
    state = Lagrangian(objective, w, 1.0)
    curvature, gradient = state.all_curvatures().copy(), state.gradient()
    start = value_of_model(curvature, gradient, w, w, 2.0)
    found = []
    for most in (2500, 0):
        monkeypatch.setattr(quadratic, "MOST_KEPT", most)
        x, gained = quadratic.model(objective, curvature, np.zeros(1)).minimum(w, gradient, 2.0, 1e-9)
        found.append(value_of_model(curvature, gradient, w, x, 2.0))
        assert 0 < gained <= (start - found[-1]) * (1 + 1e-6)
        assert fit_intercept or x[-1] == 0
        assert (x[:-1] == 0).any()
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    nearby = [x + 1e-3 * random.normal(size=x.size) * np.append(np.ones(x.size - 1), fit_intercept) for _ in range(50)]
    assert min(value_of_model(curvature, gradient, w, other, 2.0) for other in nearby) > found[1] - 1e-7 * abs(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chosen_columns_and_sums_of_long_matrices(dtype: Any) -> None:
    """Long enough for several ranges of rows."""
    matrix = sp.random(60_000, 300, density=0.06, format="csr", random_state=0, dtype=dtype)
    long = design(matrix)
    random = np.random.default_rng(1)
    for count in (1, 7, 250):
        chosen = long.fullest_first(random.choice(300, count, replace=False))
        copied = long.columns(chosen)
        assert copied.X.dtype == dtype
        assert (matrix[:, chosen] != copied.X).nnz == 0
    filled = np.diff(matrix.tocsc().indptr)[chosen]
    assert (np.diff(filled) <= 0).all()
    r = random.normal(size=60_000)
    product, sizes = long.transposed_product(r, r)
    np.testing.assert_allclose(product, matrix.T.astype(np.float64) @ r, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(sizes, abs(matrix).T.astype(np.float64) @ np.abs(r), rtol=1e-9)
    exact = np.array([np.longdouble(r) @ column for column in matrix.T.toarray().astype(np.longdouble)])
    assert (np.abs(product - exact) <= long.terms_of_sums * np.finfo(float).eps * sizes).all()


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_slopes_that_are_kept_are_those_of_the_current_scores(loss: str) -> None:
    objective = l1_objective(loss, X, Y)
    random = np.random.default_rng(2)
    state = Lagrangian(objective, np.zeros(objective.size), 1.0)
    for step in (0.5, 1.0):
        move = random.normal(size=objective.size)
        q = objective.design.scores(move)
        state.along(q, 0.25)
        state.along(q, step if step < 1 else 0.75)  # the second move is not where it was evaluated
        state.theta = state.theta + step * move
        state.move_scores(q, step)
        balance(state, 1e-9)
        fresh = Lagrangian(objective, state.theta, 1.0)
        np.testing.assert_allclose(state.gradient(), fresh.gradient(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(state.all_curvatures(), fresh.all_curvatures(), rtol=1e-9, atol=1e-12)
        assert state.support().loss == pytest.approx(fresh.support().loss, rel=1e-12)
    state.replace_scores(objective.design.scores(np.zeros(objective.size)))
    assert state.support().loss == pytest.approx(objective.value_at_zero)
