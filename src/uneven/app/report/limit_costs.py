"""What a limit on flagged rows would have cost on a table with labels, and what further actions do there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.app.files.table import Table
from uneven.app.models.apply_model import Application, Decisions
from uneven.app.models.written_costs import costs_by_name
from uneven.app.models.written_limits import WrittenLimits, decide_table, read_actions, written_actions
from uneven.app.report.sentences import per_thousand
from uneven.costs import money
from uneven.decisions.actions import Actions
from uneven.metrics import CapacityCosts, cost_by_capacity

#: Shares of the rows that are shown as limits, below what the model would flag without one.
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class LimitCost:
    """What a limit would have cost.

    Attributes
    ----------
    rows : int
        Most rows that are flagged.
    cost : float
        Mean cost per row.
    found : float
        Share of the positives that is flagged.
    saved : float or None
        What each further flag saves on average, up to the next limit; None for the last one.
    last : bool
        Whether it is no limit: the model would flag no more.
    how : str
        What decides without a limit, if that needs to be said.
    """

    rows: int
    cost: float
    found: float
    saved: float | None
    last: bool
    how: str = ""

    def cells(self, count: int) -> tuple[str, str, str, str]:
        """For a table: the limit, cost per 1,000 rows, positives found, what a further flag saves."""
        free = f"no limit, {self.how} ({self.rows:,})" if self.how else f"no limit ({self.rows:,})"
        limit = free if self.last else f"{self.rows:,} ({self.rows / count:.1%})"
        return limit, per_thousand(self.cost), f"{self.found:.1%}", "" if self.saved is None else money(self.saved)


def capacity_costs(decisions: Decisions, is_positive: np.ndarray) -> CapacityCosts | None:
    """What every limit would have cost on some rows; None without probabilities, or without positives."""
    if decisions.probability is None or not is_positive.any():
        return None
    return cost_by_capacity(is_positive.astype(int), decisions.probability, **costs_by_name(decisions.costs))


def limit_costs(curve: CapacityCosts, said: np.ndarray, is_positive: np.ndarray, cost: float) -> list[LimitCost]:
    """The limits that are shown: shares of the rows, as long as they bind, then none.

    Limits rank rows by their probabilities alone. A model that corrects its threshold may flag others: then its own
    decisions, which cost so much, are the last line.
    """
    count = int(curve.capacity[-1])
    most = round(float(curve.flagged[-1]) * count)
    rows = [*sorted({round(share * count) for share in _SHARES if 0 < round(share * count) < most}), most]
    found = []
    for k, limit in enumerate(rows):
        saved = None
        if k + 1 < len(rows):
            saved = float(curve.at(limit) - curve.at(rows[k + 1])) * count / (rows[k + 1] - limit)
        share = float(np.interp(limit, curve.capacity, curve.found))
        found.append(LimitCost(limit, float(curve.at(limit)), share, saved, limit == most))
    own = int(said.sum())
    if own == most and np.isclose(cost, found[-1].cost):
        return found
    mine = LimitCost(own, cost, float(said[is_positive].mean()), None, last=True, how="as this model decides")
    return [*found[:-1], replace(found[-1], how="by the probabilities alone"), mine]


@dataclass(frozen=True)
class FurtherActions:
    """What the further actions of a model file do on rows with labels.

    Attributes
    ----------
    actions : Actions
    sentences : list of str
        Where each action is the cheapest, the share of the rows that gets it, and what they cost.
    """

    actions: Actions
    sentences: list[str]


def further_actions(
    content: dict[str, Any], used: Application, table: Table, is_positive: np.ndarray
) -> FurtherActions | None:
    """What the further actions did on these rows; None if the model file has none."""
    texts = written_actions(content["about"])
    if not texts or used.decisions.probability is None:
        return None
    found = decide_table(
        content, used, table, read_actions(texts, used.words), WrittenLimits(), held_out=None, changed=False
    )
    pairs = list(found.actions.costs.values())
    on_label = np.stack([np.where(is_positive, *pair) + np.zeros(is_positive.size) for pair in pairs], axis=1)
    paid = float(np.take_along_axis(on_label, found.choice[:, None], axis=1).mean())
    alone = float(used.decisions.costs.paid(is_positive, used.decisions.said_positive).mean())
    unit = used.given.unit
    shares = ", ".join(f"{label} {count / len(found):.1%}" for label, count in found.counts.items())
    less = "less" if paid <= alone else "more"
    told = (
        f"With its further actions ({shares}) it costs {per_thousand(paid, unit)} per 1,000 rows on this table, "
        f"{per_thousand(abs(alone - paid), unit)} {less} than with its two predictions alone "
        f"({per_thousand(alone, unit)})."
    )
    where = [found.actions.in_words(unit)] if found.actions.rows is None else []
    return FurtherActions(found.actions, [*where, told])
