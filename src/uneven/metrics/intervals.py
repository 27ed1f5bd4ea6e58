"""95 % intervals: from resampled rows, and from repeated folds; and which of them are rough."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from uneven.costs import RowCosts

_DRAWS = 2000
_MOST_NUMBERS = 2_000_000  # held in memory at once
_FEW_VALUES = 1000
_MOST_GROUPS = 5000
#: Mistakes from which an interval is not called rough. Resampled rows cannot show a mistake that no row has shown, so
#: that an interval from fewer mistakes misses the truth far more often than once in 20 times.
_ENOUGH_MISTAKES = 10
#: What the word says, for tables and figures in which it stands.
ROUGH_MEANS = (
    f"Rough: the interval rests on fewer than {_ENOUGH_MISTAKES} mistakes of the dearer kind; new rows may well lie "
    "outside."
)


def is_rough(mistakes: float) -> bool:
    """Whether an interval that rests on so many mistakes must be called rough.

    Examples
    --------
    >>> from uneven.metrics.intervals import is_rough
    >>> is_rough(9.5), is_rough(10)
    (True, False)
    """
    return not mistakes >= _ENOUGH_MISTAKES


def ends_in_words(low: str, high: str, *, rough: bool) -> str:
    """The two ends of an interval; every text that shows an interval is made here, so that none hides a rough one.

    Examples
    --------
    >>> from uneven.metrics.intervals import ends_in_words
    >>> ends_in_words("1", "2", rough=False), ends_in_words("1", "2", rough=True)
    ('1 to 2', '1 to 2, rough')
    """
    return f"{low} to {high}, rough" if rough else f"{low} to {high}"


def mistakes_behind(
    costs: RowCosts, is_positive: np.ndarray, said_positive: np.ndarray, other: np.ndarray | None = None
) -> float:
    """How many mistakes an interval of costs rests on: see :func:`dearer_mistakes`.

    Parameters
    ----------
    costs : RowCosts
    is_positive : ndarray of bool, shape (n,)
    said_positive : ndarray of bool, shape (repeats, n)
    other : ndarray of bool, shape (repeats, n), optional
        The decisions of another classifier. Then the interval is that of the difference, and a mistake counts if only
        one of both makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.metrics.intervals import mistakes_behind
    >>> costs, truth = RowCosts.read(4, fp_cost=1, fn_cost=20), np.array([True, True, False, False])
    >>> mistakes_behind(costs, truth, np.array([[False, True, True, True]]))
    1.0
    >>> mistakes_behind(costs, truth, np.array([[True, True, True, True]]))
    2.0
    """
    wrong = said_positive != (is_positive if other is None else other)
    said = (said_positive,) if other is None else (said_positive, other)
    possible = {"fp_regret": any(one.any() for one in said), "fn_regret": any(not one.all() for one in said)}
    return dearer_mistakes(
        (float(costs.of_each_row(name)[rows].mean()), float((wrong & rows).sum() / wrong.shape[0]))
        for name, rows in (("fp_regret", ~is_positive), ("fn_regret", is_positive))
        if possible[name] and rows.any()
    )


def dearer_mistakes(kinds: Iterable[tuple[float, float]]) -> float:
    """How many mistakes are of the dearer kind, or of both kinds if both cost the same.

    A few of them outweigh many of the other kind, so that an interval of costs rests on them. ``kinds`` has the mean
    regret and the number of mistakes of each kind that can happen: misses cannot if everyone is flagged.

    Examples
    --------
    >>> from uneven.metrics.intervals import dearer_mistakes
    >>> dearer_mistakes([(1, 300), (20, 4)]), dearer_mistakes([(1, 300), (1, 4)]), dearer_mistakes([(1, 300)])
    (4.0, 304.0, 300.0)
    """
    found = [(abs(regret), count) for regret, count in kinds]
    dearest = max((regret for regret, _ in found), default=0.0)
    return float(sum(count for regret, count in found if regret == dearest))


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
