"""Fewer members, for fast predictions: which to keep, with which weights, and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from uneven.costs import RowCosts, money
from uneven.decisions.actions import Actions
from uneven.learners.ensemble.latency import Limits
from uneven.learners.ensemble.weights import Weighting
from uneven.learners.several_actions import envelope_costs
from uneven.metrics.expected_cost import cost_of_decisions

#: Out-of-fold probabilities of some rows, and the numbers of these rows, to what decisions about them cost per row.
CostOf = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Pruning:
    """What limits on the members, in number or time, cost, per row and out of fold, with decisions cut at alpha.

    The numbers are those of the rows by which the members were chosen; ``out_of_fold_cost_`` of the ensemble chooses
    without the fold that it decides about.

    Attributes
    ----------
    members, of : int
        How many members are used, and how many there are.
    cost : float
        Of the mixture in use.
    cost_of_all : float
        Of all members with the weights they would have.
    cost_of_cheapest : float
        Of the cheapest mixture that was looked at, of whatever size.
    """

    members: int
    of: int
    cost: float
    cost_of_all: float
    cost_of_cheapest: float

    @property
    def price(self) -> float:
        """What the limit costs per row: never negative, because the cheapest mixture of all sizes is the measure."""
        return self.cost - self.cost_of_cheapest

    def in_words(self, unit: str | None = None) -> str:
        """The same as a sentence."""
        more = f", {100 * self.price / self.cost_of_cheapest:.2g} %" if self.cost_of_cheapest > 0 else ""
        return (
            f"{self.members} of {self.of} members: out of fold they cost {money(self.cost, unit)} per row, all of them "
            f"{money(self.cost_of_all, unit)}. The limit costs {money(self.price, unit)} per row{more}, against the "
            "cheapest mixture that was looked at."
        )


def cost_at_alpha(
    is_positive: np.ndarray, weight: np.ndarray, costs: RowCosts, actions: Actions | None = None
) -> CostOf:
    """What decisions by probabilities cost, cut at alpha; with actions between the two classes, at their breaks."""

    def cost(probability: np.ndarray, rows: np.ndarray) -> float:
        if actions is None:
            of_rows = costs.take(rows)
            return cost_of_decisions(of_rows, is_positive[rows], of_rows.prefers_positive(probability), weight[rows])
        level = np.searchsorted(actions.breaks, probability, side="left")
        paid = envelope_costs(actions)[level, is_positive[rows].astype(np.intp)]
        return float(weight[rows] @ paid / weight[rows].sum())

    return cost


def prune(
    probabilities: Mapping[str, np.ndarray],
    is_positive: np.ndarray,
    weight: np.ndarray,
    weighting: Weighting,
    rows: np.ndarray,
    cost_of: CostOf,
    limits: Limits,
) -> tuple[dict[str, float], Pruning]:
    """Weights of the members, 0 for those left out, so that the limits are kept.

    From all members that may be used alone, the one whose absence makes the decisions about these rows cheapest is left
    out, and again, each time with new weights for the rest. These mixtures and each member alone are looked at; the
    cheapest within the limits is used. If all members with the weights they would have are within the limits, nothing
    is changed. If no member is, the fastest is used alone.
    """
    names = list(probabilities)
    table = np.stack([probabilities[name][rows] for name in names], axis=1)
    known, counts = is_positive[rows], weight[rows]

    def look(members: tuple[int, ...]) -> tuple[float, np.ndarray]:
        found = np.zeros(len(names))
        found[list(members)] = weighting(table[:, list(members)], known, counts)
        mixture = sum(found[k] * table[:, k] for k in range(len(names)) if found[k] > 0)
        return cost_of(np.asarray(mixture), rows), found

    def used(found: tuple[float, np.ndarray]) -> list[str]:
        return [names[k] for k in np.flatnonzero(found[1])]

    everyone = tuple(range(len(names)))
    seen = {everyone: look(everyone)}
    cost_of_all, weights = seen[everyone]
    if limits.allow(used(seen[everyone])) and (limits.members != 1 or len(names) == 1):
        count = np.count_nonzero(weights)
        kept = dict(zip(names, weights.tolist(), strict=True))
        return kept, Pruning(int(count), len(names), cost_of_all, cost_of_all, cost_of_all)
    possible = limits.possible(names)
    members = tuple(k for k in everyone if names[k] in possible)
    seen.setdefault(members, look(members))
    while len(members) > 2:
        fewer = {rest: look(rest) for out in members if (rest := tuple(k for k in members if k != out))}
        members = min(fewer, key=lambda rest: fewer[rest][0])
        seen |= fewer
    for k in everyone:
        seen[k,] = look((k,))
    allowed = [found for found in seen.values() if limits.allow(used(found))]
    cost, weights = min(allowed or [seen[names.index(possible[0]),]], key=lambda found: found[0])
    cheapest = min(found[0] for found in seen.values())
    kept = dict(zip(names, weights.tolist(), strict=True))
    return kept, Pruning(int(np.count_nonzero(weights)), len(names), cost, cost_of_all, cheapest)
