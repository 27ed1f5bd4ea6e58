"""Compiled: blocks of the matrix of a kernel, its product with a vector, and the steps of its support vector machine.

A few rows and columns are computed at a time, so that the inner products are still in the cache when the kernel is
applied to them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from uneven.ops.vector_math import exp
from uneven.solvers.loops.compile_options import ANY_ORDER_FINITE, IN_ORDER

#: Rows and columns that are computed at once.
_ROWS = 64
_COLUMNS = 512
#: Up to this degree, multiplying is faster than the power function.
_SMALL_DEGREE = 16
#: A squared distance below this share of |x|^2 + |z|^2 loses too many digits as |x|^2 + |z|^2 - 2 <x, z>.
NEAR = 1 / 32

LINEAR, POLY, RBF, SIGMOID = 0, 1, 2, 3

_LOG2_E, _LN2 = np.float32(1 / math.log(2)), np.float32(math.log(2))
_TO_INTEGER = np.float32(1.5 * 2.0**23)
_LEAST = np.float32(-87.0)
_ONE = np.float32(1.0)
_F2, _F3, _F4, _F5, _F6, _F7 = (np.float32(1 / math.factorial(k)) for k in range(2, 8))


@intrinsic
def _bits_of(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), code


@intrinsic
def _from_bits(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.trunc(arguments[0], ir.IntType(32)), ir.FloatType())

    return types.float32(types.int64), code


@njit(**IN_ORDER)
def _small_exp(x: Any) -> Any:
    """e**x for x <= 0 in float32, eight at a time; x below -87 counts as -87."""
    y = x if x > _LEAST else _LEAST
    shifted = y * _LOG2_E + _TO_INTEGER
    r = y - (shifted - _TO_INTEGER) * _LN2
    p = _F6 + r * _F7
    p = _F5 + r * p
    p = _F4 + r * p
    p = _F3 + r * p
    p = _F2 + r * p
    p = _ONE + (r + r * r * p)
    exponent = np.int64(_bits_of(shifted)) - np.int64(_bits_of(_TO_INTEGER))
    return p * _from_bits((exponent + np.int64(127)) << np.int64(23))


@njit(**IN_ORDER)
def _gaussian(distances: Any, width: float, out: Any) -> None:
    """exp(-width |x - z|^2); a squared distance that is negative by rounding counts as 0."""
    for k in range(out.size):
        distance = distances[k]
        out[k] = exp(-width * (distance if distance > 0.0 else 0.0))


@njit(**IN_ORDER)
def _gaussian_32(distances: Any, width: float, out: Any) -> None:
    """The same for rows stored in float32."""
    for k in range(out.size):
        distance = distances[k]
        out[k] = _small_exp(np.float32(-width * (distance if distance > 0.0 else 0.0)))


@njit(**IN_ORDER)
def _distances(products: Any, mine: float, other: Any) -> int:
    """Turn inner products into squared distances; returns how many may have lost digits."""
    near = 0
    for k in range(products.size):
        both = mine + other[k]
        distance = both - 2.0 * products[k]
        products[k] = distance
        near += distance < NEAR * both
    return near


@njit(**IN_ORDER)
def _exact_distances(x: Any, X: Any, mine: float, other: Any, distances: Any) -> None:
    """Compute small squared distances again, from the differences."""
    for k in range(distances.size):
        if distances[k] < NEAR * (mine + other[k]):
            total = 0.0
            for c in range(x.size):
                difference = x[c] - X[k, c]
                total += difference * difference
            distances[k] = total


@njit(**IN_ORDER)
def _block(
    products: Any,
    rows: Any,
    X: Any,
    kind: int,
    width: float,
    offset: float,
    degree: float,
    own: Any,
    other: Any,
    lo: int,
    out: Any,
) -> None:
    """As ``apply``, with the rows of both sides, so that close rows get an exact distance."""
    if kind == RBF:
        for r in range(products.shape[0]):
            if _distances(products[r], own[r], other):
                _exact_distances(rows[r], X, own[r], other, products[r])
            target = out[r, lo : lo + products.shape[1]]
            if out.itemsize == 4:
                _gaussian_32(products[r], width, target)
            else:
                _gaussian(products[r], width, target)
    else:
        apply(products, kind, width, offset, degree, own, other, lo, out)


@njit(**IN_ORDER)
def _power(products: Any, width: float, offset: float, degree: float, out: Any) -> None:
    """(width <x, z> + offset)**degree."""
    if degree > _SMALL_DEGREE:
        for k in range(out.size):
            out[k] = (width * products[k] + offset) ** degree
        return
    for k in range(out.size):
        base, power = width * products[k] + offset, 1.0
        for _ in range(int(degree)):
            power *= base
        out[k] = power


@njit(**IN_ORDER)
def apply(
    products: Any, kind: int, width: float, offset: float, degree: float, own: Any, other: Any, lo: int, out: Any
) -> None:
    """Write the kernel into the columns of out from lo on, from squared norms and inner products, which it changes."""
    count = products.shape[1]
    for r in range(products.shape[0]):
        row, target = products[r], out[r, lo : lo + count]
        if kind == RBF:
            _distances(row, own[r], other)
            if out.itemsize == 4:
                _gaussian_32(row, width, target)
            else:
                _gaussian(row, width, target)
        elif kind == LINEAR:
            for k in range(count):
                target[k] = row[k]
        elif kind == POLY:
            _power(row, width, offset, degree, target)
        else:
            for k in range(count):
                target[k] = np.tanh(width * row[k] + offset)


@njit(**IN_ORDER)
def fill(
    rows: Any,
    X: Any,
    kind: int,
    width: float,
    offset: float,
    degree: float,
    own: Any,
    other: Any,
    lo: int,
    hi: int,
    out: Any,
) -> None:
    """Write the kernel of some rows with the rows lo to hi of a C-ordered X into the columns lo to hi of out."""
    for start in range(lo, hi, _COLUMNS):
        end = min(start + _COLUMNS, hi)
        for top in range(0, rows.shape[0], _ROWS):
            bottom = min(top + _ROWS, rows.shape[0])
            products = np.dot(rows[top:bottom], X[start:end].T)
            mine, theirs = own[top:bottom], other[start:end]
            _block(
                products,
                rows[top:bottom],
                X[start:end],
                kind,
                width,
                offset,
                degree,
                mine,
                theirs,
                start,
                out[top:bottom],
            )


@njit(**IN_ORDER)
def whole(
    X: Any, kind: int, width: float, offset: float, degree: float, norms: Any, lo: int, hi: int, out: Any
) -> None:
    """Write the rows lo to hi of the kernel of all pairs, up to the diagonal, and their mirror image, into out."""
    for top in range(lo, hi, _ROWS):
        bottom = min(top + _ROWS, hi)
        for start in range(0, bottom, _COLUMNS):
            end = min(start + _COLUMNS, bottom)
            products = np.dot(X[top:bottom], X[start:end].T)
            mine, theirs = norms[top:bottom], norms[start:end]
            _block(
                products, X[top:bottom], X[start:end], kind, width, offset, degree, mine, theirs, start, out[top:bottom]
            )
            for c in range(start, end):
                for r in range(max(top, c + 1), bottom):
                    out[c, r] = out[r, c]


@njit(**IN_ORDER)
def times(
    rows: Any,
    X: Any,
    kind: int,
    width: float,
    offset: float,
    degree: float,
    own: Any,
    other: Any,
    coefficients: Any,
    lo: int,
    hi: int,
    out: Any,
) -> None:
    """Write sum_j c_j k(row j, x_i) into out[i], for the rows x_i of X from lo to hi."""
    for start in range(lo, hi, _COLUMNS):
        end = min(start + _COLUMNS, hi)
        total = out[start:end]
        total[:] = 0.0
        for top in range(0, rows.shape[0], _ROWS):
            bottom = min(top + _ROWS, rows.shape[0])
            products = np.dot(rows[top:bottom], X[start:end].T)
            mine, theirs = own[top:bottom], other[start:end]
            _block(products, rows[top:bottom], X[start:end], kind, width, offset, degree, mine, theirs, 0, products)
            add_rows(products, np.arange(bottom - top), coefficients[top:bottom], total)


@njit(**IN_ORDER)
def add_rows(rows: Any, chosen: Any, coefficients: Any, out: Any) -> None:
    """Add the chosen rows, each times its coefficient, to out, four at a time."""
    count = chosen.size
    for start in range(0, out.size, _COLUMNS):
        total = out[start : start + _COLUMNS]
        for r in range(0, count - 3, 4):
            one, two = rows[chosen[r], start:], rows[chosen[r + 1], start:]
            three, four = rows[chosen[r + 2], start:], rows[chosen[r + 3], start:]
            a, b, c, d = coefficients[r], coefficients[r + 1], coefficients[r + 2], coefficients[r + 3]
            for k in range(total.size):
                total[k] += (a * one[k] + b * two[k]) + (c * three[k] + d * four[k])
        for r in range(count - count % 4, count):
            one, a = rows[chosen[r], start:], coefficients[r]
            for k in range(total.size):
                total[k] += a * one[k]


# -- steps of sequential minimal optimisation
# ---------------------------------------------------------------------------
#
# The dual of a kernel SVM in signed coefficients b_i (alpha_i with the sign of the class):
#
#     maximise  sum_i q_i b_i - 1/2 sum_ij b_i b_j K_ij   with  sum_i b_i = 0  and  low_i <= b_i <= high_i.
#
# ``g`` is its gradient q - K b. If g_i > g_j, the objective rises when b_i goes up and b_j down by the same amount.
# Rows of K come from a cache; if one is missing, the function returns and asks for it.
#
# Loops run over chunks of a fixed size without branches, so that they use vector registers. ``up`` is 0 where b_i can
# rise and minus a huge number where it cannot; ``down`` is 0 where b_i can fall and plus that number where it cannot.
# So no NaN and no infinity occurs here.

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
