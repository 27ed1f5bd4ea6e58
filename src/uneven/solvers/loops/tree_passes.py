"""Compiled passes over binned rows, and the best split of each node from its histograms.

Each function works on some rows or some columns and shares nothing else, so that each thread can run one. A tree of
depth D is complete: node k of level l has the children 2k and 2k + 1 of level l + 1, and is number 2**l - 1 + k of its
tree. A node that is not split has the feature -1 and sends all rows to the left.

With sums G of slopes and H of curvatures, a step of the rows of a node lowers the loss by about G^2/(2H). A split is as
good as G_L^2/H_L + G_R^2/H_R - G^2/H rises. For the exponential loss with gamma = 1 this is the decrease of the Gini
impurity, weights as in AdaBoost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import IN_ORDER

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


#: Rises below this share of the larger term are rounding.
_ROUNDING = 1e-11
#: A split must be better than another by this share of its rise; otherwise the first one found is kept. So splits that
#: part the rows alike, on different columns, are not chosen by rounding.
_CLEARLY = 1 + 1e-9
#: In place of a side: no value was missing.
NONE_MISSING = 2


@njit(**IN_ORDER)
def _gain(slope: float, curvature: float) -> float:
    return slope * slope / curvature if curvature > 0.0 else 0.0


@njit(**IN_ORDER)
def best_splits(sums: Any, masses: Any, least: float, features: Any, cuts: Any, missing_left: Any, gains: Any) -> None:
    """For each node: the column, the last bin of the left child, where missing values go, and the rise.

    ``sums`` has the axes node, column, bin, (slope, curvature). Each child must have a mass of at least ``least``;
    ``masses`` has the axes of ``sums`` and is empty if any will do. Missing values go to the better side. The feature
    -1 means that no split is better than none.
    """
    for k in range(sums.shape[0]):
        features[k], cuts[k], missing_left[k], gains[k] = -1, 0, 1, 0.0
        for j in range(sums.shape[1]):
            column = sums[k, j]
            slope = curvature = size = mass = 0.0
            for b in range(256):
                slope += column[b, 0]
                size += abs(column[b, 0])
                curvature += column[b, 1]
                if masses.size:
                    mass += masses[k, j, b, 0]
            if not curvature > 0.0:
                continue
            whole = _gain(slope, curvature)
            least_rise = _ROUNDING * max(whole, size * size / curvature)
            lost_slope, lost_curvature = column[255, 0], column[255, 1]
            lost_mass = masses[k, j, 255, 0] if masses.size else 0.0
            some_missing = lost_curvature > 0.0
            left_slope = left_curvature = left_mass = 0.0
            for b in range(254):
                left_slope += column[b, 0]
                left_curvature += column[b, 1]
                if masses.size:
                    left_mass += masses[k, j, b, 0]
                if column[b, 1] == 0.0:  # an empty bin: the cut before it is the same
                    continue
                for side in range(2 if some_missing else 1):
                    g = left_slope + side * lost_slope
                    h = left_curvature + side * lost_curvature
                    m = left_mass + side * lost_mass
                    rest = curvature - h
                    # Less than rounding of the whole means that nothing is left on one side.
                    if rest <= 1e-13 * curvature or h <= 1e-13 * curvature:
                        continue
                    if masses.size and (m < least or mass - m < least):
                        continue
                    rise = _gain(g, h) + _gain(slope - g, rest) - whole
                    if rise > gains[k] * _CLEARLY and rise > least_rise:
                        features[k], cuts[k], gains[k] = j, b, rise
                        missing_left[k] = side if some_missing else NONE_MISSING
            if some_missing:  # all known values against the missing ones
                h = curvature - lost_curvature
                if h <= 1e-13 * curvature or lost_curvature <= 1e-13 * curvature:
                    continue
                if masses.size and (lost_mass < least or mass - lost_mass < least):
                    continue
                rise = _gain(slope - lost_slope, h) + _gain(lost_slope, lost_curvature) - whole
                if rise > gains[k] * _CLEARLY and rise > least_rise:
                    features[k], cuts[k], gains[k], missing_left[k] = j, 254, rise, 0


def empty_splits(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Arrays for :func:`best_splits`."""
    return np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.uint8), np.empty(count)
