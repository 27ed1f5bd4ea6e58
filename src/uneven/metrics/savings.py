"""The share of a baseline's cost that a classifier saves."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from uneven import _inputs
from uneven.costs import GivenCosts
from uneven.errors import CostError
from uneven.metrics.expected_cost import mean_cost
from uneven.metrics.labels import read_labels, require_same_length, where_positive
from uneven.metrics.rows import Rows, read_decisions


def savings_score(
    y_true: Any,
    y_pred: Any,
    *,
    baseline: Any = None,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    r"""Share of the baseline's cost that the decisions save: 1 saves all of it, 0 nothing; below 0 they cost more.

    .. math:: \frac{\text{cost of the baseline} - \text{cost}}{|\text{cost of the baseline}|}

    which is 1 - cost / cost of the baseline if the baseline costs something.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels of two classes.
    baseline : array-like of shape (n,) or number, optional
        Predictions of another classifier, or a cost per row. By default the better constant rule: everyone positive or
        everyone negative, whichever is cheaper on these rows.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`.

    Returns
    -------
    float
        The unit of the costs does not matter (a baseline given as a number is in that unit too).

    Notes
    -----
    With benefits (negative costs) the cost of the baseline can be negative: it earns money. Then the score is the gain
    over the baseline as a share of what the baseline earns, so that a positive score is always an improvement, and it
    can exceed 1. If the baseline costs 0, the score is 0 if the decisions cost 0 too; otherwise no share exists, and
    a :class:`~uneven.errors.CostError` says so.

    Examples
    --------
    >>> from uneven.metrics import savings_score
    >>> y_true, y_pred, amount = [1, 1, 0, 0], [1, 0, 1, 0], [200, 50, 80, 10]
    >>> savings_score(y_true, y_pred, fp_cost=30, fn_cost=amount, tp_cost=30)
    0.0833...
    >>> savings_score(y_true, y_pred, fp_cost=30, fn_cost=amount, tp_cost=30, baseline=[0, 0, 0, 0])
    0.56
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows, said_positive = read_decisions(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight, **costs)
    reference = _baseline_cost(rows, baseline, y_true, pos_label)
    cost = mean_cost(rows.costs, rows.is_positive, said_positive, rows.weight)
    if cost == reference:
        return 0.0
    if reference == 0:
        raise CostError(
            f"the baseline costs 0 and the decisions cost {cost!r} per row, so no share of its cost can be saved; "
            "compare the expected costs, or give another baseline"
        )
    return 1 - cost / reference if reference > 0 else cost / reference - 1


def _baseline_cost(rows: Rows, baseline: Any, y_true: Any, pos_label: Any) -> float:
    if baseline is None:
        everyone = np.ones(rows.count, dtype=bool)
        return min(_mean_or_zero(rows, said) for said in (everyone, ~everyone))
    if isinstance(baseline, numbers.Real | Decimal):
        return _inputs.to_float(_inputs.exact("baseline", baseline, CostError))  # type: ignore[arg-type]
    truth, prediction = read_labels("y_true", y_true), read_labels("baseline", baseline)
    require_same_length(y_true=truth, baseline=prediction)
    _, said_positive = where_positive(pos_label, truth, prediction)
    return _mean_or_zero(rows, said_positive)


def _mean_or_zero(rows: Rows, said_positive: np.ndarray) -> float:
    """The mean cost; 0 if costs and benefits cancel and only rounding errors are left."""
    mean = mean_cost(rows.costs, rows.is_positive, said_positive, rows.weight)
    size = float(rows.weight @ np.abs(rows.costs.paid(rows.is_positive, said_positive)))
    return mean if abs(mean) > 8 * np.finfo(np.float64).eps * size else 0.0
