"""Costs that nobody knows exactly: a distribution of the cost ratio, and the mean cost over it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from uneven import inputs
from uneven.errors import CostError, ParameterError
from uneven.expression import parse, simplify, to_text
from uneven.expression.tree import T, put
from uneven.inputs import Exact, brief, to_float
from uneven.losses.loss import Loss
from uneven.losses.ratio_densities import Density
from uneven.losses.ratio_distributions import BetaAlpha, Discrete, LogNormal, LogUniform, RatioDistribution

Weight = Literal["unit", "money"]


@dataclass(frozen=True, repr=False)
class CostPrior:
    r"""How many false alarms a miss costs, if nobody knows exactly: a distribution of the ratio fn_cost/fp_cost.

    It is made by one of five constructors: :meth:`range`, :meth:`log_normal`, :meth:`beta`, :meth:`discrete` and
    :meth:`density`. In symbols it is a measure :math:`\mu` over :math:`\alpha = c`, the cost of a false positive where
    both costs sum to 1; the ratio is (1 - c)/c. A row that has the estimated probability p, and for which each ratio
    decides for itself (positive where p > c), costs on average

    .. math:: \int_{c \ge p} (1 - c)\,d\mu(c) \text{ if it is positive}, \qquad
              \int_{c < p} c\,d\mu(c) \text{ if it is negative.}

    These are :meth:`positive_cost` and :meth:`negative_cost`. As a function of p they are a proper loss, :meth:`loss`,
    whose regret is the cost regret averaged over the prior (Theorem P).

    Parameters of the constructors that are given as strings, Fractions or Decimals are exact.

    Attributes
    ----------
    weight : {"unit", "money"}
        The unit of the costs. ``"unit"``: the two costs of every ratio sum to 1, so that each ratio counts alike.
        ``"money"``: a false positive costs 1, and large ratios count more.

    Examples
    --------
    >>> import uneven
    >>> prior = uneven.CostPrior.range(5, 50)
    >>> print(prior)
    a miss costs 5 to 50 false alarms, every factor alike
    >>> round(prior.positive_cost(0.05), 4), round(prior.negative_cost(0.05), 4)
    (0.5229, 0.0137)
    >>> round(prior.quantile(0.5), 3)
    15.811
    """

    ratios: RatioDistribution
    weight: Weight

    def __post_init__(self) -> None:
        inputs.require_choice("weight", self.weight, ("unit", "money"))
        if isinstance(self.ratios, Density):
            self.ratios.table  # noqa: B018 - raises if the expression is no density
        if self._money and not self.ratios.has_mean:
            raise ParameterError(
                f"with weight='money' the mean ratio must be finite, but that of {self!r} is not; weight='unit' or a "
                "prior with an end would work"
            )

    @classmethod
    def range(cls, low: Exact, high: Exact, *, softness: Exact = 0, weight: Weight = "unit") -> CostPrior:
        """A miss costs ``low`` to ``high`` false alarms, every factor alike: the logarithm of the ratio is uniform.

        Parameters
        ----------
        low, high : positive numbers
            The ends of the range of fn_cost/fp_cost.
        softness : number from 0 to below 1
            0: no weight outside the range. Otherwise the weight falls beyond each end like the power 1/softness of
            the ratio, so that ratios within a factor of about exp(softness) of an end still count.
        weight : {"unit", "money"}

        Examples
        --------
        >>> import uneven
        >>> uneven.CostPrior.range(5, "50").cdf([5, 15, 50]).round(3)
        array([0.   , 0.477, 1.   ])
        """
        first = inputs.positive("the low end of the range", low, CostError)
        last = inputs.positive("the high end of the range", high, CostError)
        if not first < last:
            raise CostError(
                f"the low end of the range must be below the high end, got {brief(low)} and {brief(high)}; one known "
                "ratio needs no prior: give fp_cost and fn_cost"
            )
        soft = inputs.exact("softness", softness)
        if not 0 <= soft < 1:
            raise ParameterError(f"softness must be at least 0 and below 1, got {brief(softness)}")
        return cls(LogUniform(first, last, soft), weight)

    @classmethod
    def log_normal(cls, *, median: Exact, factor: Exact, weight: Weight = "unit") -> CostPrior:
        """A miss costs about ``median`` false alarms, give or take a factor: the logarithm of the ratio is normal.

        Parameters
        ----------
        median : positive number
            Half of the weight is on smaller ratios.
        factor : number above 1
            One standard deviation: 68 % of the weight is within this factor of the median, 95 % within its square.
        weight : {"unit", "money"}

        Examples
        --------
        >>> import uneven
        >>> uneven.CostPrior.log_normal(median=20, factor=2).quantile([0.16, 0.84]).round(2)
        array([10.04, 39.85])
        """
        centre = inputs.positive("median", median, CostError)
        spread = inputs.exact("factor", factor)
        if not spread > 1:
            raise ParameterError(f"factor must be above 1, got {brief(factor)}; 2 means 'give or take a factor of 2'")
        return cls(LogNormal(centre, spread), weight)

    @classmethod
    def beta(cls, a: Exact, b: Exact, *, weight: Weight = "unit") -> CostPrior:
        """The share alpha = fp_cost/(fp_cost + fn_cost) has a Beta(a, b) distribution; its mean is a/(a + b).

        Examples
        --------
        >>> import uneven
        >>> window = uneven.CostPrior.beta(8, 8)
        >>> window.positive_cost(0.5) == uneven.phi("beta", order=8)(0.0)/2        # the window loss is twice this
        True
        """
        return cls(BetaAlpha(inputs.positive("a", a), inputs.positive("b", b)), weight)

    @classmethod
    def discrete(cls, ratios: Mapping[Any, Any], *, weight: Weight = "unit") -> CostPrior:
        """Finitely many ratios with their weights, such as ``{5: 1, 50: 2}``; weights are scaled to sum 1.

        Examples
        --------
        >>> import uneven
        >>> print(uneven.CostPrior.discrete({5: 1, 50: 3}))
        a miss costs 5 (weight 0.25) or 50 (weight 0.75) false alarms
        """
        if not isinstance(ratios, Mapping) or not ratios:
            raise CostError(
                f"ratios must be a dictionary of ratios and weights such as {{5: 1, 50: 2}}, got {brief(ratios)}"
            )
        shares: dict[Fraction, Fraction] = {}
        for ratio, share in ratios.items():
            place = inputs.positive("a ratio fn_cost/fp_cost", ratio, CostError)
            shares[place] = shares.get(place, Fraction(0)) + inputs.positive(f"the weight of ratio {ratio}", share)
        total = sum(shares.values())
        places = sorted(shares)
        return cls(Discrete(tuple(places), tuple(shares[place] / total for place in places)), weight)

    @classmethod
    def density(
        cls,
        expression: str,
        *,
        unit: Literal["ratio", "alpha"] = "ratio",
        between: tuple[Exact, Exact] | None = None,
        weight: Weight = "unit",
    ) -> CostPrior:
        """Any density, as an expression of the little language; it is scaled to the integral 1.

        Parameters
        ----------
        expression : str
            A density in ``ratio`` (or ``alpha``, or ``t``), such as ``"exp(-ratio/10)"``.
        unit : {"ratio", "alpha"}
            What the density is one of: the ratio fn_cost/fp_cost, or alpha = fp_cost/(fp_cost + fn_cost).
        between : pair of numbers, optional
            The density is 0 outside. By default everything from 0: ratios without end, alpha up to 1.
        weight : {"unit", "money"}

        Examples
        --------
        >>> import uneven
        >>> prior = uneven.CostPrior.density("exp(-ratio/10)", between=(1, 100))
        >>> round(prior.quantile(0.5), 3)
        7.931
        """
        inputs.require_choice("unit", unit, ("ratio", "alpha"))
        tree = simplify(put(parse(expression, (unit,)), {unit: T}))
        low, high = _ends(unit, between)
        return cls(Density(tree, unit, low, high), weight)

    # Costs of rows.

    @property
    def _money(self) -> bool:
        return self.weight == "money"

    def _over(self, p: Any, function: Any) -> Any:
        probability, scalar = inputs.probabilities("p", p)
        probability = probability.astype(np.float64)
        if isinstance(self.ratios, Discrete):
            log_ratio = self.ratios.largest_missed(probability)
        else:
            with np.errstate(divide="ignore"):
                log_ratio = np.log1p(-probability) - np.log(probability)
        return inputs.unwrapped(function(log_ratio, self._money), scalar)

    def positive_cost(self, p: Any) -> Any:
        """The mean cost over the prior of a positive row with estimated probability p: ratios up to (1 - p)/p miss it.

        Arrays are taken element by element.
        """
        return self._over(p, self.ratios.misses)

    def negative_cost(self, p: Any) -> Any:
        """The mean cost over the prior of a negative row with estimated probability p: ratios above (1 - p)/p flag it.

        Arrays are taken element by element.
        """
        return self._over(p, self.ratios.alarms)

    def mean_cost(self, p: Any, eta: Any) -> Any:
        """The mean cost over the prior where P(Y = 1) = eta and the estimate is p; smallest at p = eta."""
        probability, scalar = inputs.probabilities("eta", eta)
        estimate, also_scalar = inputs.probabilities("p", p)
        cost = probability * self.positive_cost(estimate) + (1 - probability) * self.negative_cost(estimate)
        return inputs.unwrapped(cost, scalar and also_scalar)

    # The distribution of the ratio.

    def cdf(self, ratio: Any) -> Any:
        """The weight of ratios fn_cost/fp_cost up to this one."""
        values, scalar = inputs.float_array("ratio", ratio)
        if (values < 0).any():
            raise ParameterError(f"ratio must be at least 0, got {float(values.min())!r}")
        with np.errstate(divide="ignore"):
            return inputs.unwrapped(self.ratios.below(np.log(values.astype(np.float64))), scalar)

    def quantile(self, q: Any) -> Any:
        """The ratio fn_cost/fp_cost below which a share q of the weight lies; 0 and 1 give the ends of the support."""
        shares, scalar = inputs.probabilities("q", q)
        shares = shares.astype(np.float64)
        low, high = self.support
        inside = self.ratios.quantile(np.clip(shares, 1e-300, 1 - 2.0**-53))
        with np.errstate(over="ignore"):
            ratios = np.clip(np.exp(inside), low, high)
        return inputs.unwrapped(np.where(shares == 0, low, np.where(shares == 1, high, ratios)), scalar)

    def alpha_quantile(self, q: Any) -> Any:
        """The alpha = fp_cost/(fp_cost + fn_cost) below which a share q of the weight lies."""
        shares, scalar = inputs.probabilities("q", q)
        return inputs.unwrapped(1 / (1 + self.quantile(1 - shares.astype(np.float64))), scalar)

    @property
    def support(self) -> tuple[float, float]:
        """The interval of ratios fn_cost/fp_cost that has all of the weight."""
        return self.ratios.ends

    # The prior as a loss, and in words.

    def loss(self, link: Literal["logit"] = "logit", softness: Exact = 0, *, at: Exact | None = None) -> Loss:
        """The prior as a loss of a score: its regret is the cost regret averaged over the prior.

        Parameters
        ----------
        link : {"logit"}
            The score is the log-odds: p = 1/(1 + exp(-t)). For a ratio r, predict positive where t > -log(r).
        softness : number from 0 to below 1
            For a range: how soft its ends are, see :meth:`range`.
        at : positive number, optional
            Shift the score so that t > 0 is the decision at this ratio. By default t > 0 is the decision at ratio 1.

        Returns
        -------
        Loss
            Two expressions of the little language if there are any; otherwise integrals, as Python functions.
            The loss of a row is its mean cost over the prior.

        Examples
        --------
        >>> import uneven
        >>> uneven.CostPrior.range(5, 50, weight="money").loss()
        uneven.Loss('min(relu(-5 + exp(-t)), 45)/log(10)', 'min(relu(t + log(50)), log(10))/log(10)')
        """
        from uneven.losses.prior_loss import prior_loss

        inputs.require_choice("link", link, ("logit",))
        prior = self
        if inputs.exact("softness", softness):
            if not isinstance(self.ratios, LogUniform) or self.ratios.softness:
                raise ParameterError(f"only a range without softness can be given soft ends, not {self!r}")
            prior = CostPrior.range(self.ratios.low, self.ratios.high, softness=softness, weight=self.weight)
        ratio = Fraction(1) if at is None else inputs.positive("at", at, CostError)
        return prior_loss(prior, ratio)

    def __repr__(self) -> str:
        weight = "" if self.weight == "unit" else f", weight={self.weight!r}"
        return f"uneven.CostPrior.{_arguments(self.ratios)}{weight})"

    def __str__(self) -> str:
        return _in_words(self)


def _ends(unit: str, between: tuple[Exact, Exact] | None) -> tuple[Fraction, Fraction | None]:
    """The ends of a density; None: no end."""
    if between is None:
        return Fraction(0), Fraction(1) if unit == "alpha" else None
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise ParameterError(f"between must be a pair of numbers such as (5, 50), got {brief(between)}")
    low = inputs.exact("the low end of between", between[0])
    endless = unit == "ratio" and isinstance(between[1], float) and math.isinf(between[1])
    high = None if endless else inputs.exact("the high end of between", between[1])
    if low < 0 or (high is not None and (not low < high or (unit == "alpha" and high > 1))):
        most = "1" if unit == "alpha" else "the high one"
        raise ParameterError(f"between must hold two numbers, the low one from 0 to below {most}, got {brief(between)}")
    return low, high


def _arguments(ratios: RatioDistribution) -> str:
    """The call of the constructor, without the weight and the closing parenthesis."""
    match ratios:
        case LogUniform(low, high, softness):
            soft = f", softness={inputs.shown(softness)}" if softness else ""
            return f"range({inputs.shown(low)}, {inputs.shown(high)}{soft}"
        case LogNormal(median, factor):
            return f"log_normal(median={inputs.shown(median)}, factor={inputs.shown(factor)}"
        case BetaAlpha(a, b):
            return f"beta({inputs.shown(a)}, {inputs.shown(b)}"
        case Discrete(places, shares):
            pairs = zip(places, shares, strict=True)
            return f"discrete({{{', '.join(f'{inputs.shown(r)}: {inputs.shown(w)}' for r, w in pairs)}}}"
        case Density(tree, unit, low, high):
            text = f"density({to_text(tree)!r}, unit={unit!r}"
            last = "float('inf')" if high is None else inputs.shown(high)
            whole = low == 0 and (high is None or (unit == "alpha" and high == 1))
            return text if whole else f"{text}, between=({inputs.shown(low)}, {last})"
    raise TypeError(f"no distribution of ratios: {ratios!r}")


def _in_words(prior: CostPrior) -> str:
    match prior.ratios:
        case LogUniform(low, high, softness):
            soft = " with soft ends" if softness else ""
            return f"a miss costs {_short(low)} to {_short(high)} false alarms{soft}, every factor alike"
        case LogNormal(median, factor):
            return f"a miss costs about {_short(median)} false alarms, give or take a factor of {_short(factor)}"
        case Discrete(places, shares):
            parts = [f"{_short(r)} (weight {_short(w)})" for r, w in zip(places, shares, strict=True)]
            if len(parts) == 1:
                return f"a miss costs {_short(places[0])} false alarms"
            return f"a miss costs {', '.join(parts[:-1])} or {parts[-1]} false alarms"
    low, high = prior.quantile([0.05, 0.95])
    return f"a miss costs {low:.3g} to {high:.3g} false alarms with 90 % of the weight"


def _short(value: Fraction) -> str:
    return f"{to_float(value):.6g}"
