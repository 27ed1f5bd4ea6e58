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
    >>> correction.log_odds(np.array([0.0, 2.0])).tolist(), correction.threshold(-1.0)
    ([-0.5, 1.5], -0.5)
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

    def threshold(self, alpha: float) -> float:
        """The largest log-odds that the correction leaves at or below ``alpha``; infinite if it is all or none."""
        if self.knots is None or self.values is None:
            if self.slope == 0:
                return float("inf") if -self.shift <= alpha else float("-inf")
            return float((alpha + self.shift) / self.slope)
        above = int(np.searchsorted(self.values, alpha + ROUNDING * (1 + abs(alpha)), side="right"))
        if above in (0, self.values.size):
            return float("inf") if above else float("-inf")
        (z0, z1), (v0, v1) = self.knots[above - 1 : above + 1], self.values[above - 1 : above + 1]
        return float(z0 + (z1 - z0) * max((alpha - v0) / (v1 - v0), 0.0))
