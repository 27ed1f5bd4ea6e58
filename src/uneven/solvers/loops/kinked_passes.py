"""Compiled passes for losses with kinks, given the scores.

A convex phi is a smooth function plus sum_j J_j relu(m - k_j), with one term for each kink k_j, where the slope jumps
by J_j. Its augmented Lagrangian replaces each term: with a multiplier u, the slope of J relu(m - k) becomes
v = clip(u + (m - k)/sigma, 0, J). ``kinks`` and ``jumps`` have one row per class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER
from uneven.solvers.loops.passes import (
    MOST_ROWS,
    add_columns,
    add_rows,
    add_sparse,
    call_first,
    call_second,
    row_factor,
)


@njit(**ANY_ORDER)
def _margins(y: Any, scales: Any, kinks: Any, t: Any, lo: int, n: int, out: Any) -> None:
    """Margins of rows. A margin exactly at a kink is moved to the next number on its left, where phi has a slope."""
    for i in range(n):
        label = y[lo + i]
        m = scales[label] * t[lo + i]
        for j in range(kinks.shape[1]):
            if m == kinks[label, j]:
                m = np.nextafter(m, -np.inf)
        out[i] = m


@njit(**ANY_ORDER)
def _smooth_part(phi: Any, y: Any, kinks: Any, jumps: Any, lines: Any, lo: int, n: int, work: Any) -> None:
    """Values work[1] and slopes work[2] of the smooth part of phi at the margins work[0].

    The smooth part of a polygon (address 0) is a line, given by its value and slope at 0.
    """
    if phi[0] == 0:
        for i in range(n):
            label = y[lo + i]
            work[1, i] = lines[label, 0] + lines[label, 1] * work[0, i]
            work[2, i] = lines[label, 1]
        return
    call_first(phi[1], n, work[0].ctypes.data, work[1].ctypes.data, work[2].ctypes.data)
    if phi[0] != phi[1]:
        call_first(phi[0], n, work[0].ctypes.data, work[3].ctypes.data, work[4].ctypes.data)
        for i in range(n):
            if y[lo + i] == 0:
                work[1, i] = work[3, i]
                work[2, i] = work[4, i]
    for i in range(n):
        label = y[lo + i]
        for j in range(kinks.shape[1]):
            over = work[0, i] - kinks[label, j]
            if over > 0:
                work[1, i] -= jumps[label, j] * over
                work[2, i] -= jumps[label, j]


@njit(**ANY_ORDER)
def _slope(m: float, k: float, jump: float, u: float, sigma: float) -> float:
    return min(max(u + (m - k) / sigma, 0.0), jump)


@njit(**ANY_ORDER)
def _of_class(label: Any, pair: Any) -> Any:
    """The entry of a pair for a class. It is not read by index, so that loops over rows use vector registers."""
    return pair[1] if label else pair[0]


@njit(**ANY_ORDER)
def _slopes_of_polygons(
    y: Any, scales: Any, kinks: Any, jumps: Any, inverse: float, lines: Any, t: Any, u: Any, lo: int, n: int, work: Any
) -> None:
    """Slopes work[2] and curvatures work[3] in the margin of n rows with scores t[:n], without their factors."""
    line = lines[0, 1], lines[1, 1]
    scale = scales[0], scales[1]
    for i in range(n):
        work[2, i] = _of_class(y[lo + i], line)
        work[3, i] = 0.0
    for j in range(kinks.shape[1]):
        kink, jump, own = (kinks[0, j], kinks[1, j]), (jumps[0, j], jumps[1, j]), u[j]
        for i in range(n):
            label = y[lo + i]
            most = _of_class(label, jump)
            v = own[lo + i] + (_of_class(label, scale) * t[i] - _of_class(label, kink)) * inverse
            work[2, i] += min(max(v, 0.0), most)
            work[3, i] += inverse if (v > 0.0) & (v < most) else 0.0


@njit(**ANY_ORDER)
def _factors(y: Any, s: Any, weights: Any, lo: int, n: int, out: Any) -> None:
    """The factors of the losses of n rows."""
    pair = weights[0], weights[1]
    for i in range(n):
        out[i] = _of_class(y[lo + i], pair)
    if s.size:
        for i in range(n):
            out[i] *= s[lo + i]


@njit(**ANY_ORDER)
def _slopes(
    phi: Any,
    y: Any,
    s: Any,
    weights: Any,
    scales: Any,
    kinks: Any,
    jumps: Any,
    sigma: float,
    lines: Any,
    t: Any,
    u: Any,
    lo: int,
    n: int,
    work: Any,
) -> None:
    """Weighted slopes in the score of n rows, in work[0]."""
    if phi[0] == 0:
        _slopes_of_polygons(y, scales, kinks, jumps, 1 / sigma, lines, t[lo:], u, lo, n, work)
        _factors(y, s, weights, lo, n, work[1])
        pair = scales[0], scales[1]
        for i in range(n):
            work[0, i] = work[1, i] * _of_class(y[lo + i], pair) * work[2, i]
        return
    _margins(y, scales, kinks, t, lo, n, work[0])
    _smooth_part(phi, y, kinks, jumps, lines, lo, n, work)
    for i in range(n):
        label = y[lo + i]
        total = work[2, i]
        for j in range(kinks.shape[1]):
            total += _slope(work[0, i], kinks[label, j], jumps[label, j], u[j, lo + i], sigma)
        a = row_factor(y, s, weights, lo + i)
        work[0, i] = a * scales[label] * total if a > 0 else 0.0


@njit(**ANY_ORDER)
def gradient_rows(X: Any, common: Any, t: Any, u: Any, lo: int, hi: int, g: Any) -> None:
    """Add the gradient of the rows lo to hi of a C-ordered matrix, with scores t; g[-1] is the intercept's."""
    work = np.empty((5, MOST_ROWS))
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _slopes(*common, t, u, start, n, work)
        add_rows(X, work[0], start, n, g)
        g[-1] += work[0, :n].sum()


