"""A(eta) and B(eta) of any loss, by a closed form if the phi declares one, and risks on a finite distribution."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from uneven import inputs
from uneven.calibration.half_lines import HalfLineSolver, Minimum
from uneven.errors import ParameterError
from uneven.inputs import Exact, to_float
from uneven.losses import Loss, UnevenMarginLoss
from uneven.losses.declaration import ClosedForm, HalfLineInfima


@dataclass(frozen=True)
class Probabilities:
    """eta = base + offset, with an exact base: eta - base does not lose digits to cancellation.

    ``Probabilities(Fraction(0), eta)`` are the given etas; ``Probabilities(alpha, eps)`` are alpha + eps.
    """

    base: Fraction
    offset: np.ndarray

    @property
    def eta(self) -> np.ndarray:
        eta = np.clip(shifted(self.offset, self.base), 0.0, 1.0)
        return np.where(self.offset == -float(self.base), 0.0, eta)  # exactly 0, without a rounding error

    @property
    def complement(self) -> np.ndarray:
        """1 - eta."""
        complement = np.clip(shifted(-self.offset, 1 - self.base), 0.0, 1.0)
        return np.where(self.offset == float(1 - self.base), 0.0, complement)

    def minus(self, point: Fraction) -> np.ndarray:
        """eta - point."""
        return shifted(self.offset, self.base - point)

    def __getitem__(self, rows: np.ndarray) -> Probabilities:
        return Probabilities(self.base, self.offset[rows])


def shifted(x: np.ndarray, constant: Fraction) -> np.ndarray:
    """x + constant, where the constant is split into two doubles to keep its digits."""
    high = float(constant)
    low = float(constant - Fraction(high))
    return (x + high) + low


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


class ConditionalRisk:
    """A(eta), B(eta) and D = A - B of a loss.

    H is D or -D. Near alpha, D is far smaller than A and B, so subtracting them would lose digits. There D is computed
    directly.
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    @cached_property
    def solver(self) -> HalfLineSolver:
        return HalfLineSolver(self.loss)

    @cached_property
    def closed_form(self) -> ClosedForm | None:
        if not isinstance(self.loss, UnevenMarginLoss):
            return None
        form = self.loss.phi.declaration.closed_form
        usable = form is not None and form.holds(self.loss.gamma, self.loss.phi.parameters)
        return form if usable else None

    @cached_property
    def _margin_weights(self) -> tuple[Fraction, Fraction]:
        """w1, w2 such that the risk is w1 eta phi(t) + (w2 (1 - eta)/gamma) phi(-gamma t)."""
        assert isinstance(self.loss, UnevenMarginLoss)
        positive, negative = self.loss.partials
        return positive.weight, negative.weight * self.loss.exact_gamma

    @cached_property
    def balance(self) -> Fraction | None:
        """The eta at which the slope of the risk at t = 0 is 0; None if there is no such eta."""
        if isinstance(self.loss, UnevenMarginLoss):
            first, second = self._margin_weights
            return second / (first + second)
        positive, negative = self.loss.partials
        if not (positive.symbolic and negative.symbolic):
            return None
        zero = np.zeros(1)
        falling, rising = float(positive.slope(zero)[0]), float(negative.slope(zero)[0])
        return Fraction(rising) / (Fraction(rising) - Fraction(falling)) if falling < 0 < rising else None

    def sides(self, points: Probabilities) -> HalfLineInfima:
        """Infima of the risk over t > 0 and over t <= 0, and their difference."""
        if self.closed_form is not None:
            return self._closed(self.closed_form, points)
        a, b = points.eta, points.complement
        positive, negative = self.solver.minimum(1, a, b), self.solver.minimum(-1, a, b)
        difference = positive.value - negative.value
        self._sharpen(difference, points, positive, negative)
        return HalfLineInfima(positive.value, negative.value, difference)

    def _closed(self, form: ClosedForm, points: Probabilities) -> HalfLineInfima:
        assert isinstance(self.loss, UnevenMarginLoss)
        assert self.balance is not None
        first, second = self._margin_weights
        a, b = points.eta * to_float(first), points.complement * to_float(second)
        difference = points.minus(self.balance) * to_float(first + second)
        return form.sides(a, b, difference, self.loss.gamma, self.loss.phi.parameters)

    def _sharpen(self, difference: np.ndarray, points: Probabilities, positive: Minimum, negative: Minimum) -> None:
        """If one infimum is at t = 0 and the other is only a little lower: integrate the slope instead of subtracting.

        C(eta, s) - C(eta, 0) is the integral of the slope from 0 to s, and the slope has one sign there. Its value at 0
        is proportional to eta - balance, which is known without cancellation.
        """
        if self.balance is None or not self.solver.smooth or self.solver.jumps_at_zero:
            return
        one_moves = (positive.at == 0) != (negative.at == 0)
        end = np.where(positive.at == 0, negative.at, positive.at)
        small = np.abs(difference) < 1e-2 * positive.value
        # Within the scale of both partial losses, Gauss quadrature with 24 nodes is exact up to rounding.
        near = np.abs(end) < min(1 / abs(to_float(partial.inner)) for partial in self.loss.partials)
        rows = np.flatnonzero(one_moves & small & near & self._smooth_up_to(end))
        if rows.size == 0:
            return
        first, second = self.loss.partials
        t = np.multiply.outer(end[rows], (_NODES + 1) / 2)
        zero = np.zeros(1)
        p0, n0 = first.slope(zero), second.slope(zero)
        chosen = points[rows]
        slope = (
            (chosen.minus(self.balance) * (p0 - n0))[:, None]
            + chosen.eta[:, None] * (first.slope(t) - p0)
            + chosen.complement[:, None] * (second.slope(t) - n0)
        )
        gained = end[rows] / 2 * (slope @ _WEIGHTS)
        difference[rows] = np.where(end[rows] > 0, gained, -gained)

    def _smooth_up_to(self, end: np.ndarray) -> np.ndarray:
        """Whether neither partial loss changes its formula strictly between 0 and end."""
        result = np.ones(end.shape, dtype=bool)
        for partial in self.loss.partials:
            for knot in partial.switch_points:
                result &= ~((np.sign(knot) == np.sign(end)) & (abs(knot) < np.abs(end)) & (knot != 0))
        return result


