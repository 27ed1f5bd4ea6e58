"""A map of a model's log-odds, and the decisions that it gives with the costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from uneven.costs import RowCosts
from uneven.decisions.alpha import alpha_log_odds
from uneven.decisions.scored_rows import decompress, log_odds_within

if TYPE_CHECKING:
    from uneven.decisions.posterior import ShiftPosterior

#: Differences of log-odds that may be rounding errors, relative to their size.
_ROUNDING = 1e-14


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
    >>> from uneven.decisions.correction import Correction
    >>> correction = Correction(shift=0.5)
    >>> correction.log_odds(np.array([0.0, 2.0])).tolist(), correction.threshold(np.array([-1.0, 3.0])).tolist()
    ([-0.5, 1.5], [-0.5, 3.5])
    """

    shift: float = 0.0
    slope: float = 1.0
    posterior: ShiftPosterior | None = None
    knots: np.ndarray | None = None
    values: np.ndarray | None = None

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
            reached = np.where(np.isfinite(alpha), alpha + _ROUNDING * (1 + np.abs(alpha)), alpha)
        above = np.searchsorted(self.values, reached, side="right")
        right = np.clip(above, 1, self.values.size - 1) if self.values.size > 1 else np.zeros_like(above)
        z0, z1, v0, v1 = self.knots[right - 1], self.knots[right], self.values[right - 1], self.values[right]
        with np.errstate(divide="ignore", invalid="ignore"):
            between = z0 + (z1 - z0) * np.maximum((alpha - v0) / (v1 - v0), 0.0)
        return np.where(above == 0, -np.inf, np.where(above == self.values.size, np.inf, between))


@dataclass(frozen=True)
class CorrectedOdds:
    """A correction, and the log-odds to which it applies.

    Attributes
    ----------
    correction : Correction
    limits : tuple of float
        Log-odds beyond them are compressed.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.decisions.correction import CorrectedOdds, Correction
    >>> odds = CorrectedOdds(Correction(shift=1.0), (-5.0, 5.0))
    >>> odds.decision(np.array([0.1, 0.5]), RowCosts.read(2, fp_cost=1, fn_cost=9)).round(2).tolist()
    [-1.0, 1.2]
    """

    correction: Correction
    limits: tuple[float, float]

    def log_odds(self, probability: np.ndarray) -> np.ndarray:
        """Corrected log-odds of the positive class."""
        return self.correction.log_odds(log_odds_within(probability, self.limits))

    def probability(self, probability: np.ndarray) -> np.ndarray:
        """Corrected probabilities of the positive class."""
        if self == AS_IT_IS:
            return probability
        return np.asarray(expit(self.log_odds(probability)))

    def shifted(self, by: float) -> CorrectedOdds:
        """The same, with a number added to the corrected log-odds."""
        map_ = self.correction
        if map_.values is None:
            return CorrectedOdds(replace(map_, shift=map_.shift - by), self.limits)
        return CorrectedOdds(replace(map_, values=map_.values + by), self.limits)

    def decision(self, probability: np.ndarray, costs: RowCosts) -> np.ndarray:
        """Scores of the positive class whose threshold for the costs is 0; infinite where one decision is always best.

        They are the corrected log-odds minus those of alpha. Differences of the size of rounding errors are 0: a forest
        often says exactly alpha.
        """
        alpha, sign = alpha_log_odds(costs)
        log_odds = self.correction.log_odds(log_odds_within(probability, self.limits, alpha))
        return np.asarray(sign * np.where(np.abs(log_odds - alpha) <= _rounding(alpha), 0.0, log_odds - alpha))

    def thresholds(self, costs: RowCosts) -> np.ndarray:
        """Log-odds, before the correction, above which :meth:`decision` is positive (below, where both mistakes pay).

        Infinite where one decision is the cheaper one at every probability.
        """
        alpha, sign = alpha_log_odds(costs)
        cut = decompress(self.correction.threshold(alpha), self.limits, alpha)
        return np.asarray(cut + sign * _rounding(cut))


#: Changes nothing.
AS_IT_IS = CorrectedOdds(Correction(), (-np.inf, np.inf))


def _rounding(log_odds: np.ndarray) -> np.ndarray:
    """Differences from these log-odds that may be rounding errors."""
    return np.where(np.isfinite(log_odds), _ROUNDING * (1 + np.abs(log_odds)), 0.0)
