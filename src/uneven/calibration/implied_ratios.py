"""The distribution of cost ratios that a loss assumes, whether its author knew or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from uneven import inputs
from uneven.calibration.monotone_scores import falls_for_sure, never_falls
from uneven.calibration.score_measure import ScoreMeasure
from uneven.errors import LossError, ParameterError
from uneven.expression import Node, derivative
from uneven.expression.algebra import add, call, inv, mul, neg, subtract
from uneven.expression.tree import Number
from uneven.inputs import round_down, round_up
from uneven.losses import CostPrior, Loss, Phi
from uneven.losses.loss import as_loss
from uneven.losses.ratio_distributions import LogUniform
from uneven.ops.balls import Interval, Undefined, above, below, enclose_interval, interval
from uneven.shape.bounds import largest_between
from uneven.shape.pieces import conditions, formula_inside

Array = np.ndarray


@dataclass(frozen=True)
class ImpliedPrior:
    """Which cost ratios a loss averages over, and with which weights; made by :func:`implied_prior`.

    Attributes
    ----------
    loss : Loss
    weight : {"unit", "money"}
        The unit of the costs that are averaged, as in :class:`~uneven.CostPrior`.
    reason : str or None
        Why there is no such distribution; None if there is one.
    proved : bool
        Whether it is proved that there is one, or that there is none. Otherwise it was seen in floats.
    """

    loss: Loss
    weight: Literal["unit", "money"]
    reason: str | None
    proved: bool

    @cached_property
    def _measure(self) -> ScoreMeasure:
        if self.reason is not None:
            raise LossError(f"{self.loss!r} assumes no distribution of cost ratios: {self.reason}")
        return ScoreMeasure(self.loss)

    @property
    def _money(self) -> bool:
        return self.weight == "money"

    @cached_property
    def _reach(self) -> tuple[float, float]:
        """L-1 - L1 (in money: L-1) at both ends of the scores."""
        low, high = self._measure.amount(np.array(self._measure.ends), self._money)
        return float(low), float(high)

    @property
    def exists(self) -> bool:
        """Whether the loss is a mean of costs over some distribution of ratios."""
        return self.reason is None

    @property
    def total(self) -> float:
        """The weight of all ratios together; infinite for losses such as the logistic one, 0 if there is none."""
        return self._reach[1] - self._reach[0] if self.exists else 0.0

    @property
    def points(self) -> dict[float, float]:
        """Ratios with a weight of their own, and their shares of the total (if that is infinite: their weights)."""
        scale = 1.0 if math.isinf(self.total) else self.total
        found = self._measure.points(self._money)
        return {ratio: mass / scale for ratio, mass in found}

    def mass(self, low: Any, high: Any) -> Any:
        """The weight of ratios from ``low`` to ``high``, not as a share: finite also if the total is not."""
        return self._up_to(high) - self._up_to(low, included=False)

    def _up_to(self, ratio: Any, *, included: bool = True) -> Any:
        """L-1 - L1 (in money: L-1) at the last score minus that at the score of a ratio, up to a constant."""
        values, scalar = _ratios(ratio)
        if not included:
            values = np.nextafter(values, -1.0)
        return inputs.unwrapped(-self._measure.amount(self._measure.score(values), self._money), scalar)

    def cdf(self, ratio: Any) -> Any:
        """The share of the weight on ratios fn_cost/fp_cost up to this one."""
        self._require_finite()
        values, scalar = _ratios(ratio)
        share = (self._reach[1] + self._up_to(values)) / self.total
        return inputs.unwrapped(np.clip(share, 0.0, 1.0), scalar)

    def quantile(self, q: Any) -> Any:
        """The ratio fn_cost/fp_cost below which a share q of the weight lies."""
        self._require_finite()
        shares, scalar = inputs.probabilities("q", q)
        amounts = self._reach[1] - shares.astype(np.float64) * self.total
        return inputs.unwrapped(self._measure.ratio(self._measure.score_of(amounts, self._money)), scalar)

    def _require_finite(self) -> None:
        if math.isinf(self.total):
            raise LossError(
                f"{self.loss!r} has infinite weight on its cost ratios, so there are no shares; mass(low, high) is the "
                "weight of ratios between two"
            )

    def alpha_density(self, alpha: Any) -> Any:
        """The density of alpha, as a share of the total if that is finite; 0 where there is none, or a point mass."""
        values, scalar = inputs.probabilities("alpha", alpha)
        values = values.astype(np.float64)
        inside = (values > 0) & (values < 1)
        found = np.zeros(values.shape)
        found[inside] = self._measure.density(values[inside]) * (values[inside] if self._money else 1.0)
        return inputs.unwrapped(found / (1.0 if math.isinf(self.total) else self.total), scalar)

    def density(self, ratio: Any) -> Any:
        """The density of the ratio fn_cost/fp_cost, as a share of the total if that is finite."""
        values, scalar = _ratios(ratio)
        alpha = 1 / (1 + values)
        return inputs.unwrapped(self.alpha_density(alpha) * alpha**2, scalar)

    # Proved bounds.

    @cached_property
    def _ball_ends(self) -> tuple[Interval, Interval]:
        """Enclosures of L-1 - L1 (in money: L-1) at both ends of the scores."""
        rising, falling = self._slopes
        start, end = self._measure.ends
        return (
            self._at_end(start, -1, rising) if math.isfinite(start) else self._beyond(-1),
            self._at_end(end, 1, falling) if math.isfinite(end) else self._beyond(1),
        )

    @cached_property
    def _slopes(self) -> tuple[Node, Node]:
        positive, negative = self.loss.partials
        return derivative(negative.tree), neg(derivative(positive.tree))

    @cached_property
    def _grown(self) -> Node:
        positive, negative = self.loss.partials
        return negative.tree if self._money else subtract(negative.tree, positive.tree)

    def _value(self, t: Fraction | float) -> Interval:
        return enclose_interval(self._grown, interval(t, t), bits=_BITS)

    def _beyond(self, side: int) -> Interval:
        """The limit at an infinite end, enclosed by what is beyond ever larger scores."""
        best = None
        for power in (6, 10, 20, 60, 200):
            far = Fraction(2) ** power
            try:
                cell = interval(far, math.inf) if side > 0 else interval(-math.inf, -far)
                best = enclose_interval(self._grown, cell, bits=_BITS)
            except Undefined:
                continue
        if best is None:
            raise LossError(f"no bounds were found of {self.loss!r} at infinite scores")
        return best

    def _at_end(self, place: float, side: int, slope: Node) -> Interval:
        """At the end of the scores where a slope vanishes: between a score beyond it and one within."""
        for step in _steps(place):
            beyond, within = Fraction(place) + side * step, Fraction(place) - side * step
            if _is_over(slope, beyond) and _sign(slope, within) > 0:
                return _hull(self._value(beyond), self._value(within))
        raise LossError(f"the end of the cost ratios of {self.loss!r} could not be enclosed")

    def _score_bounds(self, alpha: Fraction) -> tuple[Fraction | None, Fraction | None]:
        """Scores that are proved to stand for less and for more than alpha; None: no end was found."""
        rising, falling = self._slopes
        excess = subtract(mul(Number(1 - alpha), rising), mul(Number(alpha), falling))
        near = float(self._measure.score(np.array([float(1 / alpha - 1)]))[0])
        if math.isinf(near):  # every score stands for more, or every one for less
            side = 1 if near > 0 else -1
            far = next((s for k in range(9, 1, -1) if _sign(excess, s := side * Fraction(2) ** k) == -side), None)
            return (far, None) if side > 0 else (None, far)
        low = next((s for step in _steps(near) if _sign(excess, s := Fraction(near) - step) < 0), None)
        high = next((s for step in _steps(near) if _sign(excess, s := Fraction(near) + step) > 0), None)
        return low, high

    def cdf_bounds(self, ratio: inputs.Exact) -> tuple[float, float]:
        """Proved bounds of :meth:`cdf` at one ratio, rounded outwards.

        Raises
        ------
        LossError
            If it is not proved that the loss has a distribution of ratios.
        """
        self._require_finite()
        if not self.proved:
            raise LossError(
                f"it is not proved that {self.loss!r} is a mean of costs, so there are no proved bounds; cdf is numeric"
            )
        try:
            return self._cdf_bounds(inputs.positive("ratio", ratio))
        except Undefined:  # an enclosure without an end
            return 0.0, 1.0

    def _cdf_bounds(self, ratio: Fraction) -> tuple[float, float]:
        first, last = self._ball_ends
        whole = _difference(last, first)
        low, high = self._score_bounds(1 / (1 + ratio))
        least = Fraction(0) if high is None else _difference(last, self._value(high))[0]
        most = whole[1] if low is None else _difference(last, self._value(low))[1]
        if whole[0] <= 0:
            return 0.0, 1.0
        return (
            max(0.0, round_down(max(least, Fraction(0)) / whole[1])),
            min(1.0, round_up(max(most, Fraction(0)) / whole[0])),
        )

    def quantile_bounds(self, q: inputs.Exact) -> tuple[float, float]:
        """Proved bounds of :meth:`quantile` at one share strictly between 0 and 1, rounded outwards."""
        share = inputs.between_0_and_1("q", q)
        near = self.quantile(float(share))
        low, high = 0.0, math.inf
        for power in range(-44, 12, 2):
            factor = 1 + Fraction(2) ** power
            below, above = Fraction(near) / factor, Fraction(near) * factor
            if low == 0 and self.cdf_bounds(below)[1] < share:
                low = round_down(below)
            if math.isinf(high) and self.cdf_bounds(above)[0] >= share:
                high = round_up(above)
            if low > 0 and math.isfinite(high):
                break
        return low, high

    def constant_for(self, prior: CostPrior) -> float:
        r"""A proved K: averaged over the prior, the cost regret is at most K times the surrogate regret of this loss.

        K is the largest quotient of the two measures over alpha, rounded up. Each ratio decides by the probability that
        the score stands for. The prior must be a range without softness, and the loss smooth on its scores.

        Examples
        --------
        The logistic loss has the weight log(10) on a tenfold range, and the prior 1, both alike on every factor:

        >>> import uneven
        >>> round(uneven.implied_prior("logistic").constant_for(uneven.CostPrior.range(5, 50)), 3)
        0.434
        """
        ratios = prior.ratios
        if not isinstance(ratios, LogUniform) or ratios.softness:
            raise LossError(f"a constant is known for a range without softness only, not for {prior!r}")
        if not self.exists or not self.proved:
            raise LossError(f"it is not proved that {self.loss!r} is a mean of costs, so there is no constant")
        start, end = self._score_bounds(1 / (1 + ratios.high))[0], self._score_bounds(1 / (1 + ratios.low))[1]
        if start is None or end is None:
            raise LossError(f"{self.loss!r} does not reach all ratios of {prior!r}")
        rising, falling = (formula_inside(slope, start, end) for slope in self._slopes)
        if any(True for slope in (rising, falling) for _ in conditions(slope)):
            raise LossError(f"{self.loss!r} is not smooth on the scores of {prior!r}")
        speed = subtract(mul(derivative(rising), inv(rising)), mul(derivative(falling), inv(falling)))
        mass = rising if prior.weight == "money" else add(rising, falling)
        width = enclose_interval(call("log", Number(ratios.high / ratios.low)), interval(0.0, 0.0), bits=_BITS)
        largest = largest_between(mul(speed, inv(mass)), start, end)
        if largest is None:
            raise LossError(f"the measure of {self.loss!r} could not be enclosed on the scores of {prior!r}")
        return round_up(largest / below(width.lo))

    # In words.

    def in_words(self) -> str:
        """One sentence about the cost ratios that the loss averages over.

        Examples
        --------
        >>> import uneven
        >>> print(uneven.implied_prior("hinge").in_words())
        All of its weight is on one cost ratio: both kinds of mistake cost the same.
        >>> print(uneven.implied_prior("logistic").in_words())
        It averages over all cost ratios, every factor alike, without end.
        """
        if self.reason is not None:
            return f"It is no mean of costs: {self.reason}."
        points = self.points
        if math.isinf(self.total):
            return self._endless_in_words()
        if len(points) == 1 and abs(next(iter(points.values())) - 1) < 1e-9:
            ratio = next(iter(points))
            costs = _times(ratio)
            return f"All of its weight is on one cost ratio: {costs}."
        low, high = self.quantile([0.05, 0.95])
        heavy = [f"{share:.0%} on {ratio:.4g}" for ratio, share in points.items() if share > 0.005]
        apart = f" ({', '.join(heavy)})" if heavy else ""
        return f"90 % of its weight is on ratios fn_cost/fp_cost from {low:.3g} to {high:.3g}{apart}."

    def _endless_in_words(self) -> str:
        decades = np.diff(self._up_to(10.0 ** np.arange(-3, 4)))  # the weights of six factors of 10
        if np.ptp(decades) <= 1e-6 * decades.max():
            return "It averages over all cost ratios, every factor alike, without end."
        parts = []
        if math.isinf(self._reach[0]):
            parts.append(f"large ratios (10 to 100 weighs {decades[4] / decades[3]:.3g} times 1 to 10)")
        if math.isinf(self._reach[1]):
            parts.append(f"small ratios (1/100 to 1/10 weighs {decades[1] / decades[2]:.3g} times 1/10 to 1)")
        return f"Its weight has no end towards {' and '.join(parts)}."


_BITS = 128


def _ratios(ratio: Any) -> tuple[Array, bool]:
    values, scalar = inputs.float_array("ratio", ratio)
    if (values < 0).any():
        raise ParameterError(f"ratio must be at least 0, got {float(values.min())!r}")
    return values.astype(np.float64), scalar


def _times(ratio: float) -> str:
    if abs(ratio - 1) < 1e-9:
        return "both kinds of mistake cost the same"
    if ratio > 1:
        return f"a false negative costs {ratio:.6g} times a false positive"
    return f"a false positive costs {1 / ratio:.6g} times a false negative"


def _steps(place: float) -> list[Fraction]:
    """Ever larger distances from a score."""
    unit = Fraction(max(abs(place), 2.0**-20))
    return [unit * Fraction(2) ** power for power in range(-48, 24, 3)]


def _sign(tree: Node, point: Fraction) -> int:
    """The sign at a point if it is certain; 0 also if it is not."""
    try:
        value = enclose_interval(tree, interval(point, point, bits=_BITS), bits=_BITS)
    except Undefined:
        return 0
    return 1 if value.lo > 0 else -1 if value.hi < 0 else 0


def _is_over(slope: Node, point: Fraction) -> bool:
    """Whether a slope is proved to be at most 0 at a point."""
    try:
        return bool(enclose_interval(slope, interval(point, point, bits=_BITS), bits=_BITS).hi <= 0)
    except Undefined:
        return False


def _hull(x: Interval, y: Interval) -> Interval:
    return Interval(min(x.lo, y.lo), max(x.hi, y.hi))


def _difference(x: Interval, y: Interval) -> tuple[Fraction, Fraction]:
    """Bounds of x - y as rationals."""
    return below(x.lo) - above(y.hi), above(x.hi) - below(y.lo)


def implied_prior(loss: Loss | Phi | str, *, weight: Literal["unit", "money"] = "unit") -> ImpliedPrior:
    r"""The distribution of cost ratios that a loss assumes.

    A loss whose scores stand for probabilities, q(t), is a mean of costs: over ratios (1 - c)/c with the weight
    :math:`d\mu = (L_{-1}' - L_1')\,dt` at :math:`c = q(t) = L_{-1}'/(L_{-1}' - L_1')`. Where this weight is, the loss
    cares about the decision; where there is none, it does not.

    Parameters
    ----------
    loss : Loss, Phi or str
        As expressions. A phi or its name stands for the margin loss with gamma = 1.
    weight : {"unit", "money"}
        The unit of the costs that are averaged: both costs of a ratio sum to 1, or a false positive costs 1.

    Returns
    -------
    ImpliedPrior
        If q falls somewhere there is none, and ``reason`` says where.

    Examples
    --------
    >>> import uneven
    >>> window = uneven.UnevenMarginLoss(uneven.phi("beta", order=8), alpha="1/11")
    >>> uneven.implied_prior(window).in_words()
    '90 % of its weight is on ratios fn_cost/fp_cost from 4.84 to 25.5.'

    A range gives its prior back:

    >>> prior = uneven.implied_prior(uneven.range_loss((5, 50)))
    >>> prior.cdf([5, 10, 50]).round(6)
    array([0.     , 0.30103, 1.     ])
    """
    inputs.require_choice("weight", weight, ("unit", "money"))
    chosen = as_loss(loss)
    for partial in chosen.partials:
        partial.require_phi("implied prior")
    measure = ScoreMeasure(chosen)
    if not measure.t.size:
        return ImpliedPrior(chosen, weight, "at no score does one loss fall while the other rises", False)
    fall = measure.fall
    if fall is None:
        return ImpliedPrior(chosen, weight, None, not measure.jumps and never_falls(chosen))
    if fall.first == fall.second:
        reason = f"at t = {fall.first:.6g} a larger score is better for positives and worse for negatives no more"
        return ImpliedPrior(chosen, weight, reason, False)
    reason = f"as the score grows from {fall.first:.9g} to {fall.second:.9g}, the probability that it stands for falls"
    return ImpliedPrior(chosen, weight, reason, falls_for_sure(chosen, fall.first, fall.second))
