"""The average cost of decisions. Everything that needs an expected cost calls this module."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven._inputs import Exact
from uneven.costs import Cost
from uneven.metrics.labels import read_labels, read_weights, require_same_length, where_positive


def expected_cost(
    y_true: Any,
    y_pred: Any,
    *,
    fp_cost: Exact = 1.0,
    fn_cost: Exact = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Average cost per example: fp_cost for a false positive, fn_cost for a false negative.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels of two classes.
    fp_cost, fn_cost : number
        At least 0, not both 0.
    pos_label : label, optional
        The positive class. May be left out for labels {0, 1}, {-1, 1} and {False, True}.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights.

    Examples
    --------
    >>> from uneven.metrics import expected_cost
    >>> expected_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=1, fn_cost=9)
    2.5
    """
    cost = Cost(fp_cost=fp_cost, fn_cost=fn_cost)  # type: ignore[arg-type]
    truth, prediction = read_labels("y_true", y_true), read_labels("y_pred", y_pred)
    require_same_length(y_true=truth, y_pred=prediction)
    is_positive, said_positive = where_positive(pos_label, truth, prediction)
    return mean_cost(cost, is_positive, said_positive, read_weights(sample_weight, truth.size))


def mean_cost(cost: Cost, is_positive: np.ndarray, said_positive: np.ndarray, weight: np.ndarray) -> float:
    """Expected cost of decisions given as booleans; the weights need not sum to 1."""
    false_positives, false_negatives = mistake_shares(is_positive, said_positive, weight)
    fp_cost, fn_cost = map(float, cost.exact_costs)
    return fp_cost * false_positives + fn_cost * false_negatives


def mistake_shares(is_positive: np.ndarray, said_positive: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """The weighted shares of all examples that are false positives and false negatives."""
    total = weight.sum()
    false_positives = weight[~is_positive & said_positive].sum() / total
    false_negatives = weight[is_positive & ~said_positive].sum() / total
    return float(false_positives), float(false_negatives)


def costs_per_example(cost: Cost, is_positive: np.ndarray, said_positive: np.ndarray) -> np.ndarray:
    """What each decision costs: fp_cost, fn_cost or 0."""
    fp_cost, fn_cost = map(float, cost.exact_costs)
    return np.where(is_positive == said_positive, 0.0, np.where(said_positive, fp_cost, fn_cost))
