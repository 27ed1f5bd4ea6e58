"""A compiled pass over logits and labels: losses and slopes of all examples at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import ANY_ORDER
from uneven.solvers.compiled.passes import MOST_ROWS, call_first


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
