r"""What a small log loss guarantees for the cost of decisions by a cost matrix (Theorem M of docs/cost-matrix.md).

Let :math:`R_b` be the probabilities for which action b is the cheapest, and

.. math:: K(\lambda) = \max_{a, b} \max_{q \in R_b} \ln \sum_y q_y \exp(\lambda (C[y, b] - C[y, a])).

Then :math:`\psi(\varepsilon) = \sup_{\lambda \ge 0} (\lambda\varepsilon - K(\lambda))` is the largest convex function
with psi(cost regret) <= log-loss regret. The sum is linear in q, so only the corners of the polytopes :math:`R_b`
count. They do not depend on lambda and are computed exactly. Every lambda gives an upper bound of the cost regret, (r +
K(lambda))/lambda for a log-loss regret r.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from flint import arb, arb_mat, fmpz_mat
from scipy.optimize import linprog

from uneven import inputs
from uneven.errors import CostError
from uneven.inputs import round_up
from uneven.ops.balls import precision

#: Most corners of one region. Beyond, only pairs of actions are compared, and psi may be too small (still a bound).
_MOST_CORNERS = 250
#: Bits of Arb for a bound.
_BITS = 160
#: lambda is searched between these, in units of 1 over the largest difference of costs.
_LEAST, _LARGEST = 1e-160, 1e18
#: How often the range of log(lambda) is halved: it has 410 units, a double 52 bits.
_HALVINGS = 62
#: For exponents up to this, sums start from the exact mean: near 1, the logarithm of a rounded sum has no digits left.
_NEAR = 0.5

Matrix = tuple[tuple[Fraction, ...], ...]
_Whole = tuple[int, ...]
_Number = TypeVar("_Number", int, Fraction)


@dataclass(frozen=True)
class TightCase:
    """A distribution for which Theorem M holds with equality, up to rounding.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Probabilities of at most two points x.
    truth, estimate : ndarray of shape (m, classes)
        The true probabilities of the classes at each point, and those that decide there. At the estimate several
        actions are equally cheap; the worst of them is taken.
    cost_regret, surrogate_regret : float
    """

    weights: np.ndarray
    truth: np.ndarray
    estimate: np.ndarray
    cost_regret: float
    surrogate_regret: float


class MatrixRegret:
    """Theorem M for one cost matrix.

    Attributes
    ----------
    largest : float
        The largest possible cost regret.
    exact : bool
        Whether psi is the best possible function. Otherwise the regions have too many corners, and psi compares pairs
        of actions only: still a bound.
    """

    def __init__(self, costs: Matrix) -> None:
        self._costs = costs
        self._width = len(costs[0])
        self._unit = math.lcm(*(cost.denominator for row in costs for cost in row))
        whole = [[int(cost * self._unit) for cost in row] for row in costs]
        #: For each action the corners of its region as whole numbers, to be divided by their sum; None if too many.
        self._regions = [_corners(whole, b) for b in range(self._width)]
        self.exact = all(found is not None for found in self._regions)
        #: Numbers of the actions that are not the cheapest for any probabilities, proved in rationals.
        self.never_cheapest = [b for b, found in enumerate(self._regions) if found == []]
        # Estimates, and what the decision costs more there than other actions: every estimate with every other action.
        self._groups: list[tuple[list[_Whole], list[_Whole]]] = []
        for b, found in enumerate(self._regions):
            more = [_differences(whole, a, b) for a in range(self._width) if a != b]
            if self.exact:
                self._groups.append((found or [], more))
            else:
                self._groups += [([worst], [d]) for d in more if (worst := _worst_pair(d)) is not None]
        largest = max([0, *(max(d) for points, more in self._groups if points for d in more)])
        self._largest = Fraction(largest, self._unit)
        self.largest = round_up(self._largest)
        finite, corners, gains, means = 0, [], [], []
        for points, more in self._groups:
            gain = [[x / largest for x in d] if largest else [] for d in more]
            for point in points:
                total = sum(point)
                corner = [x / total for x in point]
                for d, share in zip(more, gain, strict=True):
                    most = max(x for q, x in zip(point, d, strict=True) if q)
                    if most > 0:
                        finite = max(finite, most)
                        corners.append(corner)
                        gains.append(share)
                        means.append(_dot(point, d) / (total * largest))
        #: The largest cost regret with a finite log-loss regret.
        self._finite = inputs.to_float(Fraction(finite, self._unit))
        shape = (len(corners), len(costs))
        self._corner = np.array(corners).reshape(shape)
        self._mean = np.array(means)
        with np.errstate(divide="ignore"):
            self._log_corner = np.log(self._corner)
        self._gain = np.array(gains).reshape(shape)

    def corners(self, action: int) -> list[tuple[Fraction, ...]]:
        """The corners of the probabilities for which an action is the cheapest, in rationals."""
        found = self._regions[action]
        if found is None:
            raise CostError(f"the region of an action has more than {_MOST_CORNERS} corners")
        return [tuple(Fraction(x, sum(point)) for x in point) for point in found]

    # -- psi in floats ------------------------------------------------------------------------------------------------

    def psi(self, eps: Any) -> Any:
        """The least log-loss regret with this cost regret, made convex: psi(cost regret) <= log-loss regret."""
        values, scalar = inputs.float_array("eps", eps, CostError)
        if (values < 0).any() or (values > self.largest * (1 + 1e-15)).any():
            raise CostError(f"eps must lie between 0 and {self.largest!r}, the largest cost regret")
        flat = values.astype(float).ravel()
        found = np.where(flat > self._finite, np.inf, 0.0)
        inside = (flat > 0) & (flat <= self._finite)
        share = flat[inside] / self.largest
        rate = self._rate_of(share)
        found[inside] = np.maximum(rate * share - self._log_mean(rate)[0], 0.0)
        return inputs.unwrapped(found.reshape(values.shape), scalar)

    def psi_inverse(self, r: Any) -> Any:
        """The largest cost regret with this log-loss regret, in floats; :meth:`bound` is proved."""
        values, scalar = _read_regrets(r)
        flat = values.ravel()
        found = np.where(np.isinf(flat), self.largest, 0.0)
        inside = (flat > 0) & np.isfinite(flat) & bool(self._mean.size)
        rate = self._best_rate(flat[inside])
        found[inside] = self.largest * np.minimum((flat[inside] + self._log_mean(rate)[0]) / rate, 1.0)
        return inputs.unwrapped(found.reshape(values.shape), scalar)

    def _log_mean(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K at each lambda = rate/largest, and the cases that attain it."""
        if not self._mean.size or not rate.size:
            return np.zeros(rate.size), np.zeros(rate.size, dtype=np.intp)
        exponents = rate[:, None, None] * self._gain
        near = np.abs(exponents).max(axis=2) < _NEAR
        logs = exponents + self._log_corner
        top = logs.max(axis=2)
        values = top + np.log(np.exp(logs - top[:, :, None]).sum(axis=2))
        bend = (self._corner * _bend(np.where(near[:, :, None], exponents, 0.0))).sum(axis=2)
        values = np.where(near, np.log1p(np.where(near, rate[:, None] * self._mean + bend, 0.0)), values)
        best = values.argmax(axis=1)
        return np.maximum(values[np.arange(rate.size), best], 0.0), best

    def _slope(self, rate: np.ndarray) -> np.ndarray:
        """The slope of K: the cost regret, as a share of the largest, of the case that attains it."""
        if not rate.size:
            return rate
        value, best = self._log_mean(rate)
        far = (self._tilted(rate, best) * self._gain[best]).sum(axis=1)
        exponents = rate[:, None] * self._gain[best]
        near = np.abs(exponents).max(axis=1) < _NEAR
        rise = (self._corner[best] * self._gain[best] * np.expm1(np.where(near[:, None], exponents, 0.0))).sum(axis=1)
        return np.where(near, (self._mean[best] + rise) * np.exp(-value), far)

    def _tilted(self, rate: np.ndarray, case: np.ndarray) -> np.ndarray:
        """The truth that is worst for an estimate: its probabilities, tilted by what the decision costs."""
        exponents = rate[:, None] * self._gain[case] + self._log_corner[case]
        weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _rate_of(self, share: np.ndarray) -> np.ndarray:
        """The lambda at which the slope of K is the cost regret, times the largest regret."""
        return _crossing(lambda rate: self._slope(rate) - share, share.size)

    def _best_rate(self, r: np.ndarray) -> np.ndarray:
        """The lambda of the least upper bound, times the largest regret."""
        return _crossing(lambda rate: rate * self._slope(rate) - self._log_mean(rate)[0] - r, r.size)

    # -- proved --------------------------------------------------------------------------------------------------------

    def bound(self, surrogate_regret: Any, *, brier: bool = False) -> Any:
        """A proved upper bound of the cost regret: see :meth:`uneven.CostMatrix.regret_bound`."""
        values, scalar = _read_regrets(surrogate_regret)
        one = self._brier_bound if brier else self._log_bound
        found = [round_up(self._largest) if math.isinf(x) else one(x) if x else 0.0 for x in values.ravel().tolist()]
        return inputs.unwrapped(np.array(found).reshape(values.shape), scalar)

    def _log_bound(self, r: float) -> float:
        if not self._mean.size:
            return 0.0
        rate = float(self._best_rate(np.array([r]))[0])
        return round_up(min(self._bound_at(Fraction(r), Fraction(rate) / self._largest), self._largest))

    def _bound_at(self, r: Fraction, rate: Fraction) -> Fraction:
        """(r + K(lambda))/lambda, rounded up; a bound for every rate lambda > 0."""
        # K is about the square of a small rate, but the logarithm of a sum near 1: the digits between must be there.
        small = math.frexp(inputs.to_float(rate * self._largest))[1]
        with precision(_BITS - 2 * min(0, small)):
            speed = _ball(rate / self._unit)
            most = arb(1)  # at the estimate itself: the decision costs no more than it does
            for points, more in self._groups:
                if not points:
                    continue
                growth = arb_mat([[(speed * d[y]).exp() for d in more] for y in range(len(self._costs))])
                sums = (arb_mat(fmpz_mat(points)) * growth).entries()
                for k, point in enumerate(points):
                    total = sum(point)
                    for value in sums[k * len(more) : (k + 1) * len(more)]:
                        most = most.max(value / total)
            return _above((_ball(r) + most.log()) / _ball(rate))

    def _brier_bound(self, r: float) -> float:
        """Cauchy and Schwarz: the difference of two expected costs is at most its length times that of p - q."""
        with precision(_BITS):
            bound = _above((_ball(Fraction(r)) * _ball(self._longest)).sqrt())
        return round_up(min(bound, self._largest))

    @cached_property
    def _longest(self) -> Fraction:
        """The squared length of the longest difference of two actions' costs, less its mean over the classes."""
        longest = Fraction(0)
        for a in range(self._width):
            for b in range(a):
                d = _differences(self._costs, a, b)
                mean = sum(d, Fraction(0)) / len(d)
                longest = max(longest, sum(((x - mean) ** 2 for x in d), Fraction(0)))
        return longest

    # -- cases ---------------------------------------------------------------------------------------------------------

    def tight_case(self, eps: float) -> TightCase:
        """A distribution with cost regret eps and log-loss regret psi(eps), up to rounding."""
        if not self.exact:
            raise CostError("the regions of this matrix have too many corners: psi is a bound, perhaps not attained")
        if not isinstance(self.psi(eps), float) or eps <= 0:
            raise CostError(f"eps must be one number above 0, got {inputs.brief(eps)}")
        share = min(eps, self._finite) / self.largest
        rate = self._rate_of(np.array([share]))
        cases = self._log_mean(np.concatenate([rate * (1 - 1e-9), rate * (1 + 1e-9)]))[1]
        truth, estimate = self._tilted(np.repeat(rate, 2), cases), self._corner[cases]
        regrets = (truth * self._gain[cases]).sum(axis=1)
        low, high = regrets
        second = 0.5 if high == low else float(np.clip((share - low) / (high - low), 0, 1))
        weights = np.array([1 - second, second])
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(truth > 0, truth * np.log(truth / estimate), 0.0).sum(axis=1)
        keep = weights > 0
        return TightCase(
            weights[keep], truth[keep], estimate[keep], float(weights @ regrets) * self.largest, float(weights @ logs)
        )

    def gap_of(self, action: int) -> float:
        """How much less an action must cost in every class to be the cheapest one for some probabilities.

        A linear program in floats looks for these probabilities, and the price is the exact one there, rounded up: at
        this price the action is as cheap as any other, whatever the floats did.
        """
        more = [_differences(self._costs, a, action) for a in range(self._width) if a != action]
        largest = max(abs(x) for d in more for x in d) or Fraction(1)
        count, rivals = len(self._costs), len(more)
        # The least t with (its costs - those of another action) @ q <= t for all others, over probabilities q.
        found = linprog(
            np.append(np.zeros(count), 1.0),
            A_ub=np.column_stack([[[inputs.to_float(x / largest) for x in d] for d in more], -np.ones(rivals)]),
            b_ub=np.zeros(rivals),
            A_eq=[np.append(np.ones(count), 0.0)],
            b_eq=[1.0],
            bounds=[(0, None)] * count + [(None, None)],
        )
        shares = [Fraction(x) for x in (np.maximum(found.x[:-1], 0) if found.success else np.ones(count)).tolist()]
        rounded = [share.limit_denominator(10_000) for share in shares]  # a corner often has small numbers
        return min(round_up(max(_mean_of(q, d) for d in more)) for q in (shares, rounded) if any(q))


