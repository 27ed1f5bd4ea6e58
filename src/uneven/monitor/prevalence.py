r"""The share of positives among rows without labels, in two ways, each with an interval.

Both ways assume that the rows of each class look as those of the reference did: only the share of positives moved
(label shift). The first believes the probabilities. If r1 and r0 are the densities of a score among positives and
negatives, relative to all reference rows, the likelihood of a share :math:`\pi` is that of the mixture:

.. math:: \ell(\pi) = \sum_i \log(\pi r_1(x_i) + (1 - \pi) r_0(x_i)),

where :math:`r_1 = p / \pi_0` and :math:`r_0 = (1 - p)/(1 - \pi_0)`.

The iteration of Saerens, Latinne and Decaestecker (2002) is EM for it. It is concave in one number, so its root is
found directly. The second way needs decisions only: the share of flagged rows is :math:`\pi` times that among positives
plus :math:`1 - \pi` times that among negatives (Lipton, Wang and Smola, 2018).

Probabilities are calibrated on the reference first, by a line in the log-odds. Intervals are
likelihood ratio and score tests turned around; they count the chance of the new rows and that of the reference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from uneven.decisions.platt import Sigmoid, platt_targets
from uneven.decisions.scored_rows import group_rows

#: Shares nearer to 0 or 1 than this count as 0 and 1.
_EDGE = 1e-9
#: Step of the derivatives by which the chance of the reference is counted, relative to a standard error.
_STEP = 1e-3
#: Log-odds beyond this are no more certain.
_MOST_CERTAIN = 36.0


@dataclass(frozen=True)
class PrevalenceEstimate:
    """A share of positives with its interval.

    Attributes
    ----------
    value, low, high : float
    confidence : float
    """

    value: float
    low: float
    high: float
    confidence: float = 0.95

    def overlaps(self, other: PrevalenceEstimate) -> bool:
        """Whether the two intervals have a share in common."""
        return self.low <= other.high and other.low <= self.high

    def differs(self, other: PrevalenceEstimate) -> bool:
        """Whether 0 is not in the interval of the difference, made of both intervals (Zou and Donner, 2008).

        Examples
        --------
        >>> from uneven.monitor.prevalence import PrevalenceEstimate
        >>> first = PrevalenceEstimate(0.1, 0.07, 0.14)
        >>> first.differs(PrevalenceEstimate(0.15, 0.12, 0.19)), first.differs(PrevalenceEstimate(0.2, 0.16, 0.24))
        (False, True)
        """
        lower, upper = (self, other) if self.value <= other.value else (other, self)
        return upper.value - lower.value > math.hypot(upper.value - upper.low, lower.high - lower.value)


@dataclass(frozen=True)
class ScoredReference:
    """Labelled rows that the model did not learn from, with what it said of them.

    Attributes
    ----------
    log_odds : ndarray
        Of the model's probabilities.
    is_positive, flagged : ndarray of bool
    weight : ndarray
        How many rows each stands for.
    """

    log_odds: np.ndarray
    is_positive: np.ndarray
    flagged: np.ndarray
    weight: np.ndarray

    @cached_property
    def share(self) -> float:
        """The share of positives."""
        return float(self.weight[self.is_positive].sum() / self.weight.sum())

    @cached_property
    def sigmoid(self) -> Sigmoid:
        """The map of log-odds to probabilities that are calibrated on these rows."""
        return Sigmoid.fit(self.log_odds, self.is_positive, self.weight)

    @cached_property
    def base(self) -> float:
        """The mean of the calibrated probabilities: the share of positives that they are for."""
        return float(self.weight @ self.probability(self.log_odds) / self.weight.sum())

    @cached_property
    def covariance(self) -> np.ndarray:
        """Of slope, offset and base, over the draw of these rows."""
        z, weight = self.log_odds, self.weight
        p = self.probability(z)
        apart = platt_targets(self.is_positive, weight) - p
        columns = np.stack([z, np.ones(z.size)])
        bend = weight * p * (1 - p)
        hessian = (columns * bend) @ columns.T
        hessian += 1e-9 * max(float(np.trace(hessian)), 1e-300) * np.eye(2)
        moved = np.linalg.solve(hessian, columns * apart) if self.sigmoid.slope else np.zeros((2, z.size))
        if not self.sigmoid.slope:
            moved[1] = apart / bend.sum()
        along = columns @ bend / weight.sum()  # how slope and offset move the base
        base = (p - self.base) / weight.sum() + along @ moved
        influence = np.vstack([moved, base])
        return np.asarray((influence * weight) @ influence.T)

    def probability(self, log_odds: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of rows with these log-odds."""
        return self.sigmoid.probability(log_odds)

    def rates(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Among negatives and among positives: the share that is flagged, and the number of rows."""
        found = []
        for truth in (False, True):
            weight = self.weight[self.is_positive == truth]
            flagged = self.flagged[self.is_positive == truth]
            found.append((float(weight[flagged].sum() / weight.sum()), float(weight.sum())))
        return found[0], found[1]


def finite_log_odds(probability: np.ndarray) -> np.ndarray:
    """Log-odds of probabilities, which may be 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.clip(np.log(probability) - np.log1p(-probability), -_MOST_CERTAIN, _MOST_CERTAIN)


def move_probability(probability: np.ndarray, base: float, prevalence: float) -> np.ndarray:
    """Probabilities where a share ``prevalence`` is positive, from those for a share ``base``."""
    one, other = probability * (prevalence / base), (1 - probability) * ((1 - prevalence) / (1 - base))
    total = one + other
    return np.asarray(np.where(total > 0, one / np.where(total > 0, total, 1.0), prevalence > 0))


# -- by the probabilities ---------------------------------------------------------------------------------------------


def likeliest_share(probability: np.ndarray, base: float, weight: np.ndarray | None = None) -> float:
    """The share of positives of greatest likelihood: where the iteration of Saerens and others ends.

    Parameters
    ----------
    probability : ndarray
        Of the positive class, where a share ``base`` is positive.
    base : float
    weight : ndarray, optional

    Examples
    --------
    Of 300 rows like 0.9 and 100 like 0.1, where half were positive: a mixture of 13/16 and 3/16.

    >>> import numpy as np
    >>> from uneven.monitor.prevalence import likeliest_share
    >>> round(likeliest_share(np.repeat([0.9, 0.1], [300, 100]), 0.5), 6)
    0.8125
    """
    weight = np.full(probability.size, 1 / probability.size) if weight is None else weight / weight.sum()

    def slope(share: float) -> float:
        return float(weight @ log_likelihood_slopes(probability, base, share))

    if not np.ptp(probability[weight > 0]) and abs(probability[0] - base) < _EDGE:
        return base  # all rows are as likely in both classes: any share fits
    if slope(_EDGE) <= 0:
        return 0.0
    if slope(1 - _EDGE) >= 0:
        return 1.0
    return float(brentq(slope, _EDGE, 1 - _EDGE, xtol=1e-12))


def log_likelihood_slopes(probability: np.ndarray, base: float, share: float) -> np.ndarray:
    """The derivative of each row's log-likelihood by the share."""
    one, other = probability / base, (1 - probability) / (1 - base)
    return np.asarray((one - other) / np.maximum(share * one + (1 - share) * other, 1e-300))


def share_by_probability(
    reference: ScoredReference, log_odds: np.ndarray, confidence: float = 0.95
) -> PrevalenceEstimate:
    """The likeliest share of positives among rows with these log-odds, and all shares that are nearly as likely.

    What counts as nearly is the limit of the likelihood ratio, times the variance of the slope of the log-likelihood
    over what it would be if the probabilities were known: they are calibrated on a reference, which has its own chance.
    """
    (z,), _, weight = group_rows((log_odds,), np.ones(log_odds.size), np.ones(log_odds.size))
    if not reference.sigmoid.slope:
        return PrevalenceEstimate(reference.base, 0.0, 1.0, confidence)
    probability, base = reference.probability(z), reference.base
    value = likeliest_share(probability, base, weight)
    if not np.ptp(z) and value == base:
        return PrevalenceEstimate(base, 0.0, 1.0, confidence)
    one, other = probability / base, (1 - probability) / (1 - base)

    def log_likelihood(share: float) -> float:
        return float(weight @ np.log(np.maximum(share * one + (1 - share) * other, 1e-300)))

    limit = float(ndtri((1 + confidence) / 2)) ** 2 * _inflation(reference, z, weight, value)
    best = log_likelihood(value)

    def excess(share: float) -> float:
        return 2 * (best - log_likelihood(share)) - limit

    low, high = (value if excess(edge) <= 0 else brentq(excess, edge, value, xtol=1e-10) for edge in (_EDGE, 1 - _EDGE))
    low, high = (0.0 if excess(_EDGE) <= 0 else low), (1.0 if excess(1 - _EDGE) <= 0 else high)
    return PrevalenceEstimate(value, float(low), float(high), confidence)


def _inflation(reference: ScoredReference, z: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The variance of the slope of the log-likelihood at a share, over its curvature there."""
    moved, curvature = reference_pull(reference, z, weight, share)
    return 1.0 + max(float(moved @ reference.covariance @ moved), 0.0) / curvature if curvature > 0 else 1.0


def reference_pull(
    reference: ScoredReference, z: np.ndarray, weight: np.ndarray, share: float
) -> tuple[np.ndarray, float]:
    """How slope, offset and base of the reference move the slope of the log-likelihood; and its curvature."""
    at = np.array([reference.sigmoid.slope, reference.sigmoid.offset, reference.base])
    curvature = float(weight @ log_likelihood_slopes(reference.probability(z), reference.base, share) ** 2)
    moved = np.zeros(3)
    for k, step in enumerate(_STEP * np.sqrt(np.diag(reference.covariance))):
        if step > 0:
            ends = (at + sign * step * np.eye(3)[k] for sign in (1, -1))
            ahead, behind = (
                float(weight @ log_likelihood_slopes(expit(end[0] * z + end[1]), end[2], share)) for end in ends
            )
            moved[k] = (ahead - behind) / (2 * step)
    return moved, curvature


# -- by the decisions -------------------------------------------------------------------------------------------------


def share_by_decisions(reference: ScoredReference, flagged: np.ndarray, confidence: float = 0.95) -> PrevalenceEstimate:
    """The share of positives that explains the share of flagged rows, and all shares that a score test allows.

    Examples
    --------
    Flagged are 80 % of positives and 10 % of negatives; of new rows 24 %, so a fifth of them are positive:

    >>> import numpy as np
    >>> from uneven.monitor.prevalence import ScoredReference, share_by_decisions
    >>> truth, flagged = np.repeat([True, False], 500), np.tile(np.repeat([True, False], [4, 1]), 200)
    >>> flagged[500:] = np.arange(500) % 10 == 0
    >>> reference = ScoredReference(np.where(flagged, 2.0, -2.0), truth, flagged, np.ones(1000))
    >>> found = share_by_decisions(reference, np.arange(1000) < 240)
    >>> round(found.value, 9), round(found.low, 3), round(found.high, 3)
    (0.2, 0.15, 0.249)
    """
    (fallout, negatives), (recall, positives) = reference.rates()
    share, count = float(flagged.mean()), flagged.size
    limit = float(ndtri((1 + confidence) / 2)) ** 2
    reach = recall - fallout
    value = (share - fallout) / reach if abs(reach) > _EDGE else reference.share
    noise = [_variance(share, count), _variance(recall, positives), _variance(fallout, negatives)]
    square = reach**2 - limit * (noise[1] + noise[2])
    linear = -2 * (share - fallout) * reach + 2 * limit * noise[2]
    constant = (share - fallout) ** 2 - limit * (noise[0] + noise[2])
    inside = linear**2 - 4 * square * constant
    low, high = 0.0, 1.0
    if square > 0:  # else flags hardly tell the classes apart, and any share may be right
        root = math.sqrt(max(inside, 0.0))
        low, high = (-linear - root) / (2 * square), (-linear + root) / (2 * square)
    clipped = [min(max(end, 0.0), 1.0) for end in (value, low, high)]
    return PrevalenceEstimate(clipped[0], clipped[1], clipped[2], confidence)


def _variance(share: float, count: float) -> float:
    """Of a share of so many rows; half a row of each kind is added, so that none is taken for impossible."""
    kept = (share * count + 0.5) / (count + 1)
    return kept * (1 - kept) / count
