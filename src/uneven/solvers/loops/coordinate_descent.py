"""Compiled coordinate descent: for a quadratic function plus an l1 norm, and in the dual of losses of straight pieces.

With a gradient g and a matrix H of second derivatives, it minimises g'(x - w) + (x - w)' H (x - w)/2 + l1 |x|_1 over x.
The last coordinate, the intercept, is not in the norm.

All coordinates are visited, then the nonzero ones several times, then all again, until a visit of all gains at most a
share (``accuracy``) of what all visits gained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER


@njit(**ANY_ORDER)
def copy_columns(X: Any, chosen: Any, lo: int, hi: int, out: Any) -> None:
    """Copy some columns of the rows lo to hi of a C-ordered matrix."""
    for i in range(lo, hi):
        row, into = X[i], out[i]
        for k in range(chosen.size):
            into[k] = row[np.uint64(chosen[k])]


@njit(**ANY_ORDER)
def count_columns(indices: Any, lo: int, hi: int, counts: Any) -> None:
    """Add how often each column is among the numbers lo to hi of a CSR matrix."""
    for k in range(np.uint64(lo), np.uint64(hi)):
        counts[np.uint64(indices[k])] += np.int32(1)


@njit(**ANY_ORDER)
def copy_chosen(
    data: Any, indices: Any, indptr: Any, place: Any, lo: int, hi: int, ends: Any, new_indices: Any, new_data: Any
) -> int:
    """Copy the numbers of the rows lo to hi that are in chosen columns, with their new column numbers.

    ``place`` is -1 for the other columns. ``ends`` gets where each row ends in the copy, which has room for one number
    more than the rows: each is written, and overwritten unless it counts. Returns the length of the copy.
    """
    to = np.uint64(0)
    for i in range(lo, hi):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = place[np.uint64(indices[k])]
            new_indices[to] = j
            new_data[to] = data[k]
            to += np.uint64(j >= 0)
        ends[i] = to
    return int(to)


@njit(**ANY_ORDER)
def add_squares_sparse(data: Any, indices: Any, indptr: Any, h: Any, parts: int, part: int, total: Any) -> None:
    """Add (X 1)' diag(h) (X 1) to total: each product once, above or below the diagonal.

    Each thread writes the rows of total whose number is ``part`` modulo ``parts``. Columns with many numbers should
    come first, because then most products lie together.
    """
    last = total.shape[0] - 1
    own = last % parts == part
    for i in range(h.size):
        if h[i] == 0.0:
            continue
        first, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for k in range(first, end):
            j = np.uint64(indices[k])
            if j % np.uint64(parts) != np.uint64(part):
                continue
            a = h[i] * data[k]
            row = total[j]
            for m in range(first, k + np.uint64(1)):
                row[np.uint64(indices[m])] += a * data[m]
        if own:
            row = total[np.uint64(last)]
            row[last] += h[i]
            for k in range(first, end):
                row[np.uint64(indices[k])] += h[i] * data[k]


@njit(**ANY_ORDER)
def mirror(total: Any, lo: int, hi: int) -> None:
    """Make the rows and columns lo to hi of a matrix symmetric, of which each entry stands on one side only."""
    for i in range(lo, hi):
        for start in range(0, i, 64):
            for j in range(start, min(start + 64, i)):
                both = total[i, j] + total[j, i]
                total[i, j] = both
                total[j, i] = both


#: Most visits of the nonzero coordinates between two visits of all; they end when one gains less than this share of
#: what the visit of all gained.
_INNER, _SETTLED = 10, 0.1
#: Least second derivative in a coordinate where the intercept follows, as a share of that where it does not.
_LEAST_SHARE = 1e-8


@njit(**ANY_ORDER)
def shrink(z: float, by: float) -> float:
    """z moved towards 0 by a distance, and not beyond."""
    if z > by:
        return z - by
    return z + by if z < -by else 0.0


@njit(**ANY_ORDER)
def descend(matrix: Any, x: Any, gradient: Any, l1: float, visits: int, accuracy: float, gained: float) -> Any:
    """Move x, in place, by at most so many visits.

    ``matrix`` is H; ``gradient`` is that of the quadratic function at x, and stays so; ``gained`` is what earlier calls
    gained. Returns what all calls gained, and whether the accuracy is reached.
    """
    size = x.size
    limit, inner = np.inf, _INNER
    for _ in range(visits):
        everything = inner == _INNER
        gain = 0.0
        for j in range(size):
            if x[j] == 0.0 and not everything and j < size - 1:
                continue
            h = matrix[j, j]
            if not h > 0.0:
                continue
            old = x[j]
            z = old - gradient[j] / h
            new = z if j == size - 1 else shrink(z, l1 / h)
            move = new - old
            if move != 0.0:
                row = matrix[j]
                for k in range(size):
                    gradient[k] += move * row[k]
                x[j] = new
                gain += 0.5 * h * move * move
        gained += gain
        if everything:
            if gain <= accuracy * gained:
                return gained, True
            limit, inner = _SETTLED * gain, 0
        else:
            inner = _INNER if gain <= max(limit, accuracy * gained) else inner + 1
    return gained, False


@njit(**ANY_ORDER)
def bend_of_column(diagonal: float, one: float, inverse: float) -> float:
    """The second derivative in a coordinate if the intercept always takes its best value."""
    return max(diagonal - one * one * inverse, _LEAST_SHARE * diagonal)


@njit(**ANY_ORDER)
def excess_of_intercept(x: Any, w: Any, gradient: Any, ones: Any) -> float:
    """The slope in the intercept at x, if the intercept is that of w."""
    excess = gradient[-1]
    for j in range(x.size - 1):
        excess += ones[j] * (x[j] - w[j])
    return excess


@njit(**ANY_ORDER)
def descend_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    diagonal: Any,
    added: Any,
    ones: Any,
    inverse: float,
    x: Any,
    w: Any,
    gradient: Any,
    s: Any,
    l1: float,
    visits: int,
    accuracy: float,
    gained: float,
) -> Any:
    """The same for H = (R root)' (R root) + diag(added) of a CSC matrix R, without computing H.

    ``s`` is R (x - w) without the intercept, and stays so; ``gradient`` is that at w; ``diagonal`` is the diagonal of
    H; ``ones`` is R' root. ``inverse`` is 1 over the second derivative in the intercept, or 0 if that is fixed: it
    always takes its best value, which costs no more than a few multiplications for each column.
    """
    size = x.size
    excess = excess_of_intercept(x, w, gradient, ones)
    if gained == 0.0:
        gained = 0.5 * excess * excess * inverse
    limit, inner, done = np.inf, _INNER, False
    for _ in range(visits):
        everything = inner == _INNER
        gain = 0.0
        for j in range(size - 1):
            if (x[j] == 0.0 and not everything) or not diagonal[j] > 0.0:
                continue
            first, last = np.uint64(indptr[j]), np.uint64(indptr[j + 1])
            slope = gradient[j] + added[j] * (x[j] - w[j]) - ones[j] * inverse * excess
            for k in range(first, last):
                slope += data[k] * s[np.uint64(indices[k])]
            h = bend_of_column(diagonal[j], ones[j], inverse)
            new = shrink(x[j] - slope / h, l1 / h)
            move = new - x[j]
            if move != 0.0:
                for k in range(first, last):
                    s[np.uint64(indices[k])] += move * data[k]
                excess += move * ones[j]
                x[j] = new
                gain += 0.5 * h * move * move
        gained += gain
        if everything:
            if gain <= accuracy * gained:
                done = True
                break
            limit, inner = _SETTLED * gain, 0
        else:
            inner = _INNER if gain <= max(limit, accuracy * gained) else inner + 1
    x[-1] = w[-1] - inverse * excess
    return gained, done


@njit(**ANY_ORDER)
def descend_dense(
    columns: Any,
    diagonal: Any,
    added: Any,
    ones: Any,
    inverse: float,
    x: Any,
    w: Any,
    gradient: Any,
    s: Any,
    l1: float,
    visits: int,
    accuracy: float,
    gained: float,
) -> Any:
    """The same for a dense R, given by its transpose."""
    size = x.size
    excess = excess_of_intercept(x, w, gradient, ones)
    if gained == 0.0:
        gained = 0.5 * excess * excess * inverse
    limit, inner, done = np.inf, _INNER, False
    for _ in range(visits):
        everything = inner == _INNER
        gain = 0.0
        for j in range(size - 1):
            if (x[j] == 0.0 and not everything) or not diagonal[j] > 0.0:
                continue
            column = columns[j]
            slope = gradient[j] + added[j] * (x[j] - w[j]) - ones[j] * inverse * excess
            for i in range(s.size):
                slope += column[i] * s[i]
            h = bend_of_column(diagonal[j], ones[j], inverse)
            new = shrink(x[j] - slope / h, l1 / h)
            move = new - x[j]
            if move != 0.0:
                for i in range(s.size):
                    s[i] += move * column[i]
                excess += move * ones[j]
                x[j] = new
                gain += 0.5 * h * move * move
        gained += gain
        if everything:
            if gain <= accuracy * gained:
                done = True
                break
            limit, inner = _SETTLED * gain, 0
        else:
            inner = _INNER if gain <= max(limit, accuracy * gained) else inner + 1
    x[-1] = w[-1] - inverse * excess
    return gained, done


@njit(**ANY_ORDER)
def scale_columns(
    data: Any, indices: Any, indptr: Any, root: Any, lo: int, hi: int, scaled: Any, squares: Any, ones: Any
) -> None:
    """The columns lo to hi of a CSC matrix, each row times its root; their squares, and their products with root."""
    for j in range(lo, hi):
        square = one = 0.0
        for k in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            r = root[np.uint64(indices[k])]
            a = data[k] * r
            scaled[k] = a
            square += a * a
            one += a * r
        squares[j] = square
        ones[j] = one


# Compiled coordinate descent in the dual of a loss made of straight pieces: one slope per row, and w kept up to date.
#
# A row is optimal when its slope s lies between the slopes of phi on both sides of its margin m. Changing s by delta
# moves the row's own margin by -q delta. So the optimal s is where the line m + q (s_old - s) meets the staircase phi'.

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
