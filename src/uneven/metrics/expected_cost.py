"""What decisions cost: on average, together, and as a share of a baseline. Every expected cost is computed here."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from uneven import inputs
from uneven.costs import GivenCosts, RowCosts
from uneven.errors import CostError
from uneven.labels import read_labels, require_same_length, where_positive
from uneven.metrics.matrix_rows import read_matrix_rows, require_matrix
from uneven.metrics.rows import Rows, read_decisions


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
    costs: Any = None,
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
    costs : CostMatrix, optional
        In place of the four costs: ``y_true`` are its classes, ``y_pred`` its actions, of which there may be more or
        fewer.

    Examples
    --------
    >>> from uneven.metrics import expected_cost
    >>> expected_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=1, fn_cost=9)
    2.5

    Each missed fraud costs its amount, each check of a transaction costs 4:

    >>> amount = [200, 50, 80, 10]
    >>> expected_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=4, fn_cost=amount, tp_cost=4)
    14.5

    With a cost for every confusion:

    >>> import uneven
    >>> triage = uneven.CostMatrix([[0, 5, 20], [30, 0, 10], [900, 200, 0]], actions=["home", "ward", "lab"])
    >>> expected_cost([0, 0, 1, 2], ["home", "ward", "ward", "lab"], costs=triage)
    1.25
    """
    four = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    if costs is not None:
        of_matrix = read_matrix_rows(require_matrix(costs, four, pos_label), y_true, sample_weight)
        return of_matrix.mean(of_matrix.read_actions("y_pred", y_pred))
    rows, said_positive = read_decisions(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight, **four)
    return cost_of_decisions(rows.costs, rows.is_positive, said_positive, rows.weight)


def cost_of_decisions(costs: RowCosts, is_positive: np.ndarray, said_positive: np.ndarray, weight: np.ndarray) -> float:
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
    costs: Any = None,
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
    costs : CostMatrix, optional
        As in :func:`expected_cost`.

    Examples
    --------
    >>> from uneven.metrics import total_cost
    >>> total_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=4, fn_cost=[200, 50, 80, 10], tp_cost=4)
    58.0
    """
    four = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    with np.errstate(over="ignore", invalid="ignore"):
        if costs is not None:
            of_matrix = read_matrix_rows(require_matrix(costs, four, pos_label), y_true, sample_weight)
            total = float(of_matrix.repetitions @ of_matrix.paid(of_matrix.read_actions("y_pred", y_pred)))
        else:
            how = {"pos_label": pos_label, "sample_weight": sample_weight}
            rows, said_positive = read_decisions(y_true, y_pred, **how, **four)
            total = summed_cost(rows.costs, rows.is_positive, said_positive, rows.repetitions)
    if not math.isfinite(total):
        raise CostError("the total cost is too large for double precision; use another unit")
    return total


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
    costs: Any = None,
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
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight, costs
        As in :func:`expected_cost`. With a cost matrix the default baseline is the action that is cheapest for all.

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
    four = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    if costs is not None:
        of_matrix = read_matrix_rows(require_matrix(costs, four, pos_label), y_true, sample_weight)
        reference, cost = of_matrix.baseline(baseline), of_matrix.mean(of_matrix.read_actions("y_pred", y_pred))
    else:
        rows, said_positive = read_decisions(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight, **four)
        reference = _baseline_cost(rows, baseline, y_true, pos_label)
        cost = cost_of_decisions(rows.costs, rows.is_positive, said_positive, rows.weight)
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
        return inputs.to_float(inputs.exact("baseline", baseline, CostError))  # type: ignore[arg-type]
    truth, prediction = read_labels("y_true", y_true), read_labels("baseline", baseline)
    require_same_length(y_true=truth, baseline=prediction)
    _, said_positive = where_positive(pos_label, truth, prediction)
    return _mean_or_zero(rows, said_positive)


def _mean_or_zero(rows: Rows, said_positive: np.ndarray) -> float:
    """The mean cost; 0 if costs and benefits cancel and only rounding errors are left."""
    mean = cost_of_decisions(rows.costs, rows.is_positive, said_positive, rows.weight)
    size = float(rows.weight @ np.abs(rows.costs.paid(rows.is_positive, said_positive)))
    return mean if abs(mean) > 8 * np.finfo(np.float64).eps * size else 0.0
