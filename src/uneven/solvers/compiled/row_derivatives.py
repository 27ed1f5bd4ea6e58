"""Compiled passes over scores: the slope and a positive curvature of the loss of each row, and the sum of the losses.

``phi`` holds the addresses of compiled functions, one row per class (negative, positive): values and slopes, and slopes
and curvatures. ``rules`` says for each class how the curvature is made (:mod:`uneven.solvers.second_order.rules`): half
width, bound, least ratio to the slope. ``weights`` and ``scales`` have one entry per class. The loss of a row is
weights[y] * s * phi[y](scales[y] * t); an empty ``s`` means 1 for all rows. A row with y > 0 is positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER
from uneven.solvers.compiled.passes import MOST_ROWS, call_first

#: The least and the largest curvature of a phi that a library sees: positive and finite also in single precision.
_LEAST, _LARGEST = 1e-16, 1e30


@njit(**ANY_ORDER)
def _of_class(phi: Any, rule: Any, n: int, u: Any, slope: Any, bend: Any, work: Any) -> None:
    """Slopes and curvatures of one phi at the margins u."""
    half, bound, ratio = rule
    if half > 0.0:  # of the mean of phi over [u - half, u + half], which has no kinks
        for i in range(n):
            work[0, i] = u[i] + half
            work[1, i] = u[i] - half
        call_first(phi[0], n, work[0].ctypes.data, work[2].ctypes.data, slope.ctypes.data)
        call_first(phi[0], n, work[1].ctypes.data, work[3].ctypes.data, bend.ctypes.data)
        for i in range(n):
            bend[i] = (slope[i] - bend[i]) / (2.0 * half)
            slope[i] = (work[2, i] - work[3, i]) / (2.0 * half)
    else:
        call_first(phi[1], n, u.ctypes.data, slope.ctypes.data, bend.ctypes.data)
    for i in range(n):
        if bound > 0.0:
            bend[i] = bound
        elif not bend[i] >= ratio * abs(slope[i]):  # also if it is not a number
            bend[i] = ratio * abs(slope[i])
        bend[i] = min(max(bend[i], _LEAST), _LARGEST)


@njit(**ANY_ORDER)
def derivatives(
    phi: Any,
    rules: Any,
    weights: Any,
    scales: Any,
    t: Any,
    y: Any,
    s: Any,
    sign: float,
    g: Any,
    h: Any,
    lo: int,
    hi: int,
) -> int:
    """Put ``sign`` times slope and curvature in the score of the rows lo to hi into g and h.

    Returns the number of the first row whose slope is not finite, or -1.
    """
    work = np.empty((9, MOST_ROWS))
    alike = phi[0, 0] == phi[1, 0] and rules[0, 0] == rules[1, 0] and rules[0, 1] == rules[1, 1]
    bad = -1
    for first in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - first)
        for i in range(n):
            work[0, i] = scales[1 if y[first + i] > 0 else 0] * t[first + i]
        _of_class(phi[1], rules[1], n, work[0], work[1], work[2], work[5:])
        if not alike:
            _of_class(phi[0], rules[0], n, work[0], work[3], work[4], work[5:])
        for i in range(n):
            label = 1 if y[first + i] > 0 else 0
            slope, bend = work[1, i], work[2, i]
            if not alike and label == 0:
                slope, bend = work[3, i], work[4, i]
            a = weights[label] * s[first + i] if s.size else weights[label]
            if a > 0:
                slope *= a * scales[label]
                if not abs(slope) < np.inf and bad < 0:
                    bad = first + i
                g[first + i] = sign * slope
                h[first + i] = sign * (a * scales[label] * scales[label] * bend)
            else:  # a row of weight 0 counts as 0 even if its loss overflows
                g[first + i] = 0.0
                h[first + i] = 0.0
    return bad


@njit(**ANY_ORDER)
def derivative_pairs(phi: Any, rules: Any, weights: Any, scales: Any, t: Any, y: Any, s: Any) -> Any:
    """Minus slope and minus curvature as the columns of one array: derivatives of what CatBoost maximises."""
    pairs = np.empty((t.size, 2))
    bad = derivatives(phi, rules, weights, scales, t, y, s, -1.0, pairs[:, 0], pairs[:, 1], 0, t.size)
    return pairs, bad


@njit(**ANY_ORDER)
def loss_sum(phi: Any, weights: Any, scales: Any, t: Any, y: Any, s: Any, lo: int, hi: int) -> float:
    """The sum of the losses of the rows lo to hi."""
    work = np.empty((4, MOST_ROWS))
    total = 0.0
    for first in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - first)
        for i in range(n):
            work[0, i] = scales[1 if y[first + i] > 0 else 0] * t[first + i]
        call_first(phi[1, 0], n, work[0].ctypes.data, work[1].ctypes.data, work[3].ctypes.data)
        if phi[0, 0] != phi[1, 0]:
            call_first(phi[0, 0], n, work[0].ctypes.data, work[2].ctypes.data, work[3].ctypes.data)
            for i in range(n):
                if not y[first + i] > 0:
                    work[1, i] = work[2, i]
        for i in range(n):
            label = 1 if y[first + i] > 0 else 0
            a = weights[label] * s[first + i] if s.size else weights[label]
            total += a * work[1, i] if a > 0 else 0.0
    return total
