r"""Losses with kinks, smoothed: each kink becomes a parabola of width sigma.

The term :math:`J (m - k)_+` of a kink k with jump J becomes

.. math:: \max_{0 \le u \le J} u (m - k) - \tfrac{\sigma}{2} (u - J/2)^2,

which lies below it by at most :math:`\sigma J^2/8`. The best u is the slope there, and the line through the kink with
that slope supports the true loss. So a minimum of the smoothed losses also gives a lower bound for the true ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers import compiled
from uneven.solvers.linear.lagrangian import Lagrangian, Support
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.squares import summed_squares
from uneven.solvers.threads import in_threads, row_ranges


class Smoothed:
    """The smoothed losses of some rows at a theta. Losses without kinks stay as they are."""

    def __init__(self, losses: Objective, theta: np.ndarray, sigma: float) -> None:
        self._state = Lagrangian(losses, theta, 1.0)
        self._state.sigma = sigma
        self._state.u = self._state.u.astype(np.float64)  # rounded to float32, a slope may exceed its jump

    def curvature(self) -> np.ndarray:
        """Matrix of second derivatives; to be asked for before :meth:`lines`."""
        return self._state.hessian()

    def lines(self) -> Support:
        """Lines that support the true losses; their slopes are those of the smoothed ones."""
        self._state.update()
        return self._state.support()

    def value(self, lines: Support) -> float:
        """Sum of the smoothed losses; to be asked for after :meth:`lines`."""
        state = self._state
        parts = state.over_rows(lambda k, lo, hi: compiled.kinked_passes.off_centre(state.common, state.u, lo, hi))
        return lines.loss - lines.above - 0.5 * state.sigma * sum(parts)


@dataclass(frozen=True)
class SmoothedPolygons:
    """The smoothed losses of some rows at a theta, for losses made of straight pieces: one pass over the scores.

    Attributes
    ----------
    value, loss, above : float
        Sums of the smoothed losses, of the true ones, and of their heights above their lines.
    slopes, bends : ndarray
        First and second derivative of each row's smoothed loss in its score.
    """

    value: float
    loss: float
    above: float
    slopes: np.ndarray
    bends: np.ndarray

    @classmethod
    def at(cls, losses: Objective, theta: np.ndarray, sigma: float) -> SmoothedPolygons:
        """At a theta."""
        return cls.at_scores(losses, losses.design.scores(theta), sigma)

    @classmethod
    def at_scores(cls, losses: Objective, t: np.ndarray, sigma: float) -> SmoothedPolygons:
        """At scores."""
        design, pair = losses.design, losses.pair
        common = (np.zeros(2, dtype=np.int64), *losses.common[1:], *pair.kinks_and_jumps, sigma, pair.lines)
        slopes, bends = np.empty(design.n), np.empty(design.n)
        parts = in_threads(
            lambda k, lo, hi: compiled.kinked_passes.smoothed_polygons(common, t, lo, hi, slopes, bends),
            row_ranges(design.n, design.numbers),
        )
        value, loss, above = (float(sum(values)) for values in zip(*parts, strict=True))
        return cls(value, loss, above, slopes, bends)

    def curvature(self, losses: Objective) -> np.ndarray:
        """Matrix of second derivatives, from the rows near a kink."""
        rows = np.flatnonzero(self.bends)
        return summed_squares(
            lambda lo, hi: (losses.design.rows(rows[lo:hi]), self.bends[rows[lo:hi]]),
            rows.size,
            losses.size,
            losses.design.rows_per_block,
        )
