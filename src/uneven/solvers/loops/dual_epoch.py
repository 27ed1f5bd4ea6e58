"""Compiled coordinate descent in the dual of a loss made of straight pieces: one slope per row, and w kept up to date.

A row is optimal when its slope s lies between the slopes of phi on both sides of its margin m. Changing s by delta
moves the row's own margin by -q delta. So the optimal s is where the line m + q (s_old - s) meets the staircase phi'.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER

#: Neighbouring rows are visited together, because they share memory.
TOGETHER = 8


@njit(**ANY_ORDER)
def _meeting(z: float, q: float, lowest: float, kinks: Any, jumps: Any) -> float:
    """The slope s of the staircase at m = z - q s."""
    slope = lowest
    for j in range(kinks.size):
        if z - q * slope <= kinks[j]:
            return slope
        slope += jumps[j]
        if z - q * slope <= kinks[j]:
            return (z - kinks[j]) / q
    return slope


@njit(**ANY_ORDER)
def squared_norms(data: Any, indptr: Any, out: Any) -> None:
    """Squared lengths of the rows of a CSR matrix."""
    for i in range(out.size):
        total = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[k] * data[k]
        out[i] = total


@njit(**ANY_ORDER)
def epoch(
    data: Any,
    indices: Any,
    indptr: Any,
    norms: Any,
    y: Any,
    s: Any,
    weights: Any,
    scales: Any,
    lowest: Any,
    kinks: Any,
    jumps: Any,
    slopes: Any,
    w: Any,
    intercept: Any,
    width: float,
    rho: float,
    order: Any,
    active: Any,
    count: int,
    margin: float,
) -> Any:
    """Visit the first ``count`` rows of ``active`` in blocks of the given order.

    ``intercept`` holds b, which has the proximal term (b - centre)^2 rho/(2 width). Rows that lie beyond all their
    kinks by more than ``margin``, with the slope that belongs there, leave the list. Returns how many rows stay, and
    the largest change of a margin.
    """
    largest = 0.0
    b = intercept[0]
    for block in order:
        for position in range(block * TOGETHER, min(count, (block + 1) * TOGETHER)):
            i = active[position]
            label = y[i]
            a = weights[label] * s[i] if s.size else weights[label]
            scale = scales[label]
            if not a > 0:
                active[position] = -1 - i
                continue
            first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
            score = b
            for k in range(first, last):
                score += data[k] * w[np.uint64(indices[k])]
            m = scale * score
            old = slopes[i]
            q = a * scale * scale * (norms[i] + width) / rho
            if not q > 0:
                continue
            new = _meeting(m + q * old, q, lowest[label], kinks[label], jumps[label])
            change = new - old
            if change == 0.0:
                first_kink, last_kink = kinks[label, 0], kinks[label, -1]
                safe = first_kink - m > margin if new == lowest[label] else m - last_kink > margin
                if safe and (m < first_kink or m > last_kink):
                    active[position] = -1 - i
                continue
            largest = max(largest, abs(change) * q)
            slopes[i] = new
            step = -a * scale * change / rho
            b += step * width
            for k in range(first, last):
                w[np.uint64(indices[k])] += step * data[k]
    intercept[0] = b
    kept = 0
    for position in range(count):
        i = active[position]
        if i >= 0:
            active[kept] = i
            kept += 1
    return kept, largest
