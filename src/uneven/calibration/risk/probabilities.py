"""Probabilities stored as an exact base plus an offset, so that distances from the base keep full precision."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


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
