"""Decisions about rows as they come, within a limit for each period that is never exceeded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from uneven import inputs
from uneven.decisions.decide import read_limited
from uneven.decisions.decision_table import Decisions
from uneven.decisions.limits import gains
from uneven.errors import ParameterError
from uneven.inputs import brief

__all__ = ["Stream"]


class Stream:
    """Decides one row, or a few, at a time, and never exceeds a limit in a period such as a day.

    A row gets one of the limited actions if it gains more than the current *price*. The price is found from past rows:
    as many of the rows that are still to come are expected to gain more as there are places left. So it rises when
    places go fast and falls when they do not. When no place is left, none is given.

    Parameters
    ----------
    past : Decisions
        Decisions about past rows, from ``decide`` with the actions and costs in use. Their gains are those that are
        expected of new rows.
    at_most : int or dict of str to int
        Most rows of a period that are flagged, or ``{"review": 200}``: that get one of the actions.
    rows_per_period : number, optional
        How many rows are expected in a period; by default the mean size of the groups of ``past``. The attribute of
        this name may be set anew at any time, if a day turns out to be a busy one.

    Attributes
    ----------
    period : object
        The current period; None before the first one is named.
    used, seen : int
        Places given and rows decided about in the current period.

    Notes
    -----
    It cannot know what comes. ``benchmarks/streamed_decisions.py`` prints what it loses against decisions that know
    all rows of the period: docs/decide.md has the table.

    Examples
    --------
    >>> import numpy as np
    >>> import uneven
    >>> rng = np.random.default_rng(0)
    >>> past = uneven.decide(rng.beta(0.3, 3, 5000), fp_cost=1, fn_cost=9)
    >>> stream = uneven.Stream(past, at_most=20, rows_per_period=1000)
    >>> first = stream.decide(uneven.decide([0.7], fp_cost=1, fn_cost=9), period="monday")
    >>> first.action.tolist(), stream.used, round(stream.price, 1)
    (['positive'], 1, 4.2)
    >>> monday = stream.decide(uneven.decide(rng.beta(0.3, 3, 999), fp_cost=1, fn_cost=9))
    >>> stream.used
    20
    """

    def __init__(self, past: Decisions, *, at_most: Any, rows_per_period: Any = None) -> None:
        if not isinstance(past, Decisions):
            raise ParameterError(f"past must be what decide returns about past rows, got {brief(past)}")
        self.limited, most = read_limited("at_most", at_most, past.labels)
        inputs.require_integer("at_most", most, least=0, wanted="a whole number of at least 0")
        if rows_per_period is None:
            if past.groups.size == 1:
                raise ParameterError(
                    "give rows_per_period, or past decisions with per=: their groups say how many rows a period has"
                )
            rows_per_period = len(past) / past.groups.size
        self.rows_per_period = float(inputs.positive("rows_per_period", rows_per_period))
        self.labels, self.at_most = past.labels, int(most)
        self._gains = np.sort(gains(past.regrets, self.limited))[::-1]
        self.period: Any = None
        self.used = self.seen = 0

    def __repr__(self) -> str:
        return f"<Stream: {self.used:,} of {self.at_most:,} places used after {self.seen:,} rows>"

    @property
    def price(self) -> float:
        """What a row must gain now to get a place; infinite if none is left."""
        left = self.at_most - self.used
        if left <= 0:
            return float("inf")
        share = left / max(self.rows_per_period - self.seen, 1.0)
        rank = int(share * self._gains.size)
        return float(max(self._gains[rank], 0.0)) if rank < self._gains.size else 0.0

    def decide(self, rows: Decisions, period: Any = None) -> Decisions:
        """Decide about new rows, in their order.

        Parameters
        ----------
        rows : Decisions
            What ``decide`` says about the new rows without limits: their actions, costs and gains.
        period : object, optional
            The period of the rows, such as the day. If it is another one than that of the rows before, all places are
            free again.

        Returns
        -------
        Decisions
            With places for rows that gain enough; the others get the best other action.
        """
        if not isinstance(rows, Decisions) or rows.labels != self.labels:
            raise ParameterError(
                f"rows must be what decide returns about new rows, with the actions "
                f"{', '.join(map(str, self.labels))}, got {brief(rows)}"
            )
        if rows.prices or rows.guarantee is not None or rows.next_gain is not None:
            raise ParameterError(
                "rows were decided within limits, which the stream would break; decide about them without limits"
            )
        if getattr(period, "ndim", 0):
            raise ParameterError(f"period must be one period of all these rows, such as a day, got {brief(period)}")
        if period is not None and period != self.period:
            self.period, self.used, self.seen = period, 0, 0
        others = np.setdiff1d(np.arange(len(self.labels)), self.limited)
        choice, gain = rows.choice.copy(), gains(rows.regrets, self.limited)
        wanted = np.isin(choice, self.limited)
        for row in range(choice.size):
            if wanted[row] and not gain[row] > self.price:
                choice[row] = others[int(rows.regrets[row, others].argmin())]
            elif wanted[row]:
                self.used += 1
            self.seen += 1
        price = np.array([self.price if np.isfinite(self.price) else 0.0])
        least = float(rows.regrets.min(axis=1).sum())
        return replace(rows, choice=choice, limited=self.limited, next_gain=price, _bound=least)