@njit(**ANY_ORDER)
def gradient_columns(Xt: Any, common: Any, t: Any, u: Any, lo: int, hi: int, g: Any) -> None:
    """The same for the transpose of an F-ordered matrix."""
    work = np.empty((5, MOST_ROWS))
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _slopes(*common, t, u, start, n, work)
        add_columns(Xt, work[0], start, n, g)
        g[-1] += work[0, :n].sum()


@njit(**ANY_ORDER)
def gradient_sparse(
    data: Any, indices: Any, indptr: Any, common: Any, t: Any, u: Any, lo: int, hi: int, g: Any
) -> None:
    """The same for the rows of a CSR matrix."""
    work = np.empty((5, MOST_ROWS))
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _slopes(*common, t, u, start, n, work)
        add_sparse(data, indices, indptr, work[0], start, n, g)
        g[-1] += work[0, :n].sum()


@njit(**ANY_ORDER)
def slopes(common: Any, t: Any, u: Any, lo: int, hi: int, out: Any) -> None:
    """Weighted slopes in the score of the rows lo to hi, with scores t."""
    work = np.empty((5, MOST_ROWS))
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _slopes(*common, t, u, start, n, work)
        out[start - lo : start - lo + n] = work[0, :n]


@njit(**ANY_ORDER)
def along(common: Any, second: Any, t: Any, q: Any, step: float, u: Any, lo: int, hi: int) -> Any:
    """Slope and curvature in ``step`` of the losses at the scores t + step * q."""
    phi, y, s, weights, scales, kinks, jumps, sigma, lines = common
    work = np.empty((5, MOST_ROWS))
    moved = np.empty(MOST_ROWS)
    slope = curvature = 0.0
    pair = scales[0], scales[1]
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        for i in range(n):
            moved[i] = t[start + i] + step * q[start + i]
        if phi[0] == 0:
            _slopes_of_polygons(y, scales, kinks, jumps, 1 / sigma, lines, moved, u, start, n, work)
            _factors(y, s, weights, start, n, work[1])
            for i in range(n):
                change = _of_class(y[start + i], pair) * q[start + i]
                slope += work[1, i] * work[2, i] * change
                curvature += work[1, i] * work[3, i] * change * change
            continue
        for i in range(n):
            label = y[start + i]
            m = scales[label] * moved[i]
            for j in range(kinks.shape[1]):
                if m == kinks[label, j]:
                    m = np.nextafter(m, -np.inf)
            work[0, i] = m
        _smooth_part(phi, y, kinks, jumps, lines, start, n, work)
        if second[0] != 0:
            _curvatures_of_smooth(second, y, start, n, work)
        for i in range(n):
            label = y[start + i]
            total = work[2, i]
            bend = work[3, i] if second[0] != 0 else 0.0
            for j in range(kinks.shape[1]):
                v = _slope(work[0, i], kinks[label, j], jumps[label, j], u[j, start + i], sigma)
                total += v
                if 0.0 < v < jumps[label, j]:
                    bend += 1 / sigma
            a = row_factor(y, s, weights, start + i)
            if a > 0:
                change = scales[label] * q[start + i]
                slope += a * total * change
                curvature += a * bend * change * change
    return slope, curvature


