"""A penalised sum of losses over parts, with or without standardised columns.

Columns are standardised in theta, not in X: the score of (x - shift)/scale under (w, b) is the score of x under
(w/scale, b - w' shift/scale). So every block is used as it is, and nothing is copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.lines import Lines, LinesAt
from uneven.solvers.linear.parts.protocol import Parts
from uneven.solvers.linear.parts.slopes import Slopes, SlopesAt
from uneven.solvers.linear.parts.survey import Survey
from uneven.solvers.linear.penalised import Penalised


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
            curvature = self.completed(self.columns.curvature(curvature))
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
