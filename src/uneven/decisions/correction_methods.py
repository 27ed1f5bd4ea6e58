r"""How a correction is found from rows with out-of-fold log-odds: one function for each value of ``method``.

Two of them use a Gibbs posterior. Corrected log-odds are :math:`e^b z - u`. The priors are normal: u has standard
deviation 1, with and without a slope, and b has 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from uneven.decisions.correction import Correction
from uneven.decisions.platt import Sigmoid
from uneven.decisions.posterior import shift_posterior, supported_shifts
from uneven.decisions.scored_rows import (
    ScoredRows,
    group_rows,
    grouped_window_losses,
    log_odds_of,
    log_odds_range,
    losses_at,
    row_count,
)
from uneven.metrics.threshold_costs import sums_by_threshold

#: Prior precisions of the log-slope and of the shift.
_PRECISION = np.array([4.0, 1.0])
#: Log-slopes from which the search for the mode may start.
_STARTS = (-0.7, -0.35, 0.0, 0.35, 0.7)
#: Step of second differences; the potential is smooth at the scale of the window.
_DIFFERENCE = 0.02
#: Quadrature around the mode: so many points in each direction, up to so many standard deviations.
_POINTS, _REACH = 15, 4.5
#: How far beyond the rows the shift lies if all decisions should be the same.
_BEYOND = 1.0


def gibbs(rows: ScoredRows, order: int) -> Correction:
    """The shift by its posterior mean. With few rows it stays near 0, with many it is the best shift."""
    posterior = shift_posterior(rows, order)
    return Correction(shift=posterior.mean, posterior=posterior)


def affine(rows: ScoredRows, order: int) -> Correction:
    """The slope exp(mean of b) and the mean shift, of a Gibbs posterior in two dimensions."""
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
        (self.log_odds, self.alpha), self.signs, self.weights = group_rows(columns, rows.signs, rows.weights)

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


def argmin(rows: ScoredRows, order: int) -> Correction:
    """The shift of least window loss, without a prior; of equal ones the nearest to 0."""
    shifts, losses = supported_shifts(rows, order, prior=0.0)
    best = np.flatnonzero(losses <= losses.min() * (1 + 1e-12))
    k = int(best[np.argmin(np.abs(shifts[best]))])
    if best.size > 1 or k in (0, shifts.size - 1):
        return Correction(shift=float(shifts[k]))
    losses_of = grouped_window_losses(rows, order)
    found = minimize_scalar(
        lambda u: float(losses_of(np.array([u]))[0]),
        bounds=(shifts[k - 1], shifts[k + 1]),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return Correction(shift=float(found.x) if found.fun < losses[k] else float(shifts[k]))


def platt(rows: ScoredRows, order: int) -> Correction:
    """Slope and shift of least log loss."""
    used = rows.weight > 0
    sigmoid = Sigmoid.fit(rows.log_odds[used], rows.is_positive[used], rows.weight[used])
    return Correction(shift=-sigmoid.offset, slope=sigmoid.slope)


def isotonic(rows: ScoredRows, order: int) -> Correction:
    """Log-odds of isotonic probabilities (pool adjacent violators); costs play no part, but for the room at alpha."""
    from sklearn.isotonic import IsotonicRegression

    used = rows.weight > 0
    fit = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fit.fit(rows.log_odds[used], rows.is_positive[used].astype(np.float64), rows.weight[used])
    limits = log_odds_range(row_count(rows.weight), rows.alpha)
    values = np.clip(log_odds_of(fit.y_thresholds_), *limits)  # that is, Laplace's probability instead of 0 and 1
    return Correction(shift=np.nan, slope=np.nan, knots=fit.X_thresholds_, values=values)


def costs_by_shift(rows: ScoredRows) -> tuple[np.ndarray, np.ndarray]:
    """Shifts and the cost of the mistakes of the informative rows at each, over :attr:`ScoredRows.unit`.

    A cost holds from its shift up to, but without, the next one; the first shift is -inf.
    """
    positive = rows.signs > 0
    false_positives, false_negatives = np.where(positive, 0.0, rows.weights), np.where(positive, rows.weights, 0.0)
    shifts, paid, missed = sums_by_threshold(rows.distances, false_positives, false_negatives)
    return shifts, paid + missed


def realised_cost(rows: ScoredRows, order: int) -> Correction:
    """The middle of the interval of shifts with the least realised cost; of several intervals the widest."""
    if not rows.informative.any():
        return Correction()
    shifts, cost = costs_by_shift(rows)
    best = cost <= cost.min() + 1e-12 * rows.weights.sum()
    first = np.flatnonzero(best & ~np.append(False, best[:-1]))
    last = np.flatnonzero(best & ~np.append(best[1:], False))
    low = np.where(first == 0, shifts[1] - 2 * _BEYOND, shifts[first])
    ends = np.append(shifts[1:], shifts[-1] + 2 * _BEYOND)
    k = int(np.argmax(ends[last] - low))
    return Correction(shift=float((low[k] + ends[last[k]]) / 2))


def no_correction(rows: ScoredRows, order: int) -> Correction:
    """Log-odds as they are."""
    return Correction()


#: From rows with out-of-fold log-odds and the order of the window loss to a correction.
METHODS: dict[str, Callable[[ScoredRows, int], Correction]] = {
    "gibbs": gibbs,
    "affine": affine,
    "argmin": argmin,
    "platt": platt,
    "isotonic": isotonic,
    "cost": realised_cost,
    "none": no_correction,
}
