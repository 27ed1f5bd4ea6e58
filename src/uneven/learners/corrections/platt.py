"""Platt's scaling of the log-odds: a logistic fit of the labels, in which costs play no part."""

from __future__ import annotations

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.scored_rows import ScoredRows
from uneven.learners.platt import Sigmoid


def platt(rows: ScoredRows, order: int) -> Correction:
    """Slope and shift of least log loss."""
    used = rows.weight > 0
    sigmoid = Sigmoid.fitted(rows.log_odds[used], rows.is_positive[used], rows.weight[used])
    return Correction(shift=-sigmoid.offset, slope=sigmoid.slope)
