"""The independent solver of the tests is right itself: its formulas, its bounds, known optima and linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from extended_phi import Extended, extended_phi
from gap_law import CONVEX, HARD_KINKS, drawn
from independent_optimum import LinearProblem, optimum
from linear_data import binary
from scipy.optimize import linprog

import uneven

X, Y = binary(40, 3, seed=5)


@pytest.mark.parametrize("loss", [*CONVEX, *HARD_KINKS])
def test_formulas_agree_with_the_package(loss: str) -> None:
    phi = uneven.phi(loss)
    t = np.random.default_rng(0).uniform(-6, 6, size=2000)
    jet = extended_phi(phi.text).jet(t)
    for ours, theirs in ((jet.value, phi(t)), (jet.slope, phi.slope(t)), (jet.curvature, phi.curvature(t))):
        assert np.allclose(ours.astype(float), theirs, rtol=1e-13, atol=1e-13)
    assert extended_phi(phi.text).kinks.astype(float) == pytest.approx(np.array(phi.kinks), abs=1e-15)


@pytest.mark.parametrize("loss", ["hinge", "abs(1/3 - t)", "max(0, 1 - t, 3 - 6*t)", "max(softplus(-t), 1 - 2*t)"])
def test_ramps_stay_in_the_subdifferential(loss: str) -> None:
    phi = extended_phi(uneven.phi(loss).text)
    t = np.linspace(-2, 2, 201).astype(Extended)
    everywhere = phi.jet(t).value
    for width in (1.0, 1e-3, 1e-12):
        line = phi.rounded(t, width)
        below = line.value[:, None] + line.slope[:, None] * (t - line.point[:, None])
        assert (below <= everywhere + 1e-17).all()
        assert (np.diff(line.slope) >= -1e-18).all()


@pytest.mark.parametrize("loss", ["hinge", "absolute", *HARD_KINKS[:4]])
@pytest.mark.parametrize("l1", [0.0, 2.0])
def test_straight_losses_are_linear_programs(loss: str, l1: float) -> None:
    """min sum of c_i z_i + l1 (u + v) with w = u - v and z_i above each straight piece of its loss."""
    phi = uneven.phi(loss)
    C, gamma, fn_cost = 0.7, 2.0, 3.0
    scale = np.where(Y == 1, 1.0, -gamma)
    weight = C * np.where(Y == 1, fn_cost, 1 / gamma) / np.where(Y == 1, fn_cost, 1).mean()
    n, d = X.shape
    middles = np.concatenate([[phi.kinks[0] - 1], (np.array(phi.kinks[1:]) + phi.kinks[:-1]) / 2, [phi.kinks[-1] + 1]])
    rows, right = [], []
    for at in middles:
        slope, height = phi.slope(at), phi(at) - phi.slope(at) * at
        scores = (slope * scale)[:, None] * np.hstack([X, -X, np.ones((n, 1))])
        rows.append(np.hstack([scores, -np.eye(n)]))
        right.append(np.full(n, -height))
    cost = np.concatenate([np.full(2 * d, l1), [0.0], weight])
    bounds = [(0, None)] * (2 * d) + [(None, None)] * (n + 1)
    program = linprog(cost, A_ub=np.vstack(rows), b_ub=np.concatenate(right), bounds=bounds)
    problem = LinearProblem.of(phi.text, X, Y, C=C, gamma=gamma, fn_cost=fn_cost, ridge=0.0, l1=l1)
    found = optimum(problem)
    assert float(found.value) == pytest.approx(program.fun, rel=1e-9)
    assert found.uncertainty <= 1e-9 * found.value


def test_least_squares() -> None:
    found = optimum(LinearProblem.of("(1 - t)**2", X, Y, C=0.5))
    with_ones = np.hstack([X, np.ones((40, 1))])
    theta = np.linalg.solve(with_ones.T @ with_ones + np.diag([1.0, 1, 1, 0]), with_ones.T @ (2 * Y - 1))
    assert np.allclose(found.theta.astype(float), theta, atol=1e-12)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("loss", [*CONVEX, *HARD_KINKS])
def test_it_proves_its_optimum(loss: str, wide: bool) -> None:
    for seed, C in ((2, 1e-3), (3, 10.0)):
        problem = drawn(seed, loss, C=C, wide=wide).problem()
        found = optimum(problem)
        assert -problem.rounding <= found.uncertainty <= 1e-10 * found.value + problem.rounding
        assert problem.value(found.theta) == found.value


def test_the_precision_may_be_that_of_doubles() -> None:
    for loss in ("logistic", "hinge", "squared_hinge"):
        training = drawn(7, loss, C=2.0, wide=True)
        assert float(optimum(training.problem(np.float64), accuracy=1e-9).value) == pytest.approx(
            float(optimum(training.problem()).value), rel=1e-9
        )