def _crossing(rises: Callable[[np.ndarray], np.ndarray], count: int) -> np.ndarray:
    """Where increasing functions of lambda change their signs, by halving on the scale of logarithms."""
    low, high = np.full(count, math.log(_LEAST)), np.full(count, math.log(_LARGEST))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = rises(np.exp(middle)) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.exp(high)


def _bend(x: np.ndarray) -> np.ndarray:
    """exp(x) - 1 - x, with all digits near 0."""
    series = x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6))))
    return np.where(np.abs(x) < 1e-3, series, np.expm1(x) - x)


def _read_regrets(r: Any) -> tuple[np.ndarray, bool]:
    return inputs.regrets(r, CostError)


def _ball(value: Fraction) -> arb:
    return arb(value.numerator) / value.denominator


def _above(ball: arb) -> Fraction:
    """A rational above all numbers of a ball."""
    top = ball.upper()
    mantissa, exponent = top.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _differences(costs: Sequence[Sequence[_Number]], a: int, b: int) -> tuple[_Number, ...]:
    """What action b costs more than action a, in each class."""
    return tuple(row[b] - row[a] for row in costs)


def _worst_pair(differences: _Whole) -> _Whole | None:
    """The estimate that is worst if only two actions exist: both are equally cheap, and it lies on the extreme classes.

    Of all distributions with the same mean of the differences, this one has the largest mean of their exponentials.
    None if one of the two actions is never chosen.
    """
    low, high = min(differences), max(differences)
    if low > 0 or high <= 0:
        return None
    corner = [0] * len(differences)
    corner[differences.index(high)] += -low
    corner[differences.index(low)] += high
    return tuple(corner)


