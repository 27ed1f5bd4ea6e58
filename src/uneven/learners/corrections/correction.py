"""What a method finds: a map of log-odds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.learners.corrections.posterior import ShiftPosterior

#: Differences of log-odds that may be rounding errors, relative to their size.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Correction:
    """A nondecreasing map of log-odds: ``slope * z - shift``, or straight lines between knots.

    Attributes
    ----------
    shift, slope : float
        NaN if there are knots.
    posterior : ShiftPosterior or None
        Of the method "gibbs".
    knots, values : ndarray or None
        Log-odds before and after, in rising order; constant beyond the ends.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.corrections.correction import Correction
    >>> correction = Correction(shift=0.5)
    >>> correction.log_odds(np.array([0.0, 2.0])).tolist(), correction.threshold(np.array([-1.0, 3.0])).tolist()
    ([-0.5, 1.5], [-0.5, 3.5])
    """

    shift: float = 0.0
    slope: float = 1.0
    posterior: ShiftPosterior | None = None
    knots: np.ndarray | None = None
    values: np.ndarray | None = None

    @property
    def is_identity(self) -> bool:
        """Whether log-odds stay as they are."""
        return self.shift == 0 and self.slope == 1

    def log_odds(self, log_odds: np.ndarray) -> np.ndarray:
        """Corrected log-odds."""
        if self.knots is None or self.values is None:
            return np.asarray(self.slope * log_odds - self.shift)
        return np.interp(log_odds, self.knots, self.values)

    def threshold(self, alpha: np.ndarray) -> np.ndarray:
        """The largest log-odds that the correction leaves at or below ``alpha``; infinite if it is all or none."""
        alpha = np.asarray(alpha, dtype=np.float64)
        if self.knots is None or self.values is None:
            if self.slope == 0:
                return np.where(-self.shift <= alpha, np.inf, -np.inf)
            return np.asarray((alpha + self.shift) / self.slope)
        with np.errstate(invalid="ignore"):
            reached = np.where(np.isfinite(alpha), alpha + ROUNDING * (1 + np.abs(alpha)), alpha)
        above = np.searchsorted(self.values, reached, side="right")
        right = np.clip(above, 1, self.values.size - 1) if self.values.size > 1 else np.zeros_like(above)
        z0, z1, v0, v1 = self.knots[right - 1], self.knots[right], self.values[right - 1], self.values[right]
        with np.errstate(divide="ignore", invalid="ignore"):
            between = z0 + (z1 - z0) * np.maximum((alpha - v0) / (v1 - v0), 0.0)
        return np.where(above == 0, -np.inf, np.where(above == self.values.size, np.inf, between))
