"""Every linear solver, on every loss it accepts, against independent solutions and against what it claims."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary
from problems import LOSSES, linear_objective, minimum_of_two, reference_value, settings
from scipy.optimize import minimize

import uneven
from uneven.solvers.linear.algorithms import augmented_lagrangian
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.newton_systems import MOST_COLUMNS
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.path import Follower
from uneven.solvers.linear.proof import minimise
from uneven.solvers.linear.solver import solvers
from uneven.solvers.linear.supporting_lines import bounds

X, Y = binary(120, 4)
SPARSE = sp.csr_matrix(np.where(np.abs(X) > 0.4, X, 0.0))
LINE, ON_LINE = binary(120, 1)  # one column and the intercept: two numbers to find
MIXED = "relu(1 - t)**2 + relu(1 - t)"  # a kink between curved pieces
NAMES = [*LOSSES, MIXED]


def accepted(matrix: Any, wanted: Any) -> list[tuple[str, str]]:
    """Pairs of a solver and a loss that it accepts on a matrix."""
    found = []
    for loss in NAMES:
        objective = linear_objective(loss, matrix, Y)
        names = [name for name, solver in solvers().items() if solver.lacks(objective) is None]
        found += [(name, loss) for name in names if wanted(objective)]
    return found


SMOOTH = accepted(SPARSE, lambda objective: objective.pair.convex and not objective.pair.kinked)
KINKED = accepted(SPARSE, lambda objective: objective.pair.convex and objective.pair.kinked)
NOT_CONVEX = accepted(SPARSE, lambda objective: not objective.pair.convex)


def test_the_lists_are_not_empty() -> None:
    assert {solver for solver, _ in SMOOTH} >= {"lbfgs", "newton"}
    assert {solver for solver, _ in KINKED} >= {"lagrangian", "dual"}
    assert {solver for solver, _ in NOT_CONVEX} >= {"lbfgs"}


def by_scipy(objective: Objective) -> float:
    """The least value that scipy's L-BFGS finds."""
    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-9}
    start = np.zeros(objective.size)
    return float(minimize(objective.value_and_gradient, start, jac=True, method="L-BFGS-B", options=options).fun)


# -- the solution -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [1.0, 0.01])
@pytest.mark.parametrize(("solver", "loss"), SMOOTH)
def test_smooth_losses_against_scipy(solver: str, loss: str, penalty: float) -> None:
    objective = linear_objective(loss, X, Y, penalty=penalty)
    best = by_scipy(objective)
    for tol in (1e-3, 1e-9):
        solution = solvers()[solver].minimise(objective, None, settings(tol))
        assert solution.converged
        assert -1e-9 * best <= solution.value - best <= tol * best
        assert solution.value == pytest.approx(objective.value_and_gradient(solution.theta)[0], rel=1e-14)


@cache
def best_on_a_line(loss: str, penalty: float = 1.0) -> float:
    """The optimum for one column and the intercept; the reference sees nothing but values of the NumPy loss."""
    made = uneven.UnevenMarginLoss(loss, gamma=2.0, alpha=0.25)
    return minimum_of_two(lambda theta: reference_value(made, LINE, ON_LINE, theta, penalty=penalty))


@pytest.mark.parametrize(("solver", "loss"), KINKED)
def test_kinked_losses_against_a_search_on_a_line(solver: str, loss: str) -> None:
    objective = linear_objective(loss, sp.csr_matrix(LINE), ON_LINE)
    best = best_on_a_line(loss)
    for tol in (1e-2, 1e-4, 1e-8):
        solution = minimise(objective, settings(tol, max_iter=20_000), solver=solver)
        assert -1e-8 * best <= solution.value - best <= tol * best
        assert solution.value - solution.duality_gap <= best * (1 + 1e-8)
        assert solution.converged


@pytest.mark.parametrize(("solver", "loss"), KINKED)
def test_the_claimed_gap_is_an_upper_bound(solver: str, loss: str) -> None:
    """Also of a solution that was stopped early, and with weights and without an intercept."""
    weight = np.random.default_rng(0).uniform(0, 2, Y.size)
    for fit_intercept in (True, False):
        objective = linear_objective(loss, SPARSE, Y, sample_weight=weight, fit_intercept=fit_intercept)
        best = minimise(objective, settings(1e-10), solver="lagrangian")
        lower = best.value - best.duality_gap
        for limits in (settings(1e-1), settings(1e-3), settings(1e-12, max_iter=3), settings(1e-12, max_iter=9)):
            solution = minimise(objective, limits, solver=solver)
            assert solution.value - solution.duality_gap <= best.value * (1 + 1e-12)
            assert solution.value >= lower
            assert solution.converged == (solution.duality_gap <= limits.tol * solution.value)


