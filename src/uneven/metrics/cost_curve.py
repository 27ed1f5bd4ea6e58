"""Expected cost over all cost parameters alpha, at one threshold and at the best one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import _inputs
from uneven._hull import lower_hull
from uneven._inputs import brief
from uneven.costs import GivenCosts
from uneven.errors import CostError
from uneven.metrics.labels import read_vector
from uneven.metrics.rows import read_scores
from uneven.metrics.scaled_costs import ScaledCosts
from uneven.metrics.threshold_costs import regret_parts, sums_by_threshold


@dataclass(frozen=True, repr=False)
class CostCurve:
    """Expected cost for many alpha: a false positive costs alpha, a false negative 1 - alpha.

    If the costs differ from row to row, these are the average costs: see :func:`cost_curve`.

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
    own_alpha : float
        The alpha of the given costs.
    unit : float
        What a cost of 1 at ``own_alpha`` is in the unit of the given costs.
    """

    alpha: np.ndarray
    cost: np.ndarray
    best_cost: np.ndarray
    best_threshold: np.ndarray
    constant_cost: np.ndarray
    own_alpha: float = 0.5
    unit: float = 2.0

    def __repr__(self) -> str:
        low, high = self.alpha.min(initial=1.0), self.alpha.max(initial=0.0)
        return f"<CostCurve: {self.alpha.size} alphas from {low:.6g} to {high:.6g}>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the costs against alpha; returns the axes. Needs Matplotlib (the extra ``plot``)."""
        from uneven.figures.displays.alpha_curves import CostCurveDisplay

        return CostCurveDisplay(self).plot(ax).ax_


def cost_curve(
    y_true: Any,
    y_score: Any,
    *,
    threshold: float = 0.0,
    alphas: Any = None,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CostCurve:
    r"""Expected cost of thresholded scores over all cost parameters alpha.

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
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`. Costs that are the same for all rows do not change the curve, only ``own_alpha``
        and ``unit``.

    Notes
    -----
    With costs for each row, alpha moves the average costs, and the rows keep their costs relative to each other. At
    alpha, a false positive in row i costs :math:`\alpha a_i / A` and a false negative :math:`(1 - \alpha) b_i / B`,
    where :math:`a_i` = fp_cost - tn_cost, :math:`b_i` = fn_cost - tp_cost, and A and B are their means over all rows.
    So the ratio of the two costs is multiplied by the same factor in every row. The given costs are those at
    ``own_alpha`` = A / (A + B); ``cost`` there, times ``unit`` = A + B, is the expected cost minus what the right
    decisions cost.

    Examples
    --------
    >>> from uneven.metrics import cost_curve
    >>> curve = cost_curve([0, 0, 1, 1], [-1.0, 0.5, -0.2, 2.0], alphas=[0.2, 0.5])
    >>> curve.cost, curve.best_cost
    (array([0.25, 0.25]), array([0.05 , 0.125]))
    >>> curve
    <CostCurve: 2 alphas from 0.2 to 0.5>
    """
    if not isinstance(threshold, int | float) or math.isnan(threshold):
        raise CostError(f"threshold must be a number, got {brief(threshold)}")
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows, score = read_scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, **costs)
    scale = ScaledCosts.of(rows)
    if_positive, if_negative = regret_parts(rows, scale.fp_share, scale.fn_share)

    thresholds, x, y = sums_by_threshold(score, if_positive, if_negative)
    thresholds[1:][-1:] = np.inf  # nobody is above the greatest score, nor above infinity
    order = np.lexsort((y, x))
    hull = order[lower_hull(x[order].tolist(), y[order].tolist())]
    x, y = x[hull], y[hull]
    if alphas is None:
        alpha = np.unique(np.concatenate([np.linspace(0, 1, 101), _corners(x, y)]))
    else:
        alpha, _ = _inputs.probabilities("alphas", alphas, CostError)
        alpha = read_vector("alphas", alpha)
    lines = np.multiply.outer(alpha, x) + np.multiply.outer(1 - alpha, y)
    best = lines.argmin(axis=1)
    said_positive = score > threshold
    return CostCurve(
        alpha=alpha,
        cost=alpha * if_positive[said_positive].sum() + (1 - alpha) * if_negative[~said_positive].sum(),
        best_cost=lines[np.arange(alpha.size), best],
        best_threshold=thresholds[hull][best],
        constant_cost=np.minimum(alpha * if_positive.sum(), (1 - alpha) * if_negative.sum()),
        own_alpha=scale.own_alpha,
        unit=scale.unit,
    )


def _corners(false_positives: np.ndarray, false_negatives: np.ndarray) -> np.ndarray:
    """The alphas at which the best threshold changes: two cost lines, (1 - alpha) y + alpha x, cross there."""
    gained, paid = -np.diff(false_negatives), np.diff(false_positives)
    with np.errstate(invalid="ignore", divide="ignore"):
        corners = gained / (gained + paid)
    return corners[(corners >= 0) & (corners <= 1)]
