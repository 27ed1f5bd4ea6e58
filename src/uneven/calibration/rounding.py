"""Round rationals to doubles, up or down as asked for."""

from __future__ import annotations

import math
from fractions import Fraction


def rounded_down(value: Fraction) -> float:
    """The largest double that is at most the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def rounded_up(value: Fraction) -> float:
    """The smallest double that is at least the value."""
    return -rounded_down(-value) + 0.0
