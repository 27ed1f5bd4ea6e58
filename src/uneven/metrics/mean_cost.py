r"""What decisions cost on average over costs that nobody knows exactly.

A prior is a measure mu over alpha, alpha = fp_cost/(fp_cost + fn_cost). A row with the probability p is predicted
positive at every alpha below p. So over the prior it costs

.. math:: \int_{\alpha \ge p} (1 - \alpha) \, d\mu(\alpha) \text{ if it is positive,} \qquad
          \int_{\alpha < p} \alpha \, d\mu(\alpha) \text{ if it is negative.}

These two functions of p are all that is asked of a prior here.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from uneven import inputs
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.metrics.rows import read_scores


class OverCosts(Protocol):
    """What a prior of the costs must tell, such as a :class:`uneven.CostPrior`."""

    def positive_cost(self, probability: Any) -> Any:
        """What a positive row with each probability costs over the prior."""

    def negative_cost(self, probability: Any) -> Any:
        """What a negative row with each probability costs over the prior."""


def mean_cost(y_true: Any, y_prob: Any, prior: OverCosts, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    r"""Average cost per row if the costs become known only when decisions are made.

    At every alpha of the prior, positive is predicted where the probability is above alpha; these costs are averaged
    over the prior. It is a proper score: the true probabilities minimise it, and only how they lie to the alphas of the
    prior matters.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    prior : CostPrior
        How likely which costs are, such as ``uneven.CostPrior.range(5, 50)``; or any object with the methods
        ``positive_cost`` and ``negative_cost`` of a probability. It says in which unit the costs are.
    pos_label : label, optional
        The positive class. May be left out for labels {0, 1}, {-1, 1} and {False, True}.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights. A row of weight 2 counts as two rows.

    Examples
    --------
    A miss costs 5 to 50 false alarms, a false alarm 1:

    >>> import uneven
    >>> from uneven.metrics import mean_cost
    >>> prior = uneven.CostPrior.range(5, 50, weight="money")
    >>> y_true, y_prob = [0, 0, 1, 1], [0.01, 0.1, 0.1, 0.9]
    >>> round(mean_cost(y_true, y_prob, prior), 4)
    0.6205

    At ratios above 9 the second row is a false alarm, up to 9 the third row is a miss. Log-ratios are uniform, so over
    them a miss costs 9 - 5 and a false alarm log(50/9), divided by log(50/5):

    >>> import math
    >>> round((math.log(50 / 9) + (9 - 5)) / math.log(50 / 5) / 4, 4)
    0.6205
    """
    for method in ("positive_cost", "negative_cost"):
        if not callable(getattr(prior, method, None)):
            raise CostError(
                f"prior must be a CostPrior, such as uneven.CostPrior.range(5, 50), got {brief(prior)}, which has no "
                f"method {method}"
            )
    probabilities, _ = inputs.probabilities("y_prob", y_prob, CostError)
    rows, probability = read_scores(
        y_true, probabilities, name="y_prob", pos_label=pos_label, sample_weight=sample_weight, fp_cost=1, fn_cost=1
    )
    counts = rows.weight > 0  # 0 times an infinite cost is 0
    total = 0.0
    for cost, where in (
        (prior.positive_cost, counts & rows.is_positive),
        (prior.negative_cost, counts & ~rows.is_positive),
    ):
        if where.any():
            total += float(rows.weight[where] @ np.asarray(cost(probability[where]), dtype=np.float64))
    return total


def make_mean_cost_scorer(prior: OverCosts, *, pos_label: Any = None) -> Any:
    """A scikit-learn scorer: minus :func:`mean_cost` of an estimator's probabilities, so that greater is better.

    A search with it finds the model that is cheapest on average over the costs that are possible.
    ``set_score_request(sample_weight=True)`` requests weights, with metadata routing.

    Parameters
    ----------
    prior : CostPrior
        As in :func:`mean_cost`.
    pos_label : label, optional
        The positive class, as in :func:`mean_cost`.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from uneven.metrics import make_mean_cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_mean_cost_scorer(uneven.CostPrior.range(5, 50), pos_label=0)
    >>> bool(cross_val_score(GaussianNB(), X, y, scoring=scorer).mean() > -0.1)
    True
    """
    from sklearn.metrics import make_scorer

    return make_scorer(
        mean_cost, response_method="predict_proba", greater_is_better=False, prior=prior, pos_label=pos_label
    )
