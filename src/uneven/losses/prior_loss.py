r"""A cost prior as a loss of a score, written in the little language where the integrals have a closed form.

The score is the log-odds, shifted so that t > 0 is the decision at one chosen ratio. Slopes are
:math:`L_1' = -(1 - c)\,g` and :math:`L_{-1}' = c\,g` at c = expit(t), with g the density of the log-odds of c under the
measure: the ends of a range are where g stops, and a density of c that is a polynomial makes both losses polynomials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from uneven.errors import ExpressionError, LossError
from uneven.expression import derivative, parse, to_text
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import put
from uneven.inputs import Exact
from uneven.losses.loss import Loss
from uneven.losses.ratio_densities import Density
from uneven.losses.ratio_distributions import BetaAlpha, Discrete, LogNormal, LogUniform, log_of

if TYPE_CHECKING:
    from uneven.losses.cost_prior import CostPrior, Weight

#: Largest a + b of a beta prior with a formula: the window of order 64 has 128; longer sums do not fit an expression.
_MOST_ORDERS = 128
#: The formulas of the positives and of the negatives.
Formulas = tuple[str, str]


def range_loss(
    ratios: tuple[Exact, Exact], *, weight: Weight = "unit", softness: Exact = 0, at: Exact | None = None
) -> Loss:
    r"""The loss for "a miss costs 5 to 50 false alarms": the mean cost over that range, every factor alike.

    Parameters
    ----------
    ratios : pair of positive numbers
        The ends of the range of fn_cost/fp_cost.
    weight : {"unit", "money"}
        The unit of the costs: both costs of each ratio sum to 1, or a false positive costs 1.
    softness : number from 0 to below 1
        0: the loss is constant where every ratio of the range decides alike, so that such rows do not pull on a
        learner. Otherwise the range has soft ends, and the loss has a slope everywhere; see :meth:`CostPrior.range`.
    at : positive number, optional
        The ratio that t > 0 decides for; the loss is calibrated for it. By default the score is the log-odds, and
        t > -log(r) decides for ratio r.

    Returns
    -------
    Loss
        Not convex. A learner should start at the fit of the logistic loss.

    Notes
    -----
    With the log-odds clipped to the range, :math:`k = \min(\max(t, -\ln high), -\ln low)`, the sharp losses are
    :math:`\ln(1 + e^{-k}) - \ln(1 + low)` and :math:`\ln(1 + e^k) - \ln(1 + 1/high)` in unit weight, and
    :math:`e^{-k} - low` and :math:`k + \ln high` in money, all over :math:`\ln(high/low)`.

    Examples
    --------
    >>> import uneven
    >>> loss = uneven.range_loss((5, 50), at=15)
    >>> uneven.implied_alpha(loss).exact
    Fraction(1, 16)
    """
    from uneven.losses.cost_prior import CostPrior

    try:
        low, high = ratios
    except (TypeError, ValueError):
        raise LossError(f"ratios must be a pair such as (5, 50), got {ratios!r}") from None
    return CostPrior.range(low, high, softness=softness, weight=weight).loss(at=at)


def prior_loss(prior: CostPrior, at: Fraction) -> Loss:
    """The loss of a prior whose score is the log-odds plus log(at)."""
    try:
        formulas = _formulas(prior, at)
        if formulas is not None:
            loss = Loss(*formulas)
            for partial in loss.partials:
                derivative(derivative(partial.tree))
            return loss
    except ExpressionError:  # too long, also as a curvature, or a number beyond the range of doubles
        pass
    return Loss(_MeanCost(prior, at, 1), _MeanCost(prior, at, -1))


@lru_cache(maxsize=256)
def _formulas(prior: CostPrior, at: Fraction) -> Formulas | None:
    money = prior.weight == "money"
    match prior.ratios:
        case LogUniform(_, _, softness) as ratios:
            return _soft_range(ratios, at, money) if softness else _sharp_range(ratios, at, money)
        case LogNormal(median, factor) if money:
            return _normal(median, factor, at)
        case BetaAlpha(a, b) if a.denominator == b.denominator == 1 and a + b <= _MOST_ORDERS:
            return _beta(int(a), int(b), at, money)
        case Discrete(places, shares):
            return _steps(places, shares, at, money)
        case Density() as ratios:
            return _antiderivatives(ratios, at, money)
    return None


def _text(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"({value})"


def _inside(ratios: LogUniform, at: Fraction) -> Formulas:
    """exp(-k) - low and exp(k) - 1/high, where k is the log-odds clipped to the range."""
    low, high = ratios.low, ratios.high
    return (
        f"min(relu({_text(at)}*exp(-t) - {_text(low)}), {_text(high - low)})",
        f"min(relu({_text(1 / at)}*exp(t) - {_text(1 / high)}), {_text(1 / low - 1 / high)})",
    )


def _above_start(ratios: LogUniform, at: Fraction) -> str:
    """k + log(high): how far the clipped log-odds are above the start of the range."""
    return f"min(relu(t + log({_text(ratios.high / at)})), log({_text(ratios.high / ratios.low)}))"


def _sharp_range(ratios: LogUniform, at: Fraction, money: bool) -> Formulas:
    positive, negative = _inside(ratios, at)
    width = f"log({_text(ratios.high / ratios.low)})"
    if money:
        parts = positive, _above_start(ratios, at)
    else:
        parts = f"log1p({positive}/{_text(1 + ratios.low)})", f"log1p({negative}/{_text(1 + 1 / ratios.high)})"
    return f"{parts[0]}/{width}", f"{parts[1]}/{width}"


def _soft_range(ratios: LogUniform, at: Fraction, money: bool) -> Formulas:
    """The sharp range and both tails, whose integrals are powers of the ratio."""
    low, high, h = ratios.low, ratios.high, ratios.softness
    first, last = low / (1 + low), high / (1 + high)  # costs of a miss at the ends, in unit weight
    beyond = f"min({_text(at / low)}*exp(-t), 1)"  # exp(-d), d: how far the log-odds are above the range
    before = f"min({_text(high / at)}*exp(t), 1)"  # and below it
    inside = _inside(ratios, at)

    def left(factor: Fraction, rate: Fraction, place: str) -> str:
        """What is left of a tail."""
        return f"{_text(factor)}*{place}**{_text(rate)}"

    def taken(factor: Fraction, rate: Fraction, place: str, more: Fraction = Fraction(0)) -> str:
        """What was taken from a tail; ``more`` is the factor of a second one, whose rate is larger by 1.

        The second is factor*(1 - place**(rate + 1)), with its constant joined to that of the first: at place = 1 each
        part is exactly 0 in floats.
        """
        power = f"{place}**{_text(rate)}"
        rest = f" + {_text(more)}*{power}*(1 - {place})" if more else ""
        return f"{_text(factor + more)}*(1 - {power}){rest}"

    if money:
        positive = [
            left(low * (1 - first) * h / (1 + h), 1 + 1 / h, beyond),
            left(low * first * h / (1 + 2 * h), 2 + 1 / h, beyond),
            inside[0],
            taken(last * high * h / (1 - h), 1 / h - 1, before, last * h),
        ]
        negative = [
            left(last * h, 1 / h, before),
            left((1 - last) * h / (1 + h), 1 + 1 / h, before),
            _above_start(ratios, at),
            taken((1 - first) * h, 1 / h, beyond, first * h / (1 + h)),
        ]
    else:
        positive = [
            left(first * h / (1 + h), 1 + 1 / h, beyond),
            f"log1p({inside[0]}/{_text(1 + low)})",
            taken(last * h, 1 / h, before),
        ]
        negative = [
            left((1 - last) * h / (1 + h), 1 + 1 / h, before),
            f"log1p({inside[1]}/{_text(1 + 1 / high)})",
            taken((1 - first) * h, 1 / h, beyond),
        ]
    tails = h * (1 - first) + h / (1 + h) * first + h * last + h / (1 + h) * (1 - last)
    total = f"(log({_text(high / low)}) + {_text(tails)})"
    return f"({' + '.join(positive)})/{total}", f"({' + '.join(negative)})/{total}"


def _normal(median: Fraction, factor: Fraction, at: Fraction) -> Formulas:
    """In money both integrals are normal probabilities."""
    spread = f"log({_text(factor)})"
    place = f"t + log({_text(median / at)})"
    return (
        f"{_text(median / 2)}*exp({spread}**2/2)*erfc(({place} + {spread}**2)/({spread}*sqrt(2)))",
        f"erfc(-({place})/({spread}*sqrt(2)))/2",
    )


def _beta(a: int, b: int, at: Fraction, money: bool) -> Formulas:
    """Incomplete beta functions of whole orders are polynomials with positive terms."""
    score = "t" if at == 1 else f"(t - log({_text(at)}))"
    if money:
        return f"{_text(Fraction(b, a - 1))}*{_incomplete(f'-{score}', b + 1, a - 1)}", _incomplete(score, a, b)
    return (
        f"{_text(Fraction(b, a + b))}*{_incomplete(f'-{score}', b + 1, a)}",
        f"{_text(Fraction(a, a + b))}*{_incomplete(score, a + 1, b)}",
    )


def _incomplete(x: str, m: int, n: int) -> str:
    """The regularised incomplete beta function of orders m and n at expit(x)."""
    orders = FUNCTIONS["window"].orders
    if m == n + 1 and orders is not None and n in orders:
        return f"window({x}, {n})"
    terms = " + ".join(f"{math.comb(m - 1 + j, j)}*expit(-({x}))**{j}" for j in range(n))
    return f"expit({x})**{m}*({terms})"


def _steps(places: tuple[Fraction, ...], shares: tuple[Fraction, ...], at: Fraction, money: bool) -> Formulas:
    positive, negative = [], []
    for ratio, share in zip(places, shares, strict=True):
        place = "t" if ratio == at else f"t + log({_text(ratio / at)})"
        unit = Fraction(1) if money else 1 / (1 + ratio)
        positive.append(f"where({place} > 0, 0, {_text(share * ratio * unit)})")
        negative.append(f"where({place} > 0, {_text(share * unit)}, 0)")
    return " + ".join(positive), " + ".join(negative)


def _antiderivatives(ratios: Density, at: Fraction, money: bool) -> Formulas | None:
    """Polynomials and quotients of alpha have antiderivatives in the language, if alpha is expit(t)."""
    if ratios.unit != "alpha" or at != 1 or ratios.low != 0 or ratios.high != 1:
        return None
    from uneven.losses.from_slopes import antiderivative  # loads ball arithmetic, which a fit does not need

    density = f"({to_text(put(ratios.tree, {'t': parse('expit(t)')}))})"
    factor = Fraction(ratios.table.scale)
    extra = "" if money else "*expit(t)"
    found = [
        antiderivative(parse(slope))
        for slope in (f"-{factor}*{density}*expit(-t)**2{extra}", f"{factor}*{density}*expit(t)*expit(-t){extra}")
    ]
    return None if found[0] is None or found[1] is None else (to_text(found[0]), to_text(found[1]))


@dataclass(frozen=True)
class _MeanCost:
    """The mean cost of a row as a function of the score, by quadrature: values only."""

    prior: CostPrior
    at: Fraction
    label: int

    def __call__(self, t: np.ndarray) -> np.ndarray:
        log_ratio = log_of(self.at) - np.asarray(t, dtype=np.float64)
        ratios, money = self.prior.ratios, self.prior.weight == "money"
        return ratios.misses(log_ratio, money) if self.label == 1 else ratios.alarms(log_ratio, money)
