"""The Gibbs posterior of the shift."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from uneven.decisions.scored_rows import ScoredRows, grouped_window_losses

#: The grid reaches this far beyond the prior's centre and beyond the rows.
_PRIOR_REACH, _ROW_REACH = 6.0, 4.0
#: Points of a density below exp(-this) times the largest do not count.
_DEEPEST = 25.0
#: Largest step of the log-density between two points, at the peak; further down it may be larger in proportion.
_STEP = 0.1
_PARTS = 4
_MOST_ROUNDS, _MOST_SHIFTS = 20, 4000


@dataclass(frozen=True)
class ShiftPosterior:
    r"""How well each shift of the log-odds is supported by the rows.

    The density is proportional to :math:`\exp(-L(u) - u^2/2)`, with L the window losses over the mean regret, and a
    standard normal prior.

    Attributes
    ----------
    shifts : ndarray
        A grid in rising order, finer where the density is large.
    losses : ndarray
        Window losses at the shifts; of more than 20,000 rows, those of groups of rows with nearly the same log-odds.
    density : ndarray
        Its integral over the grid, by trapezoids, is 1.
    """

    shifts: np.ndarray
    losses: np.ndarray
    density: np.ndarray

    @property
    def probability(self) -> np.ndarray:
        """The share of each grid point; they sum to 1."""
        return self.density * _trapezoids(self.shifts)

    @property
    def mean(self) -> float:
        """The mean: what the method "gibbs" takes as its shift."""
        return float(self.probability @ self.shifts)

    @property
    def standard_deviation(self) -> float:
        """How uncertain the shift is; near 1 if the rows say nothing."""
        return math.sqrt(float(self.probability @ (self.shifts - self.mean) ** 2))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The shifts that leave (1 - level)/2 of the probability on either side."""
        steps = np.diff(self.shifts) * (self.density[1:] + self.density[:-1]) / 2
        below = np.append(0.0, np.cumsum(steps))
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], below, self.shifts)
        return float(low), float(high)


def shift_posterior(rows: ScoredRows, order: int) -> ShiftPosterior:
    """The Gibbs posterior of the shift for the window loss of this order.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.decisions.posterior import shift_posterior
    >>> from uneven.decisions.scored_rows import ScoredRows
    >>> costs = RowCosts.read(2, fp_cost=1, fn_cost=1)
    >>> rows = ScoredRows(np.array([1.0, 3.0]), np.array([False, True]), costs, np.ones(2))
    >>> found = shift_posterior(rows, 8)  # a shift between 1 and 3 makes no mistake
    >>> round(found.mean, 2), round(found.standard_deviation, 2)
    (0.3, 1.07)
    """
    shifts, losses = supported_shifts(rows, order, prior=1.0)
    exponent = -losses - shifts**2 / 2
    density = np.exp(exponent - exponent.max())
    return ShiftPosterior(shifts, losses, density / (density @ _trapezoids(shifts)))


def supported_shifts(rows: ScoredRows, order: int, *, prior: float) -> tuple[np.ndarray, np.ndarray]:
    """A grid of shifts and their window losses, refined where losses plus prior u^2/2 are nearly least.

    The first grid reaches beyond the shifts at which decisions change, however far they are. Its step is less than half
    the width of the window, so that the sum of the losses is smooth between its points.
    """
    losses_of = grouped_window_losses(rows, order)
    shifts = _first_grid(rows.distances, order)
    losses = losses_of(shifts)
    for _ in range(_MOST_ROUNDS):
        depth = losses + prior * shifts**2 / 2
        depth -= depth.min()
        change = np.abs(np.diff(depth))
        around = np.maximum(np.maximum(np.append(change[1:], 0.0), np.append(0.0, change[:-1])), change)
        nearest = np.minimum(depth[1:], depth[:-1])
        # A smooth function dips between two points by less than it changes around them.
        coarse = (nearest - around < _DEEPEST) & (around > _STEP * (1 + nearest))
        coarse &= np.diff(shifts) > 1e-9 * (1 + np.abs(shifts[1:]))
        if not coarse.any() or shifts.size > _MOST_SHIFTS:
            break
        inner = np.arange(1, _PARTS) / _PARTS
        new = (shifts[:-1][coarse][:, None] + np.diff(shifts)[coarse][:, None] * inner).ravel()
        rising = np.argsort(np.concatenate([shifts, new]), kind="stable")
        losses = np.concatenate([losses, losses_of(new)])[rising]
        shifts = np.concatenate([shifts, new])[rising]
    return shifts, losses


def _first_grid(distances: np.ndarray, order: int) -> np.ndarray:
    """Multiples of a step, so that turned labels have the turned grid."""
    step = min(0.25, 0.7 / math.sqrt(order))
    low = min(-_PRIOR_REACH, float(distances.min(initial=0.0)) - _ROW_REACH)
    high = max(_PRIOR_REACH, float(distances.max(initial=0.0)) + _ROW_REACH)
    return np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step


def _trapezoids(shifts: np.ndarray) -> np.ndarray:
    """The width that belongs to each point of the grid."""
    width = np.diff(shifts)
    return (np.append(width, 0.0) + np.append(0.0, width)) / 2
