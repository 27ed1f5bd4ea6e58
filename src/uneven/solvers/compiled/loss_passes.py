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
    work = np.empty((6, MOST_ROWS))
    zeros = ones = minus_ones = 0
    total = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        for i in range(n):
            y = target[start + i]
            zeros += y == 0
            ones += y == 1
            minus_ones += y == -1
            work[0, i] = (scales[1] if y > 0 else scales[0]) * t[start + i]
            work[5, i] = weights[1] if y > 0 else weights[0]
        call_first(phi[1], n, work[0].ctypes.data, work[1].ctypes.data, work[2].ctypes.data)
        if phi[0] != phi[1]:
            call_first(phi[0], n, work[0].ctypes.data, work[3].ctypes.data, work[4].ctypes.data)
            for i in range(n):
                if not target[start + i] > 0:
                    work[1, i] = work[3, i]
                    work[2, i] = work[4, i]
        if factor.size:
            for i in range(n):
                work[5, i] *= factor[start + i]
        for i in range(n):
            a = work[5, i]
            scale = scales[1] if target[start + i] > 0 else scales[0]
            # A weight of 0 counts as 0 even if the loss overflows; NaN stays NaN, though kernels compare with it.
            loss = a * work[1, i] if a != 0.0 else 0.0
            work[1, i] = loss if work[0, i] == work[0, i] else work[0, i]
            rise = a * scale * work[2, i] if a != 0.0 else 0.0
            slope[start + i] = rise if work[0, i] == work[0, i] else work[0, i]
            total += work[1, i]
        if value.size:
            for i in range(n):
                value[start + i] = work[1, i]
    return total, zeros, minus_ones, hi - lo - zeros - ones - minus_ones
