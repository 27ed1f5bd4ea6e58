"""An interval of any metric: by the interval of a mean where the metric is one, else by resampled rows."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.costs import COSTS, DEFAULT_COSTS
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import read_labels, require_same_length, where_positive
from uneven.metrics.expected_cost import expected_cost, savings_score, total_cost
from uneven.metrics.intervals import interval_of_outcomes, outcome_cells
from uneven.metrics.mean_interval import MeanInterval
from uneven.metrics.rows import Rows, read_decisions

#: The arguments of metrics that may hold one value for each row.
_PER_ROW = ("sample_weight", *COSTS, "baseline")
#: Rows of the rarer class from which resampled intervals are not called rough.
_ENOUGH_ROWS = 10


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
        As in :class:`CostEstimate`; if rows were resampled, whether the rarer class has fewer than 10 rows.
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
    """A metric with an interval.

    Parameters
    ----------
    metric : callable
        Any metric of this package that returns a number, such as :func:`savings_score`; or a function of the same kind
        that returns a number or an array, called as ``metric(y_true, y_pred, **given)``.
    y_true, y_pred : array-like of shape (n,)
        Labels, and what the metric compares with them: predictions, scores or probabilities.
    minus : array-like of shape (n,), optional
        Predictions, scores or probabilities of another classifier for the same rows. Then the interval is that of the
        difference, ``y_pred``'s metric minus this one's (a paired interval).
    draws : int
        Number of resamples with each kind of unseen mistake.
    confidence : float
        Between 0 and 1.
    random_state : seed of numpy.random.default_rng
    **given
        Arguments of the metric. Costs, weights and a baseline that are given for each row are resampled with the rows.

    Notes
    -----
    :func:`expected_cost`, :func:`total_cost` and :func:`savings_score` are functions of mean costs: they have the
    interval of :func:`compare_predictions`, and nothing is drawn.

    For every other metric, rows are resampled, each with its weight and its costs, and the ends are quantiles.
    Resampled rows cannot show a mistake that no row has shown. So each resample also holds unseen mistakes, one on
    average: a positive that is judged like a negative, or a negative that is judged like a positive. The interval spans
    what both kinds give. Resamples on which the metric does not exist are left out; more than 1 in 20 are an error.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.metrics import metric_interval, savings_score
    >>> y = np.tile([1, 0, 0, 0], 50)
    >>> found = metric_interval(savings_score, y, np.tile([1, 1, 0, 0], 50), fp_cost=2, fn_cost=np.arange(200) % 30 + 1)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)  # no row was missed, but one may be
    (0.667, 0.353, 0.741)
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

    def on(rows: Any, labels: np.ndarray, judged: list[np.ndarray]) -> Any:
        arguments = {**given, **{name: values[rows] for name, values in per_row.items()}}
        found = [np.asarray(metric(labels, answer, **arguments), dtype=np.float64) for answer in judged]
        return found[0] if len(found) == 1 else found[0] - found[1]

    value = on(slice(None), truth, answers)
    of_mean = _of_mean(metric, truth, answers, given, confidence)
    if of_mean is not None:
        number = float(value)
        return Interval(number, min(of_mean.low, number), max(of_mean.high, number), of_mean.rough)
    random = np.random.default_rng(random_state)
    ends, rarer = [], int(np.unique(truth, return_counts=True)[1].min())
    for mistake in _mistakes(truth, answers):
        drawn, last = [], CostError("")
        for _ in range(draws):
            rows = random.integers(truth.size, size=truth.size)
            labels, judged = truth[rows], [answer[rows] for answer in answers]
            if mistake is not None:
                rows = mistake.put_into(rows, labels, judged, random)
            try:
                drawn.append(on(rows, labels, judged))
            except CostError as error:
                last = error
        if len(drawn) < 0.95 * draws:
            raise CostError(f"the metric does not exist on {draws - len(drawn)} of {draws} resamples: {last}")
        ends.append(np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0))
    low, high = np.min([end[0] for end in ends], axis=0), np.max([end[1] for end in ends], axis=0)
    value, low, high = (float(part) if part.ndim == 0 else part for part in (value, low, high))
    return Interval(value, low, high, rarer < _ENOUGH_ROWS)


