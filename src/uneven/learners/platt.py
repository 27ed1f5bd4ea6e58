"""Platt's scaling: scores of any unit as probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

_STEPS = 100
_SMALL = 1e-12


@dataclass(frozen=True)
class Sigmoid:
    """P(positive) = expit(slope * score + offset).

    Attributes
    ----------
    slope, offset : float

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.platt import Sigmoid
    >>> scores = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 3.0])
    >>> sigmoid = Sigmoid.fitted(scores, np.array([False, False, True, False, True, True]))
    >>> sigmoid.probability(np.array([-1.0, 0.0, 1.0])).round(2).tolist()
    [0.35, 0.48, 0.61]
    """

    slope: float
    offset: float

    @classmethod
    def fitted(cls, scores: np.ndarray, is_positive: np.ndarray, weight: np.ndarray | None = None) -> Sigmoid:
        """The sigmoid of least log loss on these rows, for :func:`platt_targets`."""
        weight = np.ones(scores.size) if weight is None else weight
        return cls.of_shares(scores, platt_targets(is_positive, weight), weight)

    @classmethod
    def of_shares(cls, scores: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Sigmoid:
        """The sigmoid of least log loss on rows of which a share, the target, is positive.

        A slope is never negative: then the scores say nothing, and the probability is the same for all rows.
        """
        positives, negatives = float(weight @ target), float(weight @ (1 - target))
        constant = float(np.log(max(positives, _SMALL * negatives) / max(negatives, _SMALL * positives)))
        middle = float(np.average(scores, weights=weight))
        spread = float(np.sqrt(np.average((scores - middle) ** 2, weights=weight)))
        if spread == 0 or not np.isfinite(spread) or min(positives, negatives) == 0:
            return cls(0.0, constant)
        slope, offset = _newton((scores - middle) / spread, target, weight, constant)
        if slope <= 0:
            return cls(0.0, constant)
        return cls(slope / spread, offset - slope * middle / spread)

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the positive class."""
        return np.asarray(expit(self.slope * scores + self.offset))


def platt_targets(is_positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The targets of Platt (1999): (p + 1)/(p + 2) for the p positive rows and 1/(n + 2) for the n negative ones.

    With them, scores which separate the classes do not become certainties.
    """
    positives, negatives = float(weight[is_positive].sum()), float(weight[~is_positive].sum())
    return np.where(is_positive, (positives + 1) / (positives + 2), 1 / (negatives + 2))


def _newton(unit: np.ndarray, target: np.ndarray, weight: np.ndarray, offset: float) -> tuple[float, float]:
    """Newton's method with halved steps for the log loss of expit(slope * unit + offset)."""
    columns = np.stack([unit, np.ones(unit.size)])
    theta = np.array([0.0, offset])

    def loss(at: np.ndarray) -> float:
        score = at @ columns
        return float(weight @ (np.logaddexp(0.0, score) - target * score))

    now = loss(theta)
    for _ in range(_STEPS):
        probability = expit(theta @ columns)
        gradient = columns @ (weight * (probability - target))
        bend = weight * probability * (1 - probability)
        hessian = (columns * bend) @ columns.T + _SMALL * weight.sum() * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > _SMALL and loss(theta - size * step) > now:
            size /= 2
        theta = theta - size * step
        before, now = now, loss(theta)
        if before - now <= _SMALL * abs(before):
            break
    return float(theta[0]), float(theta[1])