def test_any_multipliers_prove_a_lower_bound() -> None:
    """The bound holds at every state of the augmented Lagrangian, not only near the solution."""
    objective = linear_objective("hinge", X, Y)
    best = solvers()["lagrangian"].minimise(objective, None, settings(1e-9)).value
    random = np.random.default_rng(3)
    for scale in (0.0, 0.1, 1.0, 10.0):
        state = Lagrangian(objective, scale * random.normal(size=objective.size), 1.0)
        for _ in range(5):
            gradient = state.gradient()
            state.update()
            value, bound = bounds(state, gradient)
            assert bound <= best <= value * (1 + 1e-9)
            state.step(state.gradient(), state.direction(state.gradient()))


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "exponential"])
def test_without_kinks_the_augmented_lagrangian_is_the_objective(loss: str) -> None:
    theta = np.random.default_rng(1).normal(size=5)
    objective = linear_objective(loss, X, Y)
    value, gradient = objective.value_and_gradient(theta)
    state = Lagrangian(objective, theta, 1.0)
    assert state.value() == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(state.gradient(), gradient, rtol=1e-10)
    newton = -np.linalg.solve(objective.hessian(theta), gradient)
    np.testing.assert_allclose(state.direction(gradient), newton, rtol=1e-6)


@pytest.mark.parametrize(("solver", "loss"), NOT_CONVEX)
def test_losses_that_are_not_convex_end_no_higher_than_their_start(solver: str, loss: str) -> None:
    objective = linear_objective(loss, X, Y)
    convex = linear_objective("logistic", X, Y)
    start = minimise(convex, settings()).theta
    solution = solvers()[solver].minimise(objective, start, settings())
    assert solution.value <= objective.value_and_gradient(start)[0]
    value, gradient = objective.value_and_gradient(solution.theta)
    assert value == solution.value
    if not objective.pair.kinked:
        assert np.abs(gradient).max() <= 1e-3 * value
    through = minimise(objective, settings(), convex=convex)
    assert through.value <= objective.value_and_gradient(start)[0] * (1 + 1e-6)


@pytest.mark.parametrize(("solver", "loss"), [("newton", "logistic"), ("lbfgs", "logistic"), ("lbfgs", "savage")])
def test_no_step_raises_the_objective(solver: str, loss: str) -> None:
    lines: list[str] = []
    watched = replace(settings(1e-10), progress=lines.append)
    # A CSR matrix, because Newton steps on a small dense one run in one call and tell only their last value.
    solvers()[solver].minimise(linear_objective(loss, sp.csr_matrix(X), Y, penalty=0.01), np.full(5, 1.0), watched)
    values = [float(line.split("objective ")[1].split(",")[0]) for line in lines]
    starts = [k for k, line in enumerate(lines) if " 0:" in line or k == 0]
    for lo, hi in zip(starts, [*starts[1:], len(lines)], strict=True):
        assert values[lo:hi] == sorted(values[lo:hi], reverse=True)
    assert len(values) > 4


# -- layouts, starting points, limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        ("newton", "logistic"),
        ("lbfgs", "logistic"),
        ("lbfgs", "savage"),
        ("lagrangian", "hinge"),
        ("lagrangian", MIXED),
    ],
)
def test_layouts_agree(solver: str, loss: str) -> None:
    dense = SPARSE.toarray()
    expected = solvers()[solver].minimise(linear_objective(loss, dense, Y), None, settings(1e-10)).value
    for matrix in (np.asfortranarray(dense), SPARSE):
        found = solvers()[solver].minimise(linear_objective(loss, matrix, Y), None, settings(1e-10)).value
        assert found == pytest.approx(expected, rel=1e-9)
    for matrix in (dense.astype(np.float32), np.asfortranarray(dense, dtype=np.float32), SPARSE.astype(np.float32)):
        found = solvers()[solver].minimise(linear_objective(loss, matrix, Y), None, settings(1e-6)).value
        assert found == pytest.approx(expected, rel=1e-5)


def test_single_precision_csr_in_the_dual() -> None:
    found = [
        solvers()["dual"].minimise(linear_objective("hinge", matrix, Y), None, settings(1e-6, max_iter=20_000)).value
        for matrix in (SPARSE, SPARSE.astype(np.float32))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-5)


@pytest.mark.parametrize(("solver", "loss"), [("newton", "logistic"), ("lbfgs", "logistic"), ("lagrangian", "hinge")])
def test_a_warm_start_needs_fewer_steps(solver: str, loss: str) -> None:
    objective = linear_objective(loss, X, Y, penalty=0.01)
    cold = solvers()[solver].minimise(objective, np.zeros(5), settings(1e-9))
    near = solvers()[solver].minimise(objective, cold.theta * (1 + 1e-4), settings(1e-9))
    assert near.iterations < cold.iterations
    assert near.value == pytest.approx(cold.value, rel=2e-9)


@pytest.mark.parametrize(("solver", "loss"), [*SMOOTH, *KINKED])
def test_too_few_steps_are_admitted(solver: str, loss: str) -> None:
    objective = linear_objective(loss, SPARSE, Y, penalty=1e-3)
    start = np.full(objective.size, 3.0)
    solution = solvers()[solver].minimise(objective, start, settings(1e-15, max_iter=1))
    assert solution.iterations <= 1
    if solution.converged:  # a parabola is minimised by one step
        assert objective.pair.polygons is False
        assert np.abs(objective.value_and_gradient(solution.theta)[1]).max() < 1e-9 * solution.value
    else:
        assert solution.status.startswith("stopped after 1 ")


