"""An objective in parts has the same minimum as in memory, whatever the parts, and its gap is proved."""

from __future__ import annotations

import pickle
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import uneven
from uneven.errors import LossError
from uneven.parts.blocks import Block
from uneven.parts.loss_slopes import LinesAt, SlopesAt, Smoothed, SmoothedPolygons
from uneven.parts.minimise import minimise
from uneven.parts.starting_point import SampleRows
from uneven.parts.summed_answers import Both, Held, SurveyRows
from uneven.parts.summed_objective import Standardisation, SummedObjective, _error_of_scores, _sizes, prove
from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.proof import minimise as minimise_in_memory
from uneven.solvers.linear.solver import Settings
from uneven.solvers.loops import part_passes

LOSSES = ("logistic", "squared_hinge", "hinge", "relu(1 - t)**2 + relu(-t)")
N, D = 3000, 5


def _rows(order: str = "C") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.normal(size=(N, D)) * np.array([1, 2, 0.5, 10, 1]) + np.array([0, 1, -3, 5, 0])
    y = (random.random(N) < 1 / (1 + np.exp(2 - X[:, 0] + 0.3 * X[:, 1]))).astype(np.int8)
    return np.asarray(X, order=order), y, random.random(N)


def _held(X: np.ndarray, y: np.ndarray, weight: np.ndarray, cuts: tuple[int, ...], order: str = "C") -> Held:
    ends = (0, *cuts, len(y))
    return Held(
        tuple(
            Block(np.asarray(X[lo:hi], order=order), y[lo:hi], weight[lo:hi], k)
            for k, (lo, hi) in enumerate(pairwise(ends))
        )
    )


def _pair(loss: str, gamma: float = 2.0) -> PairOfLosses:
    return PairOfLosses.of(uneven.UnevenMarginLoss(loss, gamma=gamma, alpha="1/5"))


def _settings(tol: float = 1e-8) -> Settings:
    return Settings(tol, 1000, np.random.default_rng(0))


def _summed(
    parts: Held, pair: PairOfLosses, penalty: float = 1.0, intercept: bool = True, standard: bool = False
) -> SummedObjective:
    survey = parts.ask(SurveyRows(np.zeros(D)))
    columns = Standardisation(survey.mean, survey.deviation) if standard else Standardisation.none(D)
    return SummedObjective(parts, survey, pair, penalty, intercept, columns)


@pytest.mark.parametrize("cuts", [(), (1000, 2000), (1, 2, 2999)])
@pytest.mark.parametrize("loss", LOSSES)
def test_same_minimum_as_in_memory_whatever_the_parts(loss: str, cuts: tuple[int, ...]) -> None:
    X, y, weight = _rows()
    pair = _pair(loss)
    whole = minimise_in_memory(Objective(design(X), y, pair, weight, penalty=1.0, fit_intercept=True), _settings(1e-10))
    found = minimise(_summed(_held(X, y, weight, cuts, "F" if cuts else "C"), pair), _settings(1e-9))
    assert found.converged
    assert found.duality_gap is not None
    assert whole.duality_gap is not None
    assert found.duality_gap <= 1e-9 * found.value
    # Neither can be above the other by more than its own proved gap.
    assert found.value - whole.value <= found.duality_gap
    assert whole.value - found.value <= whole.duality_gap
    assert found.value <= whole.value * (1 + 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [True, False])
