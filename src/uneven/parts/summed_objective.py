"""A penalised sum of losses over parts, with or without standardised columns.

Columns are standardised in theta, not in X: the score of (x - shift)/scale under (w, b) is the score of x under
(w/scale, b - w' shift/scale). So every block is used as it is, and nothing is copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uneven.parts.loss_slopes import Lines, LinesAt, Slopes, SlopesAt
from uneven.parts.summed_answers import Parts, Survey
from uneven.solvers.linear.objective import Penalised
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.proof import EPS, Proof, gap_of_penalty, gradient_share, with_intercept


@dataclass(frozen=True)
class Standardisation:
    """What is subtracted from each column, and what it is then divided by."""

    shift: np.ndarray
    scale: np.ndarray

    @classmethod
    def none(cls, d: int) -> Standardisation:
        """Columns as they are."""
        return cls(np.zeros(d), np.ones(d))

    def theta_of_rows(self, theta: np.ndarray) -> np.ndarray:
        """The theta that gives the rows themselves the scores of the standardised ones."""
        w = theta[:-1] / self.scale
        return np.append(w, theta[-1] - float(w @ self.shift))

    def theta_of_standardised(self, theta: np.ndarray) -> np.ndarray:
        """The other way round."""
        return np.append(theta[:-1] * self.scale, theta[-1] + float(theta[:-1] @ self.shift))

    def gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient in the theta of standardised rows."""
        return np.append((gradient[:-1] - gradient[-1] * self.shift) / self.scale, gradient[-1])

    def curvature(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix of second derivatives in the theta of standardised rows."""
        change = np.eye(len(matrix))
        change[-1, :-1] = -self.shift / self.scale
        change[np.diag_indices(len(matrix) - 1)] = 1 / self.scale
        return np.asarray(change.T @ matrix @ change)

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Rows or their mean, standardised."""
        return (X - self.shift) / self.scale


@dataclass(frozen=True)
class SummedObjective(Penalised):
    """A penalised sum of losses whose rows are in parts.

    Attributes
    ----------
    parts : Parts
    survey : Survey
        What the first question found.
    pair : PairOfLosses
    penalty : float
    fit_intercept : bool
    columns : Standardisation
    """

    parts: Parts
    survey: Survey
    pair: PairOfLosses
    penalty: float
    fit_intercept: bool
    columns: Standardisation
    l1: float = 0.0

    @property
    def size(self) -> int:
        """Length of theta."""
        return self.columns.shift.size + 1

    @cached_property
    def _factors(self) -> np.ndarray:
        """Sum of the factors of the losses of each class."""
        return self.pair.weights * self.survey.weights

    @cached_property
    def lower_bound(self) -> float:
        """What the objective is at least, from the infima of its losses alone."""
        least = np.array(self.pair.infima)
        if not np.isfinite(least).all():
            return -np.inf
        # Not rounded up, though the factors were summed in parts.
        return float(self._factors @ least - 1e-9 * (self._factors @ np.abs(least)))

    @cached_property
    def value_at_zero(self) -> float:
        """The objective at theta = 0, without a pass over the parts."""
        return float(self.pair.at_zero @ self.survey.weights)

    @cached_property
    def spread(self) -> np.ndarray:
        """Root of the weighted mean square of each column."""
        found, shift = self.survey, self.columns.shift - self.survey.about
        squares = found.squares - 2 * shift * found.sums + shift**2 * found.weights[:, None]
        mean = (self.pair.weights @ squares) / max(float(self._factors.sum()), 1e-300)
        return np.asarray(np.sqrt(np.maximum(mean, 0.0)) / self.columns.scale)

    def mean_row(self, label: int) -> tuple[float, np.ndarray]:
        """The sum of the factors of all rows of a class, and their weighted mean."""
        weight = float(self.survey.weights[label])
        if not weight > 0:
            return 0.0, np.zeros(self.size - 1)
        return float(self._factors[label]), self.columns.rows(self.survey.about + self.survey.sums[label] / weight)

    def slopes(self, theta: np.ndarray, sigma: float, stride: int) -> Slopes:
        """Value, gradient and second derivatives of the smoothed objective, by one read of all parts."""
        found = self.parts.ask(SlopesAt(self.columns.theta_of_rows(theta), self.pair, sigma, stride))
        w = theta[:-1]
        gradient = self.columns.gradient(found.gradient)
        gradient[:-1] += self.penalty * w
        if not self.fit_intercept:
            gradient[-1] = 0.0
        curvature = found.curvature
        if curvature is not None:
            curvature = self.add_penalty(self.columns.curvature(curvature))
        own = self.penalty_of(w)
        return Slopes(found.value + own, gradient, curvature, found.loss + own, found.above)

    def lines(self, thetas: np.ndarray, sigma: float) -> Lines:
        """Lines that support the losses at some thetas, by one read of all parts; those of the rows as they are."""
        rows = np.array([self.columns.theta_of_rows(theta) for theta in thetas])
        return self.parts.ask(LinesAt(rows, self.pair, sigma))

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The smoothed objective with the narrowest parabolas and its gradient."""
        found = self.slopes(theta, 1e-12, 0)
        return found.loss, found.gradient


# -- the duality gap: the argument of solvers/linear/proof.py with sums over parts ------------------------------------
#
# The slopes of the lines must sum to 0, because the intercept is free. In parts nobody can move the intercept until
# they do. But lines at two intercepts, one on each side of the best one, can be mixed: if every row's line is the same
# mixture of its two lines, it still supports the loss, and the sum of the slopes is exactly 0 for one mixture.


def prove(objective: SummedObjective, thetas: np.ndarray, lines: Lines, wanted: float) -> Proof:
    """Bound the distance of the better one of the thetas from the optimum.

    Parameters
    ----------
    objective : SummedObjective
    thetas : ndarray of shape (1, d + 1) or (2, d + 1)
        They differ in the intercept only.
    lines : Lines
        Those that support the losses at the thetas.
    wanted : float
        The gap that the caller needs.
    """
    loss, above, excess, _, _ = lines.numbers.T
    best = int(np.argmin(loss))
    theta, columns = thetas[best], objective.columns
    w = theta[:-1]
    share = _mixture(excess) if objective.fit_intercept and len(thetas) == 2 else np.eye(len(thetas))[best]
    # How far the losses at theta are above the mixed lines there.
    height = float(share @ (loss[best] - loss + above + excess * (thetas[:, -1] - theta[-1])))
    unit = (lines.terms + 16) * EPS
    size, raw_sizes = _sizes(objective, lines)
    stuck = abs(float(share @ excess)) + unit * size
    v = columns.gradient(np.append(share @ lines.slopes, share @ excess))[:-1]
    sizes = (raw_sizes + np.abs(columns.shift) * size) / columns.scale
    error = unit * sizes
    scores, moment = _error_of_scores(objective, thetas, size, raw_sizes, lines.most_terms)
    rounded = unit * float(np.abs(loss).max() + moment + size * np.ptp(thetas[:, -1]))
    value = float(loss[best]) + objective.penalty_of(w)
    wrong = rounded + scores + 16 * EPS * abs(value)
    gap = max(height, 0.0) + 2 * wrong + gap_of_penalty(objective, w, v, error, float(loss[best]))
    if objective.fit_intercept:
        gap = with_intercept(objective, theta, value + wrong, gap, stuck, wanted)
    gap = min(gap, value + wrong - objective.lower_bound)
    return Proof(
        theta,
        value,
        error=wrong,
        gap=math.inf if math.isnan(gap) else max(float(gap), 0.0),
        stationarity=gradient_share(objective, theta, v, sizes, float(share @ excess), size),
        slopes=v,
    )


def _mixture(excess: np.ndarray) -> np.ndarray:
    """Shares of two lines whose slopes then sum to 0; if both sums have the same sign, the smaller one alone."""
    first, second = excess
    if not first * second < 0:
        return np.array([1.0, 0.0]) if abs(first) <= abs(second) else np.array([0.0, 1.0])
    share = second / (second - first)
    return np.array([share, 1.0 - share])


def _sizes(objective: SummedObjective, lines: Lines) -> tuple[float, np.ndarray]:
    """Bounds of the sum of the steepest slopes, and of abs(X)' times them, for the rows as they are.

    The steepest slope of a row is the absolute slope of its line plus the jumps at its kinks. By the inequality of
    Cauchy and Schwarz, the sum of abs(x) times it is at most the root of the weighted squares of x, which the survey
    has, times the root of its own squares divided by the weights. So no further pass over X is needed.
    """
    size, energy = lines.numbers[:, 3].max(), lines.numbers[:, 4].max()
    pair, survey = objective.pair, objective.survey
    jumps = pair.weights * np.abs(pair.scales) * np.abs(pair.kinks_and_jumps[1]).sum(axis=1)
    root = math.sqrt(energy) + math.sqrt(float(jumps**2 @ survey.weights))
    lengths = np.sqrt(survey.squares.sum(axis=0)) + np.abs(survey.about) * math.sqrt(float(survey.weights.sum()))
    # The sums are rounded themselves.
    return 1.001 * float(size + jumps @ survey.weights), 1.001 * lengths * root


def _error_of_scores(
    objective: SummedObjective, thetas: np.ndarray, size: float, sizes: np.ndarray, most_terms: int
) -> tuple[float, float]:
    """What rounding of the scores can cost: the error of each, times the steepest slope of its row.

    The theta of the rows themselves is rounded as well, where columns are standardised. Returned, too: a bound of the
    sum of the absolute scores, each times the steepest slope.
    """
    rows = objective.columns.theta_of_rows(thetas[0])
    about = float(np.abs(thetas[:, -1]).max()) + float(np.abs(rows[:-1]) @ np.abs(objective.columns.shift))
    kink = objective.pair.largest_kink if objective.pair.kinked else 0.0
    moment = float(sizes @ np.abs(rows[:-1])) + size * about
    return (most_terms + rows.size + 8) * EPS * (moment + size * kink), moment
