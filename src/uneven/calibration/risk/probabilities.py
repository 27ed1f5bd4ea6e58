"""Probabilities that know their distance from a point to full relative precision."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Probabilities:
    """eta = base + offset, with an exact base: differences near the base do not cancel.

    ``Probabilities(Fraction(0), eta)`` are probabilities as given, ``Probabilities(alpha, eps)`` lie eps above alpha.
    """

    base: Fraction
    offset: np.ndarray

    @property
    def eta(self) -> np.ndarray:
        eta = np.clip(shifted(self.offset, self.base), 0.0, 1.0)
        return np.where(self.offset == -float(self.base), 0.0, eta)  # the end itself, whatever the rounding

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
    """x + constant, with the constant as a sum of two doubles."""
    high = float(constant)
    low = float(constant - Fraction(high))
    return (x + high) + low
