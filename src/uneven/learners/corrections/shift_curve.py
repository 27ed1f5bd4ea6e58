"""What the out-of-fold decisions would have cost at other shifts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.posterior import ShiftPosterior
from uneven.learners.corrections.realised_cost import costs_by_shift
from uneven.learners.corrections.scored_rows import ScoredRows, alpha_log_odds
from uneven.learners.corrections.window import grouped_window_losses

_POINTS = 801
#: How far the curve reaches at least, and how far beyond the rows and the shift in use.
_LEAST_REACH, _BEYOND = 2.0, 0.5


@dataclass(frozen=True)
class ShiftCurve:
    """Cost per out-of-fold row against the shift of the log-odds.

    Attributes
    ----------
    shift : ndarray
    cost : ndarray
        Realised cost: it jumps where the decision on a row changes.
    window_cost : ndarray
        The window loss in its place, in the unit of the costs: the smooth curve that the methods "gibbs", "affine" and
        "argmin" use.
    chosen : float
        The shift that is used; NaN if the correction is no shift.
    posterior : ShiftPosterior or None
    """

    shift: np.ndarray
    cost: np.ndarray
    window_cost: np.ndarray
    chosen: float
    posterior: ShiftPosterior | None

    def plot(self, ax: Any = None) -> Any:
        """Draw costs and posterior against the shift; returns the axes. Needs Matplotlib (the extra ``plot``)."""
        from uneven.figures.displays.threshold_shift import ThresholdShiftDisplay

        return ThresholdShiftDisplay(self).plot(ax).ax_


def shift_curve(rows: ScoredRows, correction: Correction, order: int) -> ShiftCurve:
    """The curve of some rows, from the shift at which all are positive to the one at which all are negative."""
    chosen = correction.shift if correction.slope == 1 else float("nan")
    low, high = -_LEAST_REACH, _LEAST_REACH
    if rows.informative.any():
        low, high = min(low, rows.distances.min() - _BEYOND), max(high, rows.distances.max() + _BEYOND)
    if np.isfinite(chosen):
        low, high = min(low, chosen - _BEYOND), max(high, chosen + _BEYOND)
    shift = np.linspace(low, high, _POINTS)
    total = float(rows.weight.sum())
    least = float((rows.weight / total) @ _cost_without_mistakes(rows))
    if not rows.informative.any():
        flat = np.full(shift.size, least)
        return ShiftCurve(shift, flat, flat, chosen, correction.posterior)
    steps, mistakes = costs_by_shift(rows)
    realised = mistakes[np.searchsorted(steps, shift, side="right") - 1]
    return ShiftCurve(
        shift,
        least + realised * (rows.unit / total),
        least + grouped_window_losses(rows, order)(shift) * (rows.unit / total),
        chosen,
        correction.posterior,
    )


def _cost_without_mistakes(rows: ScoredRows) -> np.ndarray:
    """What each row costs at least; where one decision is always best, what that decision costs."""
    alpha, sign = alpha_log_odds(rows.costs)
    right, wrong = (rows.costs.paid(rows.is_positive, said) for said in (rows.is_positive, ~rows.is_positive))
    fixed = rows.costs.paid(rows.is_positive, sign * alpha < 0)
    return np.where(np.isfinite(alpha), np.minimum(right, wrong), fixed)
