"""A start from the minima of the parts: exact for squared losses, near for others, the same each time, and small."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import uneven
from uneven.parts.blocks import Block
from uneven.parts.starting_point import OwnMinimum, start_from_parts, worth_asking
from uneven.parts.summed_answers import Held, SurveyRows
from uneven.parts.summed_objective import Standardisation, SummedObjective
from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.proof import minimise
from uneven.solvers.linear.solver import Settings

D = 4


def _parts(same: bool) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows of three parts; unless they are the same, places, scales and shares of the classes differ by part."""
    random = np.random.default_rng(5)
    found = []
    for k, n in enumerate((400, 900, 300)):
        X = random.normal(size=(n, D)) * (1 if same else 1 + k) + (0 if same else k)
        y = (X[:, 0] - X[:, 1] + random.logistic(size=n) > 0.5).astype(np.int8)
        found.append((X, y, random.random(n)))
    return found


def _objectives(
    loss: str, same: bool, penalty: float, intercept: bool, standard: bool
) -> tuple[SummedObjective, Objective]:
    """The objective in parts, and the same in memory."""
    rows = _parts(same)
    parts = Held(tuple(Block(*part, k) for k, part in enumerate(rows)))
    survey = parts.ask(SurveyRows(np.zeros(D)))
    columns = Standardisation(survey.mean, survey.deviation) if standard else Standardisation.none(D)
    pair = PairOfLosses.of(uneven.UnevenMarginLoss(loss, gamma=2, alpha="1/5"))
    X, y, weight = (np.concatenate(one) for one in zip(*rows, strict=True))
    return (
        SummedObjective(parts, survey, pair, penalty, intercept, columns),
        Objective(design(columns.rows(X)), y, pair, weight, penalty=penalty, fit_intercept=intercept),
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("standard", [True, False])
def test_for_squared_losses_the_start_is_the_minimum_however_the_parts_differ(intercept: bool, standard: bool) -> None:
    """The parabolas are the objectives of the parts themselves, and their sum is that of all rows."""
    summed, whole = _objectives("squared", False, 3.0, intercept, standard)
    start = start_from_parts(summed)
    assert start is not None
    best = minimise(whole, Settings(1e-12, 1000, np.random.default_rng(0)))
    # Each part's minimum is found to a tolerance; by squares, the sum is no worse.
    assert whole.value_and_gradient(start)[0] <= best.value * (1 + 1e-3)
    value = whole.value_and_gradient(np.zeros(D + 1))[0]
    assert value > best.value * 1.05  # so that this says something


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_for_parts_that_are_alike_the_start_is_near_the_minimum(loss: str) -> None:
    summed, whole = _objectives(loss, True, 1.0, True, False)
    start = start_from_parts(summed)
    assert start is not None
    best = minimise(whole, Settings(1e-9, 1000, np.random.default_rng(0)))
    above = whole.value_and_gradient(start)[0] - best.value
    assert above <= 0.1 * (whole.value_and_gradient(np.zeros(D + 1))[0] - best.value)
    np.testing.assert_array_equal(start, start_from_parts(summed))


def test_parts_with_few_rows_or_one_class_say_nothing() -> None:
    summed, _ = _objectives("logistic", True, 1.0, True, False)
    X, y, weight = _parts(True)[0]
    question = pickle.loads(pickle.dumps(OwnMinimum(summed.pair, 1600, 1.0, True, Standardisation.none(D))))
    few = Block(X[:99], y[:99], weight[:99], 0)
    ones = Block(X, np.ones_like(y), weight, 0)
    assert not worth_asking(99, D)
    assert worth_asking(100, D)
    for block in (few, ones):
        answer = question.answer(block)
        assert answer.minimum is None
        assert not answer.product.any()
    alone = question.answer(Block(X, y, weight, 0))
    together = alone + question.answer(ones)
    np.testing.assert_array_equal(alone.minimum, together.minimum)
    assert alone.matrix.shape == (D + 1, D + 1)
