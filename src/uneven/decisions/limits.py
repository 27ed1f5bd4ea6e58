r"""The cheapest decisions within limits: how many rows may be flagged, how many positives found, what may be spent.

The first action does nothing; every other action flags the row. Two kinds of limits:

- a *capacity*: at most (or exactly) so many rows get one of some actions, in all or in each group. The rows with the
  largest gains get the places, which is the cheapest way;
- a *floor*: the sum over flagged rows of some value must reach a number. The values p and the number r times the sum of
  p are a recall of r; p - q and 0 a precision of q; minus what a flag takes and minus what may be spent a budget. A
  floor is kept by a price: every flagged row gets a bonus of price times value, and the price rises until the floor is
  reached.

docs/decide.md says what is optimal exactly, and how large the gap can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import ParameterError
from uneven.inputs import brief

#: Relative tolerance of sums over rows: what rounding may do to them.
_ROUNDING = 1e-12
#: Steps by which a price is raised until the floor is reached, and the factor of each.
_RAISES, _FACTOR = 60, 16.0
#: Halvings of the bracket of a price; it ends before if no more than this many decisions are left to make one by one.
_HALVINGS, _FEW = 80, 4
#: Most decisions that are tried one by one when a price is found; beyond it, rows with equal prices stay together.
_MOST_TRIED = 10_000
#: How often they are tried: a place that one row gives back may be what another one needs.
_ROUNDS = 5


@dataclass(frozen=True)
class Capacity:
    """How many rows may get one of some actions.

    Attributes
    ----------
    limited : tuple of int
        The numbers of these actions.
    most : ndarray of int
        The limit of each group.
    group : ndarray of int
        The number of each row's group.
    exact : bool
        Whether exactly so many rows must get them.
    """

    limited: tuple[int, ...]
    most: np.ndarray
    group: np.ndarray
    exact: bool = False


@dataclass(frozen=True)
class Floor:
    """The sum of ``value`` over flagged rows must be at least ``least``.

    ``name`` is the argument that asks for it, with its value.
    """

    name: str
    value: np.ndarray
    least: float

    def slack(self, choice: np.ndarray) -> float:
        """By how much the sum is above the floor; negative if it is not reached, 0 if by rounding only."""
        found = float(self.value[choice > 0].sum()) - self.least
        return 0.0 if abs(found) <= self.rounding else found

    @property
    def rounding(self) -> float:
        return _ROUNDING * float(np.abs(self.value).sum())


@dataclass(frozen=True)
class Solution:
    """Decisions within limits.

    Attributes
    ----------
    choice : ndarray of int
        The number of the action of each row.
    bound : float
        No decisions within the limits have a lower expected cost.
    prices : dict of str to float
        For each floor, what one unit of its value is worth.
    next_gain : ndarray or None
        For each group what one more place would save.
    """

    choice: np.ndarray
    bound: float
    prices: dict[str, float] = field(default_factory=dict)
    next_gain: np.ndarray | None = None


def solve(cost: np.ndarray, capacity: Capacity | None, floors: Sequence[Floor]) -> Solution:
    """The cheapest decisions for expected costs of each row (rows of ``cost``) and action (columns).

    Costs and values are first scaled by powers of 2 to at most 1, so that no price overflows.
    """
    if not floors:
        return _solve(cost, capacity, floors)
    unit, units = _power(cost), [_power(floor.value) for floor in floors]
    scaled = [
        Floor(floor.name, np.ldexp(floor.value, -by), math.ldexp(floor.least, -by))
        for floor, by in zip(floors, units, strict=True)
    ]
    found = _solve(np.ldexp(cost, -unit), capacity, scaled)
    with np.errstate(over="ignore"):  # a price of more than 1e308 is infinite
        prices = {
            floor.name: float(np.ldexp(found.prices[floor.name], unit - by))
            for floor, by in zip(floors, units, strict=True)
        }
    gain = None if found.next_gain is None else np.ldexp(found.next_gain, unit)
    return Solution(found.choice, math.ldexp(found.bound, unit), prices, gain)


def _power(values: np.ndarray) -> int:
    """The power of 2 that is just above the largest number."""
    return math.frexp(float(np.abs(values).max()))[1]


def _solve(cost: np.ndarray, capacity: Capacity | None, floors: Sequence[Floor]) -> Solution:
    if not floors:
        choice, next_gain = choose_within(cost, capacity)
        return Solution(choice, total_cost(cost, choice), {}, next_gain)
    if len(floors) == 1 and capacity is None:
        return _turn_rows(cost, floors[0])
    return _raise_price(cost, capacity, floors)


def total_cost(cost: np.ndarray, choice: np.ndarray) -> float:
    """The sum of the expected costs of decisions."""
    return float(np.take_along_axis(cost, choice[:, None], axis=1).sum())


# -- capacity ---------------------------------------------------------------------------------------------------------


def choose_within(cost: np.ndarray, capacity: Capacity | None) -> tuple[np.ndarray, np.ndarray | None]:
    """The cheapest actions within a capacity, and what one more place would save in each group.

    A row's gain is what the best of the limited actions saves against the best of the others. The sum of the gains of
    the rows that get a place is to be largest: these are the largest gains. Of equal ones, earlier rows come first.
    """
    choice = cost.argmin(axis=1)
    if capacity is None:
        return choice, None
    limited = np.array(capacity.limited)
    others = np.setdiff1d(np.arange(cost.shape[1]), limited)
    within, without = _best(cost, limited), _best(cost, others)
    gain = _taken(cost, without) - _taken(cost, within)
    rows = np.arange(len(cost)) if capacity.exact else np.flatnonzero(np.isin(choice, limited))
    kept = _largest(gain[rows], capacity.most, capacity.group[rows])
    out = rows[~kept]
    choice[out] = without[out]
    choice[rows[kept]] = within[rows[kept]]
    next_gain = np.full(capacity.most.size, -np.inf if capacity.exact else 0.0)
    np.maximum.at(next_gain, capacity.group[out], gain[out])
    return choice, np.where(np.isfinite(next_gain), next_gain, 0.0)


def gains(cost: np.ndarray, limited: Sequence[int]) -> np.ndarray:
    """What the best of some actions saves against the best of the others, in each row."""
    others = np.setdiff1d(np.arange(cost.shape[1]), limited)
    return _taken(cost, _best(cost, others)) - _taken(cost, _best(cost, np.asarray(limited)))


def _best(cost: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The cheapest of some actions in each row."""
    return actions[cost[:, actions].argmin(axis=1)] if actions.size > 1 else np.full(len(cost), actions[0])


