"""Trees of one depth, grown level by level on columns that are put in at most 255 bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.loops import tree_passes
from uneven.solvers.loops.tree_passes import NONE_MISSING, best_splits, empty_splits
from uneven.solvers.running import in_threads, row_ranges, score_ranges


@dataclass(frozen=True)
class Trees:
    """Complete trees: node k of level l is number 2**l - 1 + k; a row goes right if its value is above the threshold.

    Attributes
    ----------
    features : ndarray of int32, shape (n_trees, 2**depth - 1)
        The column of each node; -1 for a node that is not split, where all rows go left.
    thresholds : ndarray of float64
    missing_left : ndarray of uint8
        1 where missing values go left.
    gains : ndarray of float64
        By how much each split promised to lower the loss, times two.
    leaves : ndarray of float64, shape (n_trees, 2**depth)
        What each leaf adds to the score.
    """

    features: np.ndarray
    thresholds: np.ndarray
    missing_left: np.ndarray
    gains: np.ndarray
    leaves: np.ndarray

    @classmethod
    def stack(cls, trees: list[Trees], depth: int) -> Trees:
        """Several trees as one; there may be none."""
        nodes = 2**depth - 1
        empty = cls(
            np.empty((0, nodes), np.int32),
            np.empty((0, nodes)),
            np.empty((0, nodes), np.uint8),
            np.empty((0, nodes)),
            np.empty((0, nodes + 1)),
        )
        names = ("features", "thresholds", "missing_left", "gains", "leaves")
        return cls(*(np.concatenate([getattr(part, name) for part in (empty, *trees)]) for name in names))

    @property
    def count(self) -> int:
        return len(self.leaves)

    def part(self, first: int, last: int) -> Trees:
        """The trees first to last."""
        chosen = slice(first, last)
        return Trees(
            self.features[chosen],
            self.thresholds[chosen],
            self.missing_left[chosen],
            self.gains[chosen],
            self.leaves[chosen],
        )

    def add_scores(self, X: np.ndarray, out: np.ndarray, first: int = 0, last: int | None = None) -> None:
        """Add what the trees first to last say about the rows of a C-ordered matrix."""
        end = self.count if last is None else last
        arrays = (self.features, self.thresholds, self.missing_left, self.leaves)
        in_threads(
            lambda k, lo, hi: tree_passes.add_scores(X, *arrays, first, end, lo, hi, out),
            row_ranges(len(X), len(X) * (end - first) * 2),
        )

    def importances(self, columns: int) -> np.ndarray:
        """The share of each column in the sum of all gains."""
        used = self.features >= 0
        total = np.bincount(self.features[used], weights=self.gains[used], minlength=columns)
        return total / total.sum() if total.sum() > 0 else total

    def columns(self) -> np.ndarray:
        """The columns that any tree looks at, in rising order."""
        return np.unique(self.features[self.features >= 0])


# -- columns as small whole numbers: the place of each value among the thresholds of its column ----------------------

#: The bin of a missing value; all others are below it.
MISSING = 255
#: Most bins of values that are known.
MOST_BINS = 255
#: Rows that decide the thresholds of a column with many different values. More would move them by little, and take long
#: to sort.
_SAMPLE = 20_000


@dataclass(frozen=True)
class Binned:
    """A matrix in bins.

    Attributes
    ----------
    bins : ndarray of uint8, shape (n_features, n_rows)
        A value is in bin b if it is above exactly b thresholds of its column.
    thresholds : ndarray of float64, shape (n_features, 255)
        In rising order, filled up with infinity.
    """

    bins: np.ndarray
    thresholds: np.ndarray


def put_in_bins(X: np.ndarray, thresholds: np.ndarray) -> Binned:
    """A C-ordered matrix of floats in the bins of given thresholds."""
    n, d = X.shape
    bins = np.empty((d, n), np.uint8)
    in_threads(lambda k, lo, hi: tree_passes.to_bins(X, thresholds, lo, hi, bins), row_ranges(n, X.size))
    return Binned(bins, thresholds)


def find_thresholds(X: np.ndarray, weight: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Thresholds of all columns, filled up with infinity.

    A column with at most 255 different values gets a threshold midway between each two of them. Other columns get bins
    of about equal weight; if there are many rows, a random sample of them decides.

    Parameters
    ----------
    X : ndarray
        Missing values are NaN.
    weight : ndarray
        Positive weights of the rows; empty if all are 1.
    """
    if len(X) > _SAMPLE:
        chosen = np.sort(random.choice(len(X), _SAMPLE, replace=False))
        sample, mass = X[chosen], weight[chosen] if weight.size else weight
    else:
        sample, mass = X, weight
    found = np.full((X.shape[1], MOST_BINS), np.inf)

    def fill(k: int, lo: int, hi: int) -> None:
        for j in range(lo, hi):
            cuts = _cuts(sample[:, j].astype(np.float64), mass)
            found[j, : cuts.size] = cuts

    # Sorting a number takes about as long as reading eight.
    in_threads(fill, row_ranges(X.shape[1], 8 * sample.size))
    return found


def _cuts(column: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The thresholds of one column."""
    known = ~np.isnan(column)
    if not known.all():
        column, weight = column[known], weight[known] if weight.size else weight
    if weight.size:
        order = np.argsort(column, kind="stable")
        values, mass = column[order], weight[order]
    else:
        values, mass = np.sort(column), weight
    places = 1 + np.flatnonzero(values[1:] != values[:-1])  # where a new value begins
    if places.size >= MOST_BINS:
        shares = np.arange(1, MOST_BINS)
        if mass.size:
            up_to = np.cumsum(mass)
            reached = np.searchsorted(up_to, shares / MOST_BINS * up_to[-1], side="right")
        else:
            reached = shares * values.size // MOST_BINS
        # The place where the value at each quantile begins; a value that spans many quantiles counts once.
        places = np.unique(np.searchsorted(values, values[np.minimum(reached, values.size - 1)], side="left"))
        places = places[places > 0]
    below, above = values[places - 1], values[places]
    middle = below / 2 + above / 2
    return np.where((middle >= below) & (middle < above), middle, below)


# -- one tree -------------------------------------------------------------------------------------------------------

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
        lambda k, lo, hi: tree_passes.add_histograms(data.bins, pairs, used, 2 * lo, min(2 * hi, columns), sums),
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
        lambda k, lo, hi: tree_passes.descend(data.bins, features, cuts, missing_left, masses, lo, hi, slots),
        score_ranges(slots.size),
    )
    return np.asarray(np.sum(parts, axis=0))
