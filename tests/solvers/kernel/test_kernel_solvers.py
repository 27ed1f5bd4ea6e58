"""The kernel SVM's solvers: feasibility, the duality gap, independent solutions, the cache of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary
from scipy.optimize import minimize
from sklearn.metrics.pairwise import pairwise_kernels

from uneven.errors import ParameterError, SolverError
from uneven.solvers.kernel import kernel_matrix, smo
from uneven.solvers.kernel.kernel_matrix import KERNELS, Buffer, Gram, KernelFunction, Stored, gram
from uneven.solvers.kernel.smo import Dual, KernelSolution, best_intercept, check_solution, solution_from

X, Y = binary(90, 3)
SIGNS = np.where(Y == 1, 1.0, -1.0)
UPPER = np.where(Y == 1, 2.0, 0.5)
RBF = KernelFunction("rbf", width=0.3)
CASES = {
    name: KernelFunction(name, width=0.2, offset=0.5, degree=2.0) for name in KERNELS if name != "sigmoid"
}  # a sigmoid kernel is not positive semidefinite, and its dual not concave


def problem(kernel: KernelFunction = RBF, gamma: float = 2.0, upper: np.ndarray = UPPER) -> Dual:
    return Dual(gram(kernel, X), np.where(Y == 1, 1.0, -1 / gamma), SIGNS, upper)


def primal(dual: Dual, b: np.ndarray, intercept: float) -> float:
    """The primal objective, written out."""
    K = dual.gram.whole()
    losses = np.maximum(dual.signs * (dual.margins - K @ b - intercept), 0)
    return 0.5 * float(b @ K @ b) + float(dual.upper @ losses)


def dual_value(dual: Dual, b: np.ndarray) -> float:
    return float(dual.margins @ b) - 0.5 * float(b @ dual.gram.whole() @ b)


def check(dual: Dual, solution: KernelSolution, gap: float, digits: float = 1e-9) -> None:
    """Feasible, with the primal and dual values it claims, and a gap as small as it says."""
    assert (solution.b * dual.signs >= 0).all()
    assert (np.abs(solution.b) <= dual.upper).all()
    assert abs(solution.b.sum()) <= 1e-9 * dual.upper.sum()
    value = primal(dual, solution.b, solution.intercept)
    assert solution.value == pytest.approx(value, rel=digits)
    assert solution.duality_gap == pytest.approx(value - dual_value(dual, solution.b), abs=digits * value)
    assert 0 <= solution.duality_gap <= gap * value


@pytest.mark.parametrize("gamma", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("kernel", CASES.values(), ids=CASES)
def test_smo_is_feasible_and_optimal(kernel: KernelFunction, gamma: float) -> None:
    dual = problem(kernel, gamma)
    solution = smo.solve(dual, tol=1e-8)
    assert solution.converged
    assert solution.violation <= 1e-8
    check(dual, solution, gap=1e-7)
    check(dual, smo.solve(dual, tol=1e-2), gap=1.0)


def test_smo_against_a_general_solver() -> None:
    """The dual as scipy sees it: a quadratic function, bounds, and one equation."""
    dual = problem()
    K = dual.gram.whole()
    found = minimize(
        lambda b: -dual_value(dual, b),
        np.zeros(Y.size),
        jac=lambda b: K @ b - dual.margins,
        bounds=list(zip(dual.low, dual.high, strict=True)),
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    solution = smo.solve(dual, tol=1e-9)
    assert dual_value(dual, solution.b) == pytest.approx(-found.fun, rel=1e-7)


def test_rows_without_weight_get_no_coefficient() -> None:
    upper = np.where(np.arange(Y.size) % 3 == 0, 0.0, UPPER)
    dual = problem(upper=upper)
    solution = smo.solve(dual, tol=1e-8)
    assert not solution.b[upper == 0].any()
    check(dual, solution, gap=1e-7)


def test_a_warm_start_is_feasible_and_needs_fewer_steps() -> None:
    dual = problem()
    cold = smo.solve(dual, tol=1e-6)
    larger = problem(upper=3 * UPPER)
    start = smo.feasible(cold.b, dual.upper, larger)
    assert (start * SIGNS >= 0).all()
    assert (np.abs(start) <= larger.upper * (1 + 1e-12)).all()
    assert abs(start.sum()) < 1e-9
    assert start.any()
    again = smo.solve(dual, tol=1e-6, start=cold.b)
    assert again.iterations < 0.1 * cold.iterations
    warm = smo.solve(larger, tol=1e-6, start=start)
    assert warm.value == pytest.approx(smo.solve(larger, tol=1e-6).value, rel=1e-5)


def test_the_start_is_feasible() -> None:
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], 50)
    dual = Dual(gram(KernelFunction("linear"), rng.normal(size=(50, 3))), signs, signs, rng.uniform(0, 2, 50))
    before = rng.uniform(0, 2, 50)
    b = smo.feasible(signs * before * rng.integers(0, 2, 50), before, dual)
    assert abs(b.sum()) < 1e-12
    assert (dual.low <= b).all()
    assert (b <= dual.high).all()
    assert smo.solve(dual, tol=1e-6, start=b).value == pytest.approx(smo.solve(dual, tol=1e-6).value, rel=1e-6)
    assert not smo.feasible(np.where(signs > 0, before, 0), before * 2, dual).any()


def test_a_limit_of_steps_is_kept_and_admitted() -> None:
    dual = problem()
    solution = smo.solve(dual, tol=1e-9, max_iter=7)
    assert solution.iterations == 7
    assert not solution.converged
    assert solution.violation > 1e-9
    check(dual, solution, gap=np.inf)


@pytest.mark.parametrize(("megabytes", "digits"), [(0.004, 1e-6), (0.02, 1e-6), (200.0, 1e-9)])
def test_a_small_cache_costs_digits_but_not_the_solution(
    megabytes: float, digits: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows come and go, in float32 if not all of them fit."""
    monkeypatch.setattr(kernel_matrix, "LIMITS", replace(kernel_matrix.LIMITS, few_rows=0))
    dual = problem()
    solution = smo.solve(dual, tol=1e-4, cache_size=megabytes)
    assert solution.converged
    check(dual, solution, gap=1e-3, digits=digits)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_those_of_scikit_learn(name: str, sparse: bool) -> None:
    given = {"linear": {}, "poly": {"gamma": 0.2, "coef0": 0.5, "degree": 2}, "rbf": {"gamma": 0.2}}
    expected = pairwise_kernels(X, metric=name, **given.get(name, {"gamma": 0.2, "coef0": 0.5}))
    kernel = KernelFunction(name, width=0.2, offset=0.5, degree=2.0)
    matrix: Any = sp.csr_matrix(X) if sparse else X
    np.testing.assert_allclose(kernel.between(matrix[:5], matrix), expected[:5], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.values(matrix, matrix, SIGNS), expected @ SIGNS, rtol=1e-9, atol=1e-9)
    if name == "linear" and not sparse:  # the matrix of centred rows
        expected = pairwise_kernels(X - X.mean(axis=0), metric=name)
    K = gram(kernel, matrix)
    np.testing.assert_allclose(K.whole(), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(K.diagonal(), np.diagonal(expected), rtol=1e-10)
    few = np.where(np.arange(Y.size) < 4, SIGNS, 0.0)
    np.testing.assert_allclose(K.times(few), expected @ few, rtol=1e-9, atol=1e-9)
    single = np.empty((2, Y.size), dtype=np.float32)
    K.fill(np.array([1, 8]), single)
    np.testing.assert_allclose(single, expected[[1, 8]], rtol=1e-5, atol=1e-5)


def test_a_buffer_is_used_again() -> None:
    buffer = Buffer()
    first = gram(RBF, X).whole(buffer)
    kept = first.copy()
    assert np.shares_memory(gram(RBF, X[:10]).whole(buffer), first)
    assert np.array_equal(gram(RBF, X).whole(buffer), kept)


def test_a_users_kernel_is_called_and_checked() -> None:
    own: Gram = gram(KernelFunction(lambda X, Z: X @ Z.T), X)
    assert isinstance(own, Stored)
    np.testing.assert_allclose(own.whole(), X @ X.T)
    with pytest.raises(ParameterError, match=r"must return a matrix of shape \(90, 90\), got shape \(90,\)"):
        gram(KernelFunction(lambda X, Z: X[:, 0]), X)
    with pytest.raises(ParameterError, match="must return finite numbers"):
        gram(KernelFunction(lambda X, Z: np.full((90, 90), np.nan)), X)


def small(C: float, seed: int = 0) -> Dual:
    """Overlapping classes in one dimension: almost all coefficients are at a bound, or would like to be."""
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    return Dual(gram(RBF, rng.normal(size=(12, 1))), signs, signs, C * rng.uniform(0.5, 2, 12))


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4, 1e6])
def test_the_gap_decides_and_not_the_violation(C: float) -> None:
    dual = small(C)
    alone, proved = smo.solve(dual, tol=0.1), smo.solve(dual, tol=0.1, gap=1e-6)
    assert alone.converged
    assert proved.converged
    assert proved.duality_gap <= 1e-6 * (proved.value - proved.duality_gap)
    assert proved.violation <= 0.1
    assert alone.value >= proved.value - proved.duality_gap
    best = smo.solve(dual, tol=1e-10)
    for found in (alone, proved):
        assert found.value - best.value <= found.duality_gap


