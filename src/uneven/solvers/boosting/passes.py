"""Compiled passes over binned rows: bins, histograms, places in a tree, sums over leaves, scores.

Each function works on some rows or some columns and shares nothing else, so that each thread can run one. A tree of
depth D is complete: node k of level l has the children 2k and 2k + 1 of level l + 1, and is number 2**l - 1 + k of its
tree. A node that is not split has the feature -1 and sends all rows to the left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import IN_ORDER

#: Rows of a block, whose slopes and curvatures stay in the cache while all columns are read.
_BLOCK = 2048


@njit(**IN_ORDER)
def to_bins(X: Any, thresholds: Any, lo: int, hi: int, bins: Any) -> None:
    """Bins of the rows lo to hi: how many thresholds of its column each value is above; 255 for NaN."""
    for i in range(lo, hi):
        for j in range(X.shape[1]):
            x = X[i, j]
            if np.isnan(x):
                bins[j, i] = 255
                continue
            cuts = thresholds[j]
            place = 0
            step = 128
            while step > 0:
                place += step if cuts[place + step - 1] < x else 0
                step >>= 1
            bins[j, i] = place


@njit(**IN_ORDER)
def add_histograms(bins: Any, pairs: Any, slots: Any, lo: int, hi: int, sums: Any) -> None:
    """Add the pairs of all rows to the bins of the columns lo to hi; sums has the axes slot, column, bin, pair.

    Empty ``slots`` mean slot 0 for every row.
    """
    n = bins.shape[1]
    for start in range(0, n, _BLOCK):
        end = min(n, start + _BLOCK)
        if slots.size:
            for j in range(lo, hi):
                column = bins[j]
                for i in range(start, end):
                    into = sums[slots[i], j, column[i]]
                    into[0] += pairs[i, 0]
                    into[1] += pairs[i, 1]
            continue
        whole = lo + (hi - lo) // 2 * 2
        for j in range(lo, whole, 2):
            one, two = bins[j], bins[j + 1]
            into_one, into_two = sums[0, j], sums[0, j + 1]
            for i in range(start, end):
                first, second = pairs[i, 0], pairs[i, 1]
                a, b = one[i], two[i]
                into_one[a, 0] += first
                into_one[a, 1] += second
                into_two[b, 0] += first
                into_two[b, 1] += second
        for j in range(whole, hi):
            column, into_column = bins[j], sums[0, j]
            for i in range(start, end):
                a = column[i]
                into_column[a, 0] += pairs[i, 0]
                into_column[a, 1] += pairs[i, 1]


@njit(**IN_ORDER)
def descend(bins: Any, features: Any, cuts: Any, missing_left: Any, masses: Any, lo: int, hi: int, slots: Any) -> Any:
    """Move the rows lo to hi one level down; the arrays describe the nodes of the level they are on.

    Returns the mass of these rows in each slot after that; 0 if ``masses`` is empty.
    """
    sums = np.zeros(2 * features.size)
    for i in range(lo, hi):
        k = slots[i]
        j = features[k]
        right = 0
        if j >= 0:
            b = bins[j, i]
            right = (1 if missing_left[k] == 0 else 0) if b == 255 else (1 if b > cuts[k] else 0)
        slots[i] = 2 * k + right
        if masses.size:
            sums[2 * k + right] += masses[i]
    return sums


@njit(**IN_ORDER)
def leaf_sums(slots: Any, y: Any, slopes: Any, curvatures: Any, pairs: Any, lo: int, hi: int, sums: Any) -> None:
    """Add up over the leaves: slopes of both classes, curvatures of both, and pairs."""
    for i in range(lo, hi):
        into = sums[slots[i]]
        into[y[i]] += slopes[i]
        into[2 + y[i]] += curvatures[i]
        into[4] += pairs[i, 0]
        into[5] += pairs[i, 1]


@njit(**IN_ORDER)
def spread(slots: Any, leaves: Any, lo: int, hi: int, out: Any) -> None:
    """The value of each row's leaf."""
    for i in range(lo, hi):
        out[i] = leaves[slots[i]]


@njit(**IN_ORDER)
def fill_pairs(slopes: Any, curvatures: Any, y: Any, floors: Any, lo: int, hi: int, pairs: Any) -> None:
    """Slope and curvature of each row, the curvature at least a share of the slope's size."""
    for i in range(lo, hi):
        pairs[i, 0] = slopes[i]
        pairs[i, 1] = max(curvatures[i], floors[y[i]] * abs(slopes[i]))


@njit(**IN_ORDER)
def add_scores(
    X: Any,
    features: Any,
    thresholds: Any,
    missing_left: Any,
    leaves: Any,
    first: int,
    last: int,
    lo: int,
    hi: int,
    out: Any,
) -> None:
    """Add the leaves of the trees first to last to the scores of the rows lo to hi."""
    nodes = features.shape[1]
    for i in range(lo, hi):
        row = X[i]
        total = out[i]
        for m in range(first, last):
            node = 0
            while node < nodes:
                j = features[m, node]
                right = 0
                if j >= 0:
                    x = row[j]
                    right = (1 - missing_left[m, node]) if np.isnan(x) else (1 if x > thresholds[m, node] else 0)
                node = 2 * node + 1 + right
            total += leaves[m, node - nodes]
        out[i] = total
