r"""The best split of each node, from its histograms.

With sums G of slopes and H of curvatures, a step of the rows of a node lowers the loss by about :math:`G^2/(2H)`. A
split is as good as this rises:

.. math:: \frac{G_L^2}{H_L} + \frac{G_R^2}{H_R} - \frac{G^2}{H}.

For the exponential loss with gamma = 1 this is the decrease of the Gini impurity, weights as in AdaBoost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.options import IN_ORDER

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
