"""Observed frequencies of rows with similar predicted probabilities, near one probability."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from uneven.metrics.intervals import is_rough

_FEWEST = 20  # rows in a group on average: the observed share of fewer says little


@dataclass(frozen=True)
class ReliabilityBins:
    """Groups of rows with probabilities near alpha; each group lies on one side of alpha.

    Attributes
    ----------
    predicted : ndarray
        Mean predicted probability of each group, rising.
    observed : ndarray
        Share of positives.
    low, high : ndarray
        Ends of the Wilson interval of the share.
    count : ndarray of int
        Number of rows.
    rough : ndarray of bool
        Whether the group has fewer than 10 mistakes: positives below alpha, negatives above it.
    below, above : int
        Number of rows outside the range, with smaller and with larger probabilities.
    """

    predicted: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    rough: np.ndarray
    below: int
    above: int


def reliability_bins(
    probability: np.ndarray,
    is_positive: np.ndarray,
    weight: np.ndarray,
    alpha: float,
    *,
    reach: float,
    most_bins: int,
    confidence: float = 0.95,
) -> ReliabilityBins:
    """Groups of equal numbers of rows, on both sides of alpha, whose odds are at most ``reach`` times away.

    There are at most ``most_bins`` groups on each side, and fewer if they would have less than 20 rows on average.
    Rows with one probability are never split. With weights, the interval is that of the effective number of rows,
    (sum of weights)^2 / sum of squared weights.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.figures.displays._reliability import reliability_bins
    >>> p = np.array([0.01, 0.15, 0.15, 0.3, 0.3])
    >>> found = reliability_bins(p, np.array([0, 0, 1, 0, 1]) == 1, np.ones(5), 0.2, reach=10, most_bins=4)
    >>> found.predicted, found.observed, found.below
    (array([0.15, 0.3 ]), array([0.5, 0.5]), 1)
    """
    odds = alpha / (1 - alpha)
    lowest, highest = (odds / reach) / (1 + odds / reach), (odds * reach) / (1 + odds * reach)
    inside = (probability >= lowest) & (probability <= highest) & (weight > 0)
    counted = weight > 0
    groups: list[np.ndarray] = []
    for side in (inside & (probability <= alpha), inside & (probability > alpha)):
        groups += _equal_groups(probability, np.flatnonzero(side), most_bins)
    ends = NormalDist().inv_cdf((1 + confidence) / 2)
    shares = [float(np.average(is_positive[rows], weights=weight[rows])) for rows in groups]
    sizes = [float(weight[rows].sum() ** 2 / (weight[rows] ** 2).sum()) for rows in groups]
    intervals = np.array([_wilson(share, size, ends) for share, size in zip(shares, sizes, strict=True)])
    low, high = intervals.reshape(-1, 2).T
    return ReliabilityBins(
        predicted=np.array([np.average(probability[rows], weights=weight[rows]) for rows in groups]),
        observed=np.array(shares),
        low=low,
        high=high,
        count=np.array([rows.size for rows in groups], dtype=int),
        rough=np.array([is_rough(_mistakes(probability[rows], is_positive[rows], alpha)) for rows in groups]),
        below=int((counted & (probability < lowest)).sum()),
        above=int((counted & (probability > highest)).sum()),
    )


def _mistakes(probability: np.ndarray, is_positive: np.ndarray, alpha: float) -> int:
    """How often the decision at alpha was wrong."""
    return int((is_positive != (probability > alpha)).sum())


def _equal_groups(probability: np.ndarray, rows: np.ndarray, most: int) -> list[np.ndarray]:
    """At most so many groups of about equal size, in rising order; equal probabilities stay together."""
    rows = rows[np.argsort(probability[rows], kind="stable")]
    if rows.size == 0:
        return []
    most = min(most, max(rows.size // _FEWEST, 1))
    starts = np.flatnonzero(np.append(True, np.diff(probability[rows]) > 0))
    wanted = np.arange(1, most) * rows.size / most
    cuts = np.unique(starts[np.searchsorted(starts, wanted).clip(max=starts.size - 1)])
    return [group for group in np.split(rows, cuts[cuts > 0]) if group.size]


def _wilson(share: float, size: float, ends: float) -> tuple[float, float]:
    """Wilson's interval of a share among so many rows."""
    middle = (share + ends**2 / (2 * size)) / (1 + ends**2 / size)
    half = ends / (1 + ends**2 / size) * (share * (1 - share) / size + ends**2 / (4 * size**2)) ** 0.5
    return max(middle - half, 0.0), min(middle + half, 1.0)
