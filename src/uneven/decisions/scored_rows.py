"""Rows with the log-odds that a model gave them without having learnt from them, and their window loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uneven.costs import RowCosts
from uneven.decisions.alpha import alpha_log_odds
from uneven.losses import phi

#: Log-odds stay as they are at least this far around the log-odds of alpha, so that a shift has rows to move.
_ROOM = 4.0
#: Log-odds of the least positive number: those of 0 count as this.
MOST_CERTAIN = 745.0
#: Rows up to which nothing is grouped.
MOST_ROWS = 20_000
#: Width of a cell in log-odds.
CELL = 1 / 256
#: Numbers that are worked on at once: they stay in the processor's cache.
_AT_ONCE = 32_768


def log_odds_of(probability: np.ndarray) -> np.ndarray:
    """Log-odds of probabilities; infinite for 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probability) - np.log1p(-probability))


def log_odds_range(count: float, alpha: np.ndarray) -> tuple[float, float]:
    """The least and the largest log-odds to believe of a model that learnt from ``count`` rows.

    A probability of 1/(count + 2) is the most certainty that so many rows give (Laplace); forests say 0 and 1. The
    range includes the neighbourhood of every finite number in ``alpha``, the log-odds of alpha.
    """
    certain = math.log(count + 1)
    finite = alpha[np.isfinite(alpha)]
    if not finite.size:
        return -certain, certain
    return min(-certain, float(finite.min()) - _ROOM), max(certain, float(finite.max()) + _ROOM)


def log_odds_within(
    probability: np.ndarray, limits: tuple[float, float], alpha: np.ndarray | None = None
) -> np.ndarray:
    """Log-odds of probabilities, which may be 0 and 1, as they are within the limits and compressed beyond.

    ``alpha`` are log-odds of each row's own alpha: if they are near or beyond the limits, that row's limits are wider.
    """
    return compress(np.clip(log_odds_of(probability), -MOST_CERTAIN, MOST_CERTAIN), _wide_enough(limits, alpha))


def compress(log_odds: np.ndarray, limits: tuple[np.ndarray | float, np.ndarray | float]) -> np.ndarray:
    """The excess r over a limit becomes log(1 + r).

    So the order of the rows stays, and a model that is much too sure of itself has its best threshold within reach.
    """
    inside, beyond = _split(log_odds, limits)
    return np.asarray(inside + np.sign(beyond) * np.log1p(np.abs(beyond)))


def decompress(log_odds: np.ndarray, limits: tuple[float, float], alpha: np.ndarray | None = None) -> np.ndarray:
    """The log-odds that :func:`log_odds_within` maps to these; infinite ones stay.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.decisions.scored_rows import compress, decompress
    >>> wide = np.array([-9.0, 1.0, 30.0])
    >>> decompress(compress(wide, (-2.0, 5.0)), (-2.0, 5.0)).round(9).tolist()
    [-9.0, 1.0, 30.0]
    """
    inside, beyond = _split(log_odds, _wide_enough(limits, alpha))
    with np.errstate(over="ignore"):
        return np.asarray(inside + np.sign(beyond) * np.expm1(np.abs(beyond)))


