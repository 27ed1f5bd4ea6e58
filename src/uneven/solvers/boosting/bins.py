"""Columns as small whole numbers: the place of each value among at most 254 thresholds of its column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.boosting import passes
from uneven.solvers.threads import in_threads, row_ranges

#: The bin of a missing value; all others are below it.
MISSING = 255
#: Most bins of values that are known.
MOST_BINS = 255
#: Rows of which the thresholds of a column with many different values are made.
_SAMPLE = 20_000
#: Work of sorting a number, in numbers of a matrix that is read.
_SORTING = 8


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


def binned(X: np.ndarray, thresholds: np.ndarray) -> Binned:
    """A C-ordered matrix of floats in the bins of given thresholds."""
    n, d = X.shape
    bins = np.empty((d, n), np.uint8)
    in_threads(lambda k, lo, hi: passes.to_bins(X, thresholds, lo, hi, bins), row_ranges(n, X.size))
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

    in_threads(fill, row_ranges(X.shape[1], _SORTING * sample.size))
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
