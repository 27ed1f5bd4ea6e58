"""One tree, grown level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.boosting import passes
from uneven.solvers.boosting.bins import Binned
from uneven.solvers.boosting.splits import NONE_MISSING, best_splits, empty_splits
from uneven.solvers.threads import in_threads, row_ranges

#: Work of a pass per row, in numbers of a matrix.
_EFFORT = 16
_NO_SLOTS = np.empty(0, np.int32)
_NO_MASSES = np.empty((0, 0, 0, 0))
_UNWEIGHED = np.empty(0)


@dataclass(frozen=True)
class Shape:
    """A tree without values: splits as in :class:`uneven.solvers.boosting.trees.Trees`, and where the rows are.

    Attributes
    ----------
    features, cuts, missing_left, gains : ndarray of shape (2**depth - 1,)
        A row goes right if its bin is above the cut.
    slots : ndarray of int32
        The leaf of each row.
    """

    features: np.ndarray
    cuts: np.ndarray
    missing_left: np.ndarray
    gains: np.ndarray
    slots: np.ndarray

    def slots_of(self, data: Binned) -> np.ndarray:
        """The leaves of other rows."""
        slots = np.zeros(data.bins.shape[1], np.int32)
        level = 0
        while 2**level - 1 < self.features.size:
            nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
            _descend(data, self.features[nodes], self.cuts[nodes], self.missing_left[nodes], slots)
            level += 1
        return slots


def grow(data: Binned, pairs: np.ndarray, depth: int, masses: np.ndarray, least: float) -> Shape:
    """The tree whose splits promise the largest decrease of the loss, one after the other.

    Parameters
    ----------
    data : Binned
    pairs : ndarray of shape (n, 2)
        Slope and curvature of each row.
    depth : int
    masses : ndarray
        What each row counts for ``least``, and for where later missing values go.
    least : float
        The least mass of a leaf; 0: any.
    """
    slots = np.zeros(data.bins.shape[1], np.int32)
    parts = []
    for level in range(depth):
        count = 2**level
        found = empty_splits(count)
        sums = _histograms(data, pairs, slots, count)
        weighed = _NO_MASSES
        if least > 0:
            weighed = _histograms(data, np.repeat(masses[:, None], 2, axis=1), slots, count)
        best_splits(sums, weighed, least, *found)
        below = _descend(data, *found[:3], slots, masses)
        _place_future_holes(found[2], below)
        parts.append(found)
    features, cuts, missing_left, gains = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Shape(features, cuts, missing_left, gains, slots)


def _place_future_holes(missing_left: np.ndarray, below: np.ndarray) -> None:
    """Where a node saw no missing value, a later one goes with most of the mass, which is given for the children."""
    blind = missing_left == NONE_MISSING
    missing_left[blind] = (below[0::2] >= below[1::2])[blind]


def _histograms(data: Binned, pairs: np.ndarray, slots: np.ndarray, count: int) -> np.ndarray:
    columns, n = data.bins.shape
    sums = np.zeros((count, columns, 256, 2))
    used = slots if count > 1 else _NO_SLOTS
    in_threads(  # columns are read two at a time
        lambda k, lo, hi: passes.add_histograms(data.bins, pairs, used, 2 * lo, min(2 * hi, columns), sums),
        row_ranges((columns + 1) // 2, n * columns),
    )
    return sums


def _descend(
    data: Binned,
    features: np.ndarray,
    cuts: np.ndarray,
    missing_left: np.ndarray,
    slots: np.ndarray,
    masses: np.ndarray = _UNWEIGHED,
) -> np.ndarray:
    """Move the rows one level down; the mass in each slot after that, 0 if ``masses`` is empty."""
    parts = in_threads(
        lambda k, lo, hi: passes.descend(data.bins, features, cuts, missing_left, masses, lo, hi, slots),
        row_ranges(slots.size, _EFFORT * slots.size),
    )
    return np.asarray(np.sum(parts, axis=0))
