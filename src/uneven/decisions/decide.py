"""From probabilities and costs to decisions within limits: ``uneven.decide``, which ``decide`` of a learner calls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from uneven import inputs
from uneven.costs import COSTS, DEFAULT_COSTS, GivenCosts, RowCosts
from uneven.decisions.actions import Actions
from uneven.decisions.decision_table import Decisions
from uneven.decisions.held_out import (
    RULES,
    first_precise,
    price_for_recall,
    prices_of_misses,
    read_held_out,
    read_level,
)
from uneven.decisions.limits import Capacity, Floor, Solution, number_groups, solve, total_cost, turning_prices
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief

__all__ = ["decide"]


def decide(
    probability: Any,
    *,
    actions: Actions | None = None,
    fp_cost: Any = None,
    fn_cost: Any = None,
    tp_cost: Any = None,
    tn_cost: Any = None,
    at_most: Any = None,
    at_most_share: Any = None,
    per: Any = None,
    recall_at_least: Any = None,
    precision_at_least: Any = None,
    flag_rate: Any = None,
    budget: Any = None,
    held_out: Any = None,
    confidence: Any = 0.95,
) -> Decisions:
    """The cheapest decisions for probabilities and costs, within limits.

    Parameters
    ----------
    probability : array-like of shape (n,)
        P(positive) of each row.
    actions : Actions, optional
        What can be done and what it costs. The first action does nothing, the others *flag* a row.
    fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n,), optional
        In place of actions: costs of the four outcomes of "negative" and "positive", where positive flags the row.
    at_most : int or dict of str to int, optional
        Most rows that are flagged, or ``{"review": 200}``: most rows that get one of the actions.
    at_most_share : number in [0, 1], optional
        The same as a share of the rows, rounded down.
    per : array-like of shape (n,), optional
        The group of each row, such as its day: at_most, at_most_share and flag_rate hold in each group.
    recall_at_least : number in (0, 1], optional
        The least expected share of positives that is flagged.
    precision_at_least : number in (0, 1), optional
        The least expected share of positives among flagged rows.
    flag_rate : number in [0, 1], optional
        Flag exactly this share of the rows, rounded.
    budget : pair of a number and a number or array-like of shape (n,), optional
        What may be spent in all, and what it takes to flag a row.
    held_out : pair of array-likes, optional
        Probabilities and labels (1 or True for positive) of rows that the model did not learn from. recall_at_least or
        precision_at_least then holds for new rows like these with the stated confidence. If costs differ from row to
        row, a third entry has those of the held-out rows: actions, or a dictionary of costs.
    confidence : number in (0, 1)
        For ``held_out``.

    Returns
    -------
    Decisions

    Notes
    -----
    Without limits each row gets its cheapest action; of several, the one named first. A capacity gives the places to
    the rows that gain most. Floors are kept by a price; no decisions within the limits are cheaper by more than
    ``gap``. docs/decide.md has the proofs.

    Examples
    --------
    >>> import uneven
    >>> p = [0.9, 0.02, 0.3, 0.6, 0.1]
    >>> actions = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))
    >>> found = uneven.decide(p, actions=actions, at_most={"review": 1})
    >>> found.action.tolist(), round(found.price_of_one_more, 6), round(found.constraint_cost, 6)
    (['block', 'clear', 'review', 'block', 'clear'], 4.7, 5.9)
    >>> uneven.decide(p, fp_cost=1, fn_cost=9, at_most=2).action.tolist()
    ['positive', 'negative', 'negative', 'positive', 'negative']
    """
    given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows = _read_rows(probability, actions, given)
    limits = Limits(at_most, at_most_share, per, recall_at_least, precision_at_least, flag_rate, budget, confidence)
    known = None
    if held_out is not None:
        p, labels, costs = read_held_out(held_out, "probabilities and labels")
        if costs is None and rows.actions.rows is not None:
            raise CostError(
                "costs differ from row to row, so held_out needs those of its rows, too, as a third entry: actions, or "
                "a dictionary of costs"
            )
        read = _read_rows(p, *costs_of_past(costs, actions, given))
        known = read, _read_positive(labels, read.count)
    return decide_rows(rows, limits, known, probability.index if hasattr(probability, "iloc") else None)


@dataclass(frozen=True)
class Limits:
    """The limits as they were given to ``decide``."""

    at_most: Any = None
    at_most_share: Any = None
    per: Any = None
    recall_at_least: Any = None
    precision_at_least: Any = None
    flag_rate: Any = None
    budget: Any = None
    confidence: Any = 0.95


def check_limits(limits: Limits, actions: Actions | None, labels: tuple[Any, ...]) -> None:
    """Raise if these limits could not be kept for any rows; without actions, the decisions are the two labels."""
    known = Actions(negative=(1, 0), positive=(0, 1)) if actions is None else actions
    row = DecisionRows(np.array([0.5]), known, labels if actions is None else actions.names)
    group, groups = _read_groups(limits if limits.per is None else replace(limits, per=["a"]), 1)
    _read_capacity(limits, row, group, groups)
    _read_floors(limits, row)
    read_level(limits.confidence)


@dataclass(frozen=True)
class DecisionRows:
    """Rows to decide about: probabilities, actions with costs, what the actions are called.

    ``said`` is the action that a classifier with a threshold of its own takes, by number; of two, whether it is the
    second. It is kept, also where the probability says otherwise: it then counts as a little cheaper than the others.
    """

    probability: np.ndarray
    actions: Actions
    labels: tuple[Any, ...]
    said: np.ndarray | None = None

    @property
    def count(self) -> int:
        return self.probability.size

    @cached_property
    def cost(self) -> np.ndarray:
        """Expected costs above those of the right action for the label: one column for each action."""
        cost = self.actions.regrets(self.probability)
        largest = max(float(np.abs(part).max()) for pair in self.actions.costs.values() for part in pair)
        if not math.isfinite(2 * largest * self.count):
            raise CostError("the sum of the costs of all rows is too large for double precision; use another unit")
        if self.said is None:
            return cost
        if cost.shape[1] == 2:
            nothing, flag = cost[:, 0], cost[:, 1]
            lower = np.where(flag < nothing, flag, np.nextafter(nothing, -np.inf))
            cost[:, 1] = np.where(self.said, lower, np.maximum(flag, nothing))
            return cost
        return prefer_said(cost, self.said)


def prefer_said(cost: np.ndarray, said: np.ndarray | None) -> np.ndarray:
    """Costs at which the actions that a classifier takes are the cheapest ones, if only just."""
    if said is not None:
        wrong = np.flatnonzero(cost.argmin(axis=1) != said)
        cost[wrong, said[wrong]] = np.nextafter(cost[wrong].min(axis=1), -np.inf)
    return cost


def decide_rows(
    rows: DecisionRows, limits: Limits, known: tuple[DecisionRows, np.ndarray] | None = None, index: Any = None
) -> Decisions:
    """The cheapest decisions within the limits; ``known`` are held-out rows and whether each is positive."""
    group, groups = _read_groups(limits, rows.count)
    capacity = _read_capacity(limits, rows, group, groups)
    floors = _read_floors(limits, rows)
    guarantee = None
    if known is None:
        solution = solve(rows.cost, capacity, floors)
    else:
        solution, guarantee = _solve_with_guarantee(rows, limits, capacity, floors, known)
    return Decisions(
        rows.probability,
        solution.choice,
        rows.labels,
        rows.actions,
        solution.prices,
        guarantee,
        regrets=rows.cost,
        _bound=solution.bound,
        limited=capacity.limited if capacity is not None else tuple(range(1, len(rows.labels))),
        next_gain=solution.next_gain,
        group=group,
        groups=groups,
        _index=index,
    )


# -- guarantees -------------------------------------------------------------------------------------------------------


def _solve_with_guarantee(
    rows: DecisionRows,
    limits: Limits,
    capacity: Capacity | None,
    floors: list[Floor],
    known: tuple[DecisionRows, np.ndarray],
) -> tuple[Solution, str]:
    """A floor that holds for new rows; the rule is one price for all rows, so that nothing else may bind."""
    if len(floors) != 1 or limits.budget is not None:
        raise ParameterError(
            "held_out is for one of recall_at_least and precision_at_least, without another of them and without a "
            "budget"
        )
    level, (past, is_positive), floor = read_level(limits.confidence), known, floors[0]
    if limits.recall_at_least is not None:
        share = share_of("recall_at_least", limits.recall_at_least)
        price = price_for_recall(past.cost, past.probability, is_positive, share, level)
        choice, flag = rows.cost.argmin(axis=1), turning_prices(rows.cost, rows.probability)[1]
        new = (choice == 0) & (prices_of_misses(rows.cost, rows.probability) <= price)
        choice[new] = flag[new]
        sentence = f"of new positives, at least {100 * float(share):g} % are flagged"
    else:
        share = share_of("precision_at_least", limits.precision_at_least)
        targets = [float(share + (1 - share) * Fraction(step, RULES)) for step in range(RULES)]
        prices = [_price_for_precision(rows, target) for target in targets]
        rules = [_rule(price, target) for price, target in zip(prices, targets, strict=True)]
        flags = [lambda cost, p, rule=rule: rule(cost, p) > 0 for rule in rules]
        number = first_precise(flags, past.cost, past.probability, is_positive, share, level)
        choice, price = rules[number](rows.cost, rows.probability), prices[number]
        sentence = f"of new rows that are flagged, at least {100 * float(share):g} % are positive"
    solution = Solution(choice, -math.inf, {floor.name: max(price, 0.0)})
    if capacity is not None:
        taken = np.isin(choice, capacity.limited)
        over = np.bincount(capacity.group[taken], minlength=capacity.most.size) > capacity.most
        if over.any() or capacity.exact:
            raise ParameterError(
                f"{floor.name} with a guarantee contradicts the limit on the number of rows: it takes "
                f"{int(taken.sum()):,} rows, and the limit is {int(capacity.most.sum()):,}; raise the limit or ask for "
                "less"
            )
    words = (
        f"With {100 * level:g} % confidence, {sentence}, if new rows are like the {past.count:,} held-out ones "
        f"({int(is_positive.sum()):,} positive)."
    )
    bound = total_cost(rows.cost, choice)  # it is a rule for new rows: nothing is claimed about others on these rows
    return Solution(solution.choice, bound, solution.prices), words


def _price_for_precision(rows: DecisionRows, target: float) -> float:
    """The price that reaches a precision on these rows, by their own probabilities."""
    floor = Floor("precision", rows.probability - target, 0.0)
    return next(iter(solve(rows.cost, None, [floor]).prices.values()))


def _rule(price: float, target: float) -> Any:
    """The actions at a price of precision."""

    def choose(cost: np.ndarray, probability: np.ndarray) -> np.ndarray:
        moved = cost.copy()
        moved[:, 1:] -= price * (probability - target)[:, None]
        return np.asarray(moved.argmin(axis=1))

    return choose


# -- reading ----------------------------------------------------------------------------------------------------------


def _read_rows(probability: Any, actions: Actions | None, given: GivenCosts) -> DecisionRows:
    p, scalar = inputs.probabilities("probability", probability)
    if scalar or p.ndim != 1 or not p.size:
        hint = ""
        if p.ndim == 2 and p.shape[1] == 2:
            hint = "; of two columns, [:, 1] is that of the positive class"
        elif p.ndim == 2 and p.shape[1] > 2:
            hint = "; with several classes, CostMatrix.decide_within(probabilities, at_most={action: 50}) would work"
        raise ParameterError(
            f"probability must be one number for each of at least one row, got shape {np.shape(probability)}{hint}"
        )
    p = p.astype(np.float64, copy=False)
    actions = read_action_costs(p.size, actions, given)
    return DecisionRows(p, actions, actions.names)


def costs_of_past(costs: Any, actions: Actions | None, given: GivenCosts) -> tuple[Actions | None, GivenCosts]:
    """The actions or the costs of held-out rows: their own, or those of the rows to decide about."""
    if costs is None:
        return actions, given
    if isinstance(costs, Actions):
        return costs, GivenCosts()
    if not isinstance(costs, Mapping) or not set(costs) <= set(COSTS):
        raise CostError(f"costs of held_out must be actions or a dictionary of {', '.join(COSTS)}, got {brief(costs)}")
    return None, GivenCosts(**costs)


def read_action_costs(count: int, actions: Actions | None, given: GivenCosts) -> Actions:
    """The actions, or those of four costs, for ``count`` rows."""
    if actions is None:
        if not given.known:
            raise CostError("give actions, or fp_cost and fn_cost: without costs no decision is the cheapest")
        costs = RowCosts.read(count, **given.filled(DEFAULT_COSTS))
        return Actions.binary(
            fp_cost=costs.fp_cost, fn_cost=costs.fn_cost, tp_cost=costs.tp_cost, tn_cost=costs.tn_cost
        )
    if not isinstance(actions, Actions):
        raise CostError(f"actions must be uneven.Actions(...), got {brief(actions)}")
    if given.known:
        raise CostError(f"give actions or {' and '.join(given.known)}, not both: actions have costs of their own")
    if actions.rows not in (None, count):
        raise CostError(f"the actions have costs of {actions.rows} rows, and there are {count} probabilities")
    return actions


def _read_positive(labels: Any, count: int) -> np.ndarray:
    array = np.asarray(labels) if inputs.ndim(labels) == 1 else np.empty(0)
    if array.shape != (count,) or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise ParameterError(
            f"labels of held_out must be 0 and 1, or False and True, one for each of its {count} rows, got "
            f"{brief(labels)}"
        )
    return array == 1


def _read_groups(limits: Limits, count: int) -> tuple[np.ndarray, np.ndarray]:
    if limits.per is None:
        return np.zeros(count, dtype=np.intp), np.array(["all rows"])
    if limits.at_most is None and limits.at_most_share is None and limits.flag_rate is None:
        raise ParameterError("per= is for a limit in each group: give at_most, at_most_share or flag_rate, too")
    return number_groups(limits.per, count)


def _read_capacity(limits: Limits, rows: DecisionRows, group: np.ndarray, groups: np.ndarray) -> Capacity | None:
    given = {name: getattr(limits, name) for name in ("at_most", "at_most_share", "flag_rate")}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    if len(given) > 1:
        raise ParameterError(f"give one of {' and '.join(given)}: each says how many rows may be flagged")
    ((name, value),) = given.items()
    limited, value = read_limited(name, value, rows.labels)
    sizes = np.bincount(group, minlength=groups.size)
    if name == "at_most":
        inputs.require_integer("at_most", value, least=0, wanted="a whole number of at least 0")
        return Capacity(limited, np.full(groups.size, min(int(value), rows.count)), group)
    share = share_of(name, value, least_included=True)
    half = Fraction(1, 2) if name == "flag_rate" else Fraction(0)
    most = np.array([math.floor(share * int(size) + half) for size in sizes])
    return Capacity(limited, most, group, exact=name == "flag_rate")


def read_limited(name: str, value: Any, labels: tuple[Any, ...]) -> tuple[tuple[int, ...], Any]:
    """The actions that a limit is on, all but the first if it names none, and the limit."""
    if not isinstance(value, Mapping):
        return tuple(range(1, len(labels))), value
    if name == "flag_rate" or len(value) != 1:
        raise ParameterError(f"{name} must be a number, or name one action with its limit, got {brief(value)}")
    ((action, limit),) = value.items()
    if action not in labels[1:]:
        raise ParameterError(
            f"a limit can be on {' or '.join(map(str, labels[1:]))}, got {brief(action)}: the first action does nothing"
        )
    return (labels.index(action),), limit


def _read_floors(limits: Limits, rows: DecisionRows) -> list[Floor]:
    p, found = rows.probability, []
    if limits.recall_at_least is not None:
        share = share_of("recall_at_least", limits.recall_at_least)
        found.append(Floor(f"recall_at_least={float(share):g}", p, float(share) * float(p.sum())))
    if limits.precision_at_least is not None:
        share = share_of("precision_at_least", limits.precision_at_least)
        if share == 1:
            raise ParameterError("precision_at_least must be below 1, got 1: only certain rows could be flagged")
        found.append(Floor(f"precision_at_least={float(share):g}", p - float(share), 0.0))
    if limits.budget is not None:
        pair = inputs.entries(limits.budget, 2)
        if pair is None:
            raise ParameterError(
                f"budget must be what may be spent and what it takes to flag a row, such as (5000, amounts), got "
                f"{brief(limits.budget)}"
            )
        most = inputs.to_float(inputs.exact("budget", pair[0]))
        takes, scalar = inputs.float_array("budget", pair[1])
        if most < 0 or (takes < 0).any() or not (scalar or takes.shape == (rows.count,)) or np.isinf(takes).any():
            raise ParameterError(
                f"budget must be a number of at least 0 and a finite one of at least 0 for each of the {rows.count} "
                f"rows, got {brief(limits.budget)}"
            )
        found.append(Floor(f"budget={most:g}", -np.broadcast_to(takes, rows.count).astype(float), -most))
    return found


def share_of(name: str, value: Any, *, least_included: bool = False) -> Fraction:
    """A share as it is written: 0.3 is 3/10, so that 0.3 of 10 rows are 3."""
    number = inputs.exact(name, repr(float(value)) if isinstance(value, float) else value)
    if number > 1 or number < 0 or (number == 0 and not least_included):
        raise ParameterError(f"{name} must lie in {'[' if least_included else '('}0, 1], got {brief(value)}")
    return number
