r"""A prior of the costs as a few pairs of costs, and the one pair that stands for all of it.

A prior is a measure mu over alpha = fp_cost/(fp_cost + fn_cost): at alpha, a false positive costs alpha and a false
negative 1 - alpha. Cut the ratios fn_cost/fp_cost into cells. A decision that is the same for all ratios of a cell
costs, over the cell,

.. math:: a = \int_{cell} \alpha \, d\mu \text{ if it is a false positive,} \qquad
          b = \int_{cell} (1 - \alpha) \, d\mu \text{ if it is a false negative.}

So the cell is a pair of costs, exactly, and the best decision in it is positive where the probability is above
a/(a + b), the mean of alpha over the cell. With one cell for all ratios, that is the threshold of least mean cost
for decisions that are made before the costs are known. With many cells, the mean cost over the pairs is that over the
prior, up to decisions that change within a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.losses import CostPrior

#: Width of a cell in log-ratios is at most this, and less for a window loss of high order: it smooths over
#: neighbouring cells. Beyond this many cells they get wider.
_STEP, _MOST_CELLS = 0.25, 64
#: The share of the prior on either side that lies in the two outermost cells.
_OUTSIDE = 1e-3


@dataclass(frozen=True)
class CostPairs:
    """Pairs of costs, each of which counts in every row.

    Attributes
    ----------
    fp_cost, fn_cost : ndarray

    Examples
    --------
    >>> import uneven
    >>> from uneven.decisions.cost_pairs import CostPairs
    >>> pairs = CostPairs.of(uneven.CostPrior.range(5, 50, weight="money"), order=1)
    >>> (pairs.fn_cost / pairs.fp_cost).round(1).tolist()
    [5.6, 7.1, 8.9, 11.2, 14.1, 17.8, 22.4, 28.1, 35.4, 44.6]
    """

    fp_cost: np.ndarray
    fn_cost: np.ndarray

    @classmethod
    def of(cls, prior: CostPrior, *, order: int) -> CostPairs:
        """The cells of a prior, fine enough for a window loss of this order."""
        low, high = map(float, prior.ratios.quantile(np.array([_OUTSIDE, 1 - _OUTSIDE])))
        step = min(_STEP, 0.7 / math.sqrt(order))
        count = min(max(1, math.ceil((high - low) / step - 1e-9)), _MOST_CELLS)
        edges = np.concatenate([[-np.inf], np.linspace(low, high, count + 1)[1:-1], [np.inf]])
        money = prior.weight == "money"
        fp_cost, fn_cost = -np.diff(prior.ratios.alarms(edges, money)), np.diff(prior.ratios.misses(edges, money))
        counts = (fp_cost > 0) & (fn_cost > 0)
        return cls(fp_cost[counts], fn_cost[counts])

    def take(self, rows: np.ndarray) -> CostPairs:
        """Those of some rows: the same."""
        return self

    def of_rows(self, count: int) -> RowCosts:
        """The costs of rows that are each repeated once for each pair, one row after the other.

        They are multiplied by the number of pairs, for rows that share their weight among the pairs.
        """
        pairs = self.fp_cost.size
        if pairs == 1:
            return RowCosts(count, float(self.fp_cost[0]), float(self.fn_cost[0]))
        return RowCosts(count * pairs, np.tile(pairs * self.fp_cost, count), np.tile(pairs * self.fn_cost, count))


def central_ratio(prior: CostPrior) -> float:
    r"""The ratio fn_cost/fp_cost for decisions that are made before the costs are known.

    It is :math:`\int (1 - \alpha) \, d\mu / \int \alpha \, d\mu`: deciding at it costs least on average over the prior.

    Examples
    --------
    A false alarm costs 1, a miss 5 to 50, and on average 45/log(10):

    >>> import uneven
    >>> from uneven.decisions.cost_pairs import central_ratio
    >>> round(central_ratio(uneven.CostPrior.range(5, 50, weight="money")), 3)
    19.543
    """
    low, high = prior.support
    if low == high:
        return float(low)
    missed, alarmed = float(prior.positive_cost(0.0)), float(prior.negative_cost(1.0))
    if not (0 < missed < math.inf and 0 < alarmed < math.inf and 0 < missed / alarmed < math.inf):
        raise CostError(
            f"{brief(prior)} has no mean cost: over it a false negative costs {missed:g} and a false positive "
            f"{alarmed:g}, so nothing can be decided before the costs are known; a prior with lighter ends would work"
        )
    return missed / alarmed