# -- metrics that are functions of mean costs -------------------------------------------------------------------------


def _of_mean(
    metric: Callable[..., Any], truth: np.ndarray, answers: list[np.ndarray], given: dict[str, Any], confidence: float
) -> MeanInterval | None:
    """The interval of an expected or total cost or of savings; None for another metric."""
    if metric not in (expected_cost, total_cost, savings_score):
        return None
    arguments = {"pos_label": None, "sample_weight": None, **DEFAULT_COSTS, **given}
    baseline = arguments.pop("baseline", None)
    pairs = [read_decisions(truth, answer, **arguments) for answer in answers]
    rows, said = pairs[0][0], [pair[1][None] for pair in pairs]
    how: dict[str, Any] = {"weight": None if rows.sample_weight is None else rows.weight * rows.count}
    factor, fixed = 1.0, (False, False)
    if metric is savings_score:
        if len(said) == 2 or isinstance(baseline, numbers.Number):
            return None
        if baseline is None:
            rules = [np.full((1, rows.count), rule) for rule in (True, False)]
            said.append(min(rules, key=lambda rule: _mean_cost(rows, rule)))
        else:
            said.append(where_positive(arguments["pos_label"], truth, np.asarray(baseline))[1][None])
        if (rows.costs.paid(rows.is_positive, said[1]) < 0).any() or _mean_cost(rows, said[1]) <= 0:
            return None
        how["saved"], fixed = True, (False, bool(said[1].all() or not said[1].any()))  # a constant baseline is a rule
    elif metric is total_cost:
        factor = float(rows.repetitions.sum())
    cells = outcome_cells(rows.costs, rows.is_positive, *said, **how)
    found = interval_of_outcomes(cells, confidence=confidence, fixed=fixed)
    return MeanInterval(factor * found.low, factor * found.high, found.rough)


def _mean_cost(rows: Rows, said: np.ndarray) -> float:
    return float(rows.weight @ rows.costs.paid(rows.is_positive, said[0]))


# -- mistakes that no row has shown -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Mistake:
    """Rows of one class that one classifier judges like rows of the other.

    Attributes
    ----------
    answer : int
        The number of the classifier.
    rows : ndarray of int
        The rows of the class.
    judged : ndarray
        How the classifier judges rows of the other class, where it is right about them.
    """

    answer: int
    rows: np.ndarray
    judged: np.ndarray
    truth: np.ndarray
    answers: list[np.ndarray]

    def put_into(
        self, rows: np.ndarray, labels: np.ndarray, judged: list[np.ndarray], random: np.random.Generator
    ) -> np.ndarray:
        """Replace some of the resampled rows, on average one, by unseen mistakes."""
        count = min(int(random.poisson(1.0)), rows.size)
        taken = random.choice(self.rows, count)
        rows[:count], labels[:count] = taken, self.truth[taken]
        for number, answer in enumerate(judged):
            answer[:count] = self.answers[number][taken]
        judged[self.answer][:count] = random.choice(self.judged, count)
        return rows


def _mistakes(truth: np.ndarray, answers: list[np.ndarray]) -> Iterator[_Mistake | None]:
    """The kinds of mistake that can happen; None if nothing is known about them."""
    labels = np.unique(truth)
    found = False
    for label in labels if labels.size == 2 else ():
        rows, others = np.flatnonzero(truth == label), truth != label
        for number, answer in enumerate(answers):
            of_labels = answer.dtype.kind == truth.dtype.kind and bool(np.isin(answer, labels).all())
            judged = answer[answer != label] if of_labels else answer[others]
            if judged.size:
                found = True
                yield _Mistake(number, rows, judged, truth, answers)
    if not found:
        yield None
