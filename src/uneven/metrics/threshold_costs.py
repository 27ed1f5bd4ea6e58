"""Expected cost for every threshold on a score, and what one costs more than the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.costs import GivenCosts
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.metrics.rows import Rows, read_scores


@dataclass(frozen=True)
class ThresholdCosts:
    """Expected cost of predicting positive where the score is above a threshold, for all thresholds.

    The cost is a step function of the threshold: ``cost[k]`` is the cost at ``threshold[k]`` and at every threshold
    from there up to, but without, ``threshold[k + 1]``; the last cost holds up to infinity.

    Attributes
    ----------
    threshold : ndarray
        -inf (everyone is positive, but for scores of -inf), then the different scores, rising. At the greatest score
        everyone is negative.
    cost : ndarray
        Expected cost per row.
    false_positive_cost, false_negative_cost : ndarray
        The parts of the cost that false positives and false negatives cause: what they cost more than the right
        decisions.
    right_cost : float
        What the right decisions would cost per row (tp_cost and tn_cost); ``cost`` is the sum of the three.
    """

    threshold: np.ndarray
    cost: np.ndarray
    false_positive_cost: np.ndarray
    false_negative_cost: np.ndarray
    right_cost: float

    @property
    def best_cost(self) -> float:
        """The lowest cost of any threshold."""
        return float(self.cost.min())

    @property
    def best_threshold(self) -> float:
        """The lowest of the cheapest thresholds; infinite if it is best to decide the same for everyone."""
        k = int(self.cost.argmin())
        return float(self.threshold[k]) if k < self.threshold.size - 1 or k == 0 else np.inf

    def at(self, threshold: Any) -> Any:
        """Expected cost at a threshold, or at each of several."""
        numbers = np.asarray(threshold)
        if numbers.dtype.kind not in "fiu" or np.isnan(numbers).any():
            raise CostError(f"threshold must be a number, got {brief(threshold)}")
        costs = self.cost[np.searchsorted(self.threshold, numbers, side="right") - 1]
        return float(costs) if numbers.ndim == 0 else costs

    def __repr__(self) -> str:
        return (
            f"<ThresholdCosts: {self.threshold.size} thresholds, best {self.best_threshold:.6g} at cost "
            f"{self.best_cost:.6g} per row>"
        )


def cost_by_threshold(
    y_true: Any,
    y_score: Any,
    *,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> ThresholdCosts:
    """Expected cost of a score at every threshold: predict positive where the score is above the threshold.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Decision values or probabilities.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`.

    Returns
    -------
    ThresholdCosts
        One cost for each different score: no grid, nothing between is left out. It takes one sort.

    Examples
    --------
    >>> from uneven.metrics import cost_by_threshold
    >>> found = cost_by_threshold([0, 0, 1, 1], [-1.0, 0.5, -0.2, 2.0], fp_cost=1, fn_cost=9)
    >>> found.threshold.tolist(), found.cost.tolist()
    ([-inf, -1.0, -0.2, 0.5, 2.0], [0.5, 0.25, 2.5, 2.25, 4.5])
    >>> found.best_threshold, found.at(0.0)
    (-1.0, 2.5)
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows, score = read_scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, **costs)
    false_positives, false_negatives = regret_parts(rows, rows.costs.fp_regret, rows.costs.fn_regret)
    threshold, paid, missed = sums_by_threshold(score, false_positives, false_negatives)
    right = float(rows.weight @ rows.costs.paid(rows.is_positive, rows.is_positive))
    return ThresholdCosts(threshold, right + (paid + missed), paid, missed, right)


def regret_parts(
    rows: Rows, fp_regret: float | np.ndarray, fn_regret: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each row its part of the mean cost if it is a false positive, and if it is a false negative."""
    return (
        np.where(rows.is_positive, 0.0, rows.weight * fp_regret),
        np.where(rows.is_positive, rows.weight * fn_regret, 0.0),
    )


def sums_by_threshold(
    score: np.ndarray, above: np.ndarray, below: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every threshold that decides differently, with the sum of ``above`` over the scores above it, and of ``below``.

    The thresholds are -inf and the different scores, rising: a number halfway between two scores could round to one.
    """
    order = np.argsort(score, kind="stable")
    rising = score[order]
    last_of_tie = np.append(rising[1:] != rising[:-1], True)
    thresholds = rising[last_of_tie]
    not_above = np.concatenate([[0.0], np.cumsum(below[order])[last_of_tie]])
    # Sums from the far end, not differences from the total: those would lose the digits of small sums.
    first_of_tie = np.flatnonzero(np.append(True, last_of_tie[:-1]))
    still_above = np.append(np.cumsum(above[order][::-1])[::-1][first_of_tie], 0.0)
    if thresholds[0] == -np.inf:  # no threshold has a score of -inf above it
        return thresholds, still_above[1:], not_above[1:]
    return np.concatenate([[-np.inf], thresholds]), still_above, not_above


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
