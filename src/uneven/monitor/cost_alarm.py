r"""A test that may be looked at after every row: do decisions cost more than was promised?

Each bet multiplies its capital by :math:`1 + \lambda (x - m)` for a row that costs x, where m is the promise. While no
row has a mean above m, given the earlier ones, capital is not expected to grow, and the chance that it ever reaches
:math:`1/\delta` times the start is at most :math:`\delta` (Ville). The capital is spread over several :math:`\lambda`,
and over the batches at which the costs may have begun to rise: a part :math:`1/(s(s + 1))` of it waits for batch s. So
a change after a good year is found about as fast as one in the first week; waiting costs :math:`\log s^2` of evidence.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Bets: the boldest loses half of its capital in a row that costs the least.
_BOLDEST, _BETS = 0.5, 24
#: The most careful bet wins this share of its capital in a row that costs the most.
_CAREFUL = 0.02
#: Capital that rounding could feign, as a logarithm.
_ROUNDING = 1e-6
#: Rows whose capital is in memory at once.
_CHUNK = 8192


class CostAlarm:
    """Whether rows cost more than a promise, with at most ``delta`` chance of a false alarm in its whole life.

    Parameters
    ----------
    promise : float
        The mean cost that rows may have.
    least : float
        What a row costs at least.
    most : float
        What a row may well cost: bets are made for it. Dearer rows do no harm.
    delta : float

    Attributes
    ----------
    evidence : float
        The largest capital so far, as a multiple of the start.
    count : int
        Rows so far.
    mean : float
        Their mean cost; NaN before the first.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.monitor.cost_alarm import CostAlarm
    >>> alarm = CostAlarm(0.5, least=0, most=20, delta=0.05)
    >>> alarm.update(np.arange(2000) % 50 == 0).fires  # costs 0.02
    False
    >>> alarm.update(20.0 * (np.arange(2000) % 20 == 0)).fires  # costs 1
    True
    """

    def __init__(self, promise: float, *, least: float, most: float, delta: float) -> None:
        self.promise, self.least, self.most, self.delta = promise, least, most, delta
        careful = min(_CAREFUL / max(most - promise, 1e-300), _BOLDEST / (promise - least))
        self._bets = np.geomspace(careful, _BOLDEST / (promise - least), _BETS)
        self._capital = np.full(_BETS, -np.inf)
        self._batches, self.count, self._sum, self._best = 0, 0, 0.0, 0.0

    @property
    def evidence(self) -> float:
        """The greatest evidence for a change so far."""
        return math.exp(min(self._best, 700.0))

    @property
    def mean(self) -> float:
        """The mean of all values so far; NaN before the first."""
        return self._sum / self.count if self.count else math.nan

    @property
    def fires(self) -> bool:
        """Whether the evidence is enough for an alarm; once it is, it stays."""
        return self._best - _ROUNDING >= -math.log(self.delta)

    def update(self, costs: np.ndarray) -> CostAlarm:
        """Add a batch of rows, in their order."""
        if not len(costs):
            return self
        self._batches += 1
        waiting = -math.log(self._batches + 1)
        started = -math.log(self._batches * (self._batches + 1)) - math.log(_BETS)
        self._capital = np.logaddexp(self._capital, started)
        for start in range(0, len(costs), _CHUNK):
            x = np.asarray(costs[start : start + _CHUNK], dtype=np.float64)
            gains = np.cumsum(np.log1p(self._bets * (x[:, None] - self.promise)), axis=0)
            capital = self._capital + gains
            total = np.logaddexp(np.logaddexp.reduce(capital, axis=1), waiting)
            self._best = max(self._best, float(total.max()))
            self._capital = capital[-1]
            self.count, self._sum = self.count + x.size, self._sum + float(x.sum())
        return self

    def to_dict(self) -> dict[str, Any]:
        """All that it knows, as plain data."""
        return {
            **{name: getattr(self, name) for name in ("promise", "least", "most", "delta", "count")},
            "capital": [None if value == -np.inf else value for value in self._capital.tolist()],
            "batches": self._batches,
            "sum": self._sum,
            "best": self._best,
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> CostAlarm:
        """The same alarm again."""
        found = cls(state["promise"], least=state["least"], most=state["most"], delta=state["delta"])
        found._capital = np.array([-np.inf if value is None else value for value in state["capital"]])
        found._batches, found.count = int(state["batches"]), int(state["count"])
        found._sum, found._best = float(state["sum"]), float(state["best"])
        return found
