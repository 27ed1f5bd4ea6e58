"""Arrays as JSON: short, and null where there is no finite number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Digits that a picture can show.
_DIGITS = 6


def drawn(values: Any) -> list[float | None]:
    """Numbers for a picture, rounded to six digits.

    Examples
    --------
    >>> from uneven.explorer.answers.numbers import drawn
    >>> drawn([1 / 3, float("inf")])
    [0.333333, None]
    """
    numbers = np.asarray(values, dtype=float).ravel().tolist()
    return [float(f"{x:.{_DIGITS}g}") if math.isfinite(x) else None for x in numbers]


def stated(value: float) -> float | None:
    """A number to be read as it is; None if it is not finite."""
    return float(value) if math.isfinite(value) else None