def _split(
    log_odds: np.ndarray, limits: tuple[np.ndarray | float, np.ndarray | float]
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest log-odds within the limits, and how far beyond them they are."""
    inside = np.clip(log_odds, *limits)
    with np.errstate(invalid="ignore"):
        return inside, np.where(inside == log_odds, 0.0, log_odds - inside)


def _wide_enough(
    limits: tuple[float, float], alpha: np.ndarray | None
) -> tuple[np.ndarray | float, np.ndarray | float]:
    """The limits of each row, with room around its own alpha."""
    low, high = limits
    if alpha is None:
        return low, high
    room = np.isfinite(alpha)
    return (
        np.minimum(low, np.where(room, alpha - _ROOM, np.inf)),
        np.maximum(high, np.where(room, alpha + _ROOM, -np.inf)),
    )


def row_count(weight: np.ndarray) -> float:
    """How many rows the weights stand for: a weight of 2 is two rows; tiny weights still are rows."""
    return max(float(weight.sum()), float((weight > 0).sum()))


def group_rows(
    columns: tuple[np.ndarray, ...], signs: np.ndarray, weights: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """The rows, or if they are many their means in cells of the columns, with the weights of each cell summed.

    A cell holds rows of one sign. A sum over the rows of weight times a smooth function of the columns changes by at
    most the second derivative times the cell's width squared over 8 per weight: the first-order terms cancel.
    """
    if signs.size <= MOST_ROWS:
        return columns, signs, weights
    cells = [np.rint(column / CELL).astype(np.int64) for column in columns]
    key = np.where(signs > 0, 1, 0)
    for cell in cells:
        _, codes = np.unique(cell, return_inverse=True)
        _, key = np.unique(key * (codes.max() + 1) + codes, return_inverse=True)
    total = np.bincount(key, weights)
    means = tuple(np.bincount(key, weights * column) / total for column in columns)
    sign = np.empty(total.size)
    sign[key] = signs
    return means, sign, total


@dataclass(frozen=True)
class ScoredRows:
    r"""Rows with log-odds, labels, costs and weights, as a correction sees them.

    With :math:`r_i` the regret of a row's mistake, :math:`s_i` its weight and :math:`y_i = \pm 1` its label, the window
    loss of a row at shift u is :math:`s_i |r_i| \varphi(m_i - y_i u)`, :math:`m_i = y_i (z_i - \operatorname{logit}
    \alpha_i)`. That also holds where both mistakes pay: the turned label and the turned sign cancel.

    Attributes
    ----------
    log_odds : ndarray
        Finite; see :func:`log_odds_within`.
    is_positive : ndarray of bool
    costs : RowCosts
    weight : ndarray
        A row of weight 2 counts as two rows.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.decisions.scored_rows import ScoredRows
    >>> costs = RowCosts.read(3, fp_cost=1, fn_cost=[1, 1, 0])
    >>> rows = ScoredRows(np.array([2.0, -1.0, 0.5]), np.array([True, False, True]), costs, np.ones(3))
    >>> rows.informative.tolist(), rows.margins.tolist(), rows.unit
    ([True, True, False], [2.0, 1.0], 1.0)
    """

    log_odds: np.ndarray
    is_positive: np.ndarray
    costs: RowCosts
    weight: np.ndarray

    def take(self, rows: np.ndarray) -> ScoredRows:
        """Some of the rows, given by their numbers or by a Boolean for each."""
        return ScoredRows(self.log_odds[rows], self.is_positive[rows], self.costs.take(rows), self.weight[rows])

    @cached_property
    def alpha(self) -> np.ndarray:
        """Log-odds of alpha of every row; infinite where the probability does not matter."""
        return alpha_log_odds(self.costs)[0]

    @cached_property
    def informative(self) -> np.ndarray:
        """For every row whether its decision depends on the probability and a mistake makes a difference."""
        return np.isfinite(self.alpha) & (self.weight > 0)

    @cached_property
    def signs(self) -> np.ndarray:
        """+1 for the positive ones of the informative rows, -1 for the negative ones."""
        return np.where(self.is_positive[self.informative], 1.0, -1.0)

    @cached_property
    def distances(self) -> np.ndarray:
        """Log-odds minus those of alpha, of the informative rows: the shift at which the row's decision changes."""
        return (self.log_odds - np.where(self.informative, self.alpha, 0.0))[self.informative]

    @property
    def margins(self) -> np.ndarray:
        """Distances times signs: positive where the decision at shift 0 is the right one; of the informative rows."""
        return self.signs * self.distances

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight times regret over :attr:`unit`, of the informative rows: they sum to the weight of these rows."""
        shares, _ = self._shares
        weighed = self.weight[self.informative] * shares
        return np.asarray(weighed * (self.weight[self.informative].sum() / weighed.sum())) if weighed.size else weighed

    @property
    def unit(self) -> float:
        """The mean regret of the informative rows, in the unit of the costs; 0 if there are none."""
        shares, largest = self._shares
        if not shares.size:
            return 0.0
        return float(largest * np.average(shares, weights=self.weight[self.informative]))

    @cached_property
    def _shares(self) -> tuple[np.ndarray, float]:
        """Regrets of the informative rows over the largest one: their digits do not depend on the unit."""
        regrets = np.abs(self.costs.regrets(self.is_positive))[self.informative]
        largest = float(regrets.max(initial=0.0))
        return (regrets / largest if largest else regrets), largest


def window_losses(rows: ScoredRows, order: int, shifts: np.ndarray) -> np.ndarray:
    """The sum of the window losses of all rows at each shift, over the mean regret of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.decisions.scored_rows import ScoredRows
    >>> from uneven.decisions.scored_rows import window_losses
    >>> costs = RowCosts.read(2, fp_cost=1, fn_cost=1)
    >>> rows = ScoredRows(np.array([1.0, -1.0]), np.array([True, False]), costs, np.ones(2))
    >>> window_losses(rows, 1, np.array([-9.0, 0.0, 9.0])).round(3).tolist()
    [0.999, 0.145, 0.999]
    """
    return losses_at(order, rows.margins, rows.signs, rows.weights, shifts)


def grouped_window_losses(rows: ScoredRows, order: int) -> Callable[[np.ndarray], np.ndarray]:
    """:func:`window_losses` as a function of the shifts, of groups of rows if they are many."""
    (distances,), signs, weights = group_rows((rows.distances,), rows.signs, rows.weights)
    return lambda shifts: losses_at(order, signs * distances, signs, weights, shifts)


def losses_at(
    order: int, margins: np.ndarray, signs: np.ndarray, weights: np.ndarray, shifts: np.ndarray
) -> np.ndarray:
    """For each shift u the sum of weights times phi(margins - signs u)."""
    window, total = phi("beta", order=order), np.zeros(shifts.size)
    rows = max(1, _AT_ONCE // max(1, shifts.size))
    for start in range(0, margins.size, rows):
        part = slice(start, start + rows)
        total += weights[part] @ window.values(margins[part, None] - signs[part, None] * shifts)
    return total
