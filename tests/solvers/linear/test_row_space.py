"""The solver that works in the space of the rows: it agrees with the others, and its matrices are right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import linear_objective, settings
from scipy.optimize import minimize
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.solvers.linear import gram, newton_systems, row_space_problem
from uneven.solvers.linear.algorithms import row_space as algorithm
from uneven.solvers.linear.design import design
from uneven.solvers.linear.gram import SharedGrams, gram_of
from uneven.solvers.linear.lbfgs import exact_step
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import minimise
from uneven.solvers.linear.solver import Solution

MIXED = "relu(1 - t)**2 + relu(1 - t)"  # a kink between curved pieces
SMOOTH = ["logistic", "squared_hinge", "smoothed_hinge", "modified_huber", "exponential"]
KINKED = ["hinge", "absolute", MIXED]


def wide(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, more of them than rows, and labels with noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1))
    X[:, : d // 2] += random.normal(size=(n, 3)) @ random.normal(size=(3, d // 2))
    score = X @ random.normal(size=d)
    return X, (score + 0.5 * score.std() * random.normal(size=n) > 0).astype(int)


X, Y = wide(60, 150)


def solved(objective: Objective, tol: float = 1e-6, **more: Any) -> Solution:
    """The solution of the solver, with a proved gap."""
    return minimise(objective, settings(tol), solver="gram", **more)


# -- the solution -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 30])
@pytest.mark.parametrize("loss", SMOOTH)
def test_smooth_losses_against_scipy(loss: str, factor: int) -> None:
    objective = linear_objective(loss, X, Y, factor=factor, penalty=10.0)
    found = minimize(
        objective.value_and_gradient,
        np.zeros(objective.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9},
    )
    solution = solved(objective)
    assert solution.converged
    assert solution.value <= found.fun * (1 + 1e-6)
    assert solution.value - solution.duality_gap <= found.fun


@pytest.mark.parametrize("penalty", [1e4, 1.0, 1e-2])
@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED])
def test_the_gap_is_proved_for_weak_and_strong_penalties(loss: str, penalty: float) -> None:
    objective = linear_objective(loss, X, Y, penalty=penalty)
    solution = solved(objective)
    assert solution.converged
    other = minimise(objective, settings(1e-7), solver="lagrangian" if loss in KINKED else "newton")
    assert solution.value - solution.duality_gap <= other.value
    assert other.value - other.duality_gap <= solution.value


@pytest.mark.parametrize("loss", ["logistic", "smoothed_hinge", "hinge"])
@pytest.mark.parametrize(("n", "d"), [(3, 5), (2, 400), (40, 41), (25, 3), (150, 1000)])
def test_shapes(loss: str, n: int, d: int) -> None:
    matrix, labels = wide(n, d, seed=n)
    labels[:2] = 0, 1
    assert solved(linear_objective(loss, matrix, labels)).converged


@pytest.mark.parametrize("loss", ["logistic", "modified_huber", "hinge", MIXED])
def test_duplicated_and_constant_rows_and_columns(loss: str) -> None:
    rows = np.random.default_rng(1).integers(0, 20, 60)
    for matrix in (X[rows], np.hstack([X, X[:, :40], np.ones((60, 3)), np.zeros((60, 2))]), np.zeros_like(X)):
        assert solved(linear_objective(loss, matrix, Y)).converged


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_columns_of_very_different_scale(loss: str) -> None:
    scaled = X * 10 ** np.random.default_rng(2).uniform(-3, 5, X.shape[1])
    for factor in (1, 1000):
        assert solved(linear_objective(loss, scaled, Y, factor=factor)).converged


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_layouts_agree(loss: str) -> None:
    kept = np.where(np.abs(X) > 1, X, 0.0)
    expected = solved(linear_objective(loss, kept, Y), 1e-9).value
    for matrix in (np.asfortranarray(kept), sp.csr_matrix(kept)):
        assert solved(linear_objective(loss, matrix, Y), 1e-9).value == pytest.approx(expected, rel=1e-8)
    for matrix in (kept.astype(np.float32), sp.csr_matrix(kept, dtype=np.float32)):
        assert solved(linear_objective(loss, matrix, Y)).value == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_weights_and_no_intercept(loss: str) -> None:
    weight = np.random.default_rng(0).integers(0, 3, Y.size).astype(float)
    repeated = np.repeat(np.arange(Y.size), weight.astype(int))
    for fit_intercept in (True, False):
        weighted = solved(linear_objective(loss, X, Y, sample_weight=weight, fit_intercept=fit_intercept), 1e-8)
        plain = solved(linear_objective(loss, X[repeated], Y[repeated], fit_intercept=fit_intercept), 1e-8)
        assert weighted.value == pytest.approx(plain.value, rel=1e-7)
        assert fit_intercept or weighted.theta[-1] == 0


@pytest.mark.parametrize("loss", ["logistic", "hinge", MIXED])
def test_a_start_near_the_solution_needs_fewer_steps(loss: str) -> None:
    objective = linear_objective(loss, X, Y)
    cold = algorithm.minimise(objective, None, settings(1e-8))
    near = algorithm.minimise(objective, cold.theta * (1 + 1e-6), settings(1e-8))
    assert near.iterations < cold.iterations
    assert near.value == pytest.approx(cold.value, rel=2e-8)
    far = algorithm.minimise(objective, np.full(objective.size, 1e3), settings(1e-8))
    assert far.value == pytest.approx(cold.value, rel=2e-8)


# -- matrices ---------------------------------------------------------------------------------------------------------


def test_the_gram_matrix_of_every_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.where(np.random.default_rng(0).random((90, 70)) > 0.7, wide(90, 70)[0], 0.0)
    expected = matrix @ matrix.T
    monkeypatch.setattr(gram, "_BLOCK_COLUMNS", 16)
    for same in (matrix, np.asfortranarray(matrix), sp.csr_matrix(matrix)):
        found = gram_of(design(same))
        assert found.exact
        np.testing.assert_allclose(found.matrix, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gram_of(design(matrix.astype(np.float32))).matrix, expected, rtol=1e-4, atol=1e-4)


def test_a_gram_matrix_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    objective = linear_objective("logistic", X, Y)
    first = gram_of(objective.design)
    assert gram_of(objective.design, exact=True) is first
    monkeypatch.setattr(gram, "_compute", lambda *_: pytest.fail("computed again"))
    assert solved(objective).converged
    assert solved(replace(objective, penalty=2.0)).converged


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "absolute"])
def test_single_precision_is_corrected(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = solved(linear_objective(loss, X, Y), 1e-9).value
    monkeypatch.setattr(gram, "LIMITS", replace(gram.LIMITS, worth_single=0))
    objective = linear_objective(loss, X, Y)
    assert not gram_of(objective.design).exact
    solution = solved(objective, 1e-8)
    assert solution.converged
    assert solution.value == pytest.approx(expected, rel=2e-8)


def test_too_little_precision_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision loses the small columns, and the matrix of a step need not be positive definite."""
    monkeypatch.setattr(gram, "LIMITS", replace(gram.LIMITS, worth_single=0))
    scaled = X * np.where(np.arange(X.shape[1]) < 5, 1e5, 1.0)
    objective = linear_objective("logistic", scaled, Y, factor=1000)
    solution = solved(objective)
    assert solution.converged
    assert gram_of(objective.design).exact


