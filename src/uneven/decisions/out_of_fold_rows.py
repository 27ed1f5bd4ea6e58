"""What is kept of the out-of-fold rows: enough for a correction at any costs without a new fit, and for its curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from uneven.costs import RowCosts
from uneven.decisions.action_cuts import Cut, count_breaks, find_cuts
from uneven.decisions.alpha import alpha_log_odds
from uneven.decisions.correction import CorrectedOdds, Correction
from uneven.decisions.correction_methods import METHODS, costs_by_shift
from uneven.decisions.cost_pairs import CostPairs
from uneven.decisions.platt import probability_map
from uneven.decisions.posterior import ShiftPosterior
from uneven.decisions.scored_rows import (
    MOST_CERTAIN,
    MOST_ROWS,
    ScoredRows,
    compress,
    group_rows,
    grouped_window_losses,
    log_odds_of,
    log_odds_range,
    log_odds_within,
    row_count,
)

#: Shifts at which the curve is drawn.
_POINTS = 801
#: How far the curve reaches at least, and how far beyond the rows and the shift in use.
_LEAST_REACH, _BEYOND = 2.0, 0.5


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

    def with_costs(self, costs: RowCosts | CostPairs) -> ScoredRows:
        """The rows as a correction for these costs sees them; with pairs of costs, each row once for each pair."""
        limits = self._limits(costs)
        if isinstance(costs, RowCosts):
            return ScoredRows(log_odds_within(self.probability, limits), self.is_positive, costs, self.weight)
        rows = self.group_rows() if self.probability.size > MOST_ROWS else self  # before they become many more
        pairs, log_odds = costs.fp_cost.size, log_odds_within(rows.probability, limits)
        log_odds, is_positive, weight = (
            np.repeat(part, pairs) for part in (log_odds, rows.is_positive, rows.weight / pairs)
        )
        return ScoredRows(log_odds, is_positive, costs.of_rows(rows.is_positive.size), weight)

    def find_calibration(self) -> CorrectedOdds:
        """The map to probabilities that these rows support; costs play no part."""
        limits = log_odds_range(row_count(self.weight), np.empty(0))
        log_odds = log_odds_within(self.probability, limits)
        return CorrectedOdds(probability_map(log_odds, self.is_positive, self.weight, limits), limits)

    def find_correction(self, costs: RowCosts | CostPairs, method: str, order: int) -> CorrectedOdds:
        """The correction that a method finds for these costs, or for pairs of costs together."""
        return CorrectedOdds(METHODS[method](self.with_costs(costs), order), self._limits(costs))

    def decide_out_of_fold(
        self,
        costs: RowCosts,
        method: str,
        order: int,
        fold: np.ndarray,
        learnt: np.ndarray,
        correct_for: RowCosts | CostPairs | None = None,
    ) -> np.ndarray:
        """Decisions on each row as :meth:`CorrectedOdds.decision`, with the correction that rows known before give.

        ``fold`` has the number of each row's fold, ``learnt`` says for each fold (row) from which others (columns) its
        model learnt. With TimeSeriesSplit these are the earlier ones. If they lack a class, nothing is corrected. The
        correction is that for ``correct_for``, by default the costs themselves.
        """
        decided = np.empty(self.probability.size)
        correct_for = costs if correct_for is None else correct_for
        for test, known in self._folds(fold, learnt):
            odds = self.uncorrected(correct_for)
            if known is not None:
                odds = self.take(known).find_correction(correct_for.take(known), method, order)
            decided[test] = odds.decision(self.probability[test], costs.take(test))
        return decided

    def act_out_of_fold(
        self, pairs: Sequence[tuple[float, float]], method: str, order: int, fold: np.ndarray, learnt: np.ndarray
    ) -> np.ndarray:
        """The same for several actions, given by the costs of their breaks: the number of each row's action."""
        levels = np.empty(self.probability.size, dtype=np.intp)
        for test, known in self._folds(fold, learnt):
            rows = self if known is None else self.take(known)
            cuts = rows.cuts(pairs, "none" if known is None else method, order)
            levels[test] = count_breaks(cuts, self.probability[test])
        return levels

    def cuts(self, pairs: Sequence[tuple[float, float]], method: str, order: int) -> list[Cut]:
        """The cuts that a method finds for several actions, given by the costs of their breaks."""
        count = self.is_positive.size
        return find_cuts(pairs, lambda fp, fn: self.find_correction(RowCosts(count, fp, fn), method, order))

    def shift_at(self, log_odds: float, costs: RowCosts) -> float:
        """The shift that cuts at a model's own log-odds, for rows as a correction for these costs sees them."""
        beyond = np.clip([log_odds], -MOST_CERTAIN - 1, MOST_CERTAIN + 1)
        return float((compress(beyond, self._limits(costs)) - alpha_log_odds(costs)[0][:1])[0])

    def uncorrected(self, costs: RowCosts | CostPairs) -> CorrectedOdds:
        """Log-odds as a correction for these costs sees them, but not corrected."""
        return CorrectedOdds(Correction(), self._limits(costs))

    def _folds(self, fold: np.ndarray, learnt: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """For each fold its rows, and those that were known before; None if these lack a class."""
        for number in np.unique(fold):
            test = fold == number
            known = ~test if number < 0 else np.isin(fold, np.flatnonzero(learnt[number]))
            yield test, known if np.unique(self.is_positive[known]).size == 2 else None

    def take(self, rows: np.ndarray) -> OutOfFoldRows:
        """Some of the rows, given by their numbers or by a Boolean for each."""
        return OutOfFoldRows(self.probability[rows], self.is_positive[rows], self.weight[rows])

    def group_rows(self) -> OutOfFoldRows:
        """Few rows for many: rows of one class with nearly the same log-odds count as one, with their weights summed.

        A correction for costs that are the same in all rows comes out as from the rows themselves, but for about 1e-5
        in the log-odds.
        """
        used = self.weight > 0
        log_odds = np.clip(log_odds_of(self.probability[used]), -MOST_CERTAIN, MOST_CERTAIN)
        signs = np.where(self.is_positive[used], 1.0, -1.0)
        (means,), signs, weight = group_rows((log_odds,), signs, self.weight[used])
        return OutOfFoldRows(np.asarray(expit(means)), signs > 0, weight)

    def _limits(self, costs: RowCosts | CostPairs) -> tuple[float, float]:
        of_rows = costs if isinstance(costs, RowCosts) else costs.of_rows(1)
        return log_odds_range(row_count(self.weight), alpha_log_odds(of_rows)[0])


@dataclass(frozen=True)
class ShiftCurve:
    """Cost per out-of-fold row against the shift of the log-odds.

    Attributes
    ----------
    shift : ndarray
    cost : ndarray
        Realised cost: it jumps where the decision on a row changes.
    window_cost : ndarray
        The window loss in its place, in the unit of the costs: the smooth curve that the methods "gibbs", "affine" and
        "argmin" use.
    chosen : float
        The shift that is used; NaN if the correction is no shift.
    posterior : ShiftPosterior or None
    """

    shift: np.ndarray
    cost: np.ndarray
    window_cost: np.ndarray
    chosen: float
    posterior: ShiftPosterior | None

    def plot(self, ax: Any = None) -> Any:
        """Draw costs and posterior against the shift; returns the axes. Needs Matplotlib (the extra ``plot``)."""
        from uneven.figures.displays.fitted_curves import ThresholdShiftDisplay

        return ThresholdShiftDisplay(self).plot(ax).ax_


def shift_curve(rows: ScoredRows, correction: Correction, order: int) -> ShiftCurve:
    """The curve of some rows, from the shift at which all are positive to the one at which all are negative."""
    chosen = correction.shift if correction.slope == 1 else float("nan")
    low, high = -_LEAST_REACH, _LEAST_REACH
    if rows.informative.any():
        low, high = min(low, rows.distances.min() - _BEYOND), max(high, rows.distances.max() + _BEYOND)
    if np.isfinite(chosen):
        low, high = min(low, chosen - _BEYOND), max(high, chosen + _BEYOND)
    shift = np.linspace(low, high, _POINTS)
    total = float(rows.weight.sum())
    least = float((rows.weight / total) @ _cost_without_mistakes(rows))
    if not rows.informative.any():
        flat = np.full(shift.size, least)
        return ShiftCurve(shift, flat, flat, chosen, correction.posterior)
    steps, mistakes = costs_by_shift(rows)
    realised = mistakes[np.searchsorted(steps, shift, side="right") - 1]
    return ShiftCurve(
        shift,
        least + realised * (rows.unit / total),
        least + grouped_window_losses(rows, order)(shift) * (rows.unit / total),
        chosen,
        correction.posterior,
    )


def _cost_without_mistakes(rows: ScoredRows) -> np.ndarray:
    """What each row costs at least; where one decision is always best, what that decision costs."""
    alpha, sign = alpha_log_odds(rows.costs)
    right, wrong = (rows.costs.paid(rows.is_positive, said) for said in (rows.is_positive, ~rows.is_positive))
    fixed = rows.costs.paid(rows.is_positive, sign * alpha < 0)
    return np.where(np.isfinite(alpha), np.minimum(right, wrong), fixed)
