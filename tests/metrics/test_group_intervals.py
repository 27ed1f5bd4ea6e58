"""Intervals over groups: they hold the truth where rows of a group are alike, and are those of rows elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from uneven import Actions
from uneven.costs import RowCosts
from uneven.learners.several_actions import estimate_actions
from uneven.metrics import compare_predictions
from uneven.metrics.intervals import estimates

COSTS = {"fp_cost": 1.0, "fn_cost": 10.0}


def alike(seed: int, groups: int = 40, rows: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All rows of a group have the same label and the same decision."""
    random = np.random.default_rng(seed)
    y, wrong = random.random(groups) < 0.3, random.random(groups) < 0.2
    return np.repeat(y, rows), np.repeat(y ^ wrong, rows), np.repeat(np.arange(groups), rows)


@pytest.mark.slow
def test_groups_hold_the_truth_where_rows_do_not() -> None:
    truth, held = 0.2 * (0.3 * 10 + 0.7), np.zeros(2)
    for seed in range(150):
        y, said, group = alike(seed)
        costs = RowCosts.read(y.size, **COSTS)
        for k, by in enumerate((None, group)):
            found = estimates(costs, y, {"model": said[None]}, groups=by)[0]
            held[k] += found.low <= truth <= found.high
    assert held[1] / 150 >= 0.93
    assert held[0] / 150 < 0.7


def test_copies_of_rows_are_no_news() -> None:
    """A group of ten copies counts as one row: the interval is that of one row of each group."""
    y, said, group = alike(0)
    costs, one = RowCosts.read(y.size, **COSTS), RowCosts.read(40, **COSTS)
    whole = estimates(costs, y, {"a": said[None], "b": ~said[None]}, groups=group)
    first = estimates(one, y[::10], {"a": said[None, ::10], "b": ~said[None, ::10]})
    for left, right in zip(whole, first, strict=True):
        assert (left.cost, left.low, left.high) == pytest.approx((right.cost, right.low, right.high), rel=1e-6)
        assert left.difference == (None if right.difference is None else pytest.approx(right.difference))


def test_two_actions_are_two_classes() -> None:
    y, said, group = alike(1)
    actions = Actions(clear=(10, 0), block=(0, 1))
    by_action = estimate_actions(actions, y, {"a": said.astype(int)}, None, groups=group)[0]
    by_class = estimates(RowCosts.read(y.size, **COSTS), y, {"a": said[None]}, groups=group)[0]
    assert (by_action.low, by_action.high) == pytest.approx((by_class.low, by_class.high))


def test_in_any_order_and_by_any_name() -> None:
    y, said, group = alike(2)
    order = np.random.default_rng(0).permutation(y.size)
    names = np.array([f"customer {one}" for one in group])
    here, there = (
        compare_predictions(y[k], {"a": said[k]}, groups=names[k], **COSTS)[0] for k in (np.arange(y.size), order)
    )
    assert (here.low, here.high) == pytest.approx((there.low, there.high))
