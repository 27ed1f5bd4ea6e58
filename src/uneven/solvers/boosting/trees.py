"""Trees of one depth, as arrays with one row per tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.boosting import passes
from uneven.solvers.threads import in_threads, row_ranges


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
    def stacked(cls, trees: list[Trees], depth: int) -> Trees:
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
            lambda k, lo, hi: passes.add_scores(X, *arrays, first, end, lo, hi, out),
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
