"""Expected costs by a cost matrix with 95 % intervals, and paired differences, from the home of all intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.metrics.intervals import Outcome, outcome_cell, sum_groups, worth_of_rows
from uneven.metrics.mean_interval import Cell, mean_interval

#: Intervals square costs: beyond this, double precision has no square of them.
_LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class MatrixCostEstimate:
    """Expected cost of one classifier by a cost matrix, with a 95 % interval.

    Attributes
    ----------
    name : str
    cost : float
        Mean cost per row.
    low, high : float
        Ends of the interval.
    counts : ndarray of shape (classes, actions)
        Number of rows of each class that got each action, averaged over the repeats of a cross-validation.
    difference, difference_low, difference_high : float or None
        Mean cost per row minus that of the first classifier, paired, with the ends of its interval; None for the first
        one itself.
    rough, difference_rough : bool
        Whether one row alone has more than a fifth of what all mistakes of its kind could cost: as in
        :class:`uneven.metrics.CostEstimate`.
    """

    name: str
    cost: float
    low: float
    high: float
    counts: np.ndarray
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    rough: bool = True
    difference_rough: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return {**asdict(self), "counts": self.counts.tolist()}


def matrix_estimates(
    costs: np.ndarray,
    truth: np.ndarray,
    taken: Mapping[str, np.ndarray],
    weight: np.ndarray | None = None,
    *,
    trained: float | None = None,
    rules: Collection[str] = (),
    groups: np.ndarray | None = None,
) -> list[MatrixCostEstimate]:
    """An estimate for each classifier; as :func:`uneven.metrics.intervals.estimates` for two classes.

    Parameters
    ----------
    costs : ndarray of shape (classes, actions) or (n, classes, actions)
    truth : ndarray of int, shape (n,)
        The number of each row's class.
    taken : mapping of str to ndarray of int, shape (repeats, n)
        The number of the action that each classifier takes, in each repeat of a cross-validation.
    weight : ndarray of shape (n,), optional
    trained : float, optional
        The number of rows that the models of a fold learnt from.
    rules : collection of str
        The classifiers that take the same action for every row by rule.
    groups : ndarray of int, shape (n,), optional
        The group of each row, such as a customer: groups are independent, not rows.
    """
    weight = None if weight is None else weight / weight.max()
    largest = float(np.abs(costs).max(initial=0.0))
    if largest > _LARGEST:
        raise CostError(f"costs above {_LARGEST:g} have no intervals, got {largest:g}; use another unit")
    found: list[MatrixCostEstimate] = []
    first: tuple[np.ndarray, bool] | None = None
    for name, actions in taken.items():
        fixed = name in rules
        paid = _paid(costs, truth, actions)
        cost = float(np.average(paid, weights=weight))
        interval = mean_interval(
            _cells(costs, truth, (actions, fixed), weight, groups),
            worth=worth_of_rows(actions, None if fixed else trained),
        )
        counts = np.zeros(costs.shape[-2:])
        np.add.at(counts, (np.broadcast_to(truth, actions.shape), actions), 1 / len(actions))
        low, high = min(interval.low, cost), max(interval.high, cost)
        estimate = MatrixCostEstimate(name, cost, low, high, counts, rough=interval.rough, difference_rough=False)
        if first is None:
            first = actions, fixed
        else:
            more = float(np.average(paid - _paid(costs, truth, first[0]), weights=weight))
            interval = mean_interval(
                _cells(costs, truth, (actions, fixed), weight, groups, first), worth=worth_of_rows(actions, trained)
            )
            estimate = replace(
                estimate,
                difference=more,
                difference_low=min(interval.low, more),
                difference_high=max(interval.high, more),
                difference_rough=interval.rough,
            )
        found.append(estimate)
    return found


def _paid(costs: np.ndarray, truth: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """What each row pays, on average over the repeats."""
    rows = np.arange(truth.size)
    paid = costs[rows, truth, actions] if costs.ndim == 3 else costs[truth, actions]
    return np.asarray(paid.mean(axis=0))


def _cells(
    costs: np.ndarray,
    truth: np.ndarray,
    way: tuple[np.ndarray, bool],
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    other: tuple[np.ndarray, bool] | None = None,
) -> list[Cell]:
    """What can happen to rows of each class, and what did; a rule takes no action that no row got.

    Outcomes of a class that cost the same for every row are one outcome.
    """
    classes, width = costs.shape[-2:]
    actions, rule = way
    mine = np.unique(actions) if rule else np.arange(width)
    theirs = np.array([-1])
    if other is not None:
        theirs = np.unique(other[0]) if other[1] else np.arange(width)
    found: dict[tuple[Any, ...], Outcome] = {}
    for y in range(classes):
        of_class = truth == y
        for a in mine:
            for b in theirs:
                paid = costs[..., y, a] - (0.0 if other is None else costs[..., y, b])
                seen = of_class & (actions == a)
                if other is not None:
                    seen = seen & (other[0] == b)
                key = (y, float(paid)) if costs.ndim == 2 else (y, int(a), int(b))
                before = found.get(key)
                found[key] = Outcome(paid, seen if before is None else before.seen | seen, of_class)
    if groups is not None:
        return list(sum_groups(found, groups, weight).values())
    return [outcome_cell(one, weight) for one in found.values()]