def test_cholesky_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton_systems, "_ONE_THREAD", 10)
    random = np.random.default_rng(0)
    for n in (5, 11, 16, 50, 101):
        root = random.normal(size=(n, n + 3))
        matrix, right = np.eye(n) + root @ root.T, random.normal(size=(n, 2))
        factor = matrix.copy()
        assert newton_systems.factor_in_place(factor)
        np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, matrix, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(matrix @ newton_systems.solve_factored(factor, right), right, atol=1e-9)
        indefinite = matrix.copy()
        indefinite[n - 2, n - 2] = -1.0
        assert not newton_systems.factor_in_place(indefinite)


def test_a_newton_step_is_that_of_the_columns() -> None:
    """From w = 0, the step in the space of the rows leads to the same w as the one in the space of the columns."""
    objective = linear_objective("logistic", X, Y)
    state = row_space_problem.RowSpace(objective, gram_of(objective.design))
    assert state.newton_step()
    theta, value, _ = state.measure()
    zero = np.zeros(objective.size)
    newton = -np.linalg.solve(objective.hessian(zero), objective.value_and_gradient(zero)[1])
    np.testing.assert_allclose(theta / np.linalg.norm(theta), newton / np.linalg.norm(newton), atol=1e-10)
    assert value == pytest.approx(objective.value_and_gradient(theta)[0], rel=1e-12)


