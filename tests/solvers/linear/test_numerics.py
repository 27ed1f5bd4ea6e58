"""The parts that solvers share: line search, metrics, conjugate gradients, sums of squares, threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from uneven.solvers.linear.lbfgs import CurvaturePairs, evaluate_at, lbfgs, search
from uneven.solvers.linear.newton_systems import cholesky_metric, conjugate_gradients, diagonal_metric, sum_squares
from uneven.solvers.running import in_threads, row_ranges

RANDOM = np.random.default_rng(0)
ROOT = RANDOM.normal(size=(6, 6))
MATRIX = ROOT @ ROOT.T + 0.1 * np.eye(6)


def parabola(theta: np.ndarray) -> tuple[float, np.ndarray]:
    return 0.5 * float(theta @ MATRIX @ theta) + 1.0, MATRIX @ theta


def rosenbrock(theta: np.ndarray) -> tuple[float, np.ndarray]:
    x, y = theta
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2, np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])


@pytest.mark.parametrize("step", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("function", [parabola, rosenbrock])
def test_a_line_search_decreases_enough(function: object, step: float) -> None:
    start = evaluate_at(function, np.array([-1.2, 1.0]) if function is rosenbrock else np.ones(6))
    direction = -start.gradient
    found, trials = search(function, start, direction, step)
    assert found is not None
    length = float((found.theta - start.theta) @ direction) / float(direction @ direction)
    assert found.value <= start.value - 1e-4 * length * float(start.gradient @ start.gradient)
    assert found.value == function(found.theta)[0]
    assert trials <= 40


def test_a_line_search_refuses_a_direction_that_does_not_lead_down() -> None:
    start = evaluate_at(parabola, np.ones(6))
    for direction in (start.gradient, np.zeros(6), np.full(6, np.nan)):
        assert search(parabola, start, direction) == (None, 0)


def test_a_line_search_gets_past_overflow() -> None:
    def steep(theta: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(over="ignore"):
            return float(np.exp(theta[0]) - theta[0]), np.array([np.exp(theta[0]) - 1])

    start = evaluate_at(steep, np.array([-3.0]))
    found, _ = search(steep, start, -start.gradient, 1e4)
    assert found is not None
    assert found.value < start.value


def test_cholesky_metric_solves() -> None:
    g = RANDOM.normal(size=6)
    np.testing.assert_allclose(cholesky_metric(MATRIX)(g), np.linalg.solve(MATRIX, g), rtol=1e-9)
    scale = 10.0 ** np.array([-8, -4, 0, 0, 4, 8])
    scaled = MATRIX * scale[:, None] * scale
    np.testing.assert_allclose(cholesky_metric(scaled)(scale * g), np.linalg.solve(MATRIX, g) / scale, rtol=1e-7)


def test_cholesky_metric_of_a_singular_matrix_leads_down() -> None:
    for columns in (np.ones((4, 3)), np.hstack([np.ones((4, 2)), np.zeros((4, 1))])):
        gradient = columns.T @ np.ones(4)
        assert gradient @ cholesky_metric(columns.T @ columns)(gradient) > 0


def test_diagonal_metric() -> None:
    np.testing.assert_allclose(diagonal_metric(np.array([2.0, 4.0]))(np.ones(2)), [0.5, 0.25])


def test_conjugate_gradients_solve() -> None:
    right = RANDOM.normal(size=6)
    found = conjugate_gradients(lambda v: MATRIX @ v, right, 1 / np.diagonal(MATRIX), accuracy=1e-10, most=100)
    np.testing.assert_allclose(found, np.linalg.solve(MATRIX, right), rtol=1e-7)


def test_pairs_correct_a_metric_to_the_inverse_of_a_parabola() -> None:
    """After steps along all directions the corrected metric maps each change of the gradient to its step."""
    corrected = CurvaturePairs(lambda g: g, 10)
    points = [evaluate_at(parabola, point) for point in RANDOM.normal(size=(7, 6))]
    for before, after in pairwise(points):
        corrected.add(before, after)
    step, change, _ = corrected.pairs[-1]
    np.testing.assert_allclose(corrected(change), step, rtol=1e-9)
    assert len(corrected.pairs) == 6


def test_pairs_without_positive_curvature_are_left_out() -> None:
    corrected = CurvaturePairs(lambda g: g, 10)
    corrected.add(evaluate_at(lambda t: (0.0, -t), np.zeros(2)), evaluate_at(lambda t: (0.0, -t), np.ones(2)))
    assert not corrected.pairs


def test_lbfgs_minimises_a_bent_valley() -> None:
    start = evaluate_at(rosenbrock, np.array([-1.2, 1.0]))
    solution = lbfgs(rosenbrock, start, lambda g: 1e-3 * g, tol=1e-12, max_iter=500, floor=1.0)
    np.testing.assert_allclose(solution.theta, 1, atol=1e-4)
    assert solution.converged


@pytest.mark.parametrize("size", [5, 130])
@pytest.mark.parametrize("count", [3, 700])
def test_sums_of_squares(size: int, count: int) -> None:
    """Small matrices by our own loop, larger ones by BLAS; rows of weight 0 are left out."""
    rows = RANDOM.normal(size=(count, size - 1))
    weight = np.where(RANDOM.random(count) < 0.5, 0.0, RANDOM.random(count))
    ones = np.hstack([rows, np.ones((count, 1))])
    found = sum_squares(lambda lo, hi: (rows[lo:hi], weight[lo:hi]), count, size, 64)
    np.testing.assert_allclose(found, ones.T @ (weight[:, None] * ones), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("n", "work"), [(1, 1), (10, 10**9), (1000, 10**6), (7, 0)])
def test_ranges_cover_all_rows_once(n: int, work: int) -> None:
    ranges = row_ranges(n, work)
    assert [k for lo, hi in ranges for k in range(lo, hi)] == list(range(n))
    assert all(hi > lo for lo, hi in ranges)


def test_threads_keep_the_order_and_raise_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    ranges = row_ranges(100, 10**9)
    assert len(ranges) > 1
    expected = [(k, lo, hi) for k, (lo, hi) in enumerate(ranges)]
    assert in_threads(lambda *given: given, ranges) == expected
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert in_threads(lambda *given: given, ranges) == expected
    monkeypatch.undo()
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda k, lo, hi: 1 / (k - 1), ranges)
