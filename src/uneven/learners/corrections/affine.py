r"""Slope and shift by the mean of a Gibbs posterior in two dimensions.

Corrected log-odds are :math:`e^b z - u`. The priors are normal: u has standard deviation 1, as for the shift alone, and
b has 1/2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.grouping import grouped
from uneven.learners.corrections.posterior import shift_posterior
from uneven.learners.corrections.scored_rows import ScoredRows
from uneven.learners.corrections.window import losses_at

#: Prior precisions of the log-slope and of the shift.
_PRECISION = np.array([4.0, 1.0])
#: Log-slopes from which the search for the mode may start.
_STARTS = (-0.7, -0.35, 0.0, 0.35, 0.7)
#: Step of second differences; the potential is smooth at the scale of the window.
_DIFFERENCE = 0.02
#: Quadrature around the mode: so many points in each direction, up to so many standard deviations.
_POINTS, _REACH = 15, 4.5


def affine(rows: ScoredRows, order: int) -> Correction:
    """The slope exp(mean of b) and the mean shift."""
    potential = _Potential(rows, order)
    mode = potential.mode(shift_posterior(rows, order).mean)
    axes = np.linspace(-_REACH, _REACH, _POINTS)
    steps = np.stack(np.meshgrid(axes, axes), axis=-1).reshape(-1, 2) @ potential.scales(mode)
    points = mode + steps
    depth = np.array([potential(point) for point in points])
    share = np.exp(depth.min() - depth)
    log_slope, shift = (share / share.sum()) @ points
    return Correction(shift=float(shift), slope=math.exp(log_slope))


class _Potential:
    """Window losses plus the priors' part, as a function of log-slope and shift."""

    def __init__(self, rows: ScoredRows, order: int) -> None:
        self.order = order
        columns = rows.log_odds[rows.informative], rows.alpha[rows.informative]
        (self.log_odds, self.alpha), self.signs, self.weights = grouped(columns, rows.signs, rows.weights)

    def __call__(self, point: np.ndarray) -> float:
        return float(self.at(float(point[0]), point[1:])[0])

    def at(self, log_slope: float, shifts: np.ndarray) -> np.ndarray:
        """At several shifts."""
        margins = self.signs * (math.exp(log_slope) * self.log_odds - self.alpha)
        losses = losses_at(self.order, margins, self.signs, self.weights, shifts)
        return losses + (_PRECISION[0] * log_slope**2 + _PRECISION[1] * shifts**2) / 2

    def mode(self, shift: float) -> np.ndarray:
        """Where it is least, from the best of several starts near the shift that is best without a slope."""
        starts = [(b, u) for b in _STARTS for u in shift + np.arange(-2.0, 2.1, 0.5)]
        start = min(starts, key=lambda point: self(np.array(point)))
        options = {"xatol": 1e-4, "fatol": 1e-4, "maxiter": 400}
        return np.asarray(minimize(self, np.array(start), method="Nelder-Mead", options=options).x)

    def scales(self, mode: np.ndarray) -> np.ndarray:
        """Rows are the directions of the curvature at the mode, each as long as its standard deviation."""
        h = _DIFFERENCE
        grid = np.array([[self(mode + h * np.array([i, j])) for j in (-1, 0, 1)] for i in (-1, 0, 1)])
        mixed = (grid[2, 2] - grid[2, 0] - grid[0, 2] + grid[0, 0]) / 4
        second = np.array([grid[2, 1] - 2 * grid[1, 1] + grid[0, 1], grid[1, 2] - 2 * grid[1, 1] + grid[1, 0]])
        curvature = np.array([[second[0], mixed], [mixed, second[1]]]) / h**2
        values, vectors = np.linalg.eigh(curvature)
        return np.asarray((vectors / np.sqrt(np.maximum(values, _PRECISION.min()))).T)
