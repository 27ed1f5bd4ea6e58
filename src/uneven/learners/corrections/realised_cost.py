"""The shift of least realised cost, as other tools tune a threshold."""

from __future__ import annotations

import numpy as np

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.scored_rows import ScoredRows
from uneven.metrics.threshold_costs import sums_by_threshold

#: How far beyond the rows the shift lies if all decisions should be the same.
_BEYOND = 1.0


def costs_by_shift(rows: ScoredRows) -> tuple[np.ndarray, np.ndarray]:
    """Shifts and the cost of the mistakes of the informative rows at each, over :attr:`ScoredRows.unit`.

    A cost holds from its shift up to, but without, the next one; the first shift is -inf.
    """
    positive = rows.signs > 0
    false_positives, false_negatives = np.where(positive, 0.0, rows.weights), np.where(positive, rows.weights, 0.0)
    shifts, paid, missed = sums_by_threshold(rows.distances, false_positives, false_negatives)
    return shifts, paid + missed


def realised_cost(rows: ScoredRows, order: int) -> Correction:
    """The middle of the interval of shifts with the least cost; of several intervals the widest."""
    if not rows.informative.any():
        return Correction()
    shifts, cost = costs_by_shift(rows)
    best = cost <= cost.min() + 1e-12 * rows.weights.sum()
    first = np.flatnonzero(best & ~np.append(False, best[:-1]))
    last = np.flatnonzero(best & ~np.append(best[1:], False))
    low = np.where(first == 0, shifts[1] - 2 * _BEYOND, shifts[first])
    ends = np.append(shifts[1:], shifts[-1] + 2 * _BEYOND)
    k = int(np.argmax(ends[last] - low))
    return Correction(shift=float((low[k] + ends[last[k]]) / 2))
