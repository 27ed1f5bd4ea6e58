"""What is kept of the out-of-fold rows, so that a correction can be found for any costs without a new fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from uneven.costs import RowCosts
from uneven.learners.corrections.correction import ROUNDING, Correction
from uneven.learners.corrections.grouping import grouped
from uneven.learners.corrections.methods import METHODS
from uneven.learners.corrections.platt import probability_map
from uneven.learners.corrections.scored_rows import (
    MOST_CERTAIN,
    ScoredRows,
    alpha_log_odds,
    decompressed,
    log_odds_of,
    log_odds_range,
    log_odds_within,
    row_count,
)


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
    >>> from uneven.learners.corrections.correction import ROUNDING, Correction
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
        cut = decompressed(self.correction.threshold(alpha), self.limits, alpha)
        return np.asarray(cut + sign * _rounding(cut))


#: Changes nothing.
AS_IT_IS = CorrectedOdds(Correction(), (-np.inf, np.inf))


def _rounding(log_odds: np.ndarray) -> np.ndarray:
    """Differences from these log-odds that may be rounding errors."""
    return np.where(np.isfinite(log_odds), ROUNDING * (1 + np.abs(log_odds)), 0.0)


@dataclass(frozen=True)
class OutOfFoldRows:
    """Probabilities that models gave to rows they did not learn from, with the labels and weights of the rows.

    Attributes
    ----------
    probability : ndarray
        Of the positive class.
    is_positive : ndarray of bool
    weight : ndarray
    """

    probability: np.ndarray
    is_positive: np.ndarray
    weight: np.ndarray

    def scored(self, costs: RowCosts) -> ScoredRows:
        """The rows as a correction for these costs sees them."""
        limits = self._limits(costs)
        return ScoredRows(log_odds_within(self.probability, limits), self.is_positive, costs, self.weight)

    def calibrated(self) -> CorrectedOdds:
        """The map to probabilities that these rows support; costs play no part."""
        limits = log_odds_range(row_count(self.weight), np.empty(0))
        log_odds = log_odds_within(self.probability, limits)
        return CorrectedOdds(probability_map(log_odds, self.is_positive, self.weight, limits), limits)

    def corrected(self, costs: RowCosts, method: str, order: int) -> CorrectedOdds:
        """The correction that a method finds for these costs."""
        return CorrectedOdds(METHODS[method](self.scored(costs), order), self._limits(costs))

    def cross_fitted_decisions(
        self, costs: RowCosts, method: str, order: int, fold: np.ndarray, learnt: np.ndarray
    ) -> np.ndarray:
        """Decisions on each row as :meth:`CorrectedOdds.decision`, with the correction that rows known before give.

        ``fold`` has the number of each row's fold, ``learnt`` says for each fold (row) from which others (columns) its
        model learnt. With TimeSeriesSplit these are the earlier ones. If they lack a class, nothing is corrected.
        """
        decided = np.empty(self.probability.size)
        for number in np.unique(fold):
            test = fold == number
            known = ~test if number < 0 else np.isin(fold, np.flatnonzero(learnt[number]))
            odds = CorrectedOdds(Correction(), self._limits(costs))
            if np.unique(self.is_positive[known]).size == 2:
                odds = self.take(known).corrected(costs.take(known), method, order)
            decided[test] = odds.decision(self.probability[test], costs.take(test))
        return decided

    def take(self, rows: np.ndarray) -> OutOfFoldRows:
        """Some of the rows, given by their numbers or by a Boolean for each."""
        return OutOfFoldRows(self.probability[rows], self.is_positive[rows], self.weight[rows])

    def grouped(self) -> OutOfFoldRows:
        """Few rows for many: rows of one class with nearly the same log-odds count as one, with their weights summed.

        A correction for costs that are the same in all rows comes out as from the rows themselves, but for about 1e-5
        in the log-odds.
        """
        used = self.weight > 0
        log_odds = np.clip(log_odds_of(self.probability[used]), -MOST_CERTAIN, MOST_CERTAIN)
        signs = np.where(self.is_positive[used], 1.0, -1.0)
        (means,), signs, weight = grouped((log_odds,), signs, self.weight[used])
        return OutOfFoldRows(np.asarray(expit(means)), signs > 0, weight)

    def _limits(self, costs: RowCosts) -> tuple[float, float]:
        return log_odds_range(row_count(self.weight), alpha_log_odds(costs)[0])
