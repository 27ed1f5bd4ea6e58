"""Compiled passes over scores: losses, slopes and positive curvatures of all rows.

``phi`` holds the addresses of compiled functions of the negative and the positive class, ``weights`` and ``scales`` one
entry per class. The loss of a row is weights[y] * s * phi[y](scales[y] * t); an empty ``s`` means 1 for all rows. A row
with y > 0 is positive. ``rules`` says for each class how the curvature is made: half width, bound, least ratio to the
slope (:mod:`uneven.solvers.boosting.row_losses`). Where curvatures are made, ``phi`` has two addresses for each class:
values and slopes, and slopes and curvatures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER
from uneven.solvers.loops.passes import MOST_ROWS, call_first


@njit(**ANY_ORDER)
def losses_and_slopes(
    phi: Any,
    weights: Any,
    scales: Any,
    t: Any,
    target: Any,
    factor: Any,
    lo: int,
    hi: int,
    value: Any,
    slope: Any,
) -> Any:
    """Fill ``slope`` from lo to hi, and ``value`` unless it is empty.

    ``phi`` holds the addresses of two compiled functions (:mod:`uneven.ops.kernels`), of the negative and the positive
    class. The loss of an example is factor * weights[y] * phi[y](scales[y] * t); labels above 0 are positive. An empty
    ``factor`` means 1 for all. Returns the sum of the losses, and how many labels are 0, -1, and none of 0, 1 and -1.
    """
    # Slices, choices without branches and counts in doubles let the compiler use vector registers in every loop.
    margins, values, slopes = np.empty(MOST_ROWS), np.empty(MOST_ROWS), np.empty(MOST_ROWS)
    other_values, other_slopes = np.empty(MOST_ROWS), np.empty(MOST_ROWS)
    outer, inner = np.empty(MOST_ROWS), np.empty(MOST_ROWS)
    below_weight, above_weight, below_scale, above_scale = weights[0], weights[1], scales[0], scales[1]
    zeros = ones = minus_ones = total = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        logits, labels, slopes_here = t[start : start + n], target[start : start + n], slope[start : start + n]
        for i in range(n):
            zeros += 1.0 if labels[i] == 0 else 0.0
            ones += 1.0 if labels[i] == 1 else 0.0
            minus_ones += 1.0 if labels[i] == -1 else 0.0
        for i in range(n):
            positive = labels[i] > 0
            inner[i] = above_scale if positive else below_scale
            outer[i] = above_weight if positive else below_weight
            margins[i] = inner[i] * logits[i]
        call_first(phi[1], n, margins.ctypes.data, values.ctypes.data, slopes.ctypes.data)
        if phi[0] != phi[1]:
            call_first(phi[0], n, margins.ctypes.data, other_values.ctypes.data, other_slopes.ctypes.data)
            for i in range(n):
                positive = labels[i] > 0
                values[i] = values[i] if positive else other_values[i]
                slopes[i] = slopes[i] if positive else other_slopes[i]
        if factor.size:
            factors = factor[start : start + n]
            for i in range(n):
                outer[i] *= factors[i]
        for i in range(n):
            a, x = outer[i], margins[i]
            # A weight of 0 counts as 0 even if the loss overflows; NaN stays NaN, though kernels compare with it.
            loss = a * values[i] if a != 0.0 else 0.0
            rise = a * inner[i] * slopes[i] if a != 0.0 else 0.0
            known = not np.isnan(x)
            values[i] = loss if known else x
            slopes_here[i] = rise if known else x
        for i in range(n):
            total += values[i]
        if value.size:
            values_here = value[start : start + n]
            for i in range(n):
                values_here[i] = values[i]
    return total, int(zeros), int(minus_ones), int(hi - lo - zeros - ones - minus_ones)


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
