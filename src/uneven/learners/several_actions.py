"""More than two actions: what ``actions`` of a learner means, and what the actions it takes cost.

A fit with actions is one with the costs of the two outermost ones, which ``predict`` chooses between: what is cheapest
if nothing is done to a row, and what is cheapest if everything is. ``decide`` takes the actions between them as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from uneven.costs import COSTS, DEFAULT_COSTS, GivenCosts
from uneven.decisions.actions import Actions
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.metrics.intervals import CostEstimate, Outcome, OutcomeKey, sum_groups, worth_of_rows
from uneven.metrics.mean_interval import Cell, CountedRows, mean_interval


def read_learner_actions(learner: Any) -> Actions | None:
    """The actions of a learner; None if it has none. Each must have numbers, and two of them must pay."""
    actions = getattr(learner, "actions", None)
    return None if actions is None else require_actions(actions)


def require_actions(actions: Any) -> Actions:
    """Raise unless these are actions with numbers as costs, of which two pay."""
    if not isinstance(actions, Actions):
        raise CostError(f"actions must be uneven.Actions(...), got {brief(actions)}")
    if actions.rows is not None:
        raise CostError(
            "actions of the learner itself must have numbers as costs, got costs of each row; give these to decide"
        )
    if len(actions.envelope) < 2:
        raise CostError(
            f"{actions.envelope[0]} is the cheapest action at every probability: there is nothing to learn for "
            f"{brief(actions)}"
        )
    return actions


def costs_of_actions(learner: Any, given: GivenCosts) -> GivenCosts | None:
    """The costs of the two outermost actions of a learner; None if it has none. ``given`` are those of ``fit``."""
    actions = read_learner_actions(learner)
    if actions is None:
        return None
    own = {name: getattr(learner, name) for name in COSTS}
    unusual = {name: value for name, value in own.items() if np.ndim(value) or value != DEFAULT_COSTS[name]}
    cost_range = getattr(learner, "cost_range", None)
    if cost_range is not None:
        unusual["cost_range"] = cost_range
    for name, value in {**unusual, **given.known}.items():
        raise CostError(
            f"actions stand in place of the costs, got {name}={brief(value)} as well; leave one of them out"
        )
    return outermost_costs(actions)


def outermost_costs(actions: Actions) -> GivenCosts:
    """The costs of deciding between the two outermost actions only."""
    (fn_cost, tn_cost), (tp_cost, fp_cost) = (actions.costs[actions.envelope[end]] for end in (0, -1))
    return GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)


def have_actions_between(actions: Actions | None) -> TypeGuard[Actions]:
    """Whether more than the two outermost actions pay; else the actions are two costs."""
    return actions is not None and len(actions.envelope) > 2


def envelope_costs(actions: Actions) -> np.ndarray:
    """What the actions that pay cost on a negative and on a positive (columns), in their order from 0 to 1."""
    return np.array([actions.costs[name][::-1] for name in actions.envelope])


def envelope_rules(actions: Actions) -> dict[str, int]:
    """The rules that take the same action for every row, by name, and the number of that action.

    The outermost ones are called as without actions: "all negative" and "all positive".
    """
    last = len(actions.envelope) - 1
    between = {f"all {actions.envelope[level]}": level for level in range(1, last)}
    return {"all positive": last, "all negative": 0, **between}


def estimate_actions(
    actions: Actions,
    is_positive: np.ndarray,
    taken: Mapping[str, np.ndarray],
    weight: np.ndarray | None,
    trained: float | None = None,
    rules: Collection[str] = (),
    groups: np.ndarray | None = None,
) -> list[CostEstimate]:
    """An estimate of the cost for each way to act, as :func:`uneven.metrics.intervals.estimates` for two classes.

    ``taken`` has the number of each row's action. A false negative is a positive that gets the first action of the
    envelope, a false positive a negative that gets the last one. ``trained`` is the number of training rows of a fold,
    ``rules`` names the ways that act the same for every row by rule. With groups the intervals are of sums over groups.
    """
    costs, label = envelope_costs(actions), is_positive.astype(np.intp)
    found: list[CostEstimate] = []
    first = np.zeros(0, dtype=np.intp)
    for name, level in taken.items():
        fixed = name in rules
        worth = worth_of_rows(level[None], None if fixed else trained)
        cost = float(np.average(costs[level, label], weights=weight))
        interval = mean_interval(_cells(costs, label, (level, fixed), weight, groups=groups), worth=worth)
        estimate = CostEstimate(
            name,
            cost,
            min(interval.low, cost),
            max(interval.high, cost),
            false_positives=float(np.count_nonzero(~is_positive & (level == len(costs) - 1))),
            false_negatives=float(np.count_nonzero(is_positive & (level == 0))),
            rough=interval.rough,
            difference_rough=False,
        )
        if found:
            more = float(np.average(costs[level, label] - costs[first, label], weights=weight))
            worth = worth_of_rows(level[None], trained)
            cells = _cells(costs, label, (level, fixed), weight, (first, found[0].name in rules), groups)
            interval = mean_interval(cells, worth=worth)
            estimate = replace(
                estimate,
                difference=more,
                difference_low=min(interval.low, more),
                difference_high=max(interval.high, more),
                difference_rough=interval.rough,
            )
        else:
            first = level
        found.append(estimate)
    return found


def _cells(
    costs: np.ndarray,
    label: np.ndarray,
    way: tuple[np.ndarray, bool],
    weight: np.ndarray | None,
    other: tuple[np.ndarray, bool] | None = None,
    groups: np.ndarray | None = None,
) -> list[Cell]:
    """What can happen to rows, and what did. A way to act has a number for each row, and whether it is a fixed rule.

    A rule never takes an action that no row got; a model may.
    """
    none = np.full(label.size, -1), True
    (level, rule), (against, their_rule) = way, none if other is None else other
    mine = np.unique(level) if rule else np.arange(len(costs))
    others = np.unique(against) if their_rule else np.arange(len(costs))
    weights = np.ones(label.size) if weight is None else weight
    found = []
    outcomes: dict[OutcomeKey, Outcome] = {}
    for one in (0, 1):
        of_class = label == one if (label == one).any() else np.ones(label.size, dtype=bool)
        for number in mine:
            for theirs in others:
                paid = float(costs[number, one] - (0.0 if other is None else costs[theirs, one]))
                seen = (label == one) & (level == number) & (against == theirs)
                if groups is not None:
                    outcomes[one, int(number), int(theirs)] = Outcome(paid, seen[None], label == one)
                    continue
                rows, possible = (CountedRows.of(paid * weights[some], weights[some]) for some in (seen, of_class))
                found.append(Cell(rows, possible))
    return found if groups is None else list(sum_groups(outcomes, groups, weight).values())
