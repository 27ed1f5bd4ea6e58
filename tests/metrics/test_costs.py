"""Costs of the two kinds of mistake and the alpha they make."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uneven
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics import expected_cost

costs = st.floats(1e-300, 1e300)


@given(costs, costs)
def test_alpha_is_the_nearest_double_inside_the_unit_interval(fp_cost: float, fn_cost: float) -> None:
    cost = uneven.Cost(fp_cost=fp_cost, fn_cost=fn_cost)
    exact = Fraction(fp_cost) / (Fraction(fp_cost) + Fraction(fn_cost))
    assert 0 < cost.alpha < 1
    assert cost.exact_alpha == exact
    assert abs(Fraction(cost.alpha) - exact) <= max(Fraction(math.ulp(cost.alpha)), Fraction(1, 2**1074))


def test_alpha_examples() -> None:
    assert uneven.Cost(fp_cost=1, fn_cost=9).alpha == 0.1
    assert uneven.Cost(fp_cost=1e-300, fn_cost=1e-300).alpha == 0.5
    assert uneven.Cost(fp_cost=1e300, fn_cost=1e300).alpha == 0.5
    assert uneven.Cost(fp_cost=0, fn_cost=2).alpha == 0.0
    assert uneven.Cost.from_alpha(0.25).alpha == 0.25
    with pytest.raises(TypeError):
        uneven.Cost(1, 9)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fp_cost", "fn_cost", "says"),
    [
        (-1, 1, "fp_cost must not be negative, got -1"),
        (0, 0, "one of the costs must be positive"),
        (math.nan, 1, "fp_cost must be a finite number, got nan"),
        (1, math.inf, "fn_cost must be a finite number, got inf"),
        (1, "much", "fn_cost must be a finite number, got 'much'"),
        (None, 1, "fp_cost must be a number, got None"),
    ],
)
def test_bad_costs(fp_cost: float, fn_cost: float, says: str) -> None:
    with pytest.raises(CostError, match=says):
        uneven.Cost(fp_cost=fp_cost, fn_cost=fn_cost)
    with pytest.raises(CostError, match=says):
        expected_cost([0, 1], [0, 1], fp_cost=fp_cost, fn_cost=fn_cost)


def test_a_pair_of_costs_is_the_same_pair_in_every_row() -> None:
    pair = uneven.Cost(fp_cost="1/3", fn_cost=Fraction(9))
    rows = RowCosts.of(pair, 4)
    assert (rows.count, rows.fp_cost, rows.fn_cost, rows.tp_cost, rows.tn_cost) == (4, 1 / 3, 9.0, 0.0, 0.0)
    assert RowCosts.of(rows, 4) is rows


def test_mistakes_that_cost_no_more_than_right_decisions() -> None:
    with pytest.raises(CostError, match="got fp_cost=2 and fn_cost=3, which the right decisions cost too"):
        expected_cost([0, 1], [0, 1], fp_cost=2, fn_cost=3, tp_cost=3, tn_cost=2)
    with pytest.raises(CostError, match="fn_cost must not be below tp_cost, got 3: then the mistake would pay"):
        expected_cost([0, 1], [0, 1], fp_cost=2, fn_cost=3, tp_cost=4)


def test_a_cost_of_both_outcomes_changes_no_decision() -> None:
    random = np.random.default_rng(0)
    probability = random.integers(0, 65, 500) / 64
    four = random.integers(-20, 20, (4, 500)).astype(float)
    both = random.integers(-50, 50, (2, 500))
    costs = RowCosts.read(500, fp_cost=four[0], fn_cost=four[1], tp_cost=four[2], tn_cost=four[3])
    moved = RowCosts.read(
        500, fp_cost=four[0] + both[0], tn_cost=four[3] + both[0], fn_cost=four[1] + both[1], tp_cost=four[2] + both[1]
    )
    assert np.array_equal(costs.prefers_positive(probability), moved.prefers_positive(probability))
    scaled = RowCosts.read(
        500, **{name: 8 * getattr(costs, name) for name in ("fp_cost", "fn_cost", "tp_cost", "tn_cost")}
    )
    assert np.array_equal(costs.prefers_positive(probability), scaled.prefers_positive(probability))
    positive, negative = (
        probability * costs.tp_cost + (1 - probability) * costs.fp_cost,
        probability * costs.fn_cost + (1 - probability) * costs.tn_cost,
    )
    assert np.array_equal(costs.prefers_positive(probability), positive < negative)
