"""The cost of each classifier with its 95 % interval, and paired differences of costs, in numbers and in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from uneven.costs import RowCosts
from uneven.metrics.mean_interval import Cell, CountedRows, MeanInterval, mean_interval

#: What the word says, for tables and figures in which it stands.
ROUGH_MEANS = (
    "Rough: one row alone has more than a fifth of what all such mistakes could cost; new rows may be dearer than any "
    "here."
)


def ends_in_words(low: str, high: str, *, rough: bool) -> str:
    """The two ends of an interval; every text that shows an interval is made here, so that none hides a rough one.

    Examples
    --------
    >>> from uneven.metrics.intervals import ends_in_words
    >>> ends_in_words("1", "2", rough=False), ends_in_words("1", "2", rough=True)
    ('1 to 2', '1 to 2, rough')
    """
    return f"{low} to {high}, rough" if rough else f"{low} to {high}"


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
        Whether costs differ so much from row to row that one row alone has more than a fifth of what all mistakes of
        its kind could cost. Rows that are dearer than any here may then come, and the interval is too narrow too often.
        True if nobody has looked; the difference of the first classifier, which has none, is not rough.
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
    *,
    trained: float | None = None,
    rules: Collection[str] = (),
    groups: np.ndarray | None = None,
) -> list[CostEstimate]:
    """An estimate for each classifier.

    Parameters
    ----------
    costs : RowCosts
    is_positive : ndarray of bool, shape (n,)
    decisions : mapping of str to ndarray of bool, shape (repeats, n)
        Where each classifier predicts positive, in each repeat of a cross-validation.
    weight : ndarray of shape (n,), optional
    trained : float, optional
        The number of rows that the models of a fold learnt from; None if the decisions are those of one fitted model.
        Then the intervals also hold what the cost varies with the training rows: see :func:`worth_of_rows`.
    rules : collection of str
        The classifiers that decide the same for every row by rule: they cannot make the other decision on new rows, and
        nothing was learnt. A model that does so on these rows may not on others.
    groups : ndarray of int, shape (n,), optional
        The group of each row, such as a customer. Then groups are independent, not rows, and the intervals are those of
        sums over groups.
    """
    found: list[CostEstimate] = []
    first, first_paid = np.zeros((1, 0), dtype=bool), np.zeros((1, 0))
    weight = None if weight is None else weight / weight.max()  # so that no product with a cost overflows
    for name, said_positive in decisions.items():
        paid = costs.paid(is_positive, said_positive)
        cost = _mean(paid, weight)
        fixed = name in rules
        cells = _cells(costs, is_positive, said_positive, None, weight, groups)
        interval = interval_of_outcomes(
            cells, worth=worth_of_rows(said_positive, None if fixed else trained), fixed=(fixed, fixed)
        )
        estimate = CostEstimate(
            name,
            cost,
            min(interval.low, cost),
            max(interval.high, cost),
            false_positives=float((~is_positive & said_positive).sum() / said_positive.shape[0]),
            false_negatives=float((is_positive & ~said_positive).sum() / said_positive.shape[0]),
            rough=interval.rough,
            difference_rough=False,
        )
        if found:
            more = _mean(paid - first_paid, weight)
            cells = _cells(costs, is_positive, said_positive, first, weight, groups)
            worth = worth_of_rows(said_positive, trained)
            interval = interval_of_outcomes(cells, worth=worth, fixed=(fixed, found[0].name in rules))
            estimate = replace(
                estimate,
                difference=more,
                difference_low=min(interval.low, more),
                difference_high=max(interval.high, more),
                difference_rough=interval.rough,
            )
        else:
            first, first_paid = said_positive, paid
        found.append(estimate)
    return found


def worth_of_rows(said_positive: np.ndarray, trained: float | None) -> float:
    """What a tested row counts, if models of folds that learnt from ``trained`` rows decided ``said_positive``.

    The variance of a cross-validated mean is that of independent rows times 1/repeats + tested rows/training rows
    (Nadeau and Bengio, 2003), because the training sets of the folds overlap. So a row counts one over that.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.metrics.intervals import worth_of_rows
    >>> round(1 / worth_of_rows(np.zeros((1, 100), dtype=bool), 80), 3)  # 5 folds
    2.25
    """
    repeats, tested = said_positive.shape
    return 1.0 if trained is None else 1 / (1 / repeats + tested / trained)


#: The truth about rows, what a classifier says, and what another says if there is one: True for positive.
OutcomeKey = tuple[int, ...]
_Key = TypeVar("_Key", bound=tuple[Any, ...])


def outcome_cells(
    costs: RowCosts,
    is_positive: np.ndarray,
    said_positive: np.ndarray,
    other: np.ndarray | None = None,
    *,
    weight: np.ndarray | None = None,
    saved: bool = False,
    whole: bool = True,
) -> dict[OutcomeKey, Cell]:
    """What can happen to rows, and what did.

    Parameters
    ----------
    costs : RowCosts
    is_positive : ndarray of bool, shape (n,)
    said_positive : ndarray of bool, shape (repeats, n)
    other : ndarray of bool, shape (repeats, n), optional
        The decisions of another classifier; then rows pay the difference.
    weight : ndarray of shape (n,), optional
    saved : bool
        Whether the ratio is the share of the other's cost that is saved, in place of a mean over rows.
    whole : bool
        Whether these are all rows. Then, if a class has no rows, the costs of all rows stand for those of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.metrics.intervals import outcome_cells
    >>> costs, truth = RowCosts.read(4, fp_cost=1, fn_cost=20), np.array([True, True, False, False])
    >>> missed = outcome_cells(costs, truth, np.array([[True, True, False, True]]))[True, False]
    >>> missed.seen.count.sum(), missed.possible.x, missed.possible.count  # nobody was missed, two could have been
    (np.float64(0.0), array([20.]), array([2.]))
    """
    found: dict[OutcomeKey, Cell] = {}
    for truth in (True, False):
        of_class = is_positive == truth
        rows = of_class if of_class.any() or not whole else np.ones_like(of_class)
        for said in (True, False):
            cost, seen = _cost(costs, truth, said), of_class & (said_positive == said)
            if other is None:
                found[truth, said] = _cell(cost, 1.0, rows, seen, weight)
                continue
            for others in (True, False):
                theirs = _cost(costs, truth, others)
                x, z = (theirs - cost, theirs) if saved else (cost - theirs, 1.0)
                found[truth, said, others] = _cell(x, z, rows, seen & (other == others), weight)
    return found


def _cells(
    costs: RowCosts,
    is_positive: np.ndarray,
    said_positive: np.ndarray,
    other: np.ndarray | None,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
) -> dict[OutcomeKey, Cell]:
    if groups is None:
        return outcome_cells(costs, is_positive, said_positive, other, weight=weight)
    return group_cells(costs, is_positive, said_positive, groups, other, weight=weight)


def group_cells(
    costs: RowCosts,
    is_positive: np.ndarray,
    said_positive: np.ndarray,
    groups: np.ndarray,
    other: np.ndarray | None = None,
    *,
    weight: np.ndarray | None = None,
) -> dict[OutcomeKey, Cell]:
    """The same as :func:`outcome_cells` with groups of rows in place of rows.

    A group pays the sum of what its rows pay, and weighs the sum of their weights. It is seen with the outcome that is
    the largest part of what it pays. What could happen to it is that all its rows of a class have an outcome at once:
    rows of one customer may all be missed together.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.metrics.intervals import group_cells, interval_of_outcomes, outcome_cells
    >>> truth, said = np.arange(400) % 4 == 0, np.arange(400)[None] % 8 == 0
    >>> costs = RowCosts.read(400, fp_cost=1, fn_cost=20)
    >>> rows = interval_of_outcomes(outcome_cells(costs, truth, said))
    >>> groups = interval_of_outcomes(group_cells(costs, truth, said, np.arange(400) % 40))
    >>> [round(end, 1) for end in (rows.low, rows.high, groups.low, groups.high)]
    [1.9, 3.2, 0.8, 5.4]
    """
    outcomes: dict[OutcomeKey, Outcome] = {}
    for truth in (True, False):
        of_class = is_positive == truth
        for said in (True, False):
            cost, seen = _cost(costs, truth, said), of_class & (said_positive == said)
            if other is None:
                outcomes[truth, said] = Outcome(cost, seen, of_class)
                continue
            for others in (True, False):
                more = cost - _cost(costs, truth, others)
                outcomes[truth, said, others] = Outcome(more, seen & (other == others), of_class)
    return sum_groups(outcomes, groups, weight)


@dataclass(frozen=True)
class Outcome:
    """What rows pay if it happens (a number, or one for each), to which rows it did, and to which it could.

    ``seen`` has the shape (repeats, rows), ``possible`` (rows,); each row has one outcome in each repeat.
    """

    cost: Any
    seen: np.ndarray
    possible: np.ndarray


def outcome_cell(one: Outcome, weight: np.ndarray | None) -> Cell:
    """The cell of an outcome. If its class has no rows, the costs of all rows stand for those of its own."""
    rows = one.possible if one.possible.any() else np.ones_like(one.possible)
    return _cell(one.cost, 1.0, rows, one.seen, weight)


def sum_groups(outcomes: Mapping[_Key, Outcome], groups: np.ndarray, weight: np.ndarray | None) -> dict[_Key, Cell]:
    """The cells of groups of rows: see :func:`group_cells`. Keys begin with the class of the rows."""
    number = int(groups.max()) + 1
    weights = np.ones(groups.size) if weight is None else weight

    def sums(values: Any) -> np.ndarray:
        return np.bincount(groups, weights * values, number)

    weighs = sums(np.ones(groups.size))
    parts = {key: np.stack([sums(one.cost * made) for made in one.seen]) for key, one in outcomes.items()}
    stacked = np.stack(list(parts.values()))
    paid, largest = stacked.sum(axis=0), np.abs(stacked).argmax(axis=0)
    found: dict[_Key, Cell] = {}
    for place, (key, one) in enumerate(outcomes.items()):
        of_class = np.sum([part for other, part in parts.items() if other[0] == key[0]], axis=0)
        could = (paid - of_class).mean(axis=0) + sums(one.cost * one.possible)
        having, mine = sums(one.possible) > 0, largest == place
        seen = CountedRows.of(paid[mine], np.broadcast_to(weighs, paid.shape)[mine])
        seen = replace(seen, count=seen.count / paid.shape[0])
        found[key] = Cell(seen, CountedRows.of(could[having], weighs[having]), has_tail=False)
    return found


def interval_of_outcomes(
    cells: Mapping[OutcomeKey, Cell],
    *,
    worth: float = 1.0,
    confidence: float = 0.95,
    fixed: tuple[bool, bool] = (False, False),
) -> MeanInterval:
    """The interval of the mean over all outcomes.

    ``fixed`` says of the classifier, and of the other, whether it decides the same for every row by rule. Then a
    decision that no row got cannot be made: a rule that flags everyone misses nobody.
    """
    seen = [key for key, cell in cells.items() if cell.seen.count.sum() > 0]
    made = [{key[at] for key in seen} if rule else {True, False} for at, rule in zip((1, -1), fixed, strict=True)]
    possible = [cell for key, cell in cells.items() if key[1] in made[0] and key[-1] in made[1]]
    return mean_interval(possible, worth=worth, confidence=confidence)


def _cost(costs: RowCosts, truth: bool, said: bool) -> Any:
    """A number, or one for each row."""
    if truth:
        return costs.tp_cost if said else costs.fn_cost
    return costs.fp_cost if said else costs.tn_cost


def _cell(x: Any, z: Any, rows: np.ndarray, seen: np.ndarray, weight: np.ndarray | None) -> Cell:
    repeats = seen.shape[0]
    if weight is None and np.ndim(x) == 0 and np.ndim(z) == 0:
        counts = float(seen.sum()) / repeats, float(rows.sum())
        seen_rows, possible_rows = (CountedRows.alike(float(x), count, float(z)) for count in counts)
        return Cell(seen_rows, possible_rows)
    factor = 1.0 if weight is None else weight
    x, z = (np.broadcast_to(factor * part, rows.shape) for part in (x, z))
    found, possible = (CountedRows.of(x[some], z[some]) for some in (np.nonzero(seen)[1], np.flatnonzero(rows)))
    return Cell(replace(found, count=found.count / repeats), possible)


def _mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    per_row = values.mean(axis=0)
    return float(per_row.mean() if weight is None else np.average(per_row, weights=weight))
