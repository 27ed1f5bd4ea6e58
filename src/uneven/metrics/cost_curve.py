"""Expected cost over all cost parameters alpha, at one threshold and at the best one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import _inputs
from uneven._hull import lower_hull
from uneven._inputs import brief
from uneven.errors import CostError
from uneven.metrics.expected_cost import mistake_shares
from uneven.metrics.labels import read_labels, read_vector, read_weights, require_same_length, where_positive


@dataclass(frozen=True, repr=False)
class CostCurve:
    """Expected cost for many alpha: a false positive costs alpha, a false negative 1 - alpha.

    Attributes
    ----------
    alpha : ndarray
        The cost parameters.
    cost : ndarray
        Expected cost of the given threshold.
    best_cost : ndarray
        Expected cost of the best threshold for each alpha.
    best_threshold : ndarray
        A threshold with that cost; predict positive where the score is above it. It is one of the scores, or
        infinite if it is best to predict one class always.
    constant_cost : ndarray
        Expected cost of predicting everyone positive or everyone negative, whichever is cheaper.
    """

    alpha: np.ndarray
    cost: np.ndarray
    best_cost: np.ndarray
    best_threshold: np.ndarray
    constant_cost: np.ndarray

    def __repr__(self) -> str:
        shown = {name: f"{values.min():.4g} to {values.max():.4g}" for name, values in vars(self).items()}
        return f"CostCurve({self.alpha.size} points: {', '.join(f'{name} {ends}' for name, ends in shown.items())})"


def cost_curve(
    y_true: Any,
    y_score: Any,
    *,
    threshold: float = 0.0,
    alphas: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CostCurve:
    """Expected cost of thresholded scores over all cost parameters alpha.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Decision values or probabilities: predict positive where the score is above the threshold.
    threshold : float
        The threshold of ``cost``: 0 suits decision values; for probabilities give one, such as 0.5.
    alphas : array-like in [0, 1], optional
        The cost parameters; by default 0, 0.01, ..., 1 and every alpha at which the best threshold changes.
    pos_label, sample_weight
        As in :func:`expected_cost`.

    Examples
    --------
    >>> from uneven.metrics import cost_curve
    >>> curve = cost_curve([0, 0, 1, 1], [-1.0, 0.5, -0.2, 2.0], alphas=[0.2, 0.5])
    >>> curve.cost, curve.best_cost
    (array([0.25, 0.25]), array([0.05 , 0.125]))
    """
    if not isinstance(threshold, int | float) or math.isnan(threshold):
        raise CostError(f"threshold must be a number, got {brief(threshold)}")
    truth = read_labels("y_true", y_true)
    score = read_vector("y_score", y_score)
    require_same_length(y_true=truth, y_score=score)
    (is_positive,) = where_positive(pos_label, truth)
    weight = read_weights(sample_weight, truth.size)
    weight = weight / weight.sum()

    thresholds, false_positives, false_negatives = _every_threshold(score, is_positive, weight)
    hull = np.array(lower_hull(false_positives.tolist(), false_negatives.tolist()))
    x, y = false_positives[hull], false_negatives[hull]
    if alphas is None:
        alpha = np.unique(np.concatenate([np.linspace(0, 1, 101), _corners(x, y)]))
    else:
        alpha, _ = _inputs.probabilities("alphas", alphas, CostError)
        alpha = read_vector("alphas", alpha)
    lines = np.multiply.outer(alpha, x) + np.multiply.outer(1 - alpha, y)
    best = lines.argmin(axis=1)
    own = mistake_shares(is_positive, score > threshold, weight)
    return CostCurve(
        alpha=alpha,
        cost=alpha * own[0] + (1 - alpha) * own[1],
        best_cost=lines[np.arange(alpha.size), best],
        best_threshold=thresholds[hull][best],
        constant_cost=np.minimum(alpha * weight[~is_positive].sum(), (1 - alpha) * weight[is_positive].sum()),
    )


def _every_threshold(
    score: np.ndarray, is_positive: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every threshold that decides differently, from infinity down, with its shares of both mistakes.

    Each is the greatest score that is not above it: a number halfway to the next score could round to that score.
    """
    order = np.argsort(-score, kind="stable")
    falling = score[order]
    last_of_tie = np.append(falling[1:] != falling[:-1], True)
    above_positive = np.cumsum(np.where(is_positive, weight, 0)[order])[last_of_tie]
    above_negative = np.cumsum(np.where(is_positive, 0, weight)[order])[last_of_tie]
    thresholds = np.concatenate([[np.inf], falling[last_of_tie][1:], [-np.inf]])
    found = np.concatenate([[0.0], above_positive])
    false_negatives = found[-1] - found
    false_positives = np.concatenate([[0.0], above_negative])
    count = thresholds.size - int(falling[-1] == -np.inf)  # no threshold has a score of -inf above it
    return thresholds[:count], false_positives[:count], false_negatives[:count]


def _corners(false_positives: np.ndarray, false_negatives: np.ndarray) -> np.ndarray:
    """The alphas at which the best threshold changes: two cost lines, (1 - alpha) y + alpha x, cross there."""
    gained, paid = -np.diff(false_negatives), np.diff(false_positives)
    with np.errstate(invalid="ignore"):
        corners = gained / (gained + paid)
    return corners[np.isfinite(corners)]
