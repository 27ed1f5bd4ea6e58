"""The objective of a linear score: its value, slopes and curvatures, on every layout of X."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary
from problems import LOSSES, linear_objective, numerical_gradient, reference_value

import uneven
from uneven.errors import LossError
from uneven.solvers.linear.pair_of_losses import PairOfLosses

X, Y = binary(150, 4)
X = np.where(np.abs(X) > 0.4, X, 0.0)
RANDOM = np.random.default_rng(7)
WEIGHT = RANDOM.uniform(0.2, 2, Y.size)
THETA = RANDOM.normal(size=5)
#: What X may be, and how exactly its numbers are kept.
LAYOUTS: dict[str, Any] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "CSR": sp.csr_matrix,
    "CSR, 64-bit indices": lambda X: with_long_indices(sp.csr_matrix(X)),
    "float32 C": lambda X: X.astype(np.float32),
    "float32 F": lambda X: np.asfortranarray(X, dtype=np.float32),
    "float32 CSR": lambda X: sp.csr_matrix(X.astype(np.float32)),
}


def with_long_indices(matrix: Any) -> Any:
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def uneven_loss(name: str) -> uneven.Loss:
    return uneven.UnevenMarginLoss(name, gamma=2.0, alpha=0.25)


@pytest.mark.parametrize("name", LOSSES)
def test_the_value_is_the_formula(name: str) -> None:
    for weight in (None, WEIGHT):
        objective = linear_objective(name, X, Y, penalty=0.7, sample_weight=weight)
        expected = reference_value(
            uneven_loss(name), X, Y, THETA, penalty=0.7, sample_weight=1.0 if weight is None else weight
        )
        assert objective.value_and_gradient(THETA)[0] == pytest.approx(expected, rel=1e-12)
        assert objective.value_at_zero == pytest.approx(objective.value_and_gradient(np.zeros(5))[0], rel=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_is_that_of_finite_differences(name: str) -> None:
    objective = linear_objective(name, X, Y, penalty=0.7, sample_weight=WEIGHT)
    value, gradient = objective.value_and_gradient(THETA)
    expected = numerical_gradient(lambda theta: objective.value_and_gradient(theta)[0], THETA)
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * (1 + abs(value)))


def test_without_an_intercept_its_slope_is_zero() -> None:
    _, gradient = linear_objective("logistic", X, Y, fit_intercept=False).value_and_gradient(THETA)
    _, other = linear_objective("logistic", X, Y).value_and_gradient(THETA)
    assert gradient[-1] == 0
    assert np.array_equal(gradient[:-1], other[:-1])


@pytest.mark.parametrize("name", ["logistic", "squared_hinge", "exponential", "softplus(-t)**2"])
def test_second_derivatives_are_those_of_the_gradient(name: str) -> None:
    objective = linear_objective(name, X, Y, penalty=0.7, sample_weight=WEIGHT)
    hessian = objective.hessian(THETA)
    moves = 1e-6 * np.eye(5)
    expected = [
        (objective.value_and_gradient(THETA + move)[1] - objective.value_and_gradient(THETA - move)[1]) / 2e-6
        for move in moves
    ]
    np.testing.assert_allclose(hessian, expected, rtol=2e-4, atol=1e-3)
    np.testing.assert_allclose(objective.diagonal(THETA), np.diagonal(hessian), rtol=1e-10)
    assert np.array_equal(hessian, hessian.T)


def test_second_derivatives_of_chosen_rows_count_as_often_as_they_stand_for() -> None:
    objective = linear_objective("logistic", X, Y)
    chosen, twice = np.arange(0, 150, 2), np.full(75, 2.0)
    part = objective.on_rows(chosen, twice)
    np.testing.assert_allclose(objective.hessian(THETA, chosen, twice), part.hessian(THETA), rtol=1e-12)
    repeated = linear_objective("logistic", np.repeat(X[::2], 2, axis=0), np.repeat(Y[::2], 2))
    np.testing.assert_allclose(part.value_and_gradient(THETA)[1], repeated.value_and_gradient(THETA)[1], rtol=1e-10)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["logistic", "hinge", "sigmoid"])
def test_layouts_agree(name: str, layout: str) -> None:
    plain = linear_objective(name, X, Y, sample_weight=WEIGHT)
    other = linear_objective(name, LAYOUTS[layout](X), Y, sample_weight=WEIGHT)
    tolerance = 1e-5 if "float32" in layout else 1e-12
    for theta in (THETA, np.zeros(5)):
        value, gradient = other.value_and_gradient(theta)
        expected, slopes = plain.value_and_gradient(theta)
        assert value == pytest.approx(expected, rel=tolerance)
        np.testing.assert_allclose(gradient, slopes, rtol=tolerance, atol=tolerance * expected)
    np.testing.assert_allclose(other.hessian(THETA), plain.hessian(THETA), rtol=10 * tolerance, atol=10 * tolerance)
    np.testing.assert_allclose(other.diagonal(THETA), plain.diagonal(THETA), rtol=10 * tolerance)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_design_is_its_matrix(layout: str) -> None:
    design = linear_objective("logistic", LAYOUTS[layout](X), Y).design
    tolerance = 1e-6 if "float32" in layout else 1e-12
    ones = np.hstack([X, np.ones((Y.size, 1))])
    v = RANDOM.normal(size=5)
    curvature = np.where(Y == 1, WEIGHT, 0.0)
    out = np.zeros(5)
    design.add_curvature_product(curvature, v[:-1], v[-1], 0, Y.size, out)
    chosen = np.array([3, 10, 77])
    for ours, expected in (
        (design.scores(v), ones @ v),
        (design.rows(chosen), X[chosen]),
        (design.combine(chosen, WEIGHT[chosen]), WEIGHT[chosen] @ X[chosen]),
        (design.squared_transposed_product(WEIGHT), (X**2).T @ WEIGHT),
        (out, ones.T @ (curvature * (ones @ v))),
        (np.asarray(design.some(chosen).X, dtype=np.float64), X[chosen]),
    ):
        np.testing.assert_allclose(ours, expected, rtol=100 * tolerance, atol=100 * tolerance)
    assert design.numbers == (X.size if "CSR" not in layout else np.count_nonzero(X))


def test_a_row_without_weight_does_not_count_even_if_its_loss_overflows() -> None:
    far = X.copy()
    far[0] = 1e6
    weight = np.where(np.arange(Y.size) == 0, 0.0, 1.0)
    objective = linear_objective("exponential", far, Y, sample_weight=weight)
    others = linear_objective("exponential", X[1:], Y[1:])
    value, gradient = objective.value_and_gradient(-THETA)
    assert value == pytest.approx(others.value_and_gradient(-THETA)[0])
    np.testing.assert_allclose(gradient, others.value_and_gradient(-THETA)[1])


@pytest.mark.parametrize("count", [10, 60, 1000])
def test_a_sample_keeps_both_classes_and_stands_for_all_rows(count: int) -> None:
    y = (np.arange(2000) % 100 == 0).astype(int)
    objective = linear_objective("logistic", np.ones((2000, 1)), y)
    chosen, factor = objective.sample(count, np.random.default_rng(1))
    assert np.array_equal(chosen, np.sort(chosen))
    assert {0, 1} == set(y[chosen])
    for label in (0, 1):
        assert factor[y[chosen] == label].sum() == pytest.approx((y == label).sum())


def test_separable_data_and_the_floor() -> None:
    line = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    labels = np.array([0, 0, 1, 1])
    objective = linear_objective("logistic", line, labels, penalty=0.0)
    assert objective.separates(np.array([1.0, 0.0]))
    assert not objective.separates(np.array([-1.0, 0.0]))
    assert not linear_objective("squared", line, labels).separates(np.array([1.0, 0.0]))  # far away costs more again
    assert objective.value_and_gradient(np.array([50.0, 0.0]))[0] < objective.floor < objective.value_at_zero
    assert linear_objective("logistic", line, labels, penalty=1.0).floor == 0


def test_a_loss_of_python_functions_is_refused() -> None:
    with pytest.raises(LossError, match="a learner needs the loss as expressions"):
        PairOfLosses.of(uneven.Loss(lambda t: np.exp(-t), np.exp))
