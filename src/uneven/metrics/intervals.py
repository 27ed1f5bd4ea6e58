"""95 % intervals: of mean costs, of the cost of each classifier, and of any metric; and which of them are rough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from uneven.costs import COSTS, DEFAULT_COSTS, RowCosts
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import read_labels, require_same_length, where_positive

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


# -- several classifiers on the same rows -----------------------------------------------------------------------------


@dataclass(frozen=True)
class CostEstimate:
    """Expected cost of one classifier, with a 95 % interval.

    Attributes
    ----------
    name : str
    cost : float
        Mean cost per row.
    low, high : float
        Ends of the interval.
    false_positives, false_negatives : float
        Number of mistakes of each kind, averaged over the repeats of a cross-validation.
    difference : float or None
        Mean cost per row minus that of the first classifier; None for the first one itself.
    difference_low, difference_high : float or None
        Ends of the interval of the difference. It is paired: both classifiers are seen on the same rows, so that it is
        usually much narrower than two intervals of costs suggest.
    rough, difference_rough : bool
        Whether the interval rests on fewer than 10 mistakes of the dearer kind (of both kinds, if they cost the same).
        It is then too narrow too often. For the difference, mistakes count that only one of both classifiers makes.
        True if nobody has counted; the difference of the first classifier, which has none, is not rough.
    """

    name: str
    cost: float
    low: float
    high: float
    false_positives: float
    false_negatives: float
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    rough: bool = True
    difference_rough: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)


def estimates(
    costs: RowCosts,
    is_positive: np.ndarray,
    decisions: Mapping[str, np.ndarray],
    weight: np.ndarray | None = None,
    folds: np.ndarray | None = None,
) -> list[CostEstimate]:
    """An estimate for each classifier.

    Parameters
    ----------
    costs : RowCosts
    is_positive : ndarray of bool, shape (n,)
    decisions : mapping of str to ndarray of bool, shape (repeats, n)
        Where each classifier predicts positive, in each repeat of a cross-validation.
    weight : ndarray of shape (n,), optional
    folds : ndarray of int, shape (repeats, n), optional
        The fold that tested each row. If given, the intervals are those of repeated folds.
    """
    found: list[CostEstimate] = []
    first, first_said = np.zeros(0), np.zeros((1, 0), dtype=bool)
    for name, said_positive in decisions.items():
        paid = costs.paid(is_positive, said_positive)
        cost, low, high = _mean_with_interval(paid, weight, folds)
        false_positives = float((~is_positive & said_positive).sum() / said_positive.shape[0])
        false_negatives = float((is_positive & ~said_positive).sum() / said_positive.shape[0])
        rough = is_rough(mistakes_behind(costs, is_positive, said_positive))
        estimate = CostEstimate(
            name, cost, low, high, false_positives, false_negatives, rough=rough, difference_rough=False
        )
        if found:
            more, low, high = _mean_with_interval(paid - first, weight, folds)
            rough = is_rough(mistakes_behind(costs, is_positive, said_positive, first_said))
            estimate = replace(
                estimate, difference=more, difference_low=low, difference_high=high, difference_rough=rough
            )
        else:
            first, first_said = paid, said_positive
        found.append(estimate)
    return found


def _mean_with_interval(
    values: np.ndarray, weight: np.ndarray | None, folds: np.ndarray | None
) -> tuple[float, float, float]:
    per_row = values.mean(axis=0)
    mean = float(per_row.mean() if weight is None else np.average(per_row, weights=weight))
    if folds is None:
        return mean, *bootstrap_interval(per_row, weight)
    weights = np.ones(per_row.size) if weight is None else weight
    count = int(folds.max()) + 1
    sums = [
        (np.bincount(f, weights * v, count), np.bincount(f, weights, count)) for f, v in zip(folds, values, strict=True)
    ]
    paid, weighed = np.concatenate(sums, axis=1)
    return mean, *repeated_folds_interval(mean, paid[weighed > 0] / weighed[weighed > 0], 1 / count)


# -- any metric of this package ---------------------------------------------------------------------------------------

#: The arguments of metrics that may hold one value for each row.
_PER_ROW = ("sample_weight", *COSTS, "baseline")


@dataclass(frozen=True)
class Interval:
    """A value with a confidence interval.

    Attributes
    ----------
    value : float or ndarray
        The metric on all rows.
    low, high : float or ndarray
        Ends of the interval.
    rough : bool
        Whether it rests on fewer than 10 mistakes, as in :class:`CostEstimate`; with scores or probabilities, on fewer
        than 10 rows of the rarer class. It is then too narrow too often.
    """

    value: Any
    low: Any
    high: Any
    rough: bool = True


def metric_interval(
    metric: Callable[..., Any],
    y_true: Any,
    y_pred: Any,
    *,
    minus: Any = None,
    draws: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    **given: Any,
) -> Interval:
    """A metric with a bootstrap interval: quantiles of the metric on resampled rows.

    Parameters
    ----------
    metric : callable
        Any metric of this package that returns a number, such as :func:`savings_score`; or a function of the same kind
        that returns a number or an array, called as ``metric(y_true, y_pred, **given)``.
    y_true, y_pred : array-like of shape (n,)
        Labels, and what the metric compares with them: predictions, scores or probabilities.
    minus : array-like of shape (n,), optional
        Predictions, scores or probabilities of another classifier for the same rows. Then the interval is that of the
        difference, ``y_pred``'s metric minus this one's, on the same resamples (a paired interval).
    draws : int
        Number of resamples.
    confidence : float
        Between 0 and 1.
    random_state : seed of numpy.random.default_rng
    **given
        Arguments of the metric. Costs, weights and a baseline that are given for each row are resampled with the rows.

    Notes
    -----
    A row is drawn with its weight and its costs. Resamples on which the metric does not exist, such as savings where
    the baseline costs 0, are left out; more than 1 in 20 of them are an error.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.metrics import metric_interval, savings_score
    >>> y = np.tile([1, 0, 0, 0], 50)
    >>> found = metric_interval(savings_score, y, np.tile([1, 1, 0, 0], 50), fp_cost=2, fn_cost=np.arange(200) % 30 + 1)
    >>> round(found.value, 3), bool(found.low < found.value < found.high)
    (0.667, True)
    >>> found.rough  # 50 false positives, and no miss, which is dearer
    True
    """
    truth, answers = read_labels("y_true", y_true), [np.asarray(y_pred)]
    require_same_length(y_true=truth, y_pred=answers[0])
    if minus is not None:
        answers.append(np.asarray(minus))
        require_same_length(y_true=truth, minus=answers[1])
    if not isinstance(draws, int) or draws < 20:
        raise CostError(f"draws must be a whole number, at least 20, got {brief(draws)}")
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise CostError(f"confidence must lie strictly between 0 and 1, got {brief(confidence)}")
    per_row = {name: np.asarray(given[name]) for name in _PER_ROW if np.ndim(given.get(name, 0)) == 1}
    for name, values in per_row.items():
        require_same_length(**{"y_true": truth, name: values})

    def on(rows: Any) -> Any:
        arguments = {**given, **{name: values[rows] for name, values in per_row.items()}}
        found = [np.asarray(metric(truth[rows], answer[rows], **arguments), dtype=np.float64) for answer in answers]
        return found[0] if len(found) == 1 else found[0] - found[1]

    value = on(slice(None))
    random = np.random.default_rng(random_state)
    drawn, last = [], CostError("")
    for _ in range(draws):
        try:
            drawn.append(on(random.integers(truth.size, size=truth.size)))
        except CostError as error:
            last = error
    if len(drawn) < 0.95 * draws:
        raise CostError(f"the metric does not exist on {draws - len(drawn)} of {draws} resamples: {last}")
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    value, low, high = (float(part) if part.ndim == 0 else part for part in (value, low, high))
    return Interval(value, low, high, is_rough(_mistakes(truth, answers, given)))


def _mistakes(truth: np.ndarray, answers: list[np.ndarray], given: dict[str, Any]) -> float:
    """Mistakes behind a metric of labels; behind one of scores, the rows of the rarer class."""
    labels, counts = np.unique(truth, return_counts=True)
    if not all(answer.dtype.kind == truth.dtype.kind and np.isin(answer, labels).all() for answer in answers):
        return float(counts.min())
    if labels.size != 2:
        return float((answers[0] != (truth if len(answers) == 1 else answers[1])).sum())
    is_positive, *said = where_positive(given.get("pos_label"), truth, *answers)
    costs = {name: given.get(name, default) for name, default in DEFAULT_COSTS.items()}
    return mistakes_behind(RowCosts.read(truth.size, **costs), is_positive, *(one[None] for one in said))
