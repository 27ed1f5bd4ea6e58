"""What a threshold costs more than the best one."""

from __future__ import annotations

from typing import Any

from uneven.costs import GivenCosts
from uneven.metrics.threshold_costs import cost_by_threshold


def regret_against_best_threshold(
    y_true: Any,
    y_score: Any,
    *,
    threshold: float = 0.0,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Expected cost at a threshold minus the expected cost at the best threshold on these rows.

    It is 0 if no threshold is cheaper than this one, and never negative. The best threshold is chosen in hindsight, on
    the same rows, so on average this overstates the regret against the threshold that is best for all such rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Decision values or probabilities: predict positive where the score is above the threshold.
    threshold : float
        0 suits decision values; for probabilities give one, such as alpha.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`.

    Examples
    --------
    >>> from uneven.metrics import regret_against_best_threshold
    >>> regret_against_best_threshold([0, 0, 1, 1], [-1.0, 0.5, -0.2, 2.0], fp_cost=1, fn_cost=9)
    2.25
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    found = cost_by_threshold(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, **costs)
    return float(found.at(threshold) - found.best_cost)
