r"""What the loss of a cost prior guarantees: on average over the prior (Theorem P), and at a single ratio.

Let :math:`\mu` be the measure of the prior over alpha = c. Where P(Y = 1) = eta and the estimate is p,

.. math:: C(\eta, p) - C^*(\eta) = \int |\eta - c|\,\mathbf{1}\{(p > c) \ne (\eta > c)\}\,d\mu(c).

The right side is the cost regret averaged over the prior, so it equals the surrogate regret. docs/theory.md has the
proof.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from uneven import inputs
from uneven.calibration.analysis import Analysis
from uneven.errors import CostError, LossError
from uneven.inputs import Exact
from uneven.losses import CostPrior, Loss
from uneven.losses.ratio_densities import Density
from uneven.losses.ratio_distributions import log_of

#: A density is scaled to the integral 1 by quadrature, whose error is far below this.
_QUADRATURE = 1e-9


class PriorAnalysis:
    """What the loss of a cost prior guarantees; made by :func:`analyze` with a prior in place of alpha.

    Regrets are in the unit of the prior's costs: with ``weight="unit"`` both costs of a ratio sum to 1, with
    ``weight="money"`` a false positive costs 1.

    Attributes
    ----------
    loss : Loss
    prior : CostPrior
    shift : Fraction
        The ratio that t > 0 decides for (``at`` of :meth:`CostPrior.loss`).

    Examples
    --------
    >>> import uneven
    >>> prior = uneven.CostPrior.range(5, 50)
    >>> analysis = uneven.analyze(prior.loss(), prior)
    >>> analysis.regret_bound(0.01)                           # on average over the ratios: what the loss says
    0.01
    >>> round(analysis.regret_bound(0.01, at=20), 4)          # at the ratio 20
    0.0522
    """

    def __init__(self, loss: Loss, prior: CostPrior) -> None:
        self.loss = loss
        self.prior = prior
        self.shift = _find_shift(loss, prior)

    def __repr__(self) -> str:
        return f"uneven.analyze({self.loss!r}, {self.prior!r})"

    def at(self, ratio: Exact) -> Analysis:
        """The analysis for one ratio fn_cost/fp_cost: that of the same loss, with the score of this ratio moved to 0.

        Its regrets are in units in which both costs of the ratio sum to 1.
        """
        return _at(self.prior, inputs.positive("at", ratio, CostError))

    def threshold(self, ratio: Exact) -> float:
        """The score above which this loss decides positive for a ratio: log(shift/ratio)."""
        exact = self.shift / inputs.positive("ratio", ratio, CostError)
        return math.log(exact.numerator) - math.log(exact.denominator)

    def mean_regret(self, p: Any, eta: Any) -> Any:
        """The cost regret averaged over the prior, where P(Y = 1) = eta and the estimate is p (Theorem P)."""
        estimate, scalar = inputs.probabilities("p", p)
        probability, also_scalar = inputs.probabilities("eta", eta)
        worse = self.prior.mean_cost(estimate, probability) - self.prior.mean_cost(probability, probability)
        return inputs.unwrapped(np.maximum(worse, 0.0), scalar and also_scalar)

    def H(self, eta: Any, *, at: Exact) -> Any:  # noqa: N802 - the paper's symbol
        r"""The least surrogate regret of a wrong decision for one ratio: :math:`|\int_c^\eta (\eta - s)\,d\mu(s)|`.

        A mass of the prior at c itself counts, on both sides.
        """
        ratio = inputs.positive("at", at, CostError)
        probability, scalar = inputs.probabilities("eta", eta)
        probability = probability.astype(np.float64)
        # The best wrong decision is p = c above c, where a mass at c counts as missed; below c it is p just above c.
        log_ratio = log_of(ratio)
        below = probability < float(1 / (1 + ratio))
        place = np.where(below, math.nextafter(log_ratio, -math.inf), log_ratio)
        money = self.prior.weight == "money"
        missed, alarmed = self.prior.ratios.misses(place, money), self.prior.ratios.alarms(place, money)
        best = self.prior.mean_cost(probability, probability)
        return inputs.unwrapped(np.maximum(probability * missed + (1 - probability) * alarmed - best, 0.0), scalar)

    @cached_property
    def largest_regret(self) -> float:
        """The largest cost regret averaged over the prior: every row is decided wrongly at every ratio."""
        return float(max(self.prior.positive_cost(0.0), self.prior.negative_cost(1.0)))

    def regret_bound(self, surrogate_regret: Any, *, at: Exact | None = None) -> Any:
        """An upper bound of the cost regret, given the surrogate regret.

        Parameters
        ----------
        surrogate_regret : number or array-like
            The expected loss minus the smallest possible one.
        at : positive number, optional
            The ratio fn_cost/fp_cost that decisions are made for. By default the bound is for the mean over the prior,
            where each ratio decides for itself: there it is the surrogate regret itself, and it is attained.

        Returns
        -------
        float or ndarray
            At one ratio, a proved bound, rounded up; it needs the loss as expressions. On average, the regret itself;
            if the prior is integrated numerically, times 1 + 1e-9.
        """
        if at is None:
            values, scalar = inputs.regrets(surrogate_regret)
            most = self.largest_regret * (1 + _QUADRATURE)
            exact = self.loss.symbolic and not isinstance(self.prior.ratios, Density)
            bound = values * (1.0 if exact else 1 + _QUADRATURE)
            return inputs.unwrapped(np.minimum(bound, most), scalar)
        bound = self.at(at).regret_bound(surrogate_regret)
        if self.prior.weight == "unit":
            return bound
        scale = math.nextafter(inputs.to_float(1 + inputs.positive("at", at, CostError)), math.inf)
        array, scalar = inputs.float_array("bound", bound)
        return inputs.unwrapped(np.where(array > 0, np.nextafter(array * scale, math.inf), 0.0), scalar)

    def report(self) -> str:
        """A page of text for a person to read."""
        low, high = self.prior.quantile([0.05, 0.95])
        lines = [
            f"Costs: {self.prior}.",
            f"Decide for a ratio r where the score is above log({inputs.to_float(self.shift):.6g}/r).",
            "",
            "surrogate regret   allows a cost regret above the best of at most",
            f"                   on average     at {low:.3g}        at {high:.3g}",
        ]
        for regret in (0.1, 0.01, 0.001):
            ends = [self.regret_bound(regret, at=end) for end in (low, high)] if self.loss.symbolic else []
            lines.append(
                f"  {regret:15.4g}   {self.regret_bound(regret):<12.4g}" + "".join(f"{e:<12.4g}" for e in ends)
            )
        return "\n".join(lines)


@lru_cache(maxsize=64)
def _at(prior: CostPrior, ratio: Fraction) -> Analysis:
    return Analysis(prior.loss(at=ratio), 1 / (1 + ratio))


def _find_shift(loss: Loss, prior: CostPrior) -> Fraction:
    """The ratio at score 0 with which the loss is that of the prior; for a loss of integrals, only without a shift."""
    for guess in dict.fromkeys([Fraction(1), *_guesses(loss)]):
        if prior.loss(at=guess) == loss:
            return guess
    raise LossError(
        f"{loss!r} is not the loss of the prior ({prior}); prior.loss() or prior.loss(at=...) is. Any loss works for "
        "one ratio, analyze(loss, alpha), and many have a constant for the mean: implied_prior(loss).constant_for"
    )


def _guesses(loss: Loss) -> list[Fraction]:
    """The slopes of a prior's loss have the quotient -exp(t)/shift at every score; people write short numbers."""
    if not loss.symbolic:
        return []
    t = np.linspace(-30.0, 30.0, 241)
    falling, rising = -loss.slope(1, t), loss.slope(-1, t)
    sure = (falling > 1e-200) & (rising > 1e-200)
    ratios = np.exp(t[sure]) * falling[sure] / rising[sure]
    if not ratios.size:
        return []
    middle = Fraction(float(np.median(ratios)))
    return [guess for size in (10**3, 10**6) if (guess := middle.limit_denominator(size)) > 0]
