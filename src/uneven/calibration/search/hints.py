"""Guesses in floats for the prover: where A = B, and where minima lie. No proof relies on them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from uneven.calibration.half_lines import HalfLineSolver, crossing, minimised_at_zero
from uneven.calibration.search.cells import power_of_two
from uneven.calibration.trusted.rules import End
from uneven.losses import Loss, Phi, UnevenMarginLoss
from uneven.losses.partial import Partial
from uneven.ops.balls import Undefined, enclose_interval, interval
from uneven.shape.kinks import switch_points

_SCALES = (-3, 0, 1, 3)
_LARGE = arb(2) ** 4000


class Hints:
    """Guesses about one loss."""

    def __init__(self, loss: Loss, pause: Callable[[], None] = lambda: None) -> None:
        """``pause`` is called in long loops; it raises an exception when time is up."""
        self.loss = loss
        self.pause = pause
        self._known: dict[tuple[int, Fraction], tuple[Fraction, float]] = {}  # minimiser and infimum, by side and eta

    @cached_property
    def solver(self) -> HalfLineSolver:
        """Infima of the risk in floats."""
        return HalfLineSolver(self.loss)

    @cached_property
    def _switches(self) -> list[Fraction]:
        """The t at which a formula of the loss changes, in order."""
        found: set[Fraction] = set()
        for partial in self.loss.partials:
            assert isinstance(partial.function, Phi)
            found |= {point / partial.inner for point in switch_points(partial.function.tree)}
        return sorted(found)

    @cached_property
    def edges(self) -> list[Fraction]:
        """First ends of cells: where the formulas change, and powers of two on the scales of the loss."""
        found = set(self._switches)
        for partial in self.loss.partials:
            width = power_of_two(1 / abs(partial.inner))
            found |= {sign * width * Fraction(2) ** k for k in _SCALES for sign in (1, -1)}
        return sorted(found - {Fraction(0)})

    @cached_property
    def size(self) -> Fraction:
        """The order of magnitude of the loss: the larger partial loss at t = 0, or 1 if both vanish there."""
        return max(Fraction(float(partial.value(np.zeros(1))[0])) for partial in self.loss.partials) or Fraction(1)

    @cached_property
    def crossing(self) -> Fraction | None:
        """Where A = B: as the file of the phi declares it, else as floats see it."""
        if self._declared_odds is not None:
            return self._with_weights(Fraction(self._declared_odds))
        odds = crossing(self.loss, self.solver, self.pause)
        return None if odds is None or odds == 0 or math.isinf(odds) else Fraction(odds) / (1 + Fraction(odds))

    @cached_property
    def declared_alpha(self) -> Fraction | None:
        """What the file of the phi declares exactly, to be proved."""
        odds = self._declared_odds
        return self._with_weights(odds) if isinstance(odds, Fraction) else None

    @cached_property
    def _declared_odds(self) -> Fraction | float | None:
        """The odds of the alpha of (phi(t), phi(-gamma t)/gamma)."""
        if not isinstance(self.loss, UnevenMarginLoss) or self.loss.phi.declaration.own_odds is None:
            return None
        return self.loss.phi.declaration.own_odds.odds(self.loss.exact_gamma, self.loss.phi.exact_parameters)

    def _with_weights(self, odds: Fraction) -> Fraction:
        """The alpha of this loss, from the odds of the loss with weights 1 and 1/gamma."""
        assert isinstance(self.loss, UnevenMarginLoss)
        positive, negative = self.loss.partials
        total = odds * negative.weight * self.loss.exact_gamma / positive.weight
        return total / (1 + total)

    def minimised_at_zero(self, eta: Fraction) -> bool:
        return minimised_at_zero(self.loss, float(eta), self.solver)

    def minimiser(self, side: int, eta: Fraction) -> Fraction:
        """A t close to the minimiser of the risk over one side."""
        self.pause()
        return self.minimisers(side, [eta])[0]

    def minimisers(self, side: int, etas: list[Fraction]) -> list[Fraction]:
        """The same for many etas at once. If a minimiser is close to a kink, the exact kink is returned."""
        self._learn(side, etas)
        return [self._known[side, eta][0] for eta in etas]

    def _learn(self, side: int, etas: list[Fraction]) -> None:
        """Minimise the risk for those etas for which that was not done before, all at once."""
        new = [eta for eta in etas if (side, eta) not in self._known]
        if not new:
            return
        eta, complement = (np.array([float(x) for x in values]) for values in (new, [1 - x for x in new]))
        found, far = self.solver.minimum(side, eta, complement), self._far[side]
        for x, t, value in zip(new, found.at.tolist(), found.value.tolist(), strict=True):
            place = self._at_a_switch(Fraction(t)) if abs(t) < abs(far) else far
            self._known[side, x] = place, value

    @cached_property
    def _far(self) -> dict[int, Fraction]:
        """For each side a t that stands for infinity: far away, but no partial loss is astronomically large there."""
        width = max(abs(1 / partial.inner) for partial in self.loss.partials)
        places = {}
        for side in (1, -1):
            for k in range(20, -40, -1):
                t = side * width * Fraction(2) ** k
                if all(_is_ordinary(partial, t) for partial in self.loss.partials):
                    break
            places[side] = t
        return places

    def _at_a_switch(self, t: Fraction) -> Fraction:
        k = bisect_left(self._switches, t)
        for switch in self._switches[max(k - 1, 0) : k + 1]:
            if abs(t - switch) <= abs(switch) / 2**44:
                return switch
        return t

    def is_far(self, t: Fraction) -> bool:
        """Whether a minimiser stands for infinity."""
        return t != 0 and abs(t) >= abs(self._far[1 if t > 0 else -1])

    def minimum(self, side: int, eta: Fraction) -> float:
        """The infimum of the risk over one side."""
        return float(self.minima(side, [eta])[0])

    def minima(self, side: int, etas: list[Fraction]) -> np.ndarray:
        """The same for many etas at once."""
        self._learn(side, etas)
        return np.array([self._known[side, eta][1] for eta in etas])

    def seems_above(self, side: int, eta: Fraction, level: Fraction) -> bool:
        """Whether the infimum seems to be at least the level, so that a proof is worth searching for."""
        return self.minimum(side, eta) >= float(level) * (1 - 1e-13)

    @cached_property
    def dominated_beyond(self) -> tuple[End, End] | None:
        """Ends just beyond the minimisers of both partial losses, after which neither falls; None if there are none."""
        right, left = self.minimiser(1, Fraction(1)), self.minimiser(-1, Fraction(0))
        ends: list[End] = []
        for side, t in ((-1, left), (1, right)):
            away = self.is_far(t) or t == 0
            ends.append(math.copysign(math.inf, side) if away else t + side * power_of_two(abs(t)) / 1024)
        if all(isinstance(end, float) for end in ends):
            return None
        return ends[0], ends[1]

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Etas and A - B there; differences within rounding are set to 0."""
        inner = 1 / (1 + np.exp(-np.linspace(-12, 12, 97)))
        eta = np.concatenate([[0.0], inner, [1.0]])
        solver = self.solver
        positive, negative = (solver.minimum(side, eta, 1 - eta).value for side in (1, -1))
        difference = positive - negative
        return eta, np.where(np.abs(difference) <= 1e-13 * np.maximum(positive, negative), 0.0, difference)

    def wrong_etas(self, alpha: Fraction) -> list[Fraction]:
        """Etas at which the loss seems to prefer the costlier decision for alpha, the clearest ones first."""
        eta, difference = self._grid
        violation = np.where(eta < float(alpha), -difference, difference)
        order = [int(k) for k in np.argsort(-violation, kind="stable") if violation[k] >= 0]
        found = [Fraction(float(eta[k])) for k in order if Fraction(float(eta[k])) != alpha]
        return found[:3]

    @cached_property
    def wrong_pair(self) -> tuple[Fraction, Fraction] | None:
        """eta1 < eta2 with A < B at the first and A > B at the second."""
        eta, difference = self._grid
        lowest = int(np.argmin(difference))
        highest = int(np.argmax(np.where(eta > eta[lowest], difference, -np.inf)))
        if difference[lowest] < 0 < difference[highest] and eta[lowest] < eta[highest]:
            return Fraction(float(eta[lowest])), Fraction(float(eta[highest]))
        highest = int(np.argmax(difference))
        lowest = int(np.argmin(np.where(eta < eta[highest], difference, np.inf)))
        if difference[lowest] < 0 < difference[highest] and eta[lowest] < eta[highest]:
            return Fraction(float(eta[lowest])), Fraction(float(eta[highest]))
        return None


def _is_ordinary(partial: Partial, t: Fraction) -> bool:
    try:
        return bool(enclose_interval(partial.tree, interval(t, t), bits=64).hi < _LARGE)
    except Undefined:
        return False


def simplest_between(a: Fraction, b: Fraction) -> Fraction:
    """The fraction with the smallest denominator strictly between two numbers (Stern-Brocot)."""
    low, high = min(a, b), max(a, b)
    if low < 0 < high:
        return Fraction(0)
    if high <= 0:
        return -simplest_between(-high, -low)
    whole = math.floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:  # strictly between whole and high <= whole + 1
        return whole + Fraction(1, math.floor(1 / (high - whole)) + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