def test_the_intercept_is_the_best_one() -> None:
    rng = np.random.default_rng(1)
    for k in range(200):
        n = int(rng.integers(2, 9))
        signs = rng.choice([-1.0, 1.0], n)
        signs[:2] = -1, 1
        upper = rng.choice([0.0, 1e-9, 1.0, 1.0, 2.0, 1e6], n)
        upper[:2] = rng.choice([1e-9, 1.0, 1e6], 2)
        g = rng.integers(-3, 4, n) * (1.0 if k % 2 else 0.1)
        dual = Dual(gram(KernelFunction("linear"), np.zeros((n, 1))), signs, signs, upper)
        at = [float(upper @ np.maximum(signs * (g - c), 0)) for c in (best_intercept(dual, g), *g)]
        assert at[0] <= min(at) * (1 + 1e-12)


def test_the_intercept_is_in_the_middle_of_the_best_ones() -> None:
    signs = np.array([1.0, -1.0, -1.0])
    dual = Dual(gram(KernelFunction("linear"), np.zeros((3, 1))), signs, signs, np.array([1.0, 1.0, 0.0]))
    assert best_intercept(dual, np.array([3.0, 1.0, 2.5])) == 2.0


def test_newton_steps_climb_and_stay_feasible() -> None:
    rng = np.random.default_rng(2)
    for rank in (1, 3, 8):
        rows = rng.normal(size=(8, rank))
        K, q = rows @ rows.T, rng.normal(size=8)
        low, high = -rng.uniform(0.5, 2, 8), rng.uniform(0.5, 2, 8)
        b = 0.1 * (high + low)
        moved = smo.climb(K, q - K @ b, b, low, high)
        assert (low <= moved).all()
        assert (moved <= high).all()
        assert moved.sum() == pytest.approx(b.sum(), abs=1e-12)
        assert q @ moved - 0.5 * moved @ K @ moved > q @ b - 0.5 * b @ K @ b
    # Inside the box, one step is the solution: the gradient is the same for all.
    K = np.diag(rng.uniform(1, 2, 8))
    moved = smo.climb(K, q, np.zeros(8), np.full(8, -100.0), np.full(8, 100.0))
    assert np.ptp(q - K @ moved) < 1e-12


