"""A bootstrap interval for any metric of this package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven._inputs import brief
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics.intervals import is_rough, mistakes_behind
from uneven.metrics.labels import read_labels, require_same_length, where_positive

#: The arguments of metrics that may hold one value for each row.
_PER_ROW = ("sample_weight", "fp_cost", "fn_cost", "tp_cost", "tn_cost", "baseline")
#: What metrics take an outcome to cost if they are not told.
_COSTS = {"fp_cost": 1.0, "fn_cost": 1.0, "tp_cost": 0.0, "tn_cost": 0.0}


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
    costs = {name: given.get(name, default) for name, default in _COSTS.items()}
    return mistakes_behind(RowCosts.read(truth.size, **costs), is_positive, *(one[None] for one in said))
