"""What decisions are expected to cost before anyone knows the labels, and what it would save to correct them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from uneven.costs import RowCosts
from uneven.monitor.prevalence import (
    PrevalenceEstimate,
    ScoredReference,
    log_likelihood_slopes,
    move_probability,
    reference_pull,
)

#: Step of the derivatives by which the chance of the reference is counted, relative to a standard error.
_STEP = 1e-3


@dataclass(frozen=True)
class EstimatedCost:
    """The mean expected cost of decisions, by probabilities for the share of positives that rows seem to have.

    Attributes
    ----------
    value, low, high : float
        Per row.
    corrected : float
        The same if decisions were corrected for that share.
    """

    value: float
    low: float
    high: float
    corrected: float

    @property
    def saved(self) -> float:
        """What it is expected to save per row to correct the decisions."""
        return self.value - self.corrected


def estimate_cost(
    reference: ScoredReference,
    log_odds: np.ndarray,
    flagged: np.ndarray,
    costs: RowCosts,
    prevalence: PrevalenceEstimate,
) -> EstimatedCost:
    """The estimate for rows with these log-odds, decisions and costs.

    The interval counts the chance of the rows, of the share of positives and of the reference, by the delta method; it
    also reaches over the costs at both ends of the interval of the share.
    """
    on_positive = np.where(flagged, costs.tp_cost, costs.fn_cost)
    on_negative = np.where(flagged, costs.fp_cost, costs.tn_cost)
    apart = on_positive - on_negative
    base, share = reference.base, prevalence.value
    probability = reference.probability(log_odds)

    def mean_cost(probability: np.ndarray, base: float, share: float) -> float:
        return float((on_negative + move_probability(probability, base, share) * apart).mean())

    value = mean_cost(probability, base, share)
    ends = [value, mean_cost(probability, base, prevalence.low), mean_cost(probability, base, prevalence.high)]
    spread = _spread(reference, log_odds, on_negative, apart, share)
    reach = float(ndtri((1 + prevalence.confidence) / 2)) * spread
    moved = move_probability(probability, base, share)
    better = costs.prefers_positive(moved)
    one, other = np.where(better, costs.tp_cost, costs.fn_cost), np.where(better, costs.fp_cost, costs.tn_cost)
    corrected = float((moved * one + (1 - moved) * other).mean())
    return EstimatedCost(value, min(*ends, value - reach), max(*ends, value + reach), min(corrected, value))


def _spread(
    reference: ScoredReference, z: np.ndarray, on_negative: np.ndarray, apart: np.ndarray, share: float
) -> float:
    """The standard error of the mean expected cost."""
    base, count = reference.base, z.size
    at = np.array([reference.sigmoid.slope, reference.sigmoid.offset, base])

    def expected(parameters: np.ndarray, share: float) -> np.ndarray:
        probability = expit(parameters[0] * z + parameters[1])
        return np.asarray(on_negative + move_probability(probability, float(parameters[2]), share) * apart)

    each = expected(at, share)
    pull, curvature = reference_pull(reference, z, np.ones(count), share)
    inside = 0 < share < 1 and curvature > 0
    step = _STEP / math.sqrt(curvature) if inside else 0.0
    by_share = 0.0
    influence = (each - each.mean()) / count
    if inside and step < min(share, 1 - share):
        by_share = float((expected(at, share + step) - expected(at, share - step)).mean()) / (2 * step)
        influence = influence + by_share * log_likelihood_slopes(reference.probability(z), base, share) / curvature
    gradient = np.zeros(3)
    for k, width in enumerate(_STEP * np.sqrt(np.diag(reference.covariance))):
        if width > 0:
            ahead, behind = at + width * np.eye(3)[k], at - width * np.eye(3)[k]
            gradient[k] = float((expected(ahead, share) - expected(behind, share)).mean()) / (2 * width)
    if by_share:
        gradient += by_share * pull / curvature
    return math.sqrt(float(influence @ influence) + max(float(gradient @ reference.covariance @ gradient), 0.0))