@pytest.mark.parametrize(("solver", "loss"), [*SMOOTH, *KINKED])
def test_the_same_seed_gives_the_same_solution(solver: str, loss: str) -> None:
    objective = linear_objective(loss, SPARSE, Y)
    first, second = (solvers()[solver].minimise(objective, None, settings(1e-4, seed=5)) for _ in range(2))
    assert np.array_equal(first.theta, second.theta)


# -- many rows, many columns, no penalty ------------------------------------------------------------------------------


def test_samples_give_the_starting_point(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, labels = binary(3000, 5, share=0.1, seed=2)
    smooth = linear_objective("logistic", matrix, labels)
    best = solvers()["newton"].minimise(smooth, None, settings(1e-12)).value
    for seed in (0, 1):
        solution = solvers()["lbfgs"].minimise(smooth, None, settings(1e-8, seed=seed))
        assert solution.value - best <= 1e-8 * best
    few = replace(augmented_lagrangian.LIMITS, rows_worth_sampling=1000)
    monkeypatch.setattr(augmented_lagrangian, "LIMITS", few)
    kinked = linear_objective("hinge", matrix, labels)
    sampled = augmented_lagrangian.minimise(kinked, None, settings(1e-6))
    monkeypatch.undo()
    plain = augmented_lagrangian.minimise(kinked, None, settings(1e-6))
    assert sampled.value == pytest.approx(plain.value, rel=2e-6)
    assert not np.array_equal(sampled.theta, plain.theta)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", MIXED, "savage"])
def test_many_columns(loss: str) -> None:
    """Beyond the size that is factored: diagonal metrics, conjugate gradients, and the dual."""
    random = np.random.default_rng(4)
    wide = sp.random(150, MOST_COLUMNS + 50, density=0.02, format="csr", random_state=random)
    labels = (wide @ random.normal(size=wide.shape[1]) > 0).astype(int)
    objective = linear_objective(loss, wide, labels)
    names = [name for name, solver in solvers().items() if name != "newton" and solver.lacks(objective) is None]
    found = [minimise(objective, settings(1e-6, max_iter=5000), solver=name) for name in names]
    assert all(solution.converged for solution in found)
    if not objective.pair.convex:
        assert found[0].value <= objective.value_at_zero
        return
    best = by_scipy(objective) if not objective.pair.kinked else min(s.value - s.duality_gap for s in found)
    for solution in found:
        assert solution.value - best <= 2e-6 * best


def test_a_hinge_without_a_penalty() -> None:
    objective = linear_objective("hinge", LINE, ON_LINE, penalty=0.0)
    best = best_on_a_line("hinge", penalty=0.0)
    solution = solvers()["lagrangian"].minimise(objective, None, settings(1e-6))
    assert solution.converged
    assert -1e-8 * best <= solution.value - best <= 1e-6 * best


def test_separable_data_without_a_penalty_end_below_the_floor() -> None:
    line = np.linspace(-2, 2, 20)[:, None]
    for loss, solver in (("logistic", "newton"), ("logistic", "lbfgs"), ("hinge", "lagrangian")):
        objective = linear_objective(loss, line, (line[:, 0] > 0).astype(int), penalty=0.0)
        solution = solvers()[solver].minimise(objective, None, settings(1e-3))
        assert solution.converged
        assert objective.separates(solution.theta)
        assert solution.value <= 2 * objective.floor


def test_a_guess_that_leads_nowhere_is_dropped() -> None:
    """Losses of exp overflow at a quadratic guess from gamma = 1, 4 and 10 to gamma = 1000."""
    matrix, _ = binary(300, 5, seed=4)
    labels = (matrix[:, 0] > 0.5).astype(int)
    for unproved in (False, True):
        follower = Follower()
        for gamma in (1.0, 4.0, 10.0, 1e3):
            objective = linear_objective("exponential", matrix, labels, gamma=gamma)
            at = float(np.log(gamma))
            theta = follower.solve_unproved(objective, at, settings(1e-6)) if unproved else None
            if theta is None:
                solution = follower.solve(objective, at, settings(1e-6))
                assert solution.converged
                theta = solution.theta
            alone = minimise(objective, settings(1e-9))
            assert objective.value_and_gradient(theta)[0] - alone.value <= 1e-6 * alone.value


def test_a_path_has_the_solutions_of_single_fits() -> None:
    matrices = [binary(400, 3, seed=seed) for seed in (1, 2)]
    before = None
    for matrix, labels in matrices:
        follower = Follower(before)
        for log_gamma in np.linspace(-1, 1, 5):
            objective = linear_objective("logistic", matrix, labels, gamma=float(np.exp(log_gamma)))
            along = follower.solve(objective, float(log_gamma), settings(1e-9))
            alone = minimise(objective, settings(1e-12))
            assert along.value - alone.value <= 1e-9 * alone.value
        before = follower