def test_standardised_columns_are_those_of_a_standardised_matrix(loss: str, intercept: bool) -> None:
    X, y, weight = _rows()
    pair = _pair(loss)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    direct = minimise(_summed(_held(scaled, y, weight, (1500,)), pair, intercept=intercept), _settings())
    summed = _summed(_held(X, y, weight, (100, 1500)), pair, intercept=intercept, standard=True)
    found = minimise(summed, _settings())
    assert found.value == pytest.approx(direct.value, rel=3e-8)
    np.testing.assert_allclose(found.theta, direct.theta, atol=2e-3)
    rows = summed.columns.theta_of_rows(found.theta)
    np.testing.assert_allclose(X @ rows[:-1] + rows[-1], scaled @ found.theta[:-1] + found.theta[-1], atol=1e-9)
    np.testing.assert_allclose(summed.columns.theta_of_standardised(rows), found.theta, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_gap_is_a_bound_far_from_the_minimum_too(loss: str) -> None:
    X, y, weight = _rows()
    pair = _pair(loss)
    summed = _summed(_held(X, y, weight, (700,)), pair)
    optimum = minimise(summed, _settings(1e-9))
    for most in (1, 2, 3):
        rough = minimise(summed, Settings(1e-2, most, np.random.default_rng(0)))
        assert rough.duality_gap is not None
        assert rough.value - optimum.value + (optimum.duality_gap or 0.0) >= 0
        assert rough.duality_gap >= rough.value - optimum.value


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_those_of_the_smoothed_value(loss: str) -> None:
    X, y, weight = _rows()
    parts, pair = _held(X, y, weight, (50, 1700)), _pair(loss)
    theta, step = np.array([0.3, -0.2, 0.1, 0.01, 0.2, -0.5]), 1e-5
    found = parts.ask(SlopesAt(theta, pair, 0.5, 1))
    assert found.curvature is not None
    for j in range(D + 1):
        there, back = (parts.ask(SlopesAt(theta + s * np.eye(D + 1)[j], pair, 0.5, 1)) for s in (step, -step))
        assert (there.value - back.value) / (2 * step) == pytest.approx(found.gradient[j], rel=1e-5, abs=1e-4)
        np.testing.assert_allclose(
            (there.gradient - back.gradient) / (2 * step),
            found.curvature[j],
            rtol=0.05,
            atol=0.02 * abs(found.curvature).max(),
        )


def test_without_penalty_and_from_a_starting_point() -> None:
    X, y, weight = _rows()
    parts, pair = _held(X, y, weight, (700,)), _pair("logistic")
    free = _summed(parts, pair, penalty=0.0)
    found = minimise(free, _settings(1e-7))
    assert found.converged
    again = minimise(free, _settings(1e-7), theta=found.theta, near=True)
    assert again.iterations <= 1
    whole = Objective(design(X), y, pair, weight, penalty=0.0, fit_intercept=True)
    assert found.value == pytest.approx(minimise_in_memory(whole, _settings()).value, rel=1e-8)


def test_survey_is_that_of_the_whole_matrix() -> None:
    X, y, weight = _rows()
    for order in "CF":
        found = _held(X, y, weight, (10, 2000), order).ask(SurveyRows(X[0]))
        assert found.rows.tolist() == [int((y == 0).sum()), int(y.sum())]
        np.testing.assert_allclose(found.weights, [weight[y == k].sum() for k in (0, 1)])
        np.testing.assert_allclose(found.mean, X.mean(axis=0))
        np.testing.assert_allclose(found.deviation, X.std(axis=0))
        np.testing.assert_allclose(found.sums, [weight[y == k] @ (X[y == k] - X[0]) for k in (0, 1)])
        np.testing.assert_allclose(found.squares, [weight[y == k] @ (X[y == k] - X[0]) ** 2 for k in (0, 1)])


def test_sparse_survey_is_that_of_the_dense_matrix() -> None:
    from scipy.sparse import csr_matrix

    X, y, weight = _rows()
    X = np.where(np.abs(X) > 1, X, 0.0)
    about = np.arange(D, dtype=float)
    dense, sparse = (Held((Block(one, y, weight),)).ask(SurveyRows(about)) for one in (X, csr_matrix(X)))
    for name in ("rows", "weights", "sums", "squares", "plain"):
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), rtol=1e-10, atol=1e-8)


def test_sample_does_not_depend_on_the_order_of_adding() -> None:
    X, y, weight = _rows()
    answers = [SampleRows(100).answer(block) for block in _held(X, y, weight, (900, 1800)).blocks]
    left = (answers[0] + answers[1]) + answers[2]
    right = answers[0] + (answers[1] + answers[2])
    sampled, other = (one.losses(_pair("logistic"), 1.0, True) for one in (left, right))
    np.testing.assert_array_equal(sampled.design.X, other.design.X)
    assert np.bincount(sampled.y).tolist() == [100, 100]
    totals = [float(sampled.sample_weight[sampled.y == k].sum()) for k in (0, 1)]
    np.testing.assert_allclose(totals, [weight[y == k].sum() for k in (0, 1)], rtol=0.25)


def test_a_shared_limit_does_not_change_the_sample() -> None:
    X, y, weight = _rows()
    blocks = _held(X, y, weight, tuple(range(300, N, 300))).blocks
    question = SampleRows(40)
    hinted = question.answer(blocks[0])
    for block in blocks[1:]:
        hinted = hinted + question.answer(block)  # later blocks leave out what cannot be drawn
    alone = [SampleRows(40).answer(block) for block in blocks]
    plain = alone[0]
    for one in alone[1:]:
        plain = plain + one
    assert np.isfinite(question.limits).all()
    sampled, other = (one.losses(_pair("logistic"), 1.0, True) for one in (hinted, plain))
    np.testing.assert_array_equal(sampled.design.X, other.design.X)
    np.testing.assert_array_equal(sampled.sample_weight, other.sample_weight)


def test_random_numbers_of_a_sample_are_uniform() -> None:
    found, order = part_passes.draw_rows(np.uint64(5), np.zeros(20_000, dtype=np.int8), np.array([0.5, 0.0]))
    assert found.size == pytest.approx(10_000, abs=400)
    np.testing.assert_allclose(np.sort(order), np.linspace(0, 0.5, order.size), atol=0.01)
    every, _ = part_passes.draw_rows(np.uint64(5), np.zeros(20_000, dtype=np.int8), np.full(2, np.inf))
    np.testing.assert_array_equal(every, np.arange(20_000))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("standard", [False, True])
