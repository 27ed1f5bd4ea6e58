"""The duality gap is a bound: at every point, for every convex loss, with any multipliers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary
from problems import linear_objective

import uneven
from uneven.errors import SolverError
from uneven.solvers.linear import solver
from uneven.solvers.linear.design import Dense, SparseRows
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import infimum
from uneven.solvers.linear.proof import (
    careful_value,
    minimise,
    minimise_to_gap,
    prove,
    require_consistent,
    stationarity,
)
from uneven.solvers.linear.solver import Settings, Solution, Solver

X, Y = binary(80, 4)
SMOOTH = ("logistic", "exponential", "squared", "squared_hinge", "modified_huber", "smoothed_hinge")
KINKED = ("hinge", "absolute", "relu(1 - 3*t)", "relu(1 - t)**2 + relu(1 - t)", "max(softplus(-t), 1 - 2*t)")


def settings(tol: float, max_iter: int = 5000) -> Settings:
    return Settings(tol=tol, max_iter=max_iter, random=np.random.default_rng(0))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", SMOOTH + KINKED)
def test_the_gap_is_a_bound_at_every_point(loss: str, fit_intercept: bool) -> None:
    random = np.random.default_rng(len(loss))
    weight = random.uniform(0, 2, Y.size) * (random.random(Y.size) > 0.2)
    objective = linear_objective(loss, X, Y, sample_weight=weight, fit_intercept=fit_intercept, penalty=0.1)
    best = minimise(objective, settings(1e-10))
    optimum = best.value - best.duality_gap
    kinks, jumps = objective.pair.kinks_and_jumps
    for scale in (0.0, 0.1, 1.0, 30.0):
        theta = best.theta + scale * random.normal(size=objective.size)
        if not fit_intercept:
            theta[-1] = 0.0
        for multipliers in (None, random.random((kinks.shape[1], Y.size)) * jumps[objective.y].T):
            proof = prove(objective, theta, multipliers)
            assert proof.gap >= proof.value - best.value - 1e-12 * best.value
            assert proof.bound <= optimum + best.duality_gap
            assert 0 <= proof.stationarity <= 1
            # The intercept is all that may move.
            np.testing.assert_array_equal(proof.theta[:-1], theta[:-1])


@pytest.mark.parametrize("loss", SMOOTH + KINKED)
def test_the_gap_of_the_optimum_is_small(loss: str) -> None:
    for matrix in (X, np.asfortranarray(X), sp.csr_matrix(X), X.astype(np.float32)):
        solution = minimise(linear_objective(loss, matrix, Y), settings(1e-9))
        assert solution.converged
        assert 0 < solution.duality_gap <= 1e-9 * solution.value


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_without_a_penalty_coefficients_of_a_bounded_size_are_compared(loss: str) -> None:
    objective = linear_objective(loss, X, Y, penalty=0.0)
    solution = minimise(objective, settings(1e-4))
    assert solution.converged
    random = np.random.default_rng(1)
    reach = objective.reach(solution.theta[:-1])
    for _ in range(200):
        other = solution.theta + random.normal(size=objective.size) * 10 ** random.uniform(-6, 0)
        if (np.abs(other[:-1]) <= reach).all():
            assert objective.value_and_gradient(other)[0] >= solution.value - solution.duality_gap


def test_with_an_l1_penalty_lines_are_mixed_until_they_are_feasible() -> None:
    for rho in (0.0, 0.5):
        objective = replace(linear_objective("logistic", X, Y, penalty=rho), l1=3.0)
        random = np.random.default_rng(2)
        points = random.normal(size=(300, objective.size)) * 10 ** random.uniform(-3, 0.5, (300, 1))
        points[:150, 0] = 0.0
        best = min(objective.value_and_gradient(theta)[0] for theta in points)
        for theta in points[::20]:
            proof = prove(objective, theta)
            assert proof.value - proof.gap <= best


@pytest.mark.parametrize("order", ["C", "F", "csr"])
def test_careful_sums_keep_what_cancels(order: str) -> None:
    random = np.random.default_rng(0)
    matrix = random.normal(size=(50, 3)) * 10.0 ** random.integers(-8, 9, (50, 1))
    slopes = random.normal(size=50)
    slopes[-1] = -math.fsum(matrix[:-1, 0] * slopes[:-1]) / matrix[-1, 0]
    design = SparseRows(sp.csr_matrix(matrix)) if order == "csr" else Dense(np.asarray(matrix, order=order))  # type: ignore[call-overload]
    found = design.careful_transposed_product(slopes)
    from fractions import Fraction

    for j in range(3):
        exact = sum(Fraction(x) * Fraction(s) for x, s in zip(matrix[:, j].tolist(), slopes.tolist(), strict=True))
        size = sum(abs(x * s) for x, s in zip(matrix[:, j].tolist(), slopes.tolist(), strict=True))
        assert abs(Fraction(found[j]) - exact) <= abs(exact) * 2.0**-52 + Fraction(50**2 * 2.0**-103 * size)
    theta = np.array([1.0, -1.0, 1e-3, 0.1])
    scores = design.careful_scores(theta)
    for row, score in zip(matrix.tolist(), scores.tolist(), strict=True):
        parts = [Fraction(x) * Fraction(a) for x, a in zip(row, theta.tolist(), strict=False)]
        exact = sum(parts) + Fraction(0.1)
        size = float(sum(map(abs, parts))) + 0.1
        assert abs(Fraction(score) - exact) <= abs(exact) * Fraction(2.0**-52) + Fraction(16 * 2.0**-103 * size)
    product, sizes = design.transposed_product(slopes, slopes)
    np.testing.assert_allclose(sizes, np.abs(matrix).T @ np.abs(slopes), rtol=1e-12)
    assert (np.abs(product - found) <= 50 * 2.0**-52 * sizes).all()


@pytest.mark.parametrize(
    ("phi", "least"),
    [
        ("hinge", 0.0),
        ("softplus(-t)", 0.0),
        ("(1 - t)**2 + 3", 3.0),
        ("abs(1/3 - t) + 2", 2.0),
        ("exp(-t) + t/2", 0.5 + 0.5 * math.log(2)),
    ],
)
def test_the_infimum_is_a_lower_bound(phi: str, least: float) -> None:
    made = uneven.phi(phi)
    from uneven.ops.kernels import compile_kernel

    found = infimum(made, compile_kernel(made.tree))
    assert found <= least
    assert found == pytest.approx(least, abs=1e-9)


def test_a_loss_that_is_not_convex_says_how_stationary_its_local_minimum_is() -> None:
    objective = linear_objective("savage", X, Y)
    solution = minimise(objective, settings(1e-10))
    assert solution.duality_gap is None
    assert solution.stationarity is not None
    assert solution.stationarity < 1e-4 < stationarity(objective, solution.theta + 0.1)
    model = uneven.UnevenLinearClassifier("savage", tol=1e-10).fit(X, Y)
    assert model.duality_gap_ is None
    assert model.stationarity_ < 1e-4


# -- results that contradict themselves are not returned ------------------------------------------------------------


def test_contradictions_raise() -> None:
    objective = linear_objective("logistic", X, Y)
    start = objective.value_at_zero
    require_consistent(objective, 0.5 * start, 0.1, start)
    for value, gap, words in ((-1.0, 0.1, "at least 0"), (2 * start, 0.1, "at the start"), (1.0, -0.1, "gap is -0.1")):
        with pytest.raises(SolverError, match=words):
            require_consistent(objective, value, gap, start)
        with pytest.raises(SolverError, match="contradicts itself"):
            require_consistent(objective, value, gap, start)


def test_a_solver_that_lies_is_found_out() -> None:
    """Its value is computed again, the start is returned if it is better, and no gap is taken on trust."""

    def liar(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
        return Solution(np.full(objective.size, 50.0), 0.0, True, "claimed to be done", 1)

    solver.register(Solver("liar", (), liar))
    try:
        objective = linear_objective("logistic", X, Y)
        solution = minimise(objective, settings(1e-6), solver="liar")
    finally:
        solver.unregister("liar")
    assert not solution.converged
    assert solution.value <= objective.value_at_zero
    assert solution.value == pytest.approx(objective.value_and_gradient(solution.theta)[0], rel=1e-12)


def test_an_intercept_that_is_placed_too_roughly_is_placed_again() -> None:
    """A proof may fail although the solver is done: the optimal intercept is bounded badly, so slopes must sum to 0."""
    random = np.random.default_rng(0)
    line = random.normal(size=(40000, 1))
    loss = uneven.UnevenMarginLoss("logistic", gamma=0.25)
    objective = linear_objective(loss, line, (random.random(40000) < 0.5).astype(int), factor=1)
    best = minimise(objective, settings(1e-12)).theta
    wanted = 1e-6 * objective.value_and_gradient(best)[0]
    rough = best.copy()
    rough[-1] += 0.009 * wanted / (1 + abs(best[-1])) / objective.hessian(best)[-1, -1]
    value = objective.value_and_gradient(rough)[0]
    assert prove(objective, rough, wanted=wanted).gap > wanted
    done = Solution(rough, value, converged=True, status="reached the tolerance", iterations=1)
    solution = minimise_to_gap(lambda *_: done, objective, None, settings(1e-6))
    assert solution.converged
    assert solution.duality_gap <= 1e-6 * solution.value


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_the_value_at_a_starting_point_is_rounded_too(loss: str) -> None:
    """Rounded to far below the optimum, it is neither taken for exact, nor do better solutions contradict it."""
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 3)) + np.array([3e11, 0.0, -1e10])
    objective = linear_objective(loss, X, np.arange(40) % 2)
    theta = minimise(objective, settings(1e-6)).theta
    starts = [np.append(theta[:-1], theta[-1] + k * np.spacing(theta[-1])) for k in range(-20, 21)]
    too_low = min(starts, key=lambda at: objective.value_and_gradient(at)[0] - careful_value(objective, at))
    found = minimise(objective, settings(1e-6), theta=too_low)
    assert abs(found.value - careful_value(objective, found.theta)) <= found.duality_gap
