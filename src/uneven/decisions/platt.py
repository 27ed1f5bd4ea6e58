"""Platt's scaling: scores of any unit as probabilities, by a line, and with many rows by a bent one; without costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from uneven.decisions.correction import Correction
from uneven.decisions.scored_rows import group_rows

#: Steps of Newton's method at most, and the improvement below which it ends, relative to the loss.
_STEPS = 100
_SMALL = 1e-12
#: Precision of the normal prior of the mean log-slope, around 0: a model's own log-odds are believed unless rows say
#: else.
_PRECISION = 4.0
#: Rows of the rarer class for each piece of a bent line: a table with fewer than twice as many has a straight one.
_ROWS_OF_A_PIECE = 100
#: Pieces of a bent line at most: the shapes seen on real tables have one or two bends, at places not known before.
_MOST_PIECES = 20
#: Precision of the normal prior of the difference between log-slopes of neighbours: a line bends if rows say so.
_STIFFNESS = 64.0
#: Log-slopes are found within these limits, so that rows which the log-odds separate do not become certainties.
_LOG_SLOPES = (-4.0, 4.0)
#: How far the outer pieces reach. No double is so large that its compressed log-odds are further beyond the limits.
_REACH = 720.0


@dataclass(frozen=True)
class Sigmoid:
    """P(positive) = expit(slope * score + offset).

    Attributes
    ----------
    slope, offset : float

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.decisions.platt import Sigmoid
    >>> scores = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 3.0])
    >>> sigmoid = Sigmoid.fit(scores, np.array([False, False, True, False, True, True]))
    >>> sigmoid.probability(np.array([-1.0, 0.0, 1.0])).round(2).tolist()
    [0.35, 0.48, 0.61]
    """

    slope: float
    offset: float

    @classmethod
    def fit(cls, scores: np.ndarray, is_positive: np.ndarray, weight: np.ndarray | None = None) -> Sigmoid:
        """The sigmoid of least log loss on these rows, for :func:`platt_targets`."""
        weight = np.ones(scores.size) if weight is None else weight
        return cls.fit_shares(scores, platt_targets(is_positive, weight), weight)

    @classmethod
    def fit_shares(cls, scores: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Sigmoid:
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


def probability_map(
    log_odds: np.ndarray, is_positive: np.ndarray, weight: np.ndarray, limits: tuple[float, float]
) -> Correction:
    """A rising map of log-odds to those of probabilities, of least log loss under a prior.

    A line with few rows: slope and shift, with a prior of the slope, which stays positive. With many rows the slope may
    change from piece to piece, with a prior against it: models that are right in the middle are often too careful with
    the surest rows, and these decide what dear misses cost. No two different log-odds become the same probability, and
    a threshold means the same before and after.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.decisions.platt import probability_map
    >>> log_odds, truth = np.repeat([-4.0, 4.0], 50), np.arange(100) % 10 == 0  # much too sure
    >>> truth[50:] = ~truth[50:]
    >>> found = probability_map(log_odds, truth, np.ones(100), (-9.0, 9.0))
    >>> round(found.slope, 2), round(found.shift, 2)
    (0.58, 0.0)
    """
    used = weight > 0
    (values,), signs, weights = group_rows((log_odds[used],), np.where(is_positive[used], 1.0, -1.0), weight[used])
    target = (signs > 0).astype(np.float64)  # not Platt's, which would call every sure row too risky, in money
    slopes, shift = _least_loss(values, target, weights, np.empty(0), np.zeros(1), 0.0)
    inner = _bends(values, target, weights)
    if not inner.size:
        return Correction(shift=shift, slope=float(slopes[0]))
    start = np.full(inner.size + 1, np.log(slopes[0]))
    slopes, shift = _least_loss(values, target, weights, inner, start, shift)
    knots = np.concatenate([[limits[0] - _REACH], inner, [limits[1] + _REACH]])
    return Correction(shift=np.nan, slope=np.nan, knots=knots, values=_lengths(knots, inner) @ slopes - shift)


def _least_loss(
    values: np.ndarray, target: np.ndarray, weights: np.ndarray, inner: np.ndarray, start: np.ndarray, shift: float
) -> tuple[np.ndarray, float]:
    """Slopes of the pieces between the inner knots, and the shift, of least log loss and prior."""
    lengths, total = _lengths(values, inner), float(weights.sum())

    def potential(point: np.ndarray) -> tuple[float, np.ndarray]:
        log_slopes, shift = point[:-1], point[-1]
        slopes, mean, bends = np.exp(log_slopes), float(log_slopes.mean()), np.diff(log_slopes)
        score = lengths @ slopes - shift
        pull = weights * (expit(score) - target)
        losses = float(weights @ (np.logaddexp(0.0, score) - target * score))
        gradient = slopes * (pull @ lengths) + _PRECISION * mean / slopes.size
        gradient[1:] += _STIFFNESS * bends
        gradient[:-1] -= _STIFFNESS * bends
        prior = _PRECISION * mean**2 / 2 + _STIFFNESS * float(bends @ bends) / 2
        return (losses + prior) / total, np.append(gradient, -float(pull.sum())) / total

    found = minimize(
        potential,
        np.append(start, shift),
        jac=True,
        method="L-BFGS-B",
        bounds=[_LOG_SLOPES] * start.size + [(None, None)],
        options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 1_000},
    )
    return np.exp(found.x[:-1]), float(found.x[-1])


def _bends(values: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Inner knots: quantiles of the log-odds if both classes weigh the same; none with few rows."""
    of_class = np.array([float(weights[target == label].sum()) for label in (0.0, 1.0)])
    pieces = min(_MOST_PIECES, int(of_class.min() // _ROWS_OF_A_PIECE))
    if pieces < 2:
        return np.empty(0)
    order = np.argsort(values, kind="stable")
    share = np.cumsum((weights / of_class[target.astype(np.intp)])[order]) / 2
    return np.unique(values[order][np.searchsorted(share, np.arange(1, pieces) / pieces)])


def _lengths(values: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """For each value (row) how much of the way to it from 0 lies in each piece (column), with its sign."""
    low, high = np.append(-np.inf, inner), np.append(inner, np.inf)
    return np.asarray(np.clip(values[:, None], low, high) - np.clip(0.0, low, high))