def _taken(cost: np.ndarray, choice: np.ndarray) -> np.ndarray:
    return np.take_along_axis(cost, choice[:, None], axis=1)[:, 0]


def _largest(gain: np.ndarray, most: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Whether each row is among the ``most`` largest of its group."""
    counts = np.bincount(group, minlength=most.size)
    kept = (counts <= most)[group]
    full = np.flatnonzero(~kept)
    if not full.size:
        return kept
    order = full[np.lexsort((-gain[full], group[full]))]  # stable: of equal gains the earlier row comes first
    starts = np.concatenate([[0], np.cumsum(np.bincount(group[full], minlength=most.size))])[:-1]
    rank = np.arange(order.size) - starts[group[order]]
    kept[order] = rank < most[group[order]]
    return kept


# -- one floor, no capacity: rows change sides in the order of their price --------------------------------------------


def turning_prices(cost: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the price at which it changes sides, and the cheapest flagging action.

    Minus infinity: the row is on the side that helps already. Infinity: no price makes it change.
    """
    flag = _best(cost, np.arange(1, cost.shape[1]))
    flagged = cost.argmin(axis=1) > 0
    loss = np.abs(_taken(cost, flag) - cost[:, 0])
    helps = np.where(flagged, value < 0, value > 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = np.where(helps, loss / np.abs(value), np.inf)
    return np.where((flagged & (value > 0)) | (~flagged & (value < 0)), -np.inf, price), flag


def _turn_rows(cost: np.ndarray, floor: Floor) -> Solution:
    """Turn rows in the order of what one unit of value costs; then turn back those that are not needed.

    All but the last row is also what the best fractional decisions do, so the gap is at most what turning one row
    costs.
    """
    choice = cost.argmin(axis=1)
    missing, spent = -floor.slack(choice), total_cost(cost, choice)
    if missing <= 0:
        return Solution(choice, spent, {floor.name: 0.0})
    price, flag = turning_prices(cost, floor.value)
    able = np.flatnonzero(np.isfinite(price))
    order = able[np.argsort(price[able], kind="stable")]
    most = float(np.abs(floor.value[order]).sum())
    if not order.size or most < missing - floor.rounding:
        raise _unreachable(floor, missing - most)
    reached = np.cumsum(np.abs(floor.value[order]), dtype=np.longdouble)  # a million doubles lose ten digits one by one
    last = min(int(np.searchsorted(reached, missing - floor.rounding)), order.size - 1)
    turned = order[: last + 1]
    loss = np.abs(_taken(cost, flag) - cost[:, 0])
    before = float(reached[last]) - abs(float(floor.value[order[last]]))
    bound = spent + float(loss[turned[:-1]].sum()) + (missing - before) * float(price[order[last]])
    surplus = float(reached[last]) - missing
    turned = np.setdiff1d(turned, _not_needed(turned, floor.value, loss, surplus))
    choice[turned] = np.where(choice[turned] > 0, 0, flag[turned])
    return Solution(choice, min(bound, total_cost(cost, choice)), {floor.name: float(price[order[last]])})


def _not_needed(turned: np.ndarray, value: np.ndarray, loss: np.ndarray, surplus: float) -> np.ndarray:
    """Rows that need not turn, since the others do enough: the dearest first."""
    small = turned[np.abs(value[turned]) <= surplus]
    found = []
    for row in small[np.argsort(-loss[small], kind="stable")][:_MOST_TRIED].tolist():
        if abs(value[row]) <= surplus:
            surplus -= abs(float(value[row]))
            found.append(row)
    return np.array(found, dtype=np.intp)


# -- floors with a capacity, or several floors ------------------------------------------------------------------------


def _raise_price(cost: np.ndarray, capacity: Capacity | None, floors: Sequence[Floor]) -> Solution:
    """Find the least price of the first floor at which it is reached; the other limits are kept at every price."""
    floor, rest = floors[0], floors[1:]
    best = -np.inf

    def at(price: float) -> Solution:
        nonlocal best
        moved = cost.copy()
        moved[:, 1:] -= price * floor.value[:, None]
        found = _solve(moved, capacity, rest)
        best = max(best, found.bound + price * floor.least)
        return found

    low = at(0.0)
    if floor.slack(low.choice) >= 0:
        return Solution(low.choice, best, {floor.name: 0.0, **low.prices}, low.next_gain)
    _require_reachable(cost, capacity, floor)
    sizes = np.abs(floor.value[floor.value != 0])
    price_low, price = 0.0, float(np.abs(cost).max()) / float(sizes.max()) * 1e-6 or 1e-6
    high = at(price)
    for _ in range(_RAISES):
        if floor.slack(high.choice) >= 0:
            break
        price_low, low, price = price, high, price * _FACTOR
        high = at(price)
    else:
        raise _contradiction([floor, *rest], capacity)
    for _ in range(_HALVINGS):
        if np.count_nonzero(low.choice != high.choice) <= _FEW:
            break
        middle = (price_low + price) / 2
        found = at(middle)
        if floor.slack(found.choice) >= 0:
            price, high = middle, found
        else:
            price_low, low = middle, found
    choice = _take_back(cost, capacity, floors, low.choice, high.choice)
    prices = {floor.name: price, **high.prices}
    return Solution(choice, min(best, total_cost(cost, choice)), prices, high.next_gain)


def _take_back(
    cost: np.ndarray, capacity: Capacity | None, floors: Sequence[Floor], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Cheaper decisions in place of those of the higher price where all limits allow it: the dearest first.

    First those of the lower price, then places that are left.
    """
    books = _Books(cost, capacity, floors, high.copy())
    for _ in range(_ROUNDS):
        if not books.change(low):
            break
    if capacity is not None and not capacity.exact:
        books.change(_best(cost, np.array(capacity.limited)))
    return books.choice


class _Books:
    """Decisions that keep limits, with what is left of each limit, while single decisions change."""

    def __init__(
        self, cost: np.ndarray, capacity: Capacity | None, floors: Sequence[Floor], choice: np.ndarray
    ) -> None:
        self.cost, self.capacity, self.floors, self.choice = cost, capacity, floors, choice
        self.slack = [floor.slack(choice) for floor in floors]
        self.limited = np.zeros(cost.shape[1], dtype=bool)
        if capacity is not None:
            self.limited[list(capacity.limited)] = True
            used = np.bincount(capacity.group[self.limited[choice]], minlength=capacity.most.size)
            self.left = capacity.most - used

    def change(self, wanted: np.ndarray) -> bool:
        """Take the wanted decisions where they are cheaper and the limits allow it; whether one was taken."""
        saved = _taken(self.cost, self.choice) - _taken(self.cost, wanted)
        rows = np.flatnonzero(saved > 0)
        rows = rows[np.argsort(-saved[rows], kind="stable")][:_MOST_TRIED]
        return sum([self._try(row, int(wanted[row])) for row in rows.tolist()]) > 0

    def _try(self, row: int, wanted: int) -> bool:
        now = int(self.choice[row])
        more = int(wanted > 0) - int(now > 0)
        slack = [part + more * float(floor.value[row]) for part, floor in zip(self.slack, self.floors, strict=True)]
        if min(slack) < 0:
            return False
        if self.capacity is not None:
            group, places = self.capacity.group[row], int(self.limited[wanted]) - int(self.limited[now])
            if (places != 0) if self.capacity.exact else (places > self.left[group]):
                return False
            self.left[group] -= places
        self.choice[row], self.slack = wanted, slack
        return True


# -- limits that cannot be kept ---------------------------------------------------------------------------------------


def _require_reachable(cost: np.ndarray, capacity: Capacity | None, floor: Floor) -> None:
    """Raise if the floor cannot be reached within the capacity, whatever it costs."""
    greedy = np.zeros(cost.shape)
    greedy[:, 1:] = -floor.value[:, None]
    missing = -floor.slack(choose_within(greedy, capacity)[0])
    if missing > 0:
        raise _unreachable(floor, missing, capacity)


def _unreachable(floor: Floor, missing: float, capacity: Capacity | None = None) -> ParameterError:
    if capacity is None:
        return ParameterError(f"{floor.name} cannot be kept, whatever it costs: no decisions reach it")
    within = (
        f": within it at most {100 * (1 - missing / floor.least):.3g} % of that is reached" if floor.least > 0 else ""
    )
    return ParameterError(
        f"{floor.name} contradicts the limit of {_in_words(capacity)}{within}; raise the limit or ask for less"
    )


def _contradiction(floors: Sequence[Floor], capacity: Capacity | None) -> ParameterError:
    names = [floor.name for floor in floors] + ([] if capacity is None else [f"the limit of {_in_words(capacity)}"])
    return ParameterError(f"{', '.join(names[:-1])} and {names[-1]} contradict each other: no decisions keep them all")


def _in_words(capacity: Capacity) -> str:
    total = int(capacity.most.sum())
    return f"{total:,} rows" if capacity.most.size == 1 else f"{total:,} rows in {capacity.most.size:,} groups"


# -- reading ----------------------------------------------------------------------------------------------------------


def number_groups(per: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's group, and the groups in the order of their numbers."""
    values = np.asarray(per) if inputs.ndim(per) == 1 else np.empty((count, 0))
    if values.shape != (count,):
        raise ParameterError(f"per must have the group of each of the {count} rows, got {brief(per)}")
    if values.dtype.kind in "OUST":  # sorting words is slow: a dictionary, or pandas's own table of hashes
        try:
            import pandas as pd
        except ImportError:
            known: dict[Any, int] = {}
            codes = np.fromiter((known.setdefault(value, len(known)) for value in values.tolist()), np.intp, count)
            return codes, np.array(list(known), dtype=object)
        codes, names = pd.factorize(values, use_na_sentinel=False)
        return codes.astype(np.intp, copy=False), np.asarray(names)
    names, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.intp, copy=False), names
