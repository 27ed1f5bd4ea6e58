"""Decision curves: the net benefit of treating by probability, over all threshold probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import _inputs
from uneven.costs import GivenCosts
from uneven.errors import CostError
from uneven.metrics.labels import read_vector
from uneven.metrics.rows import read_scores
from uneven.metrics.scaled_costs import ScaledCosts
from uneven.metrics.threshold_costs import regret_parts


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
        y_true, _inputs.probabilities("y_prob", y_prob, CostError)[0], name="y_prob", **given
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
    found = read_vector("thresholds", _inputs.probabilities("thresholds", thresholds, CostError)[0])
    if (found == 1).any():
        raise CostError("thresholds must be below 1, got 1.0: there a false positive would weigh infinitely much")
    return found
