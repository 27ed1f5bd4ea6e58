"""Platt's scaling of log-odds: a logistic fit of the labels, in which costs play no part."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.grouping import grouped
from uneven.learners.corrections.scored_rows import ScoredRows
from uneven.learners.platt import Sigmoid

#: Precision of the normal prior of the log-slope, around 0: a model's own log-odds are believed unless rows say else.
_PRECISION = 4.0


def platt(rows: ScoredRows, order: int) -> Correction:
    """Slope and shift of least log loss."""
    used = rows.weight > 0
    sigmoid = Sigmoid.fitted(rows.log_odds[used], rows.is_positive[used], rows.weight[used])
    return Correction(shift=-sigmoid.offset, slope=sigmoid.slope)


def careful_platt(log_odds: np.ndarray, is_positive: np.ndarray, weight: np.ndarray) -> Correction:
    """Slope and shift of least log loss, with a prior of the slope: it stays positive, and near 1 with few rows.

    The prior also keeps rows that the log-odds separate from becoming certainties. No two different log-odds become the
    same probability, and a threshold means the same before and after.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.corrections.platt import careful_platt
    >>> log_odds, truth = np.repeat([-4.0, 4.0], 50), np.arange(100) % 10 == 0  # much too sure
    >>> truth[50:] = ~truth[50:]
    >>> found = careful_platt(log_odds, truth, np.ones(100))
    >>> round(found.slope, 2), round(found.shift, 2)
    (0.58, 0.0)
    """
    used = weight > 0
    (values,), signs, weights = grouped((log_odds[used],), np.where(is_positive[used], 1.0, -1.0), weight[used])
    target = (signs > 0).astype(np.float64)  # not Platt's, which would call every sure row too risky, in money

    def potential(point: np.ndarray) -> tuple[float, np.ndarray]:
        log_slope, shift = point
        scaled = math.exp(log_slope) * values
        score = scaled - shift
        pull = weights * (expit(score) - target)
        losses = float(weights @ (np.logaddexp(0.0, score) - target * score))
        return (
            losses + _PRECISION * log_slope**2 / 2,
            np.array([float(pull @ scaled) + _PRECISION * log_slope, -float(pull.sum())]),
        )

    start = np.zeros(2)
    found = minimize(potential, start, jac=True, method="L-BFGS-B", bounds=[(-4.0, 4.0), (None, None)])
    return Correction(shift=float(found.x[1]), slope=math.exp(float(found.x[0])))
