"""Isotonic regression of the labels on the log-odds (pool adjacent violators)."""

from __future__ import annotations

import numpy as np

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.scored_rows import ScoredRows, log_odds_of, log_odds_range, row_count


def isotonic(rows: ScoredRows, order: int) -> Correction:
    """Log-odds of the isotonic probabilities; costs play no part, but for the room around alpha."""
    from sklearn.isotonic import IsotonicRegression

    used = rows.weight > 0
    fit = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fit.fit(rows.log_odds[used], rows.is_positive[used].astype(np.float64), rows.weight[used])
    limits = log_odds_range(row_count(rows.weight), rows.alpha)
    values = np.clip(log_odds_of(fit.y_thresholds_), *limits)  # that is, Laplace's probability instead of 0 and 1
    return Correction(shift=np.nan, slope=np.nan, knots=fit.X_thresholds_, values=values)
