r"""Brier score and log loss restricted to a range of alphas.

Every proper score of a probability p is an integral of expected costs over alpha, at costs alpha and 1 - alpha, of the
decisions "positive iff p > alpha". The weight of alpha is 2 for the Brier score and 1/(alpha (1 - alpha)) for log loss.
Here the integral is over a range only. So only mistakes about alphas in the range count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uneven import inputs
from uneven.costs import GivenCosts
from uneven.errors import CostError
from uneven.inputs import Exact
from uneven.metrics.cost_curve import ScaledCosts
from uneven.metrics.rows import read_scores

#: Takes q, low and high; gives the scores of probabilities q in the range for a negative and for a positive label.
_Partial = Callable[[np.ndarray, float, float], tuple[np.ndarray, np.ndarray]]


def restricted_brier_score(
    y_true: Any,
    y_prob: Any,
    *,
    low: Exact = 0.0,
    high: Exact = 1.0,
    as_cost: bool = False,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    r"""Brier score that only counts decisions at cost parameters alpha from ``low`` to ``high``.

    With q the probability, moved into the range if it is outside, a positive row has the score
    :math:`(1 - q)^2 - (1 - high)^2` and a negative row :math:`q^2 - low^2`. This is

    .. math:: \int_{low}^{high} 2 \cdot \text{expected cost at } \alpha \; d\alpha,

    where a false positive costs alpha, a false negative 1 - alpha, and positive is predicted where the probability is
    above alpha. It is a proper score: the true probabilities minimise it on average, and in the range they alone do.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    low, high : number
        Ends of the range, 0 <= low < high <= 1. From 0 to 1 it is the ordinary Brier score, the mean of
        :math:`(p - y)^2`.
    as_cost : bool
        Divide by the weight of the range, 2 (high - low). Then it is the average of the expected costs in the range,
        and tends to the expected cost at alpha if the range shrinks to alpha.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`. Costs that are the same for all rows do not change the score; choose the range
        around their alpha. With costs for each row, alpha is that of the average costs, as in :func:`cost_curve`;
        each row is decided and paid at its own costs. No mistake may cost less than the right decision.

    Examples
    --------
    >>> from uneven.metrics import restricted_brier_score
    >>> y_true, y_prob = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    >>> round(restricted_brier_score(y_true, y_prob), 12)
    0.185
    >>> round(restricted_brier_score(y_true, y_prob, low=0.1, high=0.3), 12)
    0.02

    Near alpha = 0.2 this is the expected cost:

    >>> round(restricted_brier_score(y_true, y_prob, low=0.1999, high=0.2001, as_cost=True), 12)
    0.05
    """
    given = {"pos_label": pos_label, "sample_weight": sample_weight}
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    ends = _read_range(low, high)
    score = _mean_score(_brier, ends, y_true, y_prob, **given, **costs)
    return score / (2 * (ends[1] - ends[0])) if as_cost else score


def restricted_log_loss(
    y_true: Any,
    y_prob: Any,
    *,
    low: Exact = 0.0,
    high: Exact = 1.0,
    as_cost: bool = False,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    r"""Log loss that only counts decisions at cost parameters alpha from ``low`` to ``high``.

    With q the probability, moved into the range if it is outside, a positive row has the score
    :math:`\log(high / q)` and a negative row :math:`\log((1 - low) / (1 - q))`. This is

    .. math:: \int_{low}^{high} \frac{\text{expected cost at } \alpha}{\alpha (1 - \alpha)} \; d\alpha,

    with costs and decisions as in :func:`restricted_brier_score`. It is a proper score. Unlike the ordinary log loss it
    is bounded if 0 < low and high < 1.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    low, high : number
        Ends of the range, 0 <= low < high <= 1. From 0 to 1 it is the ordinary log loss, infinite if a probability of 0
        or 1 is wrong.
    as_cost : bool
        Divide by the weight of the range, logit(high) - logit(low), which must be finite. Then it is an average of the
        expected costs in the range, and tends to the expected cost at alpha if the range shrinks to alpha.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`restricted_brier_score`.

    Examples
    --------
    >>> from uneven.metrics import restricted_log_loss
    >>> y_true, y_prob = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    >>> round(restricted_log_loss(y_true, y_prob), 6)
    0.510826
    >>> round(restricted_log_loss(y_true, y_prob, low=0.1999, high=0.2001, as_cost=True), 6)
    0.05
    """
    given = {"pos_label": pos_label, "sample_weight": sample_weight}
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    a, b = _read_range(low, high)
    if as_cost and (a == 0 or b == 1):
        raise CostError(
            f"as_cost needs 0 < low and high < 1, got {a!r} and {b!r}: log loss gives infinite weight to alphas near "
            "0 and 1"
        )
    score = _mean_score(_log, (a, b), y_true, y_prob, **given, **costs)
    return score / float(np.log1p((b - a) / a) + np.log1p((b - a) / (1 - b))) if as_cost else score


def _brier(q: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    return (q - low) * (q + low), (high - q) * ((1 - q) + (1 - high))


def _log(q: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(divide="ignore"):
        # log((1 - low)/(1 - q)) and log(high/q), with all digits where the quotient is near 1
        return np.log1p((q - low) / (1 - q)), np.log1p((high - q) / q)


def _mean_score(partial: _Partial, ends: tuple[float, float], y_true: Any, y_prob: Any, **given: Any) -> float:
    probabilities, _ = inputs.probabilities("y_prob", y_prob, CostError)
    rows, probability = read_scores(y_true, probabilities, name="y_prob", **given)
    scale = ScaledCosts.of(rows)
    if scale.mistakes_pay:
        raise CostError("no mistake may cost less than the right decision in any row; expected_cost works with that")
    negative, positive = partial(np.clip(scale.turning_alphas(probability), *ends), *ends)
    score = np.where(rows.is_positive, positive, negative)
    factor = rows.weight * np.where(rows.is_positive, scale.fn_share, scale.fp_share)
    counts = factor > 0  # 0 times an infinite score is 0
    return float(factor[counts] @ score[counts])


def _read_range(low: Exact, high: Exact) -> tuple[float, float]:
    ends = tuple(inputs.exact(name, end, CostError) for name, end in (("low", low), ("high", high)))
    a, b = map(float, ends)
    if not 0 <= a < b <= 1:
        raise CostError(f"the range must be 0 <= low < high <= 1, got low={low!r} and high={high!r}")
    return a, b
