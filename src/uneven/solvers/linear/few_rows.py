"""The losses of few rows by NumPy, so that a small fit starts no compiler: that would take much longer than the fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.pair_of_losses import PairOfLosses

#: Rows up to which NumPy is about as fast as compiled code. With more, its temporary arrays leave the cache.
MOST_ROWS = 5000


class FewRows:
    """The losses of rows in their scores, weighted; see :func:`uneven.solvers.loops.passes.losses_along`.

    Which of the two is used depends on the number of rows alone, so that a fit gives the same in every process.
    """

    def __init__(self, pair: PairOfLosses, y: np.ndarray, factors: np.ndarray) -> None:
        self._negative, self._positive = (kernel.plain.derivatives for kernel in pair.kernels)
        self._is_positive = y == 1
        self._scale = pair.scales[y]
        self._factors = factors
        self._slope_factors = factors * self._scale
        self._curvature_factors = self._slope_factors * self._scale
        self._without_weight = None if factors.all() else factors == 0

    def along(
        self, t: np.ndarray, q: np.ndarray, step: float, r: np.ndarray, h: np.ndarray
    ) -> tuple[float, float, float]:
        """The sum of the losses at the scores t + step * q, and its first and second derivative in ``step``.

        Slopes and curvatures in the score go to r and h; a curvature that is negative or not a number counts as 0.
        NumPy may warn of overflows.
        """
        margins = t + step * q if step else t
        value, slope, curvature = self._positive(self._scale * margins)
        if self._negative is not self._positive:
            others = self._negative(self._scale * margins)
            value, slope, curvature = (
                np.where(self._is_positive, *both) for both in zip((value, slope, curvature), others, strict=True)
            )
        if self._without_weight is not None:  # such a row counts as 0 even if its loss overflows
            value, slope = (np.where(self._without_weight, 0.0, numbers) for numbers in (value, slope))
        np.multiply(self._slope_factors, slope, out=r)
        np.multiply(self._curvature_factors, curvature, out=h)
        np.minimum(np.fmax(h, 0.0, out=h), 1e300, out=h)  # products with it stay finite
        return float(self._factors @ value), float(r @ q), float((h * q) @ q)


def absolute_sums(r: np.ndarray, t: np.ndarray) -> tuple[float, float]:
    """The sums of the absolute values of r and of r * t."""
    if r.size > MOST_ROWS:
        size, moment = loops.passes.absolute_sums(r, t)
        return size, moment
    return float(np.abs(r).sum()), float(np.abs(r * t).sum())


class FewPolygons:
    """Losses made of straight pieces, weighted, with multipliers u at their kinks (one row of u per kink).

    The loss of a margin m is a line plus jump * relu(m - kink) for each kink.

    Attributes
    ----------
    slopes, bends : ndarray
        First and second derivatives in the scores, as they were evaluated last.
    """

    def __init__(self, pair: PairOfLosses, y: np.ndarray, factors: np.ndarray) -> None:
        kinks, jumps = pair.kinks_and_jumps
        self._scale = pair.scales[y]
        self._kinks, self._jumps = kinks.T[:, y], jumps.T[:, y]
        self._line_values, self._line_slopes = pair.lines[y].T
        self._factors = factors
        self._slope_factors = factors * self._scale
        self._curvature_factors = self._slope_factors * self._scale
        self._steepest = np.abs(self._slope_factors) * _sum_kinks(self._jumps)
        self._line_terms = self._slope_factors * self._line_slopes
        self.slopes = self.bends = np.empty(0)

    def along(
        self, t: np.ndarray, q: np.ndarray, u: np.ndarray, sigma: float
    ) -> Callable[[float], tuple[float, float]]:
        """A function of a step: slope and curvature in it of the augmented Lagrangian at the scores t + step * q.

        The Lagrangian has a parabola of curvature 1/sigma at each kink.
        """
        start, rise = self._wanted(t, u, sigma), (self._scale / sigma) * q
        lines, factors, curvatures = self._line_terms, self._slope_factors, self._curvature_factors / sigma

        def derivatives(step: float) -> tuple[float, float]:
            wanted = start + step * rise
            taken = np.minimum(np.maximum(wanted, 0.0), self._jumps)
            self.slopes, self.bends = lines + factors * _sum_kinks(taken), curvatures * _sum_kinks(taken == wanted)
            return float(self.slopes @ q), float((self.bends * q) @ q)

        return derivatives

    def _wanted(self, t: np.ndarray, u: np.ndarray, sigma: float) -> np.ndarray:
        """The multipliers that the parabolas would have at the scores, if these were not limited by the jumps."""
        wanted = self._scale * t - self._kinks
        wanted /= sigma
        wanted += u
        return wanted

    def update(self, t: np.ndarray, u: np.ndarray, sigma: float) -> np.ndarray:
        """The multipliers that are the slopes of the parabolas at the scores."""
        return np.minimum(np.maximum(self._wanted(t, u, sigma), 0.0), self._jumps)

    def support(self, t: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Lines that support the losses, with the slopes u at kinks.

        Returns their slopes in the score, the steepest slopes (the absolute ones plus the jumps), the sum of the
        losses, and how far these are above the lines at the scores.
        """
        u = u.astype(np.float64, copy=False)  # sums of single precision would not be those of the lines below
        margins = self._scale * t
        over = margins - self._kinks
        bent = self._jumps * np.maximum(over, 0.0)
        slopes = self._line_terms + self._slope_factors * _sum_kinks(u)
        values = self._line_values + self._line_slopes * margins + _sum_kinks(bent)
        above = _sum_kinks(bent - u * over)
        return slopes, np.abs(slopes) + self._steepest, float(self._factors @ values), float(self._factors @ above)


def _sum_kinks(terms: np.ndarray) -> np.ndarray:
    """The sum over the kinks; most losses have one."""
    total: np.ndarray = terms[0] if len(terms) == 1 else terms.sum(axis=0)
    return total
