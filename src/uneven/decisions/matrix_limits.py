r"""The cheapest decisions about rows of several classes when only so many rows may get some of the actions.

Write :math:`c_i(a)` for the expected cost of action a in row i, above the right action for its class.

**A limit on one action.** If the set of rows that get the limited action is T, the least cost is
:math:`\sum_i \min_{b \ne a} c_i(b) - \sum_{i \in T} s_i` with the gain
:math:`s_i = \min_{b \ne a} c_i(b) - c_i(a)`: the first sum does not depend on T, and a row outside T does best with its
cheapest other action. So the cheapest T of at most k rows has the k largest positive gains. This is the rule of
:func:`uneven.decisions.limits.choose_within`.

**Limits on several actions.** Choose :math:`x_{ia} \ge 0` with :math:`\sum_a x_{ia} = 1` and
:math:`\sum_i x_{ia} \le k_a`, at the least :math:`\sum c_i(a) x_{ia}`. Rows and actions are the two sides of a graph,
so the matrix of the constraints is totally unimodular, and every corner is a decision: x is 0 or 1. The simplex method
ends in a corner. A row whose cheapest action has no limit keeps it: any other choice costs as much or more, and may
take a place. For prices :math:`\lambda_a \ge 0`, no decisions within the limits cost less than
:math:`\sum_i \min_a (c_i(a) + \lambda_a) - \sum_a \lambda_a k_a` (weak duality); ``gap`` is the difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import inputs
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.decide import Limits, prefer_said, share_of
from uneven.decisions.limits import Capacity, choose_within, number_groups, total_cost
from uneven.decisions.matrix_table import KeptLimits, MatrixTable
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief

#: Limits that have a meaning with several classes: nothing is "flagged" there.
_KNOWN = ("at_most", "at_most_share", "per")


def decide_within(
    costs: CostMatrix, probability: np.ndarray, limits: Limits, said: np.ndarray | None = None, index: Any = None
) -> MatrixTable:
    """The cheapest decisions within limits on actions.

    Parameters
    ----------
    costs : CostMatrix
    probability : ndarray of shape (n, classes)
        In the order of ``costs.classes``.
    limits : Limits
    said : ndarray of int, optional
        The action that a classifier with shifted log-odds takes without a limit: it counts as a little cheaper than
        the others.
    index : optional
        Names of the rows.
    """
    places = _read_places(limits, costs, len(probability))
    cost = prefer_said(costs.expected_regrets(probability), said)
    if places is None:
        return MatrixTable(probability, cost.argmin(axis=1), costs, index)
    choice, gains, bound = _choose(cost, places)
    kept = KeptLimits(
        {costs.actions[a]: most for a, most in places.most.items()},
        places.groups,
        {costs.actions[a]: gain for a, gain in gains.items()},
        total_cost(cost, choice) - float(cost.min(axis=1).sum()),
        max(0.0, total_cost(cost, choice) - bound),
    )
    return MatrixTable(probability, choice, costs, index, kept)


# -- reading -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Places:
    """How many rows of each group may get each limited action; ``most`` has numbers of actions as its keys."""

    most: dict[int, np.ndarray]
    group: np.ndarray
    groups: np.ndarray


def _read_places(limits: Limits, costs: CostMatrix, count: int) -> _Places | None:
    unknown = [
        name for name, value in vars(limits).items() if value is not None and name not in (*_KNOWN, "confidence")
    ]
    if unknown:
        raise ParameterError(
            f"{unknown[0]} is for two classes, where rows are flagged or not; with {len(costs.classes)} classes a "
            f"limit is on an action, such as at_most={{{costs.actions[-1]!r}: 50}}"
        )
    given = {name: getattr(limits, name) for name in _KNOWN[:2] if getattr(limits, name) is not None}
    if not given:
        if limits.per is not None:
            raise ParameterError("per= is for a limit in each group: give at_most or at_most_share, too")
        return None
    if len(given) > 1:
        raise ParameterError("give one of at_most and at_most_share: each says how many rows may get an action")
    ((name, wanted),) = given.items()
    example = {costs.actions[-1]: 50 if name == "at_most" else 0.05}
    if not isinstance(wanted, Mapping) or not wanted:
        raise ParameterError(
            f"with several classes a limit names its action: {name}={example} would work, got {brief(wanted)}"
        )
    group, groups = (
        (np.zeros(count, dtype=np.intp), np.array(["all rows"]))
        if limits.per is None
        else number_groups(limits.per, count)
    )
    sizes = np.bincount(group, minlength=groups.size)
    most: dict[int, np.ndarray] = {}
    for action, value in wanted.items():
        if action not in costs.actions:
            raise ParameterError(f"a limit can be on {', '.join(map(str, costs.actions))}, got {brief(action)}")
        if name == "at_most":
            inputs.require_integer("at_most", value, least=0, wanted="a whole number of at least 0")
            found = np.full(groups.size, min(int(value), count))
        else:
            share = share_of(name, value, least_included=True)
            found = np.array([math.floor(share * int(size)) for size in sizes])
        most[costs.actions.index(action)] = found
    if len(most) == len(costs.actions):
        room = np.sum(list(most.values()), axis=0)
        short = np.flatnonzero(room < sizes)
        if short.size:
            where = "" if groups.size == 1 else f" in {groups[short[0]]}"
            raise ParameterError(
                f"all actions have a limit, and these leave room for {int(room[short[0]]):,} of "
                f"{int(sizes[short[0]]):,} rows{where}; leave out the limit of an action that can be taken for any row"
            )
    return _Places(most, group, groups)


# -- choosing ----------------------------------------------------------------------------------------------------------


def _choose(cost: np.ndarray, places: _Places) -> tuple[np.ndarray, dict[int, np.ndarray], float]:
    """Actions, what one more place of each action saves in each group (at most, of several), and a lower bound."""
    if not math.isfinite(2 * float(np.abs(cost).max()) * len(cost)):
        raise CostError("the sum of the costs of all rows is too large for double precision; use another unit")
    if len(places.most) == 1:
        ((action, most),) = places.most.items()
        choice, gain = choose_within(cost, Capacity((action,), most, places.group))
        assert gain is not None
        return choice, {action: gain}, total_cost(cost, choice)
    limited = sorted(places.most)
    choice = cost.argmin(axis=1)
    prices = np.zeros((places.groups.size, cost.shape[1]))
    moved = cost.copy()
    open_ = np.isin(choice, limited)
    for g in np.unique(places.group[open_]).tolist():
        most = np.array([places.most[a][g] for a in limited])
        rows = np.flatnonzero(open_ & (places.group == g))
        if (np.bincount(choice[rows], minlength=cost.shape[1])[limited] > most).any():
            choice[rows], prices[g, limited] = _assign(cost[rows], limited, most)
    moved += prices[places.group]
    spent = sum(float(prices[:, a] @ places.most[a]) for a in limited)
    bound = float(moved.min(axis=1).sum()) - spent
    return choice, {a: prices[:, a] for a in places.most}, bound


def _assign(cost: np.ndarray, limited: list[int], most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cheapest actions within limits on several of them, and the price of a place of each."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, kron

    count, width = cost.shape
    unit = float(np.abs(cost).max()) or 1.0
    of_action = np.zeros((len(limited), width))
    of_action[np.arange(len(limited)), limited] = 1.0
    found = linprog(
        (cost / unit).ravel(),
        A_ub=kron(np.ones((1, count)), csr_array(of_action), format="csr"),
        b_ub=most,
        A_eq=kron(eye_array(count), np.ones((1, width)), format="csr"),
        b_eq=np.ones(count),
        method="highs-ds",
    )
    assert found.status == 0, found.message  # it is bounded, and some action has room for every row
    return found.x.reshape(count, width).argmax(axis=1), np.maximum(-found.ineqlin.marginals, 0.0) * unit