def test_dependent_rows_and_a_large_c() -> None:
    """In two dimensions 60 rows are dependent: steps of pairs zigzag, Newton steps do not."""
    rng = np.random.default_rng(3)
    signs = rng.choice([-1.0, 1.0], 60)
    dual = Dual(gram(KernelFunction("linear"), 20 * rng.normal(size=(60, 2))), signs, signs, np.full(60, 1e4))
    solution = smo.solve(dual, tol=1e-3, gap=1e-4)
    assert solution.converged
    assert solution.iterations < 200_000


def test_rows_in_float32_give_an_exact_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_matrix, "LIMITS", replace(kernel_matrix.LIMITS, few_rows=0, some_rows=0))
    dual = problem()
    assert kernel_matrix.RowCache(dual.gram, 200.0, fine=False).rough
    assert not kernel_matrix.RowCache(dual.gram, 200.0, fine=True).rough
    huge = Dual(gram(KernelFunction("linear"), 1e20 * X), dual.margins, SIGNS, UPPER)
    assert not kernel_matrix.RowCache(huge.gram, 0.01).rough
    solution = smo.solve(dual, tol=1e-3, gap=1e-3)
    assert solution.converged
    check(dual, solution, gap=1e-3)
    exact = solution_from(dual, solution.b, dual.margins - dual.gram.whole() @ solution.b, iterations=0)
    assert solution.duality_gap == pytest.approx(exact.duality_gap, rel=1e-6)


def test_an_impossible_solution_is_refused() -> None:
    dual = problem()
    solution = smo.solve(dual, tol=1e-3, gap=1e-3)
    assert check_solution(dual, solution, 1e-3) is solution
    for change in ({"value": -1.0}, {"value": np.nan}, {"duality_gap": -1e-9}, {"value": 2 * dual.value_at_zero}):
        with pytest.raises(SolverError, match="the solver of the kernel SVM failed: objective"):
            check_solution(dual, replace(solution, **change), 1e-3)
