"""A(eta) and B(eta) of any loss, and their difference: by a closed form if the phi declares one, else by a search."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from uneven._inputs import to_float
from uneven.calibration.risk.half_lines import HalfLineSolver, Minimum
from uneven.calibration.risk.probabilities import Probabilities
from uneven.losses import Loss, UnevenMarginLoss
from uneven.losses.declaration import ClosedForm, HalfLineInfima

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
        """Infima of the risk over t >= 0 and over t <= 0, and their difference."""
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
        if self.balance is None or not self.solver.smooth:
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
