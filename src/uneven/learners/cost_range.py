"""Costs that are known as a range only: what ``cost_range`` of a learner means, for all learners alike.

A fit over a range is one at the range's *central ratio*, with another loss or another correction. So two questions are
answered here, and the learners ask nothing else: which costs the fit has (:func:`costs_of_range`), and whether there is
a prior that a loss or a correction must average over (:func:`spread_prior`).
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from uneven.costs import COSTS, DEFAULT_COSTS, GivenCosts, RowCosts
from uneven.decisions.cost_pairs import central_ratio
from uneven.errors import CostError, LossError, ParameterError
from uneven.expression import to_text
from uneven.inputs import brief, warn_caller
from uneven.losses import CostPrior, Loss
from uneven.losses.ratio_distributions import LogUniform

#: How soft a learner makes the ends of a range. The softer, the more rows have a say: 1/4 gains more where the model is
#: wrong, 3/4 loses less on a few hundred rows. benchmarks/cost_range.py --softness compares them.
_SOFTNESS = Fraction(1, 2)


def read_prior(cost_range: Any) -> CostPrior | None:
    """The prior that a value of ``cost_range`` stands for; None if there is none.

    Examples
    --------
    >>> from uneven.learners.cost_range import read_prior
    >>> read_prior((5, 50)), read_prior((10, 10)), read_prior(None)
    (uneven.CostPrior.range(5.0, 50.0), uneven.CostPrior.discrete({10.0: 1.0}), None)
    """
    if cost_range is None or isinstance(cost_range, CostPrior):
        return cost_range
    if isinstance(cost_range, str) or np.shape(cost_range) != (2,):
        raise ParameterError(
            "cost_range must be a pair of ratios fn_cost/fp_cost such as (5, 50), or a CostPrior, got "
            f"{brief(cost_range)}"
        )
    return _prior_of_pair(*cost_range)


@lru_cache(maxsize=64, typed=True)
def _prior_of_pair(low: Any, high: Any) -> CostPrior:
    """Kept: a learner asks several times in one fit."""
    return CostPrior.discrete({low: 1}) if low == high else CostPrior.range(low, high)


def costs_of_range(learner: Any, given: GivenCosts) -> GivenCosts | None:
    """The costs at the central ratio of a learner's range; None if it has none. ``given`` are those given to ``fit``.

    A false positive costs 1. Deciding at these costs is cheapest on average over the range while nobody knows more.
    """
    cost_range = getattr(learner, "cost_range", None)
    prior = read_prior(cost_range)
    if prior is None:
        return None
    own = {name: getattr(learner, name) for name in COSTS}
    unusual = {name: value for name, value in own.items() if np.ndim(value) or value != DEFAULT_COSTS[name]}
    for name, value in {**unusual, **given.known}.items():
        raise CostError(
            f"cost_range={brief(cost_range)} stands in place of the costs, got {name}={brief(value)} as well; leave "
            "one of them out"
        )
    return GivenCosts(1.0, central_ratio(prior), 0.0, 0.0)


def spread_prior(learner: Any) -> CostPrior | None:
    """The prior of a learner's range; None if it has no range, or one of a single ratio, which is an ordinary fit."""
    prior = read_prior(getattr(learner, "cost_range", None))
    if prior is None or prior.support[0] == prior.support[1]:
        return None
    for name, plain in (("loss", "logistic"), ("margin_gamma", 1)):
        if getattr(learner, name, plain) != plain:
            raise ParameterError(
                f"cost_range brings its own loss, the mean cost over the range, so {name} must stay {plain!r}, got "
                f"{brief(getattr(learner, name))}"
            )
    return prior


def treats_alike(learner: Any) -> bool:
    """Whether a learner's range, if it has one, is the same for exchanged classes: then no class must be named."""
    prior = spread_prior(learner)
    return prior is None or (prior.weight == "unit" and getattr(prior.ratios, "mirrored", None) == prior.ratios)


@lru_cache(maxsize=64)
def loss_over(prior: CostPrior) -> Loss:
    r"""The mean cost over a prior as the loss of a learner: its threshold is 0 at the central ratio.

    The score is the log-odds minus those at the central ratio. The loss of a wrong decision at all ratios is the cost
    of that mistake at the central ratio, where both costs sum to 1; so a fit weighs it like any other loss.
    """
    ratio = Fraction(central_ratio(prior))
    alpha = 1 / (1 + ratio)
    sharp = isinstance(prior.ratios, LogUniform) and not prior.ratios.softness
    found = prior.loss(softness=_SOFTNESS if sharp else 0, at=ratio)
    if found.symbolic:
        both = Fraction(float(prior.positive_cost(0.0)) + float(prior.negative_cost(1.0)))
        shares = both * (1 - alpha), both * alpha
        parts = (to_text(part.scaled(1 / share).tree) for part, share in zip(found.partials, shares, strict=True))
        loss = Loss(*parts, alpha=alpha)
        with suppress(LossError):
            loss.inverse_link(0.0)  # later ratios need it
            return loss
    raise LossError(
        f"a learner of a loss needs a formula that keeps its digits, and {prior!r} has none; a range such as "
        "cost_range=(5, 50) has one, and UnevenThresholdClassifierCV and UnevenEnsembleClassifier take every prior"
    )


def ends_of(prior: CostPrior) -> tuple[float, float]:
    """The least and the largest ratio of a prior; on a side without an end, all but 0.5 % of its weight.

    Examples
    --------
    >>> import uneven
    >>> from uneven.learners.cost_range import ends_of
    >>> ends_of(uneven.CostPrior.range(5, 50))
    (5.0, 50.0)
    """
    inner = map(float, prior.quantile([0.005, 0.995]))
    low, high = (end if 0 < end < np.inf else other for end, other in zip(prior.support, inner, strict=True))
    return low, high


def within_range(cost_range: Any, probability: np.ndarray) -> np.ndarray:
    """1 where a probability is one of the alphas of a range, else 0; 1 everywhere if there is no range.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.cost_range import within_range
    >>> within_range((4, 9), np.array([0.05, 0.15, 0.25])).tolist()
    [0.0, 1.0, 0.0]
    """
    prior = read_prior(cost_range)
    if prior is None:
        return np.ones(probability.shape)
    low, high = ends_of(prior)
    return ((probability >= 1 / (1 + high)) & (probability <= 1 / (1 + low))).astype(np.float64)


def warn_outside(cost_range: Any, costs: RowCosts) -> None:
    """Warn if costs to decide for lie outside the range that a model was fitted for."""
    prior = read_prior(cost_range)
    if prior is None:
        return
    low, high = prior.support
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.atleast_1d(np.divide(costs.fn_regret, costs.fp_regret))
    beyond = ratio[(ratio < low * (1 - 1e-12)) | (ratio > high * (1 + 1e-12))]
    if beyond.size:
        warn_caller(
            f"the ratio fn_cost/fp_cost = {beyond[0]:.4g} lies outside the range from {low:.4g} to {high:.4g} that the "
            "model was fitted for; fit again with a wider cost_range"
        )
