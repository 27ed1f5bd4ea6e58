"""Small problems, whose steps need few calls: the same solutions as on the way that is taken for large ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from linear_data import binary

import uneven
from uneven.solvers.linear.algorithms import augmented_lagrangian, newton
from uneven.solvers.linear.design import design
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.proof import prove
from uneven.solvers.linear.solver import Settings

X, Y = binary(120, 4)
SMOOTH = ["logistic", "squared_hinge", "modified_huber", "exponential", "softplus(-t)**2"]
KINKED = ["hinge", "relu(1 - t) + softplus(-t)", "max(0, 1 - t, 3 - 6*t)", "absolute"]
WEIGHTS = np.random.default_rng(3).uniform(0, 2, Y.size) * (np.arange(Y.size) % 5 > 0)


def objective(
    loss: str,
    matrix: Any = X,
    labels: np.ndarray = Y,
    *,
    gamma: float = 2.0,
    penalty: float = 0.1,
    fit_intercept: bool = True,
    weight: np.ndarray | None = None,
) -> Objective:
    made = uneven.UnevenMarginLoss(loss, gamma=gamma, alpha=0.25)
    weight = np.empty(0) if weight is None else weight
    return Objective(design(matrix), labels.astype(np.int8), PairOfLosses.of(made), weight, penalty, fit_intercept)


def settings(tol: float = 1e-10, max_iter: int = 200) -> Settings:
    return Settings(tol=tol, max_iter=max_iter, random=np.random.default_rng(0))


def both(solve: Any, problem: Objective, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The solution as a small problem, and as a large one."""
    assert newton.is_small(problem)
    quick = solve(problem, None, settings())
    monkeypatch.setattr(newton, "LIMITS", replace(newton.LIMITS, most_work=-1.0))
    assert not newton.is_small(problem)
    general = solve(problem, None, settings())
    monkeypatch.undo()
    return quick, general


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "F order": {"matrix": np.asfortranarray(X)},
    "float32": {"matrix": X.astype(np.float32)},
    "no intercept": {"fit_intercept": False},
    "weights": {"weight": WEIGHTS},
    "strong penalty": {"penalty": 1e3},
    "weak penalty": {"penalty": 1e-4},
    "a column of zeros": {"matrix": np.hstack([X, np.zeros((Y.size, 1))])},
    "a column twice": {"matrix": np.hstack([X, X[:, :1]]), "penalty": 1e-9},
    "scales from 1e-3 to 1e5": {"matrix": X * np.array([1e-3, 1.0, 1e2, 1e5])},
    "one column": {"matrix": X[:, :1]},
    "more rows than a block": {"matrix": np.tile(X, (20, 1)), "labels": np.tile(Y, 20)},
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_smooth_losses(loss: str, variant: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    problem = objective(loss, **variant)
    quick, general = both(newton.minimise, problem, monkeypatch)
    assert quick.value == pytest.approx(general.value, rel=1e-8)
    value, gradient = problem.value_and_gradient(quick.theta)
    assert value == pytest.approx(quick.value, rel=1e-12)
    if quick.converged:
        assert problem.promised_gap(quick.theta, gradient, 1.0) <= 1e-9 * value
    assert problem.fit_intercept or quick.theta[-1] == 0


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("loss", KINKED)
def test_kinked_losses(loss: str, variant: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    problem = objective(loss, **variant)
    quick, general = both(augmented_lagrangian.minimise, problem, monkeypatch)
    assert quick.value == pytest.approx(general.value, rel=1e-8)
    assert quick.converged == general.converged
    assert problem.fit_intercept or quick.theta[-1] == 0


@pytest.mark.parametrize("loss", KINKED)
def test_an_inner_problem_ends_with_the_gradient_it_returns(loss: str) -> None:
    state = Lagrangian(objective(loss), np.zeros(X.shape[1] + 1), 1.0)
    start = state.theta
    gradient, steps = state.descend(1e-8, 100)
    assert steps > 1
    assert not start.any()  # the starting point is not overwritten
    np.testing.assert_allclose(gradient, state.gradient(), atol=1e-12)
    np.testing.assert_allclose(state.t, state.objective.design.scores(state.theta), atol=1e-12)
    assert 0.5 * gradient[:-1] @ gradient[:-1] / 0.1 + abs(gradient[-1]) * (1 + abs(state.theta[-1])) <= 1e-8


@pytest.mark.parametrize("loss", SMOOTH)
def test_no_step_raises_the_objective_and_their_number_is_limited(loss: str) -> None:
    problem = objective(loss, penalty=1e-3)
    far = np.full(problem.size, 3.0)
    solutions = [newton.minimise(problem, far, settings(1e-14, most)) for most in range(1, 12)]
    values = [problem.value_and_gradient(far)[0], *(solution.value for solution in solutions)]
    assert all(later <= before * (1 + 1e-13) for before, later in pairwise(values))
    assert all(solution.iterations <= most for most, solution in enumerate(solutions, 1))
    assert solutions[0].status == "stopped after 1 Newton steps"
    assert not solutions[0].converged
    assert (far == 3.0).all()


def test_a_step_that_is_far_too_long_is_shortened_fast() -> None:
    """exp(1000 t) at the end of whole Newton steps: its slope over its curvature says nothing about how far to go."""
    for seed in range(5):
        matrix, _ = binary(300, 5, seed=seed)
        problem = objective("exponential", matrix, (matrix[:, 0] > 0.5).astype(int), gamma=1e3)
        assert newton.minimise(problem, None, settings(1e-6)).converged


def test_a_good_start_needs_one_step() -> None:
    problem = objective("logistic")
    best = newton.minimise(problem, None, settings(1e-12)).theta
    solution = newton.minimise(problem, best, settings(1e-6))
    assert solution.converged
    assert solution.iterations == 1


def test_a_tolerance_beyond_rounding_ends() -> None:
    solution = newton.minimise(objective("logistic"), None, settings(1e-40))
    assert not solution.converged
    assert solution.status == "reached the limit of rounding"
    assert solution.value == pytest.approx(
        newton.minimise(objective("logistic"), None, settings(1e-12)).value, rel=1e-14
    )


def test_a_singular_matrix_is_solved_with_a_small_ridge() -> None:
    twice = np.hstack([X, X])
    problem = objective("logistic", twice, penalty=1e-300)
    gradient = np.append(twice.sum(axis=0), Y.size)
    whole = np.hstack([twice, np.ones((Y.size, 1))])
    step = newton.newton_direction(problem, whole, np.ones(Y.size), gradient)
    np.testing.assert_allclose(-(whole.T @ whole) @ step, gradient, rtol=1e-6)


@pytest.mark.parametrize(("matrix", "penalty"), [(np.ones((2000, 60)), 1.0), (X, 0.0)], ids=["much work", "no penalty"])
def test_what_is_not_small(matrix: np.ndarray, penalty: float) -> None:
    labels = np.arange(matrix.shape[0]) % 2
    assert not newton.is_small(objective("logistic", matrix, labels, penalty=penalty))


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_proof_is_that_of_large_problems(
    loss: str, variant: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = objective(loss, **variant)
    best = newton.minimise(problem, None, settings(1e-13)).theta
    for off in (0.0, 1e-4, 0.1):
        theta = best + off * np.linspace(-1, 1, best.size) / (1 + np.abs(problem.design.X).max())
        if not problem.fit_intercept:
            theta[-1] = 0.0
        given = theta.copy()
        quick = prove(problem, theta, wanted=1e-6)
        np.testing.assert_array_equal(theta, given)
        monkeypatch.setattr(newton, "LIMITS", replace(newton.LIMITS, most_work=-1.0))
        general = prove(problem, theta, wanted=1e-6)
        monkeypatch.undo()
        assert quick.value == pytest.approx(general.value, rel=1e-9)
        assert quick.gap == pytest.approx(general.gap, rel=1e-3, abs=1e-6)
        assert quick.value - quick.gap <= problem.value_and_gradient(best)[0] * (1 + 1e-12)


def test_other_losses_on_the_same_rows() -> None:
    """What an objective keeps of its rows does not depend on the losses it was computed with."""
    for weight in (None, WEIGHTS):
        first = objective("logistic", weight=weight)
        assert prove(first, np.zeros(first.size)).gap > 0  # fills what is kept
        other = first.with_losses(objective("squared_hinge", gamma=5.0).pair)
        fresh = objective("squared_hinge", gamma=5.0, weight=weight)
        for label in (0, 1):
            (total, mean), (expected, row) = other.mean_row(label), fresh.mean_row(label)
            assert total == pytest.approx(expected, rel=1e-14)
            np.testing.assert_allclose(mean, row, rtol=1e-14)
        theta = np.linspace(-1, 1, first.size)
        assert other.value_and_gradient(theta)[0] == fresh.value_and_gradient(theta)[0]
        assert prove(other, theta).gap == pytest.approx(prove(fresh, theta).gap, rel=1e-12)


def test_where_no_row_is_curved_the_general_proof_is_used() -> None:
    problem = objective("modified_huber")
    far = np.append(np.full(X.shape[1], -100.0), 3.0)
    margins = problem.pair.scales[problem.y] * problem.design.scores(far)
    curved = (margins > -1) & (margins < 1)
    labels, rows = Y[~curved], X[~curved]
    problem = objective("modified_huber", rows, labels)
    assert newton.balance_slopes(problem, far, 1e-9) is None
    proof = prove(problem, far)
    assert np.isfinite(proof.gap)
    assert np.isfinite(proof.theta).all()


# -- minimisers without a proof ----------------------------------------------------------------------------------------


def gap_of(problem: Objective, theta: np.ndarray) -> float:
    """The proved gap, relative to the objective; the solver has no part in it."""
    proof = prove(problem, theta, wanted=1e-9 * problem.value_and_gradient(theta)[0])
    return proof.gap / proof.value


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", [*SMOOTH, "smoothed_hinge"])
def test_a_minimiser_without_a_proof_has_the_gap_it_promises(loss: str, variant: str) -> None:
    problem = objective(loss, **VARIANTS[variant])
    assert newton.is_quick(problem)
    theta = newton.minimise_quickly(problem, None, settings(1e-6))
    if theta is None:  # it may give up, but not on ordinary data
        assert variant in ("a column twice", "scales from 1e-3 to 1e5")
        return
    assert gap_of(problem, theta) <= 1e-6
    assert problem.fit_intercept or theta[-1] == 0


@pytest.mark.parametrize("gamma", [1e-3, 1e3])
@pytest.mark.parametrize("penalty", [1e-6, 1e3])
def test_the_same_at_extreme_gammas(gamma: float, penalty: float) -> None:
    for loss in SMOOTH:
        problem = objective(loss, gamma=gamma, penalty=penalty)
        theta = newton.minimise_quickly(problem, None, settings(1e-6))
        assert theta is not None
        assert gap_of(problem, theta) <= 1e-6


def test_the_same_on_separable_data() -> None:
    line = np.linspace(-2, 2, 40)[:, None]
    for loss in SMOOTH:
        problem = objective(loss, line, (line[:, 0] > 0).astype(int), penalty=1e-3)
        theta = newton.minimise_quickly(problem, None, settings(1e-6))
        assert theta is not None
        assert gap_of(problem, theta) <= 1e-6


def test_it_gives_up_where_it_does_not_get_there() -> None:
    start = np.full(X.shape[1] + 1, 3.0)
    assert newton.minimise_quickly(objective("logistic"), start, settings(1e-6, max_iter=1)) is None
    assert newton.minimise_quickly(objective("logistic"), start, settings(1e-40)) is None
    assert (start == 3.0).all()
    with np.errstate(over="ignore"):  # the losses overflow at this start
        assert newton.minimise_quickly(objective("exponential"), -1e4 * start, settings(1e-6)) is None


def test_which_objectives_need_no_proof() -> None:
    assert newton.is_quick(objective("logistic"))
    assert not newton.is_quick(objective("hinge"))
    assert not newton.is_quick(objective("logistic", penalty=0.0))
    assert not newton.is_quick(objective("logistic", X[:3], Y[:3]))  # more columns than rows
    assert not newton.is_quick(objective("sigmoid"))


def test_the_promise_knows_what_the_intercept_moves() -> None:
    """In a column far from 0 a small step of the intercept changes the gradient in the coefficient by much."""
    years = np.hstack([X[:, :2], 2000 + 10 * X[:, 2:3]])
    problem = objective("logistic", years)
    best = newton.minimise(problem, None, settings(1e-13)).theta
    bends = problem.hessian(best)[-1]
    value = problem.value_and_gradient(best)[0]
    # The gradient of the coefficients is made 0, that of the intercept so small that its gain looks like 1e-13.
    wanted, start = np.append(np.zeros(3), np.sqrt(2e-13 * value * bends[-1])), best
    for _ in range(10):
        start = start - np.linalg.solve(problem.hessian(start), problem.value_and_gradient(start)[1] - wanted)
    gradient, bends = problem.value_and_gradient(start)[1], problem.hessian(start)[-1]
    proved = prove(problem, start, wanted=1e-9 * value).gap
    assert problem.promised_gap(start, gradient, bends[-1]) < 1e-12 * value < 1e-6 * value < proved
    assert problem.promised_gap(start, gradient, bends[-1], bends[:-1]) == pytest.approx(proved, rel=0.1)
    theta = newton.minimise_quickly(problem, start, settings(1e-6))
    assert theta is not None
    assert gap_of(problem, theta) <= 1e-6