@njit(**ANY_ORDER)
def _curvatures_of_smooth(second: Any, y: Any, lo: int, n: int, work: Any) -> None:
    """Write the curvatures of phi at the margins work[0] to work[3]; kinks contribute none."""
    call_second(second[1], n, work[0].ctypes.data, work[3].ctypes.data)
    if second[0] != second[1]:
        call_second(second[0], n, work[0].ctypes.data, work[4].ctypes.data)
        for i in range(n):
            if y[lo + i] == 0:
                work[3, i] = work[4, i]


@njit(**ANY_ORDER)
def curvatures(common: Any, second: Any, t: Any, u: Any, lo: int, hi: int, out: Any) -> None:
    """Weighted second derivatives in the score of the rows lo to hi."""
    phi, y, s, weights, scales, kinks, jumps, sigma, lines = common
    work = np.empty((5, MOST_ROWS))
    pair = scales[0] ** 2, scales[1] ** 2
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        if phi[0] == 0:
            _slopes_of_polygons(y, scales, kinks, jumps, 1 / sigma, lines, t[start:], u, start, n, work)
            _factors(y, s, weights, start, n, work[1])
            for i in range(n):
                out[start + i - lo] = work[1, i] * work[3, i] * _of_class(y[start + i], pair)
            continue
        _margins(y, scales, kinks, t, start, n, work[0])
        if second[0] != 0:
            _curvatures_of_smooth(second, y, start, n, work)
        for i in range(n):
            label = y[start + i]
            bend = max(work[3, i], 0.0) if second[0] != 0 else 0.0
            for j in range(kinks.shape[1]):
                v = _slope(work[0, i], kinks[label, j], jumps[label, j], u[j, start + i], sigma)
                if 0.0 < v < jumps[label, j]:
                    bend += 1 / sigma
            a = row_factor(y, s, weights, start + i)
            out[start + i - lo] = a * bend * scales[label] ** 2 if a > 0 else 0.0


@njit(**ANY_ORDER)
def bounds(common: Any, t: Any, u: Any, lo: int, hi: int) -> Any:
    """The sum of the losses at the scores, and of the constants of the lines of slope u that support them.

    At any other score, the loss of a row is at least its constant plus its slope times the score.
    """
    phi, y, s, weights, scales, kinks, jumps, _, lines = common
    work = np.empty((5, MOST_ROWS))
    loss = constant = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _margins(y, scales, kinks, t, start, n, work[0])
        _smooth_part(phi, y, kinks, jumps, lines, start, n, work)
        for i in range(n):
            a = row_factor(y, s, weights, start + i)
            if not a > 0:
                continue
            label = y[start + i]
            m = work[0, i]
            loss += a * work[1, i]
            constant += a * (work[1, i] - work[2, i] * m)
            for j in range(kinks.shape[1]):
                loss += a * jumps[label, j] * max(m - kinks[label, j], 0.0)
                constant -= a * u[j, start + i] * kinks[label, j]
    return loss, constant


