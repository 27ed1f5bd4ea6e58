"""Costs of the two kinds of mistake and the alpha they make."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import uneven
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
