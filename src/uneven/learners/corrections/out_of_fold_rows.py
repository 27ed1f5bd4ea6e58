"""What is kept of the out-of-fold rows, so that a correction can be found for any costs without a new fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from uneven.costs import RowCosts
from uneven.learners.corrections.correction import ROUNDING, Correction
from uneven.learners.corrections.methods import METHODS
from uneven.learners.corrections.scored_rows import (
    ScoredRows,
    alpha_log_odds,
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

    def probability(self, probability: np.ndarray, costs: RowCosts | None = None) -> np.ndarray:
        """Corrected probabilities of the positive class; exactly alpha of the costs where the decision is 0."""
        corrected = np.asarray(expit(self.correction.log_odds(log_odds_within(probability, self.limits))))
        if costs is None:
            return corrected
        return np.where(self.decision(probability, costs) == 0, costs.thresholds()[0], corrected)

    def decision(self, probability: np.ndarray, costs: RowCosts) -> np.ndarray:
        """Scores of the positive class whose threshold for the costs is 0; infinite where one decision is always best.

        They are the corrected log-odds minus those of alpha. Differences of the size of rounding errors are 0: a forest
        often says exactly alpha.
        """
        alpha, sign = alpha_log_odds(costs)
        log_odds = self.correction.log_odds(log_odds_within(probability, self.limits, alpha))
        rounding = np.where(np.isfinite(alpha), ROUNDING * (1 + np.abs(alpha)), 0.0)
        return np.asarray(sign * np.where(np.abs(log_odds - alpha) <= rounding, 0.0, log_odds - alpha))

    def threshold(self, costs: RowCosts) -> float | None:
        """The probability before the correction above which positive is predicted; None if rows differ in costs."""
        if costs.per_row:
            return None
        one = RowCosts(1, costs.fp_regret, costs.fn_regret)
        if self.correction.is_identity:
            return float(one.thresholds()[0][0])
        return float(expit(self.correction.threshold(float(alpha_log_odds(one)[0][0]))))


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

    def corrected(self, costs: RowCosts, method: str, order: int) -> CorrectedOdds:
        """The correction that a method finds for these costs."""
        return CorrectedOdds(METHODS[method](self.scored(costs), order), self._limits(costs))

    def cross_fitted_decisions(self, costs: RowCosts, method: str, order: int, fold: np.ndarray) -> np.ndarray:
        """Decisions on each row as :meth:`CorrectedOdds.decision`, with the correction that the other folds give.

        ``fold`` has a number for each row. If the other folds lack a class, all rows give the correction.
        """
        decided = np.empty(self.probability.size)
        for number in np.unique(fold):
            test = fold == number
            known = ~test if np.unique(self.is_positive[~test]).size == 2 else np.ones_like(test)
            others = OutOfFoldRows(self.probability[known], self.is_positive[known], self.weight[known])
            odds = others.corrected(costs.take(known), method, order)
            decided[test] = odds.decision(self.probability[test], costs.take(test))
        return decided

    def _limits(self, costs: RowCosts) -> tuple[float, float]:
        return log_odds_range(row_count(self.weight), alpha_log_odds(costs)[0])