@njit(**ANY_ORDER)
def support(common: Any, t: Any, u: Any, lo: int, hi: int, slopes: Any, steepest: Any) -> Any:
    """Write the weighted slopes in the score of lines that support the losses of the rows lo to hi into ``slopes``.

    The line of a row touches the smooth part of its loss at its score; at each kink it has the slope u. ``steepest``
    gets the absolute slopes plus the jumps at kinks; without kinks it is not written. Returns the sums of the losses,
    of their heights above the lines at the scores, of the absolute slopes with the jumps, and of the latter times the
    absolute scores.
    """
    phi, y, s, weights, scales, kinks, jumps, _, lines = common
    work = np.empty((5, MOST_ROWS))
    loss = above = size = moment = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _margins(y, scales, kinks, t, start, n, work[0])
        _smooth_part(phi, y, kinks, jumps, lines, start, n, work)
        for i in range(n):
            label = y[start + i]
            a = row_factor(y, s, weights, start + i)
            slope = most = 0.0
            if a > 0:
                value, slope = work[1, i], work[2, i]
                for j in range(kinks.shape[1]):
                    over = work[0, i] - kinks[label, j]
                    term = jumps[label, j] * max(over, 0.0)
                    value += term
                    above += a * (term - u[j, start + i] * over)
                    slope += u[j, start + i]
                    most += jumps[label, j]
                loss += a * value
                slope *= a * scales[label]
                most = abs(slope) + most * a * abs(scales[label])
            slopes[start + i] = slope
            if kinks.shape[1] > 0:
                steepest[start + i] = most
            size += most
            moment += most * abs(t[start + i])
    return loss, above, size, moment


@njit(**ANY_ORDER)
def off_centre(common: Any, u: Any, lo: int, hi: int) -> float:
    """The sum over rows and kinks of (u - J/2)**2, each with the factor of its row."""
    _, y, s, weights, _, kinks, jumps, _, _ = common
    total = 0.0
    for j in range(kinks.shape[1]):
        half, own = (0.5 * jumps[0, j], 0.5 * jumps[1, j]), u[j]
        for i in range(lo, hi):
            change = own[i] - _of_class(y[i], half)
            total += row_factor(y, s, weights, i) * change * change
    return total


@njit(**ANY_ORDER)
def smoothed_polygons(common: Any, t: Any, lo: int, hi: int, slopes: Any, bends: Any) -> Any:
    """Write weighted slopes and curvatures in the score of polygons whose kinks are parabolas centred on them.

    Returns the sums of the smoothed losses, of the losses, and of their heights above the lines of these slopes. It is
    :func:`curvatures`, :func:`update` and :func:`support` in one, without branches, for multipliers J/2.
    """
    _, y, s, weights, scales, kinks, jumps, sigma, lines = common
    inverse = 1 / sigma
    start_value, start_slope = (lines[0, 0], lines[1, 0]), (lines[0, 1], lines[1, 1])
    scale = scales[0], scales[1]
    factor, work = np.empty(MOST_ROWS), np.empty((5, MOST_ROWS))
    smoothed = loss = above = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _factors(y, s, weights, start, n, factor)
        for i in range(n):
            label = y[start + i]
            m = _of_class(label, scale) * t[start + i]
            work[0, i] = m
            work[1, i] = _of_class(label, start_value) + _of_class(label, start_slope) * m
            work[2, i] = _of_class(label, start_slope)
            work[3, i] = 0.0
            work[4, i] = 0.0
        for j in range(kinks.shape[1]):
            kink, jump = (kinks[0, j], kinks[1, j]), (jumps[0, j], jumps[1, j])
            for i in range(n):
                label = y[start + i]
                most, over = _of_class(label, jump), work[0, i] - _of_class(label, kink)
                v = 0.5 * most + over * inverse
                inside = (v > 0.0) & (v < most)
                v = min(max(v, 0.0), most)
                term = most * max(over, 0.0)
                off = v - 0.5 * most
                work[1, i] += term
                work[2, i] += v
                work[3, i] += inverse if inside else 0.0
                work[4, i] += term - v * over
                smoothed -= factor[i] * 0.5 * sigma * off * off
        for i in range(n):
            label, a = y[start + i], factor[i]
            k = _of_class(label, scale)
            loss += a * work[1, i]
            above += a * work[4, i]
            slopes[start + i] = a * k * work[2, i]
            bends[start + i] = a * k * k * work[3, i]
    return smoothed + loss - above, loss, above
