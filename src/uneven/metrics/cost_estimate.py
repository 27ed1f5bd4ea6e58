"""What several classifiers cost on the same rows, with intervals, and how much more than the first one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from uneven.costs import RowCosts
from uneven.metrics.intervals import bootstrap_interval, is_rough, mistakes_behind, repeated_folds_interval


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
