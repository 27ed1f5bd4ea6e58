"""Compiled steps of sequential minimal optimisation.

The dual of a kernel SVM in signed coefficients b_i (alpha_i with the sign of the class):

    maximise  sum_i q_i b_i - 1/2 sum_ij b_i b_j K_ij   with  sum_i b_i = 0  and  low_i <= b_i <= high_i.

``g`` is its gradient q - K b. If g_i > g_j, the objective rises when b_i goes up and b_j down by the same amount. Rows
of K come from a cache; if one is missing, the function returns and asks for it.

Loops run over chunks of a fixed size without branches, so that they use vector registers. ``up`` is 0 where b_i can
rise and minus a huge number where it cannot; ``down`` is 0 where b_i can fall and plus that number where it cannot. So
no NaN and no infinity occurs here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import intrinsic

from uneven.solvers.loops.compile_options import ANY_ORDER_FINITE

_CHUNK = 64
#: Replaces infinity in ``up`` and ``down``, which are float32 because reading them is most of the work.
BAR = 1e30
#: Least curvature along a pair for the choice of a pair, relative to the largest K_ii.
_TAU = np.float32(1e-12)
#: A curvature below minus this, relative to K_ii + K_jj, is no rounding: K is not positive semidefinite.
_BENT, _BENT_32 = 1e-10, 1e-5

DONE, WANTS_ROW, PAUSED, STUCK = 0, 1, 2, 3


def _chooser(comparison: str, kind: Any) -> Any:
    """Code of a maximum or minimum that assumes there is no NaN. Numba's own does not, and prevents vector code."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y = arguments
        chosen = builder.fcmp_ordered(comparison, x, y, flags=("fast",))
        return builder.select(chosen, x, y, flags=("fast",))

    return kind(kind, kind), code


@intrinsic
def _larger(typing_context: Any, x: Any, y: Any) -> Any:
    return _chooser(">", x)


@intrinsic
def _smaller(typing_context: Any, x: Any, y: Any) -> Any:
    return _chooser("<", x)


@njit(**ANY_ORDER_FINITE)
def _extremes(g: Any, up: Any, down: Any) -> Any:
    """Largest gradient among the b_i that can rise, its index, and the smallest among those that can fall."""
    most, least, at = -BAR, BAR, 0
    for lo in range(0, g.size, _CHUNK):
        part, rises, falls = g[lo : lo + _CHUNK], up[lo : lo + _CHUNK], down[lo : lo + _CHUNK]
        high, low = -BAR, BAR
        for k in range(part.size):
            high = _larger(high, part[k] + rises[k])
            low = _smaller(low, part[k] + falls[k])
        if high > most:
            most, at = high, lo
        least = min(least, low)
    return most, _place(g, up, at, most), least


@njit(**ANY_ORDER_FINITE)
def _move(g: Any, up: Any, down: Any, first: Any, second: Any, step: float) -> Any:
    """Change the gradient for b_i + step, b_j - step (rows ``first`` and ``second`` of K), and find its extremes."""
    most, least, at = -BAR, BAR, 0
    for lo in range(0, g.size, _CHUNK):
        part, rises, falls = g[lo : lo + _CHUNK], up[lo : lo + _CHUNK], down[lo : lo + _CHUNK]
        one, two = first[lo : lo + _CHUNK], second[lo : lo + _CHUNK]
        high, low = -BAR, BAR
        for k in range(part.size):
            value = part[k] - step * (np.float64(one[k]) - np.float64(two[k]))
            part[k] = value
            high = _larger(high, value + rises[k])
            low = _smaller(low, value + falls[k])
        if high > most:
            most, at = high, lo
        least = min(least, low)
    return most, _place(g, up, at, most), least


@njit(**ANY_ORDER_FINITE)
def _place(g: Any, up: Any, lo: int, most: float) -> int:
    """Index of the largest entry in the chunk that starts at lo."""
    for k in range(lo, min(lo + _CHUNK, g.size)):
        if g[k] + up[k] == most:
            return k
    return lo


@njit(**ANY_ORDER_FINITE)
def _gain(gap: float, falls: Any, diagonal: Any, product: float, own: Any) -> Any:
    """Twice the gain of the exact step of a pair. For a choice float32 is enough, and it divides twice as fast."""
    room = _larger(np.float32(gap - falls), np.float32(0.0))
    return room * room / _larger(own + diagonal - np.float32(product), _TAU)


