"""The average cost of decisions. Everything that needs an expected cost calls this module."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.costs import GivenCosts, RowCosts
from uneven.metrics.rows import read_decisions


def expected_cost(
    y_true: Any,
    y_pred: Any,
    *,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Average cost per row: fp_cost for a false positive, fn_cost for a false negative.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels of two classes.
    fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n,)
        What the four outcomes cost: a number, or one for each row. A benefit is a negative cost. If they are numbers, a
        mistake must not cost less than the right decision, and one of the two mistakes must cost more. In single rows
        a mistake may cost less.
    pos_label : label, optional
        The positive class. May be left out for labels {0, 1}, {-1, 1} and {False, True}.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights. A row of weight 2 counts as two rows.

    Examples
    --------
    >>> from uneven.metrics import expected_cost
    >>> expected_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=1, fn_cost=9)
    2.5

    Each missed fraud costs its amount, each check of a transaction costs 4:

    >>> amount = [200, 50, 80, 10]
    >>> expected_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=4, fn_cost=amount, tp_cost=4)
    14.5
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows, said_positive = read_decisions(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight, **costs)
    return mean_cost(rows.costs, rows.is_positive, said_positive, rows.weight)


def mean_cost(costs: RowCosts, is_positive: np.ndarray, said_positive: np.ndarray, weight: np.ndarray) -> float:
    """Expected cost of decisions given as booleans; the weights need not sum to 1."""
    return summed_cost(costs, is_positive, said_positive, weight, weight.sum())


def summed_cost(
    costs: RowCosts, is_positive: np.ndarray, said_positive: np.ndarray, weight: np.ndarray, unit: float = 1.0
) -> float:
    """The sum of weight/unit times cost over the rows. The division comes first, so that a mean cannot overflow."""
    outcomes = (
        (costs.fp_cost, ~is_positive & said_positive),
        (costs.fn_cost, is_positive & ~said_positive),
        (costs.tp_cost, is_positive & said_positive),
        (costs.tn_cost, ~is_positive & ~said_positive),
    )
    total = 0.0
    for cost, where in outcomes:
        if isinstance(cost, np.ndarray):
            total += float((weight[where] / unit) @ cost[where])
        elif cost != 0:
            total += cost * float(weight[where].sum() / unit)
    return total
