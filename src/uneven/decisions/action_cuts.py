r"""Where the score of a model is cut for several actions: one correction for each break.

By Theorem A the cost of actions is a sum over breaks of problems with two costs on the same score. So each break gets
the correction for its own two costs, as if the model were asked for these alone. benchmarks/action_corrections.py
compares this with one shift for all breaks, which costs more.

Corrections may move a break beyond the next one. Then no score is left for the actions between: the two breaks become
one, whose costs are the sums of both, with a correction of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from uneven.costs import RowCosts
from uneven.decisions.actions import Actions
from uneven.decisions.correction import CorrectedOdds
from uneven.inputs import to_float

#: The correction of a model for these costs of a false positive and a false negative.
Find = Callable[[float, float], CorrectedOdds]


def costs_of_breaks(actions: Actions) -> list[tuple[float, float]]:
    """For each break the costs of a false positive and of a false negative: alpha is the break, their sum the mass.

    Examples
    --------
    >>> import uneven
    >>> from uneven.decisions.action_cuts import costs_of_breaks
    >>> costs_of_breaks(uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20)))
    [(5.0, 92.0), (15.0, 8.0)]
    """
    pairs = zip(actions.exact_breaks, actions.exact_masses, strict=True)
    return [(to_float(alpha * mass), to_float((1 - alpha) * mass)) for alpha, mass in pairs]


@dataclass(frozen=True)
class Cut:
    """The correction for one break, or for several that became one.

    Attributes
    ----------
    breaks : int
        How many breaks it stands for.
    fp_cost, fn_cost : float
        The sums of their costs.
    odds : CorrectedOdds
    """

    breaks: int
    fp_cost: float
    fn_cost: float
    odds: CorrectedOdds

    @property
    def log_odds(self) -> float:
        """The model's own log-odds above which the next action is taken."""
        return float(self.odds.thresholds(self.costs(1))[0])

    def costs(self, count: int) -> RowCosts:
        """The two costs, for so many rows."""
        return RowCosts(count, self.fp_cost, self.fn_cost)


def find_cuts(pairs: Sequence[tuple[float, float]], find: Find) -> list[Cut]:
    """The cuts for the costs of each break, in rising order; neighbours that would cross become one."""
    found: list[Cut] = []
    for fp_cost, fn_cost in pairs:
        cut = Cut(1, fp_cost, fn_cost, find(fp_cost, fn_cost))
        while found and cut.log_odds < found[-1].log_odds:
            last = found.pop()
            costs = last.fp_cost + cut.fp_cost, last.fn_cost + cut.fn_cost
            cut = Cut(last.breaks + cut.breaks, *costs, find(*costs))
        found.append(cut)
    return found


def count_breaks(cuts: Sequence[Cut], probability: np.ndarray) -> np.ndarray:
    """For each row how many breaks lie below its probability: the number of its action on the envelope."""
    levels = np.zeros(probability.size, dtype=np.intp)
    for cut in cuts:
        levels += cut.breaks * (cut.odds.decision(probability, cut.costs(probability.size)) > 0)
    return levels
