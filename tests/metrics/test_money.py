"""Total cost and savings."""

from __future__ import annotations

import numpy as np
import pytest
from row_costs import sample

from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics import expected_cost, savings_score, total_cost


@pytest.mark.parametrize("pays", [False, True])
def test_costs_are_those_of_each_decision(pays: bool) -> None:
    rows = sample(7, pays=pays)
    paid = RowCosts.read(rows.y.size, **rows.costs).paid(rows.y == 1, rows.guess == 1)
    outcome = {(1, 1): "tp_cost", (1, 0): "fn_cost", (0, 1): "fp_cost", (0, 0): "tn_cost"}
    by_hand = [rows.costs[outcome[pair]][k] for k, pair in enumerate(zip(rows.y, rows.guess, strict=True))]
    assert paid.tolist() == by_hand
    assert expected_cost(rows.y, rows.guess, **rows.costs) == pytest.approx(np.mean(by_hand))
    total = total_cost(rows.y, rows.guess, sample_weight=rows.weight, **rows.costs)
    assert total == pytest.approx(by_hand @ rows.weight)
    mean = expected_cost(rows.y, rows.guess, sample_weight=rows.weight, **rows.costs)
    assert total == pytest.approx(mean * rows.weight.sum())


def test_a_total_that_no_double_holds_is_refused() -> None:
    with pytest.raises(CostError, match="the total cost is too large for double precision; use another unit"):
        total_cost([1, 1, 0], [0, 0, 1], fp_cost=1.7e308, fn_cost=1.7e308)
    costs = {"fp_cost": 1e308, "fn_cost": [1e308, 1.6e308, 1.0]}
    assert expected_cost([1, 1, 0], [0, 0, 1], **costs) == pytest.approx(1.2e308)


def test_savings_against_each_kind_of_baseline() -> None:
    rows = sample(8)
    costs = {"fp_cost": np.abs(rows.costs["fp_cost"]) + 1, "fn_cost": np.abs(rows.costs["fn_cost"]) + 1}
    ours = expected_cost(rows.y, rows.guess, **costs)
    never, always = (expected_cost(rows.y, np.full(rows.y.size, k), **costs) for k in (0, 1))
    assert savings_score(rows.y, rows.guess, **costs) == pytest.approx(1 - ours / min(never, always))
    other = np.roll(rows.guess, 1)
    reference = expected_cost(rows.y, other, **costs)
    assert savings_score(rows.y, rows.guess, baseline=other, **costs) == pytest.approx(1 - ours / reference)
    assert savings_score(rows.y, rows.guess, baseline=reference, **costs) == pytest.approx(1 - ours / reference)
    assert savings_score(rows.y, rows.y, **costs) == 1.0
    assert savings_score(rows.y, np.full(rows.y.size, int(always < never)), **costs) == 0.0


def test_savings_of_a_baseline_that_earns_money() -> None:
    y, costs = [1, 1, 0, 0], {"fp_cost": 1, "fn_cost": 0, "tp_cost": -10}
    assert expected_cost(y, [1, 1, 1, 1], **costs) == -4.5
    assert savings_score(y, [1, 1, 0, 0], **costs) == pytest.approx(0.5 / 4.5)
    assert savings_score(y, [1, 0, 0, 0], **costs) == pytest.approx(-2 / 4.5)
    assert savings_score(y, [1, 1, 0, 0], baseline=-1, **costs) == pytest.approx(4.0)


def test_savings_of_a_baseline_that_costs_nothing() -> None:
    assert savings_score([0, 0], [0, 0]) == 0.0
    with pytest.raises(CostError, match=r"the baseline costs 0 and the decisions cost 0\.5 per row"):
        savings_score([0, 0], [0, 1])


@pytest.mark.parametrize(
    ("baseline", "says"),
    [
        ([0], "y_true and baseline must have the same length, got 2 and 1"),
        ([0, 2], "two classes, got 3"),
        (float("nan"), "baseline must be a finite number, got nan"),
        (True, "baseline must be a number"),
        ("never", "baseline must be a one-dimensional array"),
    ],
)
def test_bad_baselines(baseline: object, says: str) -> None:
    with pytest.raises(CostError, match=says):
        savings_score([0, 1], [0, 1], baseline=baseline)


def test_no_share_of_a_baseline_whose_costs_and_benefits_cancel() -> None:
    costs = {"fp_cost": [0.1, 0.2, 0], "fn_cost": 5, "tn_cost": -2, "tp_cost": [0, 0, -0.3]}
    assert expected_cost([0, 0, 1], [1, 1, 1], **costs) != 0  # by rounding errors
    with pytest.raises(CostError, match="the baseline costs 0"):
        savings_score([0, 0, 1], [0, 0, 1], baseline=[1, 1, 1], **costs)
