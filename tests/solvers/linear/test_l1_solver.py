"""The solver for l1 penalties: against independent solutions, and against what it claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from l1_problems import CONVEX, EXPRESSIONS, by_linear_program, by_split_coefficients, dense, l1_objective
from linear_data import binary
from problems import minimum_of_two, reference_value, settings

import uneven
from uneven.errors import LossError
from uneven.solvers.linear import quadratic
from uneven.solvers.linear import solver as registry
from uneven.solvers.linear.algorithms import coordinate
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import minimise, prove
from uneven.solvers.linear.solver import Solution

NAMES = [*CONVEX, *EXPRESSIONS]
SMOOTH = [name for name in NAMES if not uneven.phi(name).kinks]
POLYGONS = ["hinge", "absolute", "max(0, 1 - t, 3 - 6*t)", "relu(1 - 3*t)"]
X, Y = binary(90, 6)
WIDE, ON_WIDE = binary(40, 70, seed=3)
LINE, ON_LINE = binary(80, 1)


def solved(objective: Objective, tol: float = 1e-7, **more: Any) -> Solution:
    solution = minimise(objective, settings(tol, max_iter=5000), solver="coordinate", **more)
    assert solution.converged, solution.status
    assert solution.duality_gap <= tol * solution.value
    return solution


# -- the optimum ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-2, 0.3, 10.0])
@pytest.mark.parametrize("squared", [0.0, 0.3])
@pytest.mark.parametrize("loss", SMOOTH)
def test_smooth_losses_against_scipy(loss: str, squared: float, factor: float) -> None:
    for matrix, labels in ((X, Y), (WIDE, ON_WIDE)):
        objective = l1_objective(loss, matrix, labels, l1=1 / factor, penalty=squared / factor)
        solution, best = solved(objective), by_split_coefficients(objective)
        assert solution.value - solution.duality_gap <= best
        assert solution.value <= best * (1 + 1e-7)
        assert best <= solution.value * 1.01  # scipy stops a little early where C is large


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("factor", [0.05, 1.0, 1000.0])
@pytest.mark.parametrize("loss", POLYGONS)
def test_straight_pieces_against_linear_programs(loss: str, factor: float, fit_intercept: bool) -> None:
    for matrix, labels in ((X, Y), (WIDE, ON_WIDE)):
        objective = l1_objective(loss, matrix, labels, l1=1 / factor, fit_intercept=fit_intercept)
        solution, best = solved(objective, 1e-6), by_linear_program(objective)
        assert solution.value - solution.duality_gap <= best * (1 + 1e-9)
        assert -1e-9 * best <= solution.value - best <= 1e-6 * solution.value


@pytest.mark.parametrize("squared", [0.0, 0.2])
@pytest.mark.parametrize("loss", NAMES)
def test_every_loss_against_a_search_on_a_line(loss: str, squared: float) -> None:
    """One column and the intercept; the reference sees nothing but values of the NumPy loss."""
    made = uneven.UnevenMarginLoss(loss, gamma=2.0, alpha=0.25)
    best = minimum_of_two(
        lambda theta: reference_value(made, LINE, ON_LINE, theta, penalty=squared) + 2.0 * abs(float(theta[0]))
    )
    solution = solved(l1_objective(loss, LINE, ON_LINE, l1=2.0, penalty=squared))
    assert solution.value - solution.duality_gap <= best * (1 + 1e-8)
    assert -1e-8 * best <= solution.value - best <= 1e-7 * best


def critical(objective: Objective) -> float:
    """The least lambda for which w = 0, if the losses have slopes at the best intercept."""
    b = solved(replace(objective, l1=1e12), 1e-12).theta[-1] if objective.fit_intercept else 0.0
    slopes = objective.slopes(np.full(objective.design.n, b))
    return float(np.abs(dense(objective).T @ slopes).max())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", SMOOTH)
def test_all_coefficients_are_exactly_0_below_the_critical_c(loss: str, fit_intercept: bool) -> None:
    objective = l1_objective(loss, X, Y, fit_intercept=fit_intercept)
    least = critical(objective)
    above = solved(replace(objective, l1=least * (1 + 1e-6)), 1e-9)
    below = solved(replace(objective, l1=least * (1 - 1e-3)), 1e-9)
    assert not above.theta[:-1].any()
    assert below.theta[:-1].any()


@pytest.mark.parametrize("loss", NAMES)
def test_zeros_are_exact_and_coefficients_satisfy_the_conditions(loss: str) -> None:
    noise = np.random.default_rng(5).normal(size=(Y.size, 30))
    objective = l1_objective(loss, np.hstack([X, noise]), Y, l1=12.0)
    solution = solved(objective, 1e-8)
    used = np.count_nonzero(solution.theta[:-1])
    assert 0 < used < 25
    if loss in SMOOTH:
        slopes = objective.value_and_gradient(solution.theta)[1][:-1]
        w = solution.theta[:-1]
        np.testing.assert_allclose(slopes[w != 0], -12.0 * np.sign(w[w != 0]), rtol=1e-3)
        assert (np.abs(slopes[w == 0]) <= 12.0 * (1 + 1e-6)).all()


# -- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "relu(1 - t)**2 + relu(1 - t)"])
def test_every_layout_gives_the_same_solution(loss: str) -> None:
    gaps = np.where(np.abs(X) > 0.6, X, 0.0)
    base = solved(l1_objective(loss, gaps, Y, l1=0.5, penalty=0.1), 1e-9)
    for matrix in (np.asfortranarray(gaps), sp.csr_matrix(gaps), np.tile(gaps, (1, 2))[:, ::2][:, [0, 3, 1, 4, 2, 5]]):
        if not sp.issparse(matrix) and not np.array_equal(matrix, gaps):
            continue
        other = solved(l1_objective(loss, matrix, Y, l1=0.5, penalty=0.1), 1e-9)
        np.testing.assert_allclose(other.theta, base.theta, rtol=1e-3, atol=1e-4)
        assert other.value == pytest.approx(base.value, rel=1e-8)
    single = solved(l1_objective(loss, gaps.astype(np.float32), Y, l1=0.5, penalty=0.1), 1e-6)
    assert single.value == pytest.approx(base.value, rel=1e-5)


@pytest.mark.parametrize("matrix", [X, np.asfortranarray(X), sp.csr_matrix(np.where(np.abs(X) > 0.4, X, 0.0))])
@pytest.mark.parametrize("loss", ["logistic", "smoothed_hinge", "hinge"])
def test_without_a_matrix_of_second_derivatives(loss: str, matrix: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many columns in the working set, coordinate descent reads the columns themselves."""
    objective = l1_objective(loss, matrix, Y, l1=0.7, penalty=0.1)
    kept = solved(objective, 1e-8)
    monkeypatch.setattr(quadratic, "MOST_KEPT", 0)
    assert solved(objective, 1e-8).value == pytest.approx(kept.value, rel=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_working_set_grows(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    objective = l1_objective("logistic", sp.csr_matrix(WIDE) if sparse else WIDE, ON_WIDE, l1=0.05)
    whole = solved(objective, 1e-8)
    monkeypatch.setattr(coordinate, "LIMITS", replace(coordinate.LIMITS, first=2, first_dense=2))
    assert solved(objective, 1e-8).value == pytest.approx(whole.value, rel=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_sample_gives_the_starting_point(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, labels = binary(3000, 8, seed=2)
    weight = np.random.default_rng(0).uniform(0, 2, labels.size)
    objective = l1_objective(loss, matrix, labels, l1=5.0, sample_weight=weight)
    plain = solved(objective)
    monkeypatch.setattr(coordinate, "LIMITS", replace(coordinate.LIMITS, rows_worth_sampling=1000))
    assert solved(objective).value == pytest.approx(plain.value, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-4, 1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "smoothed_hinge", "exponential", "hinge", "absolute"])
def test_scales_duplicates_and_constants(loss: str, factor: float) -> None:
    """The gap that is claimed is never below the true one, and never above the tolerance without saying so."""
    random = np.random.default_rng(1)
    columns = np.hstack([X[:, :4] * 10.0 ** np.array([-3, 5, 0, 2]), X[:, :1], X[:, :1], np.ones((Y.size, 1))])
    columns = np.hstack([columns, np.zeros((Y.size, 1)), random.normal(size=(Y.size, 3))])
    objective = l1_objective(loss, columns, Y, l1=1 / factor)
    solution = minimise(objective, settings(1e-6, max_iter=5000))
    assert solution.converged == (solution.duality_gap <= 1e-6 * solution.value)
    finer = minimise(objective, settings(1e-8, max_iter=2000), theta=solution.theta)
    best = min(finer.value, solution.value)
    assert solution.value - solution.duality_gap <= best * (1 + 1e-12)
    assert solution.duality_gap <= (1e-6 if factor < 1 else 1e-4) * solution.value  # rounding may limit it
    if loss in POLYGONS:
        assert by_linear_program(objective) >= (solution.value - solution.duality_gap) * (1 - 1e-7)


@pytest.mark.parametrize("loss", NAMES)
def test_the_gap_of_an_unfinished_fit_is_a_bound(loss: str) -> None:
    objective = l1_objective(loss, X, Y, l1=0.3, penalty=0.05)
    best = solved(objective, 1e-9).value
    for steps in (1, 2, 5):
        early = minimise(objective, settings(1e-12, max_iter=steps))
        assert early.value - early.duality_gap <= best * (1 + 1e-12)
        assert early.value >= best * (1 - 1e-8)
    anywhere = np.random.default_rng(2).normal(size=objective.size)
    proof = prove(objective, anywhere)
    assert proof.value - proof.gap <= best


# -- limits, starts and refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "smoothed_hinge"])
def test_between_l2_and_l1(loss: str) -> None:
    squared = minimise(l1_objective(loss, X, Y, l1=0.0, penalty=1.0), settings(1e-9))
    nearly = solved(l1_objective(loss, X, Y, l1=1e-9, penalty=1.0), 1e-8)
    assert nearly.value == pytest.approx(squared.value, rel=1e-7)
    np.testing.assert_allclose(nearly.theta, squared.theta, rtol=1e-3, atol=1e-3)
    absolute = solved(l1_objective(loss, X, Y, l1=1.0), 1e-8)
    almost = solved(l1_objective(loss, X, Y, l1=1.0, penalty=1e-9), 1e-8)
    assert almost.value == pytest.approx(absolute.value, rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "max(softplus(-t), 1 - 2*t)"])
def test_a_start_changes_nothing_but_the_time(loss: str) -> None:
    objective = l1_objective(loss, WIDE, ON_WIDE, l1=0.4, penalty=0.01)
    alone = solved(objective, 1e-8)
    for start in (alone.theta, np.random.default_rng(0).normal(size=objective.size)):
        assert solved(objective, 1e-8, theta=start).value == pytest.approx(alone.value, rel=1e-7)
    if loss == "logistic":
        assert solved(objective, 1e-8, theta=alone.theta).iterations <= 2


def test_auto_takes_it_and_the_others_refuse() -> None:
    for loss in NAMES:
        assert registry.choose("auto", l1_objective(loss, X, Y)).name == "coordinate"
    for name, solver in registry.solvers().items():
        for loss in ("logistic", "hinge"):
            reason = solver.lacks(l1_objective(loss, sp.csr_matrix(X), Y))
            assert (reason is None) == (name == "coordinate")
            assert reason is None or f"solver={name!r} needs" in reason
    with pytest.raises(LossError, match="'logistic' is to be fitted with an l1 penalty; solver='auto' or 'coordinate'"):
        registry.choose("newton", l1_objective("logistic", X, Y))
    assert "needs an l1 penalty" in str(registry.solvers()["coordinate"].lacks(l1_objective("hinge", X, Y, l1=0.0)))
    assert "convex" in str(registry.solvers()["coordinate"].lacks(l1_objective("sigmoid", X, Y)))
