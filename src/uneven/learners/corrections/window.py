"""The window loss of shifted log-odds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uneven.learners.corrections.grouping import grouped
from uneven.learners.corrections.scored_rows import ScoredRows
from uneven.losses import phi

#: Numbers that are worked on at once: they stay in the processor's cache.
_AT_ONCE = 32_768


def window_losses(rows: ScoredRows, order: int, shifts: np.ndarray) -> np.ndarray:
    """The sum of the window losses of all rows at each shift, over the mean regret of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.learners.corrections.scored_rows import ScoredRows
    >>> from uneven.learners.corrections.window import window_losses
    >>> costs = RowCosts.read(2, fp_cost=1, fn_cost=1)
    >>> rows = ScoredRows(np.array([1.0, -1.0]), np.array([True, False]), costs, np.ones(2))
    >>> window_losses(rows, 1, np.array([-9.0, 0.0, 9.0])).round(3).tolist()
    [0.999, 0.145, 0.999]
    """
    return losses_at(order, rows.margins, rows.signs, rows.weights, shifts)


def grouped_window_losses(rows: ScoredRows, order: int) -> Callable[[np.ndarray], np.ndarray]:
    """:func:`window_losses` as a function of the shifts, of groups of rows if they are many."""
    (distances,), signs, weights = grouped((rows.distances,), rows.signs, rows.weights)
    return lambda shifts: losses_at(order, signs * distances, signs, weights, shifts)


def losses_at(
    order: int, margins: np.ndarray, signs: np.ndarray, weights: np.ndarray, shifts: np.ndarray
) -> np.ndarray:
    """For each shift u the sum of weights times phi(margins - signs u)."""
    window, total = phi("beta", order=order), np.zeros(shifts.size)
    rows = max(1, _AT_ONCE // max(1, shifts.size))
    for start in range(0, margins.size, rows):
        part = slice(start, start + rows)
        total += weights[part] @ window.values(margins[part, None] - signs[part, None] * shifts)
    return total