@njit(**ANY_ORDER_FINITE)
def _partner(g: Any, down: Any, diagonal: Any, row: Any, top: float, own: Any, twice: float) -> int:
    """The j whose exact step with i would gain most: (g_i - g_j)^2 over the curvature K_ii + K_jj - 2 K_ij.

    The diagonal is scaled; ``twice`` scales the entries of the row, and doubles them.
    """
    best, at = np.float32(-1.0), 0
    for lo in range(0, g.size, _CHUNK):
        part, falls = g[lo : lo + _CHUNK], down[lo : lo + _CHUNK]
        squares, products = diagonal[lo : lo + _CHUNK], row[lo : lo + _CHUNK]
        high = np.float32(-1.0)
        for k in range(part.size):
            high = _larger(high, _gain(top - part[k], falls[k], squares[k], twice * products[k], own))
        if high > best:
            best, at = high, lo
    chosen, most = at, np.float32(-1.0)
    for k in range(at, min(at + _CHUNK, g.size)):
        gain = _gain(top - g[k], down[k], diagonal[k], twice * row[k], own)
        if gain > most:
            chosen, most = k, gain
    return chosen


@njit(**ANY_ORDER_FINITE)
def iterate(
    rows: Any,
    slot: Any,
    used: Any,
    diagonal: Any,
    low: Any,
    high: Any,
    b: Any,
    g: Any,
    up: Any,
    down: Any,
    tol: float,
    clock: int,
    until: int,
) -> Any:
    """Move pairs until no pair violates optimality by tol, a row is missing, or the clock reaches ``until``.

    ``rows[slot[i]]`` is row i of K where slot[i] >= 0; ``used`` is when each slot was last read. Returns what
    happened, the row that is missing, the clock, the extremes of the gradient, and whether a pair has shown that K is
    not positive semidefinite. STUCK: a step is too small to change the coefficients.
    """
    largest = np.max(np.abs(diagonal))
    scale = 1.0 / largest if largest > 0.0 else 1.0
    rough = (scale * diagonal).astype(np.float32)
    bent = False
    most, i, least = _extremes(g, up, down)
    while most - least >= tol and most > -BAR / 2 and least < BAR / 2:
        if clock >= until:
            return PAUSED, -1, clock, most, least, bent
        here = slot[i]
        if here < 0:
            return WANTS_ROW, i, clock, most, least, bent
        j = _partner(g, down, rough, rows[here], most, rough[i], 2.0 * scale)
        there = slot[j]
        if there < 0:
            used[here] = clock + 1  # keeps this row in the cache while its partner is computed
            return WANTS_ROW, j, clock, most, least, bent
        clock += 1
        used[here] = clock
        used[there] = clock
        # How fast g_i - g_j falls, by the very numbers that will change it: so the step is exact for the stored K.
        curvature = (np.float64(rows[here, i]) - np.float64(rows[there, i])) + (
            np.float64(rows[there, j]) - np.float64(rows[here, j])
        )
        bent = bent or curvature < -(_BENT if rows.itemsize == 8 else _BENT_32) * (diagonal[i] + diagonal[j])
        room_up, room_down = high[i] - b[i], b[j] - low[j]
        step, slope = min(room_up, room_down), g[i] - g[j]
        if curvature * step > slope:
            step = slope / curvature
        before_i, before_j = b[i], b[j]
        # A step that ends at a bound must end exactly there; otherwise the same pair would be chosen again and again.
        b[i] = high[i] if step == room_up else b[i] + step
        b[j] = low[j] if step == room_down else b[j] - step
        if b[i] == before_i and b[j] == before_j:
            return STUCK, -1, clock, most, least, bent
        up[i] = 0.0 if b[i] < high[i] else -BAR
        down[i] = 0.0 if b[i] > low[i] else BAR
        up[j] = 0.0 if b[j] < high[j] else -BAR
        down[j] = 0.0 if b[j] > low[j] else BAR
        most, i, least = _move(g, up, down, rows[here], rows[there], step)
    return DONE, -1, clock, most, least, bent