def _dot(u: Sequence[int], w: Sequence[int]) -> int:
    return sum(map(operator.mul, u, w))


def _mean_of(shares: Sequence[Fraction], differences: Sequence[Fraction]) -> Fraction:
    total = sum((q * x for q, x in zip(shares, differences, strict=True)), Fraction(0))
    return total / sum(shares, Fraction(0))


def _corners(costs: Sequence[Sequence[int]], action: int) -> list[_Whole] | None:
    """The corners of the polytope of probabilities for which an action is the cheapest; None if there are too many.

    The simplex is cut by one half space after the other (the double description method). A corner is a direction of
    whole numbers, and knows which constraints hold with equality there (the bits of a number). Two corners are
    neighbours if no third one shares all that they share.
    """
    count = len(costs)
    found: list[tuple[_Whole, int]] = []
    for y in range(count):
        unit = tuple(int(k == y) for k in range(count))
        found.append((unit, (1 << count) - 1 - (1 << y)))
    for a in range(len(costs[0])):
        if a == action:
            continue
        differences = _differences(costs, a, action)
        name = 1 << (count + a)
        values = [_dot(point, differences) for point, _ in found]
        kept = [
            (point, tight | name if value == 0 else tight)
            for (point, tight), value in zip(found, values, strict=True)
            if value <= 0
        ]
        inside = [(*corner, value) for corner, value in zip(found, values, strict=True) if value < 0]
        outside = [(*corner, value) for corner, value in zip(found, values, strict=True) if value > 0]
        for u, tight_u, below in inside:
            for w, tight_w, over in outside:
                shared = tight_u & tight_w
                if shared.bit_count() < count - 2 or sum(shared & tight == shared for _, tight in found) > 2:
                    continue
                point = tuple(over * x - below * z for x, z in zip(u, w, strict=True))
                common = math.gcd(*point)
                kept.append((tuple(x // common for x in point), shared | name))
        if len(kept) > _MOST_CORNERS:
            return None
        found = kept
    return [point for point, _ in found]