def test_multipliers_of_the_solution_balance() -> None:
    """At the optimum, w is minus the sum of the rows times their slopes, over the penalty."""
    objective = linear_objective("absolute", X, Y, penalty=3.0)
    solution = algorithm.minimise(objective, None, settings(1e-10))
    assert solution.multipliers is not None
    slopes = solution.multipliers[0] - 1.0
    weighted = objective.factors() * objective.pair.scales[objective.y] * slopes
    np.testing.assert_allclose(X.T @ weighted, -3.0 * solution.theta[:-1], atol=1e-6)


def test_an_exact_step_survives_overflow() -> None:
    """A trial step at which the slope overflows is shortened."""

    def along(at: float) -> tuple[float, float]:
        with np.errstate(over="ignore"):
            rise = float(np.exp(np.float64(800.0) * at))
        return rise - 2.0, 800.0 * rise

    assert exact_step(along, -1.0, flat=1e-6) == pytest.approx(np.log(2.0) / 800.0, rel=1e-5)


# -- choosing it ------------------------------------------------------------------------------------------------------


def test_it_is_not_preferred_where_matrices_would_cost_more_than_iterating() -> None:
    few, many = (sp.diags_array(np.ones(n), shape=(n, 9000), format="csr") for n in (200, 8000))
    assert algorithm.SOLVER.is_fastest(linear_objective("logistic", few, np.arange(200) % 2))
    assert not algorithm.SOLVER.is_fastest(linear_objective("logistic", many, np.arange(8000) % 2))
    tall = np.zeros((200, 100))
    assert not algorithm.SOLVER.is_fastest(linear_objective("logistic", tall, np.arange(200) % 2))


# -- sharing its matrix -----------------------------------------------------------------------------------------------


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows of the Gram matrices that are computed."""
    found: list[int] = []
    compute = gram._compute

    def counted(design: Any, exact: bool) -> gram.Gram:
        found.append(design.n)
        return compute(design, exact)

    monkeypatch.setattr(gram, "_compute", counted)
    return found


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_a_part_is_taken_from_the_gram_matrix_of_all_rows(convert: Any, computed: list[int]) -> None:
    matrix, grams = convert(X), SharedGrams()
    for rows in (np.arange(0, 60, 2), np.arange(40)):
        with grams.part(matrix, rows):
            part = design(matrix[rows])
            np.testing.assert_allclose(gram_of(part).matrix, X[rows] @ X[rows].T, rtol=1e-12, atol=1e-10)
            assert gram_of(design(part.X)).matrix is gram_of(part).matrix
    assert computed == [60]
    gram_of(design(matrix[rows]))
    assert computed == [60, 40]


def test_other_rows_are_not_taken_from_it(computed: list[int]) -> None:
    grams, rows = SharedGrams(), np.arange(30)
    for other in (X[rows] + 1.0, X[rows].astype(np.float32), X[rows][:, :100], X[:20]):
        with grams.part(X, rows):
            np.testing.assert_allclose(gram_of(design(other)).matrix, other @ other.T, rtol=1e-5, atol=1e-3)
    with grams.part(None, rows):
        shared = X[rows].copy()
        assert gram_of(design(shared)).matrix is gram_of(design(shared)).matrix
    assert computed == [30, 30, 30, 20, 30]


def test_one_gram_matrix_serves_a_search(computed: list[int]) -> None:
    grid = {"margin_gammas": [0.5, 1.0, 2.0], "Cs": [0.1, 1.0], "cv": 3}
    search = uneven.UnevenClassifierCV(uneven.UnevenLinearClassifier("logistic", fn_cost=3), refit=False, **grid)
    search.fit(X, Y)
    assert computed == [60]
    scaled = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier("logistic", fn_cost=3))
    uneven.UnevenClassifierCV(scaled, refit=False, **grid).fit(X, Y)
    assert computed == [60, 40, 40, 40]


def test_steps_in_theta_where_the_square_of_a_slope_overflows() -> None:
    """Ended in an OverflowError: a float to the power 2 raises where a product is infinite."""
    objective = linear_objective("exponential", X, Y)
    state = row_space_problem.RowSpace(objective, gram_of(objective.design, exact=True))
    far = np.zeros(objective.size)
    far[-1] = 200.0  # slopes of about exp(400)
    with np.errstate(over="ignore", invalid="ignore"):
        assert list(state.polish(far, 3, 0.0)) == []
        assert not np.isfinite(state.gain())
