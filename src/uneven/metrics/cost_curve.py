"""Expected cost and net benefit over all alphas, also if the costs differ from row to row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import inputs
from uneven._hull import lower_hull
from uneven.costs import GivenCosts, RowCosts
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import read_vector
from uneven.metrics.rows import Rows, read_scores
from uneven.metrics.threshold_costs import regret_parts, sums_by_threshold


@dataclass(frozen=True)
class ScaledCosts:
    r"""Costs of the rows at every alpha.

    Let r be a row's regret of a false positive divided by its mean over the rows, and s the same for false negatives.
    At alpha, a false positive costs alpha r in this row and a false negative (1 - alpha) s. So the rows keep their
    costs relative to each other, and alpha is that of the average costs. If the costs are the same for all rows,
    r = s = 1.

    Attributes
    ----------
    own_alpha : float
        The alpha of the given costs: the mean regret of a false positive divided by the sum of both mean regrets.
    unit : float
        The sum of both mean regrets: a cost at ``own_alpha``, times the unit, is in the unit of the given costs.
    fp_share, fn_share : float or ndarray
        r and s.
    """

    own_alpha: float
    unit: float
    fp_share: float | np.ndarray
    fn_share: float | np.ndarray

    @classmethod
    def of(cls, rows: Rows) -> ScaledCosts:
        """The scale through the costs of these rows; their means are weighted like the rows."""
        fp_mean, fp_share = _mean_and_shares("fp_cost", "tn_cost", rows.costs.fp_regret, rows.weight)
        fn_mean, fn_share = _mean_and_shares("fn_cost", "tp_cost", rows.costs.fn_regret, rows.weight)
        half = fp_mean / 2 + fn_mean / 2  # the sum of two large costs may be infinite, their mean is not
        if half == 0:
            raise CostError("one kind of mistake must cost something on average, got 0 for both")
        return cls(fp_mean / 2 / half, 2 * half, fp_share, fn_share)

    def at(self, alpha: float, count: int) -> RowCosts:
        """The costs of the rows at one alpha."""
        return RowCosts(count, alpha * self.fp_share, (1 - alpha) * self.fn_share)

    @property
    def mistakes_pay(self) -> bool:
        """Whether in some row a mistake costs less than the right decision."""
        return bool(np.min(self.fp_share) < 0 or np.min(self.fn_share) < 0)

    def turning_alphas(self, probability: np.ndarray) -> np.ndarray:
        """The alpha below which predicting positive is the cheaper decision in each row, if no mistake pays.

        It is the probability itself if the costs are the same for all rows. It is 0 where both decisions cost the same
        at every alpha: then the decision is negative.
        """
        if not isinstance(self.fp_share, np.ndarray) and not isinstance(self.fn_share, np.ndarray):
            return probability
        gain, price = probability * self.fn_share, (1 - probability) * self.fp_share
        total = gain + price
        return np.asarray(gain / np.where(total > 0, total, 1.0))


def _mean_and_shares(
    mistake: str, right: str, regret: float | np.ndarray, weight: np.ndarray
) -> tuple[float, float | np.ndarray]:
    if not isinstance(regret, np.ndarray):
        if regret < 0:
            raise CostError(f"{mistake} must not be below {right} in every row: then the mistake would pay")
        return regret, 1.0
    mean = float(weight @ regret)
    if not mean > 0:
        raise CostError(
            f"{mistake} minus {right} must be positive on average for a scale of alphas, got {mean!r}; "
            "expected_cost and cost_by_threshold work with any costs"
        )
    return mean, regret / mean


# -- expected cost over all alphas, at one threshold and at the best one ----------------------------------------------


@dataclass(frozen=True, repr=False)
class CostCurve:
    """Expected cost for many alpha: a false positive costs alpha, a false negative 1 - alpha.

    If the costs differ from row to row, these are the average costs: see :func:`cost_curve`.

    Attributes
    ----------
    alpha : ndarray
        The cost parameters.
    cost : ndarray
        Expected cost of the given threshold; of each alpha as the threshold at that alpha, if ``threshold="alpha"``.
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
    threshold: float | str = 0.0,
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
    threshold : float or "alpha"
        The threshold of ``cost``: 0 suits decision values; for probabilities give one, such as 0.5. "alpha": the scores
        are probabilities, and at each alpha they are compared with alpha itself (with costs for each row, with the
        row's own). So costs are those of decisions that are made when alpha is known.
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

    Probabilities, cut where alpha is:

    >>> cost_curve([0, 0, 1, 1], [0.1, 0.6, 0.3, 0.9], threshold="alpha", alphas=[0.2, 0.5]).cost
    array([0.05, 0.25])
    """
    if threshold != "alpha" and (not isinstance(threshold, int | float) or math.isnan(threshold)):
        raise CostError(f"threshold must be a number or 'alpha', got {brief(threshold)}")
    if threshold == "alpha":
        y_score, _ = inputs.probabilities("y_score", y_score, CostError)
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
        alpha, _ = inputs.probabilities("alphas", alphas, CostError)
        alpha = read_vector("alphas", alpha)
    lines = np.multiply.outer(alpha, x) + np.multiply.outer(1 - alpha, y)
    best = lines.argmin(axis=1)
    return CostCurve(
        alpha=alpha,
        cost=_cost_at(alpha, threshold, score, scale, if_positive, if_negative),
        best_cost=lines[np.arange(alpha.size), best],
        best_threshold=thresholds[hull][best],
        constant_cost=np.minimum(alpha * if_positive.sum(), (1 - alpha) * if_negative.sum()),
        own_alpha=scale.own_alpha,
        unit=scale.unit,
    )


def _cost_at(
    alpha: np.ndarray,
    threshold: float | str,
    score: np.ndarray,
    scale: ScaledCosts,
    if_positive: np.ndarray,
    if_negative: np.ndarray,
) -> np.ndarray:
    """Expected cost at each alpha, of one threshold or of each alpha's own."""
    if isinstance(threshold, str):
        if scale.mistakes_pay:
            raise CostError(
                "threshold='alpha' needs rows in which no mistake costs less than the right decision; a number works "
                "with any costs"
            )
        thresholds, x, y = sums_by_threshold(scale.turning_alphas(score), if_positive, if_negative)
        at = np.searchsorted(thresholds, alpha, side="right") - 1
        return np.asarray(alpha * x[at] + (1 - alpha) * y[at])
    said_positive = score > threshold
    return np.asarray(alpha * if_positive[said_positive].sum() + (1 - alpha) * if_negative[~said_positive].sum())


def _corners(false_positives: np.ndarray, false_negatives: np.ndarray) -> np.ndarray:
    """The alphas at which the best threshold changes: two cost lines, (1 - alpha) y + alpha x, cross there."""
    gained, paid = -np.diff(false_negatives), np.diff(false_positives)
    with np.errstate(invalid="ignore", divide="ignore"):
        corners = gained / (gained + paid)
    return corners[(corners >= 0) & (corners <= 1)]


# -- decision curves: net benefit over all threshold probabilities ----------------------------------------------------


@dataclass(frozen=True, repr=False)
class NetBenefit:
    """Net benefit for many threshold probabilities, in true positives per row.

    Attributes
    ----------
    threshold : ndarray
        The threshold probabilities, which are also the alphas.
    net_benefit : ndarray
        Of treating where the probability is above the threshold.
    treat_all : ndarray
        Of treating everyone.
    treat_none : ndarray
        Of treating nobody: 0.
    own_threshold : float
        The threshold of the given costs.
    unit : float
        What a net benefit of 1 at ``own_threshold`` is in the unit of the given costs.
    """

    threshold: np.ndarray
    net_benefit: np.ndarray
    treat_all: np.ndarray
    treat_none: np.ndarray
    own_threshold: float
    unit: float

    def __repr__(self) -> str:
        low, high = self.threshold.min(initial=1.0), self.threshold.max(initial=0.0)
        return f"<NetBenefit: {self.threshold.size} thresholds from {low:.6g} to {high:.6g}>"


def net_benefit(
    y_true: Any,
    y_prob: Any,
    *,
    thresholds: Any = None,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> NetBenefit:
    r"""Net benefit (Vickers and Elkin, 2006) of treating where the probability is above a threshold.

    .. math:: \frac{TP}{n} - \frac{FP}{n} \, \frac{\alpha}{1 - \alpha}

    at the threshold probability :math:`\alpha`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class. For a classifier without probabilities give its decisions, 1 where it
        treats and 0 elsewhere: they are the same at all thresholds.
    thresholds : array-like in [0, 1), optional
        Threshold probabilities; by default 0.01, 0.02, ..., 0.99.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`. Costs that are the same for all rows do not change the net benefit, only
        ``own_threshold`` and ``unit``.

    Notes
    -----
    Net benefit is the cost that is saved against treating nobody, in another unit. If a false positive costs alpha and
    a false negative 1 - alpha, then exactly

    .. math:: (1 - \alpha) \cdot \text{net benefit} = \text{cost of treating nobody} - \text{expected cost},

    and the cost of treating nobody is (1 - alpha) times the share of positives. So two classifiers differ in net
    benefit by their difference in expected cost, divided by 1 - alpha, with the opposite sign.

    With costs for each row, alpha moves the average costs as in :func:`cost_curve`: a false positive costs
    :math:`\alpha a_i / A`, a false negative :math:`(1 - \alpha) b_i / B`. Each row is treated if that is cheaper at its
    own costs, that is, if its probability is above its own threshold. The equation above holds with these costs. At
    ``own_threshold``, net benefit times ``unit`` = B is the money per row that is saved against treating nobody.

    Examples
    --------
    >>> from uneven.metrics import net_benefit
    >>> found = net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.2, 0.5])
    >>> found.net_benefit, found.treat_all
    (array([0.4375, 0.    ]), array([0.375, 0.   ]))
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    given = {"pos_label": pos_label, "sample_weight": sample_weight, **costs}
    rows, probability = read_scores(
        y_true, inputs.probabilities("y_prob", y_prob, CostError)[0], name="y_prob", **given
    )
    threshold = _read_thresholds(thresholds)
    scale = ScaledCosts.of(rows)
    loss, gain = regret_parts(rows, scale.fp_share, scale.fn_share)
    odds = threshold / (1 - threshold)
    ours = np.empty(threshold.size)
    for k, alpha in enumerate(threshold.tolist()):
        treated = scale.at(alpha, rows.count).prefers_positive(probability)
        ours[k] = gain[treated].sum() - odds[k] * loss[treated].sum()
    return NetBenefit(
        threshold=threshold,
        net_benefit=ours,
        treat_all=gain.sum() - odds * loss.sum(),
        treat_none=np.zeros(threshold.size),
        own_threshold=scale.own_alpha,
        unit=(1 - scale.own_alpha) * scale.unit,
    )


def _read_thresholds(thresholds: Any) -> np.ndarray:
    if thresholds is None:
        return np.arange(1, 100) / 100
    found = read_vector("thresholds", inputs.probabilities("thresholds", thresholds, CostError)[0])
    if (found == 1).any():
        raise CostError("thresholds must be below 1, got 1.0: there a false positive would weigh infinitely much")
    return found
