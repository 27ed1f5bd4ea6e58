"""The sum of the costs of decisions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uneven.costs import GivenCosts
from uneven.errors import CostError
from uneven.metrics.expected_cost import summed_cost
from uneven.metrics.rows import read_decisions


def total_cost(
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
    """What all decisions cost together, in the unit of the costs.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels of two classes.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label
        As in :func:`expected_cost`.
    sample_weight : array-like of shape (n,), optional
        How often each row counts: a row of weight 2 costs twice as much. The total is the expected cost times the sum
        of the weights.

    Examples
    --------
    >>> from uneven.metrics import total_cost
    >>> total_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=4, fn_cost=[200, 50, 80, 10], tp_cost=4)
    58.0
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows, said_positive = read_decisions(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight, **costs)
    with np.errstate(over="ignore", invalid="ignore"):
        total = summed_cost(rows.costs, rows.is_positive, said_positive, rows.repetitions)
    if not math.isfinite(total):
        raise CostError("the total cost is too large for double precision; use another unit")
    return total
