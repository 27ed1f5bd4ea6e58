"""The losses of few rows by NumPy, so that a small fit starts no compiler: that would take much longer than the fit."""

from __future__ import annotations

import numpy as np

from uneven.solvers import compiled
from uneven.solvers.linear.pair_of_losses import PairOfLosses

#: Up to this many rows NumPy is about as fast as compiled code. More rows make its temporary arrays slow.
MOST_ROWS = 5000
#: A larger second derivative counts as this one.
_LARGEST = 1e300


class FewRows:
    """The losses of rows in their scores, weighted; see :func:`uneven.solvers.compiled.passes.losses_along`.

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
        np.minimum(np.fmax(h, 0.0, out=h), _LARGEST, out=h)
        return float(self._factors @ value), float(r @ q), float((h * q) @ q)


def absolute_sums(r: np.ndarray, t: np.ndarray) -> tuple[float, float]:
    """The sums of the absolute values of r and of r * t."""
    if r.size > MOST_ROWS:
        size, moment = compiled.passes.absolute_sums(r, t)
        return size, moment
    return float(np.abs(r).sum()), float(np.abs(r * t).sum())