def test_bounds_of_the_proof_are_bounds(loss: str, standard: bool) -> None:
    X, y, weight = _rows()
    weight[::7] = 0.0
    pair = _pair(loss)
    parts = _held(X, y, weight, (1000, 2500))
    survey = parts.ask(SurveyRows(X[0]))
    columns = Standardisation(survey.mean, survey.deviation) if standard else Standardisation.none(D)
    objective = SummedObjective(parts, survey, pair, 1.0, True, columns)
    theta = np.array([0.3, -0.2, 0.1, 0.01, 0.2, -0.5])
    thetas = np.array([theta, theta + np.eye(D + 1)[-1] * 0.1])
    lines = parts.ask(LinesAt(thetas, pair, 0.3))
    size, sizes = _sizes(objective, lines)
    for one, slopes in zip(thetas, lines.slopes, strict=True):
        losses = Block(X, y, weight).losses(pair)
        support = Smoothed(losses, one, 0.3).lines()
        np.testing.assert_allclose(slopes, support.slopes @ X, rtol=1e-10)
        assert support.size <= size
        assert (np.abs(X).T @ np.abs(support.steepest) <= sizes).all()
    _, moment = _error_of_scores(objective, thetas, size, sizes, D)
    assert support.moment <= moment or standard  # those of standardised rows are others
    proof = prove(objective, thetas, lines, 1e-6)
    whole = minimise(objective, _settings(1e-9))
    assert proof.value - proof.gap <= whole.value
    assert whole.duality_gap is not None
    assert whole.value - whole.duality_gap <= proof.value


def test_second_derivatives_from_some_blocks_are_those_of_all_rows() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60_000, 2)), random.integers(0, 2, 60_000).astype(np.int8)
    parts = _held(X, y, np.empty(0), tuple(range(500, 60_000, 500)))
    held = Held(tuple(Block(block.X, block.y, np.empty(0), block.number) for block in parts.blocks))
    theta, pair = np.array([0.5, -1.0, 0.2]), _pair("logistic")
    whole, some = (held.ask(SlopesAt(theta, pair, stride=stride)) for stride in (1, 8))
    assert whole.curvature is not None
    assert some.curvature is not None
    np.testing.assert_allclose(some.curvature, whole.curvature, atol=0.1 * whole.curvature.max())
    used = [SlopesAt(theta, pair, stride=8).answer(block).curvature is not None for block in held.blocks]
    assert 0 < sum(used) < len(used)
    np.testing.assert_array_equal(some.gradient, whole.gradient)


def _numbers(answer: Any) -> list[float]:
    """All numbers of an answer. BLAS rounds by where arrays lie in memory, so answers may differ in the last bit."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    elif is_dataclass(answer) and not isinstance(answer, type):
        answer = [getattr(answer, field.name) for field in fields(answer)]
    if isinstance(answer, list | tuple):
        return [number for part in answer for number in _numbers(part)]
    return [] if answer is None else np.asarray(answer, dtype=np.float64).ravel().tolist()


def test_questions_survive_a_pickle() -> None:
    X, y, weight = _rows()
    block = Block(X, y, weight)
    theta = np.full(D + 1, 0.1)
    for question in (
        SlopesAt(theta, _pair("hinge"), 0.1, 3),
        LinesAt(theta[None], _pair("logistic")),
        Both(SurveyRows(np.zeros(D)), SampleRows(5)),
    ):
        copy = pickle.loads(pickle.dumps(question))
        assert len(pickle.dumps(question)) < 5000
        np.testing.assert_allclose(_numbers(copy.answer(block)), _numbers(question.answer(block)), rtol=1e-12)


def test_what_cannot_be_minimised_in_parts_is_refused() -> None:
    X, y, weight = _rows()
    summed = _summed(_held(X, y, weight, ()), _pair("sigmoid"))
    with pytest.raises(LossError, match="need a convex loss"):
        minimise(summed, _settings())


@pytest.mark.parametrize("loss", ["hinge", "relu(1 - t) + 2*relu(-1 - t)", "relu(1 - t) + relu(t - 3)"])
def test_polygons_in_one_pass_are_those_of_the_lagrangian(loss: str) -> None:
    X, y, weight = _rows()
    pair, theta = _pair(loss), np.array([0.3, -0.2, 0.1, 0.01, 0.2, -0.5])
    losses = Block(X, y, weight).losses(pair)
    found, other = SmoothedPolygons.at(losses, theta, 0.3), Smoothed(losses, theta, 0.3)
    curvature, lines = other.curvature(), other.lines()
    assert [found.value, found.loss, found.above] == pytest.approx([other.value(lines), lines.loss, lines.above])
    np.testing.assert_allclose(found.slopes, lines.slopes, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.curvature(losses), curvature, rtol=1e-10)
