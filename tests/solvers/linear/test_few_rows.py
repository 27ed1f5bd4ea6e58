"""Losses of few rows by NumPy: the same numbers as from the compiled passes, which larger data take."""

from __future__ import annotations

import numpy as np
import pytest
from linear_data import binary

import uneven
from uneven.solvers import loops
from uneven.solvers.linear import pair_of_losses
from uneven.solvers.linear.design import design
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import FewPolygons, PairOfLosses

X, Y = binary(1500, 3)
RANDOM = np.random.default_rng(1)
T, Q = RANDOM.normal(size=(2, Y.size)) * 3
WEIGHTS = RANDOM.uniform(0, 2, Y.size) * (np.arange(Y.size) % 5 > 0)
SMOOTH = {
    "logistic": uneven.UnevenMarginLoss("logistic", gamma=2, alpha=0.25),
    "squared hinge": uneven.UnevenMarginLoss("squared_hinge", gamma=0.5, alpha=0.25),
    "exponential": uneven.UnevenMarginLoss("exponential", gamma=300, alpha=0.25),  # overflows
    "two phis": uneven.Loss("2*softplus(-t)", "relu(1 + t)**2"),
    "a line": uneven.Loss("exp(-t)", "relu(t)**2 + 1"),
}
STRAIGHT = {
    "hinge": uneven.UnevenMarginLoss("hinge", gamma=2, alpha=0.25),
    "two kinks": uneven.UnevenMarginLoss("max(0, 1 - t, 3 - 6*t)", gamma=0.5, alpha=0.25),
    "one and two": uneven.Loss("relu(1 - t)", "max(0, 1 + t, 3 + 6*t)"),
    "absolute": uneven.UnevenMarginLoss("absolute", gamma=3),
}


def objective(loss: uneven.Loss, weight: np.ndarray, matrix: np.ndarray = X) -> Objective:
    return Objective(design(matrix), Y.astype(np.int8), PairOfLosses.of(loss), weight, 0.1, True)


@pytest.mark.parametrize("weight", [np.empty(0), WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("loss", SMOOTH.values(), ids=SMOOTH)
def test_smooth_losses(loss: uneven.Loss, weight: np.ndarray) -> None:
    problem = objective(loss, weight)
    assert isinstance(problem.losses_along.__self__, pair_of_losses.FewRows)  # type: ignore[attr-defined]
    for step in (0.0, 0.7, -40.0):
        ours, theirs = np.empty((2, 2, Y.size))
        with np.errstate(all="ignore"):
            found = problem.losses_along(T, Q, step, *ours)
        expected = loops.passes.losses_along(problem.derivatives, T, Q, step, *theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert not np.isnan(ours[1]).any()
        if weight.size:
            assert not ours[:, weight == 0].any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weight", [np.empty(0), WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("loss", STRAIGHT.values(), ids=STRAIGHT)
def test_straight_losses(loss: uneven.Loss, weight: np.ndarray, dtype: type) -> None:
    problem = objective(loss, weight, X.astype(dtype))
    few = FewPolygons(problem.pair, problem.y, problem.factors())
    state = Lagrangian(problem, np.zeros(4), 1.0, T.copy())
    state.u *= RANDOM.uniform(0, 2, state.u.shape).astype(dtype)
    for sigma in (0.3, 1e-6, np.inf):
        state.sigma = sigma
        for step in (0.0, 0.7, -4.0):
            found = few.along(T, Q, state.u, sigma)(step)
            expected = loops.kinked_passes.along(state.common, state.second, T, Q, step, state.u, 0, Y.size)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
            slopes = np.empty(Y.size)
            loops.kinked_passes.slopes(state.common, T + step * Q, state.u, 0, Y.size, slopes)
            np.testing.assert_allclose(few.slopes, slopes, rtol=1e-9, atol=1e-12)
    slopes, steepest = np.empty((2, Y.size))
    sums = loops.kinked_passes.support(state.common, T, state.u, 0, Y.size, slopes, steepest)
    found_slopes, found_steepest, total, above = few.support(T, state.u)
    np.testing.assert_allclose(found_slopes, slopes, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found_steepest, steepest, rtol=1e-12)
    np.testing.assert_allclose((total, above), sums[:2], rtol=1e-10)


@pytest.mark.parametrize("loss", STRAIGHT.values(), ids=STRAIGHT)
def test_new_multipliers_are_the_slopes_of_the_parabolas(loss: uneven.Loss) -> None:
    """So the gradient stays the same when they replace the old ones."""
    state = Lagrangian(objective(loss, WEIGHTS), np.array([0.5, -0.2, 0.1, 0.3]), 1.0)
    before = state.gradient()
    state.update()
    assert (state.u >= 0).all()
    np.testing.assert_allclose(state.gradient_of_multipliers(), before, atol=1e-9)


def test_the_number_of_rows_alone_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uneven.solvers.linear.objective.MOST_ROWS", Y.size - 1)
    problem = objective(SMOOTH["logistic"], np.empty(0))
    assert problem.losses_along.func is loops.passes.losses_along  # type: ignore[attr-defined]


def test_products_of_few_numbers_are_within_the_error_that_is_claimed() -> None:
    """BLAS adds in an order of its own, and the bound holds for every order."""
    matrix = design(X * np.array([1e-3, 1.0, 1e5]))
    product, sizes = matrix.transposed_product(T, T)
    exact = matrix.careful_transposed_product(T)
    assert (np.abs(product - exact) <= matrix.terms_of_sums * np.finfo(float).eps * sizes).all()
