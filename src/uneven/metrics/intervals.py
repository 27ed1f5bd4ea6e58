"""95 % intervals: from resampled rows, and from repeated folds."""

from __future__ import annotations

import numpy as np

_DRAWS = 2000
_MOST_NUMBERS = 2_000_000  # held in memory at once
_FEW_VALUES = 1000
_MOST_GROUPS = 5000


def bootstrap_interval(values: np.ndarray, weight: np.ndarray | None = None) -> tuple[float, float]:
    """A 95 % interval for the mean: quantiles of the means of 2000 resamples of the rows.

    If there are few different values, how often each occurs in a resample is multinomial, which takes little time
    however many rows there are. More than 5000 rows with many values are put into 5000 groups at random, and the groups
    are resampled: for independent rows, the mean varies as much. A row keeps its weight when it is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.metrics.intervals import bootstrap_interval
    >>> low, high = bootstrap_interval(np.repeat([0.0, 1.0], 5000))
    >>> bool(abs(low - 0.4902) < 0.001 and abs(high - 0.5098) < 0.001)
    True
    """
    random = np.random.default_rng(0)
    distinct, counts = np.unique(values, return_counts=True)
    if weight is None and distinct.size <= _FEW_VALUES:
        share = counts / values.size
        means = [random.multinomial(values.size, share, size) @ distinct for size in _sizes(distinct.size)]
        return _ends(np.concatenate(means) / values.size)
    weights = np.ones(values.size) if weight is None else weight
    sums = np.stack([weights * values, weights])
    if values.size > _MOST_GROUPS:
        group = random.permutation(values.size) % _MOST_GROUPS
        sums = np.stack([np.bincount(group, part) for part in sums])
    rows = sums.shape[1]
    totals = [sums[:, random.integers(rows, size=(size, rows))].sum(axis=2) for size in _sizes(3 * rows)]
    paid, weighed = np.concatenate(totals, axis=1)
    return _ends(paid[weighed > 0] / weighed[weighed > 0])


def repeated_folds_interval(mean: float, fold_means: np.ndarray, test_share: float) -> tuple[float, float]:
    """A 95 % interval around a cross-validated mean, from the means of all test folds.

    The corrected interval of Nadeau and Bengio (2003): Student's t, with the variance of the fold means times
    1/count + test rows/training rows, because the training sets of the folds overlap. Unlike resampled rows it also
    sees how much the cost varies with the training set.

    Parameters
    ----------
    mean : float
    fold_means : ndarray
        At least two.
    test_share : float
        The share of the rows that a fold tests.
    """
    from scipy.special import stdtrit

    count = fold_means.size
    variance = fold_means.var(ddof=1) * (1 / count + test_share / (1 - test_share))
    half = float(stdtrit(count - 1, 0.975) * np.sqrt(variance))
    return mean - half, mean + half


def _sizes(numbers: int) -> list[int]:
    """How many resamples to draw at once, each of so many numbers."""
    at_once = max(1, _MOST_NUMBERS // numbers)
    return [min(at_once, _DRAWS - start) for start in range(0, _DRAWS, at_once)]


def _ends(means: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