# Risks and regrets on a finite distribution, without sampling error: theorem 1 in numbers.


@dataclass(frozen=True)
class FiniteDistribution:
    """Finitely many points x_1, ..., x_m with their probabilities and P(Y = 1 | x_i).

    Parameters
    ----------
    weights : array-like
        Probabilities of the points; nonnegative, scaled to sum to 1.
    etas : array-like in [0, 1]
        P(Y = 1 | x_i) for each point.

    Examples
    --------
    >>> import uneven
    >>> from uneven.calibration import FiniteDistribution
    >>> world = FiniteDistribution([0.5, 0.5], [0.0, 1.0])
    >>> loss = uneven.UnevenMarginLoss("hinge", gamma=2, alpha=0.25)
    >>> world.cost_regret([1e-12, 0.0], alpha=0.25), round(world.surrogate_regret(loss, [1e-12, 0.0]), 9)
    (0.5, 0.4375)
    """

    weights: np.ndarray
    etas: np.ndarray

    def __init__(self, weights: Any, etas: Any) -> None:
        mass, _ = inputs.float_array("weights", weights)
        probability, _ = inputs.probabilities("etas", etas)
        if mass.ndim != 1 or mass.shape != probability.shape or mass.size == 0:
            raise ParameterError(
                f"weights and etas must be lists of the same length, got {mass.shape} and {probability.shape}"
            )
        if (mass < 0).any() or not 0 < mass.sum() < np.inf:
            raise ParameterError("weights must be nonnegative with a positive finite sum")
        object.__setattr__(self, "weights", mass / mass.sum())
        object.__setattr__(self, "etas", probability)

    def _decisions(self, decisions: Any) -> np.ndarray:
        f, _ = inputs.float_array("decisions", decisions)
        if f.shape != self.etas.shape:
            raise ParameterError(f"decisions must be {self.etas.size} numbers, got shape {f.shape}")
        return f

    def _mean(self, values: np.ndarray) -> float:
        with np.errstate(invalid="ignore"):
            return float(np.where(self.weights > 0, self.weights * values, 0.0).sum())

    def surrogate_risk(self, loss: Loss, decisions: Any) -> float:
        """R_L(f): the expected loss of the decision values f(x_i)."""
        return self._mean(loss.conditional_risk(self.etas, self._decisions(decisions)))

    def optimal_surrogate_risk(self, loss: Loss) -> float:
        """R_L^*: the smallest possible expected loss."""
        sides = ConditionalRisk(loss).sides(Probabilities(Fraction(0), self.etas))
        return self._mean(np.minimum(sides.positive, sides.negative))

    def surrogate_regret(self, loss: Loss, decisions: Any) -> float:
        """R_L(f) - R_L^*: the expected loss minus the smallest possible one."""
        return max(0.0, self.surrogate_risk(loss, decisions) - self.optimal_surrogate_risk(loss))

    def cost_risk(self, decisions: Any, *, alpha: Exact) -> float:
        """R_alpha(f), the expected cost; f(x) = 0 is a negative decision."""
        weight = float(inputs.between_0_and_1("alpha", alpha))
        positive = self._decisions(decisions) > 0
        return self._mean(np.where(positive, weight * (1 - self.etas), (1 - weight) * self.etas))

    def optimal_cost_risk(self, *, alpha: Exact) -> float:
        """R_alpha^*: the smallest possible expected cost."""
        weight = float(inputs.between_0_and_1("alpha", alpha))
        return self._mean(np.minimum(weight * (1 - self.etas), (1 - weight) * self.etas))

    def cost_regret(self, decisions: Any, *, alpha: Exact) -> float:
        """``R_alpha(f) - R_alpha*``: the weighted sum of ``|eta - alpha|`` where f decides wrongly."""
        exact = inputs.between_0_and_1("alpha", alpha)
        distance = Probabilities(Fraction(0), self.etas).minus(exact)
        wrong = (self._decisions(decisions) > 0) != (distance > 0)
        return self._mean(np.where(wrong, np.abs(distance), 0.0))
