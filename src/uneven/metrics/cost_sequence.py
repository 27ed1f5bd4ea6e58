"""An interval for the mean cost that may be looked at after every row: a confidence sequence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief

__all__ = ["CostSequence"]

#: Largest share of the capital that one bet may lose: below 1, so that no row can ruin it.
_MOST_LOST = 0.5
#: Rows whose bets are in memory at once, one number for each row and candidate mean.
_CHUNK = 2048
#: Capital that rounding could feign; a mean is excluded only above it.
_ROUNDING = 1e-6
#: Candidate means of costs scaled to [0, 1]. Dense near 0 and 1: dear mistakes are rare.
_SMALL = np.geomspace(1e-6, 0.1, 150)
_MEANS = np.concatenate([_SMALL, np.linspace(0.1, 0.9, 161)[1:-1], 1 - _SMALL[::-1]])


class CostSequence:
    r"""The mean cost of rows that arrive one after the other, with an interval that holds at all times at once.

    An ordinary 95 % interval that is looked at every day is wrong on some day far more often than in 5 % of lives.
    This one is wrong at any time in at most 5 % of them, however often it is looked at and whenever one stops. Against
    each candidate mean m it bets that costs are above, or below, m:

    .. math:: K_t(m) = \prod_{i \le t} \bigl(1 + \lambda_i (x_i - m)\bigr),

    with bets that only earlier rows decide. If m is the mean, the capital reaches :math:`2/\delta` with probability at
    most :math:`\delta/2` (Ville); means against which it did are excluded. Waudby-Smith and Ramdas (2023).

    It needs the least and the largest cost that any row can have, known beforehand, and no distribution. It assumes
    that every row has the same mean given the earlier ones. If means move, ``low > m`` still shows that not every row
    had a mean of at most m, and ``high < m`` that not every row had one of at least m.

    Parameters
    ----------
    most : number
        The largest cost that a row can have; with costs of each row, the largest of all rows to come.
    least : number
        The least one.
    confidence : number in (0, 1)

    Attributes
    ----------
    count : int
        Rows so far.
    low, high : float
        Ends of the interval.

    Examples
    --------
    >>> from uneven.metrics import CostSequence
    >>> costs = CostSequence(most=20)
    >>> costs.low, costs.high
    (0.0, 20.0)
    >>> found = costs.update([0, 0, 1, 0] * 500)
    >>> found.count, round(found.mean, 9), 0 < found.low < 0.25 < found.high < 1.5
    (2000, 0.25, True)
    """

    def __init__(self, *, most: Exact, least: Exact = 0, confidence: Exact = 0.95) -> None:
        self.least, self.most = (
            inputs.to_float(inputs.exact(name, value, CostError)) for name, value in (("least", least), ("most", most))
        )
        if not self.least < self.most or not math.isfinite(self.most - self.least):
            raise CostError(f"most must be above least, got most={brief(most)} and least={brief(least)}")
        self.confidence = float(inputs.between_0_and_1("confidence", confidence))
        self.count, self._sum, self._squares = 0, 0.0, 0.0
        self._capital = np.zeros((2, _MEANS.size))  # logarithms: bets on more, and on less, than each mean
        self._best = np.zeros((2, _MEANS.size))

    @property
    def mean(self) -> float:
        """The mean cost so far; NaN before the first row."""
        return self.least + (self.most - self.least) * self._sum / self.count if self.count else math.nan

    @property
    def low(self) -> float:
        """All smaller means are excluded."""
        excluded = _MEANS[self._best[0] >= self._enough]
        return self._in_money(float(excluded.max()), -math.inf) if excluded.size else self.least

    @property
    def high(self) -> float:
        """All larger means are excluded."""
        excluded = _MEANS[self._best[1] >= self._enough]
        return self._in_money(float(excluded.min()), math.inf) if excluded.size else self.most

    def update(self, costs: Any) -> CostSequence:
        """Add the costs of further rows, in their order; all or, after an error, none.

        Parameters
        ----------
        costs : array-like of shape (n,)

        Returns
        -------
        CostSequence
            Itself.
        """
        x, _ = inputs.float_array("costs", costs, CostError)
        if x.ndim != 1 or not np.all((x >= self.least) & (x <= self.most)):
            raise ParameterError(
                f"costs must be one list of numbers from {self.least:g} to {self.most:g}, got {brief(costs)}; set "
                "least and most to what a row can cost"
            )
        x = np.clip((x - self.least) / (self.most - self.least), 0.0, 1.0)
        for start in range(0, x.size, _CHUNK):
            self._bet(x[start : start + _CHUNK])
        return self

    def to_dict(self) -> dict[str, Any]:
        """All that it knows as plain data, for a file."""
        return {
            **{name: getattr(self, name) for name in ("most", "least", "confidence", "count")},
            "sum": self._sum,
            "squares": self._squares,
            "capital": self._capital.tolist(),
            "best": self._best.tolist(),
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> CostSequence:
        """The sequence that :meth:`to_dict` told of; it goes on as the first one would."""
        found = cls(**{name: state[name] for name in ("most", "least", "confidence")})
        found.count, found._sum, found._squares = int(state["count"]), float(state["sum"]), float(state["squares"])
        found._capital, found._best = (np.array(state[name], dtype=np.float64) for name in ("capital", "best"))
        return found

    def _bet(self, x: np.ndarray) -> None:
        number = self.count + np.arange(1, x.size + 1)
        mean = (0.5 + self._sum + np.cumsum(x)) / (number + 1)
        squares = self._squares + np.cumsum((x - mean) ** 2)
        before = np.concatenate([[self._squares], squares[:-1]])  # a bet knows only earlier rows
        spread = (0.25 + before) / number
        bet = np.sqrt(2 * math.log(2 / (1 - self.confidence)) / (spread * number * np.log1p(number)))[:, None]
        # Each factor falls with m (bets on more) or rises with it (on less): what is excluded are two tails.
        more = np.log1p(np.minimum(bet, _MOST_LOST / _MEANS) * (x[:, None] - _MEANS))
        less = np.log1p(-np.minimum(bet, _MOST_LOST / (1 - _MEANS)) * (x[:, None] - _MEANS))
        for side, gains in enumerate((more, less)):
            capital = self._capital[side] + np.cumsum(gains, axis=0)
            self._best[side] = np.maximum(self._best[side], capital.max(axis=0))
            self._capital[side] = capital[-1]
        self.count, self._sum, self._squares = int(number[-1]), self._sum + float(x.sum()), float(squares[-1])

    @property
    def _enough(self) -> float:
        return math.log(2 / (1 - self.confidence)) + _ROUNDING

    def _in_money(self, share: float, outwards: float) -> float:
        end = math.nextafter(self.least + (self.most - self.least) * share, outwards)
        return min(max(end, self.least), self.most)
