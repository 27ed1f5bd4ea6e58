r"""Distributions of the cost ratio: one class for each way to say how many false alarms a miss costs.

Every class answers the same questions about :math:`u = \ln R`, where R is the cost of a false negative over that of a
false positive: probabilities below and above u, quantiles, and the two partial means of costs

.. math:: E[f_1(R)\,1\{\ln R \le u\}], \qquad E[f_0(R)\,1\{\ln R > u\}].

In unit weight, both costs sum to 1: :math:`f_1 = R/(1 + R)`, :math:`f_0 = 1/(1 + R)`. In money, a false positive costs
1: :math:`f_1 = R`, :math:`f_0 = 1`. Each integral is taken from its own end, so that small values keep their digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Protocol

import numpy as np

from uneven.inputs import round_down, to_float

Array = np.ndarray


def log_of(value: Fraction) -> float:
    """The logarithm of a positive rational."""
    size = to_float(value)
    if 0.5 < size < 2:
        return math.log1p(float(value - 1))
    if 0 < size < math.inf:
        return math.log(size)
    return math.log(value.numerator) - math.log(value.denominator)


def expit(x: Array) -> Array:
    """1/(1 + exp(-x)) with all digits on both sides."""
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1 + small)


def expit_of_minus(x: Array) -> Array:
    """1/(1 + exp(x))."""
    return expit(-x)


def bisect(distribution: RatioDistribution, q: Array, low: float, high: float) -> Array:
    """The least u with P(ln R <= u) >= q; by the probability above u where that is the smaller one."""
    left, right = np.full(q.shape, low), np.full(q.shape, high)
    for _ in range(200):
        middle = left / 2 + right / 2
        reached = np.where(q <= 0.5, distribution.below(middle) >= q, distribution.above(middle) <= 1 - q)
        left, right = np.where(reached, left, middle), np.where(reached, middle, right)
    return right


class RatioDistribution(Protocol):
    """What each distribution can say; arrays of u may hold infinities, never NaN."""

    def below(self, u: Array) -> Array:
        """P(ln R <= u)."""

    def above(self, u: Array) -> Array:
        """P(ln R > u)."""

    def quantile(self, q: Array) -> Array:
        """The least u with P(ln R <= u) >= q, for q strictly between 0 and 1."""

    def misses(self, u: Array, money: bool) -> Array:
        """The mean of a false negative's cost over ratios up to u; the others count 0."""

    def alarms(self, u: Array, money: bool) -> Array:
        """The mean of a false positive's cost over ratios above u; the others count 0."""

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of ratios that has all of the weight."""

    @property
    def has_mean(self) -> bool:
        """Whether the mean ratio is finite, and fits a double."""


@dataclass(frozen=True)
class LogUniform(RatioDistribution):
    r"""Every factor alike from low to high. With softness h > 0 the density of u falls beyond the ends,

    .. math:: \frac{1 + 1/R}{1 + 1/high} \left(\frac{high}{R}\right)^{1/h} \text{ above}, \qquad
              \frac{1 + R}{1 + low} \left(\frac{R}{low}\right)^{1/h} \text{ below},

    in units of the density inside. The first factors fall from 1 to no less than 1/(1 + 1/high) and 1/(1 + low); they
    make every integral elementary.
    """

    low: Fraction
    high: Fraction
    softness: Fraction

    @cached_property
    def _start(self) -> float:
        return log_of(self.low)

    @cached_property
    def width(self) -> float:
        """ln(high/low), exact to rounding also for a narrow range."""
        return log_of(self.high / self.low)

    @cached_property
    def _h(self) -> float:
        return float(self.softness)

    @property
    def mirrored(self) -> LogUniform:
        """The distribution of 1/R."""
        return LogUniform(1 / self.high, 1 / self.low, self.softness)

    @cached_property
    def total(self) -> float:
        """The integral of the density in units of the density inside."""
        return self.width + self._tail(np.zeros(1))[0] + self.mirrored._tail(np.zeros(1))[0]

    @property
    def ends(self) -> tuple[float, float]:
        return (0.0, math.inf) if self.softness else (to_float(self.low), to_float(self.high))

    def _parts(self, u: Array) -> tuple[Array, Array, Array]:
        """How far u is below the range (at most 0), how far above its start, and how far above its end."""
        distance = np.clip(u, -1e6, 1e6) - self._start  # beyond these nothing is left of a tail
        return np.minimum(distance, 0), np.clip(distance, 0, self.width), np.maximum(distance - self.width, 0)

    def _tail(self, x: Array) -> Array:
        """Mass below low exp(x), for x <= 0: with e^a = low, (h e^(x/h) + low h/(1 + h) e^(x + x/h))/(1 + low)."""
        h, one = self._h, self._share
        if h == 0:
            return np.zeros_like(x)
        return h * np.exp(x / h) * ((1 - one) + one / (1 + h) * np.exp(x))

    @cached_property
    def _share(self) -> float:
        """low/(1 + low): the cost of a miss in unit weight, at the start of the range."""
        return to_float(self.low / (1 + self.low))

    @property
    def has_mean(self) -> bool:
        return True

    def below(self, u: Array) -> Array:
        under, inside, over = self._parts(u)
        flipped = self.mirrored
        beyond = flipped._tail(np.zeros(1)) - flipped._tail(-over)
        return np.minimum((self._tail(under) + inside + beyond) / self.total, 1.0)

    def above(self, u: Array) -> Array:
        return self.mirrored.below(-u)

    def quantile(self, q: Array) -> Array:
        if self.softness:
            reach = 1100 * self._h
            return bisect(self, q, self._start - reach, self._start + self.width + reach)
        return self._start + q * self.width

    def misses(self, u: Array, money: bool) -> Array:
        under, inside, over = self._parts(u)
        h, share = self._h, self._share
        if money:
            low, high = to_float(self.low), to_float(self.high)
            with np.errstate(over="ignore"):
                near = low * np.expm1(inside)
            far = np.minimum(np.exp(self._start + inside), high) - low  # low exp(width) may overflow on its way
            whole = np.where(inside < 1, near, far)
            if h:
                below = h / (1 + h) * (1 - share) + h / (1 + 2 * h) * share * np.exp(under)
                whole = whole + low * np.exp(under * (1 + 1 / h)) * below
                slow = -np.expm1(-over * (1 / h - 1)) * h / (1 - h)
                last = to_float(self.high / (1 + self.high))
                whole = whole + last * (high * slow - h * np.expm1(-over / h))
            return whole / self.total
        with np.errstate(over="ignore"):
            near = np.log1p(share * np.expm1(inside))
        far = np.logaddexp(0, self._start + inside) - np.logaddexp(0, self._start)  # 1 - share may have lost its digits
        whole = np.where(inside < 1, near, far)
        if h:
            whole = whole + share * h / (1 + h) * np.exp(under * (1 + 1 / h))
            whole = whole - to_float(self.high / (1 + self.high)) * h * np.expm1(-over / h)
        return whole / self.total

    def alarms(self, u: Array, money: bool) -> Array:
        if money:
            return self.above(u)
        return self.mirrored.misses(-u, money=False)


@dataclass(frozen=True)
class LogNormal(RatioDistribution):
    """ln R is normal: half of the weight on each side of the median, two thirds within the factor."""

    median: Fraction
    factor: Fraction

    @cached_property
    def centre(self) -> float:
        return log_of(self.median)

    @cached_property
    def spread(self) -> float:
        """The standard deviation of ln R."""
        return log_of(self.factor)

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, math.inf

    @property
    def mirrored(self) -> LogNormal:
        """The distribution of 1/R."""
        return LogNormal(1 / self.median, self.factor)

    @property
    def has_mean(self) -> bool:
        return self.centre + self.spread**2 / 2 < 709

    def below(self, u: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr((u - self.centre) / self.spread))

    def above(self, u: Array) -> Array:
        return self.mirrored.below(-u)

    def quantile(self, q: Array) -> Array:
        from scipy.special import ndtri

        return np.asarray(self.centre + self.spread * ndtri(q))

    def misses(self, u: Array, money: bool) -> Array:
        if not money:
            return self._table.up_to(u, expit)
        from scipy.special import ndtr

        mean = math.exp(self.centre + self.spread**2 / 2)
        return np.asarray(mean * ndtr((u - self.centre) / self.spread - self.spread))

    def alarms(self, u: Array, money: bool) -> Array:
        return self.above(u) if money else self.mirrored.misses(-u, money=False)

    @property
    def _table(self) -> Panels:
        return _normal_panels(self)


@dataclass(frozen=True)
class BetaAlpha(RatioDistribution):
    """alpha = 1/(1 + R) has the density alpha^(a-1) (1 - alpha)^(b-1) up to a factor."""

    a: Fraction
    b: Fraction

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, math.inf

    @property
    def mirrored(self) -> BetaAlpha:
        """The distribution of 1/R."""
        return BetaAlpha(self.b, self.a)

    @staticmethod
    def _upper(a: Fraction, b: Fraction, u: Array) -> Array:
        """P(alpha >= 1/(1 + e^u)), as the probability that 1 - alpha is at most expit(u)."""
        from scipy.special import betainc, betaincc

        x, y = expit(u), expit(-u)
        # 1 - x is not known to all digits where x is near 1: there the complement, from the other side.
        return np.where(u < 0, betainc(float(b), float(a), x), betaincc(float(a), float(b), y))

    @property
    def has_mean(self) -> bool:
        return self.a > 1

    def below(self, u: Array) -> Array:
        return self._upper(self.a, self.b, u)

    def above(self, u: Array) -> Array:
        return self.mirrored.below(-u)

    def quantile(self, q: Array) -> Array:
        reach = 800 / min(1.0, float(self.a), float(self.b))
        return bisect(self, q, -reach, reach)

    def misses(self, u: Array, money: bool) -> Array:
        if money:
            return to_float(self.b / (self.a - 1)) * self._upper(self.a - 1, self.b + 1, u)
        return to_float(self.b / (self.a + self.b)) * self._upper(self.a, self.b + 1, u)

    def alarms(self, u: Array, money: bool) -> Array:
        return self.above(u) if money else self.mirrored.misses(-u, money=False)


@dataclass(frozen=True)
class Discrete(RatioDistribution):
    """Finitely many ratios, in order, with their probabilities."""

    ratios: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]

    @cached_property
    def points(self) -> Array:
        """The logarithms of the ratios."""
        return np.array([log_of(ratio) for ratio in self.ratios])

    @property
    def ends(self) -> tuple[float, float]:
        return to_float(self.ratios[0]), to_float(self.ratios[-1])

    def largest_missed(self, p: Array) -> Array:
        """The logarithm of the largest ratio with alpha >= p, compared without rounding; minus infinity if none has."""
        # A double is at most c if and only if it is at most the largest double that is.
        alphas = [round_down(1 / (1 + ratio)) for ratio in reversed(self.ratios)]
        count = len(alphas) - np.searchsorted(alphas, p, side="left")
        return np.concatenate([[-np.inf], self.points])[count]

    def _sums(self, values: list[Fraction], u: Array, reverse: bool) -> Array:
        """Sums over ratios up to u, or above u; each sum is exact before it is rounded."""
        sums, total = [0.0], Fraction(0)
        for value in reversed(values) if reverse else values:
            total += value
            sums.append(to_float(total))
        count = np.searchsorted(self.points, u, side="right")
        return np.array(sums)[len(values) - count if reverse else count]

    @property
    def has_mean(self) -> bool:
        return True

    def below(self, u: Array) -> Array:
        return self._sums(list(self.weights), u, reverse=False)

    def above(self, u: Array) -> Array:
        return self._sums(list(self.weights), u, reverse=True)

    def quantile(self, q: Array) -> Array:
        reached = [to_float(total) for total in accumulate(self.weights)]
        return self.points[np.searchsorted(reached, q)]

    def misses(self, u: Array, money: bool) -> Array:
        costs = [w * r if money else w * r / (1 + r) for w, r in zip(self.weights, self.ratios, strict=True)]
        return self._sums(costs, u, reverse=False)

    def alarms(self, u: Array, money: bool) -> Array:
        if money:
            return self.above(u)
        costs = [w / (1 + r) for w, r in zip(self.weights, self.ratios, strict=True)]
        return self._sums(costs, u, reverse=True)


#: Nodes and weights of Gauss quadrature on [-1, 1].
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


class Panels:
    """A density of u on adjacent panels, scaled to the integral 1.

    Integrals are by Gauss quadrature, each summed from its own end to keep its digits.
    """

    def __init__(self, edges: Array, density: Callable[[Array], Array]) -> None:
        self.edges = edges
        self._density = density
        self.scale = 1.0
        self._sums: dict[object, tuple[Array, Array]] = {}
        self.scale = 1 / float(self._cumulated(np.ones_like)[0][-1])
        self._sums.clear()

    def _integral(self, start: Array, end: Array, function: Callable[[Array], Array]) -> Array:
        half = (end - start) / 2
        u = start[..., None] + np.multiply.outer(half, NODES + 1)
        return half * ((self._density(u) * function(u)) @ WEIGHTS) * self.scale

    def _cumulated(self, function: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Integrals up to each edge, and beyond each edge."""
        if function not in self._sums:
            parts = self._integral(self.edges[:-1], self.edges[1:], function)
            up = np.concatenate([[0.0], np.cumsum(parts)])
            down = np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]])
            self._sums[function] = up, down
        return self._sums[function]

    def up_to(self, u: Array, function: Callable[[Array], Array]) -> Array:
        """The integral of the density times a function, up to u."""
        place = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, place, side="right") - 1, 0, len(self.edges) - 2)
        return self._cumulated(function)[0][panel] + self._integral(self.edges[panel], place, function)

    def beyond(self, u: Array, function: Callable[[Array], Array]) -> Array:
        """The integral of the density times a function, beyond u."""
        place = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, place, side="left") - 1, 0, len(self.edges) - 2)
        return self._cumulated(function)[1][panel + 1] + self._integral(place, self.edges[panel + 1], function)


@lru_cache(maxsize=64)
def _normal_panels(normal: LogNormal) -> Panels:
    """To 39 standard deviations on each side, where the density is below the smallest double."""
    reach = 39 * normal.spread
    step = min(normal.spread / 2, 1.0)
    count = math.ceil(2 * reach / step)
    edges = normal.centre + np.linspace(-reach, reach, count + 1)
    return Panels(edges, lambda u: np.exp(-(((u - normal.centre) / normal.spread) ** 2) / 2))
