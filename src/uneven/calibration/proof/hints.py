"""What floats suggest to the prover: where sides cross and minima lie. Nothing here is trusted."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from uneven.calibration.infimum import RigorousRisk
from uneven.calibration.proof.rules import End
from uneven.calibration.proof.search import power_of_two
from uneven.calibration.risk.crossing import crossing, minimised_at_zero
from uneven.calibration.verdict import declared
from uneven.losses import Loss, Phi, UnevenMarginLoss
from uneven.shape.pieces import switch_points

_SCALES = (-3, 0, 1, 3)


class Hints:
    """The engine's view of one loss."""

    def __init__(self, loss: Loss, pause: Callable[[], None] = lambda: None) -> None:
        """``pause`` is called in long loops; it raises an exception when time is up."""
        self.loss = loss
        self.pause = pause
        self.risk = RigorousRisk(loss)
        self.minimiser = lru_cache(maxsize=4096)(self._minimiser)

    @cached_property
    def edges(self) -> list[Fraction]:
        """Where the formulas change, and powers of two on the scales of the loss."""
        found: set[Fraction] = set()
        for partial in self.loss.partials:
            assert isinstance(partial.function, Phi)
            found |= {point / partial.inner for point in switch_points(partial.function.tree)}
            width = power_of_two(1 / abs(partial.inner))
            found |= {sign * width * Fraction(2) ** k for k in _SCALES for sign in (1, -1)}
        return sorted(found - {Fraction(0)})

    @cached_property
    def size(self) -> Fraction:
        """The order of magnitude of the loss: the larger partial loss at t = 0, or 1 if both vanish there."""
        return max(Fraction(float(partial.value(np.zeros(1))[0])) for partial in self.loss.partials) or Fraction(1)

    @cached_property
    def crossing(self) -> Fraction | None:
        """Where A = B."""
        odds = crossing(self.loss, self.risk.solver, self.pause)
        return None if odds is None or odds == 0 or math.isinf(odds) else Fraction(odds) / (1 + Fraction(odds))

    @cached_property
    def declared_alpha(self) -> Fraction | None:
        """What the file of the phi declares, to be proved."""
        known = declared(self.loss) if isinstance(self.loss, UnevenMarginLoss) else None
        return None if known is None else known.exact

    def minimised_at_zero(self, eta: Fraction) -> bool:
        return minimised_at_zero(self.loss, float(eta), self.risk.solver)

    def _minimiser(self, side: int, eta: Fraction) -> Fraction:
        """A point of one side close to where the risk has its minimum there."""
        self.pause()
        return self.risk.minimisers(side, [eta])[0]

    def is_far(self, t: Fraction) -> bool:
        """Whether a minimiser counts as infinitely far."""
        return t != 0 and abs(t) >= self.risk.far(1 if t > 0 else -1)

    def minimum(self, side: int, eta: Fraction) -> float:
        """The infimum over one side."""
        a, b = np.array([float(eta)]), np.array([float(1 - eta)])
        return float(self.risk.solver.minimum(side, a, b).value[0])

    def seems_above(self, side: int, eta: Fraction, level: Fraction) -> bool:
        """Whether a proof that the infimum is at least the level is worth looking for."""
        return self.minimum(side, eta) >= float(level) * (1 - 1e-13)

    @cached_property
    def dominated_beyond(self) -> tuple[End, End] | None:
        """Just beyond the minimisers of both partial losses, where neither falls any more; None if there are none."""
        right, left = self._minimiser(1, Fraction(1)), self._minimiser(-1, Fraction(0))
        ends: list[End] = []
        for side, t in ((-1, left), (1, right)):
            away = self.is_far(t) or t == 0
            ends.append(math.copysign(math.inf, side) if away else t + side * power_of_two(abs(t)) / 1024)
        if all(isinstance(end, float) for end in ends):
            return None
        return ends[0], ends[1]

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Etas and A - B there, ties within rounding set to 0."""
        inner = 1 / (1 + np.exp(-np.linspace(-12, 12, 97)))
        eta = np.concatenate([[0.0], inner, [1.0]])
        solver = self.risk.solver
        positive, negative = (solver.minimum(side, eta, 1 - eta).value for side in (1, -1))
        difference = positive - negative
        return eta, np.where(np.abs(difference) <= 1e-13 * np.maximum(positive, negative), 0.0, difference)

    def wrong_etas(self, alpha: Fraction) -> list[Fraction]:
        """Etas at which the sides seem to have the wrong order for alpha, the clearest ones first."""
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


def simplest_between(a: Fraction, b: Fraction) -> Fraction:
    """The fraction of smallest denominator strictly between two numbers of one sign (Stern-Brocot)."""
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
