"""Compiled sums for the lines that support the losses of rows: what a proof of the gap needs of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER
from uneven.solvers.compiled.passes import MOST_ROWS, losses


@njit(**ANY_ORDER)
def smooth_lines(common: Any, t: Any, shift: float, slopes: Any, lo: int, hi: int) -> float:
    """The sum of losses without kinks at the scores t + shift; their weighted slopes there go to ``slopes``."""
    phi, y, s, weights, scales = common
    work = np.empty((5, MOST_ROWS))
    total = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        for i in range(n):
            work[0, i] = t[start + i] + shift
        total += losses(phi, y, s, weights, scales, start, n, work)
        for i in range(n):
            slopes[start + i] = work[0, i]
    return total


@njit(**ANY_ORDER)
def sums_of_slopes(slopes: Any, s: Any, lo: int, hi: int) -> Any:
    """The sums of slopes, of their absolute values, and of their squares divided by the weights s of the rows."""
    total = size = energy = 0.0
    if s.size == 0:
        for i in range(lo, hi):
            r = slopes[i]
            total += r
            size += abs(r)
            energy += r * r
        return total, size, energy
    for i in range(lo, hi):
        r, weight = slopes[i], s[i]
        total += r
        size += abs(r)
        energy += r * r / weight if weight > 0.0 else 0.0
    return total, size, energy
