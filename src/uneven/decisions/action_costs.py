"""What actions cost: reading, the lower envelope of their expected costs, and the room that each has below the others.

Numbers are rationals, and all answers about them are exact. Costs of each row are arrays of floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from uneven import inputs
from uneven._hull import lower_hull
from uneven.errors import CostError
from uneven.inputs import brief

#: A cost as it is kept: exact if it is a number, else one for each row.
ActionCost = Fraction | np.ndarray


def read_actions(costs: Mapping[str, Any]) -> tuple[dict[str, tuple[ActionCost, ActionCost]], int | None]:
    """The costs of each action, and the number of rows if one is given for each row."""
    if len(costs) < 2:
        raise CostError(
            f"give at least two actions, each with its costs on a positive and on a negative, such as clear=(100, 0), "
            f"got {', '.join(costs) or 'none'}"
        )
    found: dict[str, tuple[ActionCost, ActionCost]] = {}
    for name, pair in costs.items():
        both = inputs.entries(pair, 2)
        if both is None:
            raise CostError(f"{name} must be two costs, on a positive and on a negative, got {brief(pair)}")
        found[name] = (read_one(f"{name} on a positive", both[0]), read_one(f"{name} on a negative", both[1]))
    sizes = {cost.size for pair in found.values() for cost in pair if isinstance(cost, np.ndarray)}
    if len(sizes) > 1:
        raise CostError(f"costs of each row must be of the same rows, got {' and '.join(map(str, sorted(sizes)))}")
    return found, sizes.pop() if sizes else None


def read_one(name: str, value: Any) -> ActionCost:
    """A cost: exact if it is a number, else one for each row."""
    if inputs.ndim(value) == 0 or isinstance(value, str):
        return inputs.exact(name, value.item() if isinstance(value, np.ndarray) else value, CostError)
    array, _ = inputs.float_array(name, value, CostError)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise CostError(f"{name} must be a number or finite numbers, one for each row, got {brief(value)}")
    return array.astype(np.float64, copy=False)


def read_share(name: str, value: Any) -> ActionCost:
    """A number, or one for each row, in [0, 1]."""
    share = read_one(name, value)
    if np.any(np.asarray(share) < 0) or np.any(np.asarray(share) > 1):
        raise CostError(f"{name} must lie in [0, 1], got {brief(value)}")
    return share


def are_equal(a: tuple[ActionCost, ...], b: tuple[ActionCost, ...]) -> bool:
    """Whether two actions cost the same."""
    return all(np.array_equal(np.asarray(one), np.asarray(other)) for one, other in zip(a, b, strict=True))


def in_floats(cost: ActionCost) -> float | np.ndarray:
    """A rational as the nearest double, an array as it is."""
    return inputs.to_float(cost) if isinstance(cost, Fraction) else cost


# -- the envelope -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Envelope:
    """The actions that are the cheapest at some probability, from 0 to 1, with the breaks between them.

    Attributes
    ----------
    kept : tuple of int
        Their numbers.
    breaks, masses : tuple of Fraction
        Where the next one takes over, and the weight of that two-action problem.
    """

    kept: tuple[int, ...]
    breaks: tuple[Fraction, ...]
    masses: tuple[Fraction, ...]


def lower_envelope(costs: Sequence[tuple[Fraction, Fraction]]) -> Envelope:
    r"""The envelope of costs on a positive and on a negative.

    The expected cost is :math:`\eta y + (1 - \eta) x` with x the cost on a negative and y that on a positive. So the
    cheapest actions are the vertices of the lower left hull of the points (x, y), up to its lowest point.
    """
    order = sorted(range(len(costs)), key=lambda k: (costs[k][1], costs[k][0], k))
    x, y = [costs[k][1] for k in order], [costs[k][0] for k in order]
    hull = lower_hull(x, y)
    falling = hull[:1] + [j for i, j in pairwise(hull) if y[j] < y[i]]
    steps = list(pairwise(falling))
    masses = tuple((y[i] - y[j]) + (x[j] - x[i]) for i, j in steps)
    breaks = tuple((x[j] - x[i]) / mass for (i, j), mass in zip(steps, masses, strict=True))
    return Envelope(tuple(order[k] for k in falling), breaks, masses)


def room_below(
    others: Sequence[tuple[ActionCost, ActionCost]],
    own: tuple[ActionCost, ActionCost],
    rows: int | None,
    *,
    somewhere: bool,
) -> Any:
    """How far a line lies below the lowest of the others: where that is most (``somewhere``), or where it is least.

    The room is concave in eta: it is largest at an end or where two of the others cross, and least at an end.
    """
    lines, mine = [together(pair, rows) for pair in others], together(own, rows)
    etas: list[Any] = [Fraction(0), Fraction(1)] if rows is None else [0.0, 1.0]
    if somewhere:
        etas += [_crossing(a, b) for k, a in enumerate(lines) for b in lines[:k]]
    least, greatest = (min, max) if rows is None else (np.minimum.reduce, np.maximum.reduce)
    room = [least([_at(eta, line) for line in lines]) - _at(eta, mine) for eta in etas]
    return greatest(room) if somewhere else least(room)


def together(costs: tuple[ActionCost, ...], rows: int | None) -> tuple[Any, ...]:
    """Rationals as they are; arrays if one of the actions has costs of each row."""
    if rows is None:
        return costs
    return tuple(np.broadcast_to(np.asarray(in_floats(cost), dtype=np.float64), (rows,)) for cost in costs)


def _at(eta: Any, pair: tuple[Any, ...]) -> Any:
    """The expected cost at eta."""
    return eta * pair[0] + (1 - eta) * pair[1]


def _crossing(a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    """Where two lines cross, if that is between 0 and 1; else one of the ends."""
    above, below = a[0] - b[0], b[1] - a[1]
    if isinstance(above, Fraction):
        eta = below / (above + below) if above + below else Fraction(0)
        return min(max(eta, Fraction(0)), Fraction(1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        eta = np.where(above + below != 0, below / (above + below), 0.0)
    return np.clip(eta, 0.0, 1.0)
