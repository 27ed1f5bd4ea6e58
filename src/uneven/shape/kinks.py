"""Points where a tree changes its formula, which of them are kinks, and functions made of straight pieces.

Floats find these points, so no proof uses them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ulp

import numpy as np
from flint import arb

from uneven.errors import ExpressionError
from uneven.expression import Node, derivative
from uneven.expression.tree import ZERO
from uneven.inputs import to_float
from uneven.ops.balls import precision
from uneven.ops.floats import plain_values
from uneven.ops.precise import BITS, is_sharp, value_at
from uneven.shape.pieces import Undecidable, beside, switches
from uneven.shape.zeros import Zero, location, zeros

MAX_SWITCH_POINTS = 200


def switch_points(tree: Node) -> tuple[Fraction, ...]:
    """All points where the formula of a tree may change, in order; of more than 200, the 200 nearest to 0."""
    return tuple(cluster[0].point for cluster in switch_zeros(tree))


@lru_cache(maxsize=1024)
def switch_zeros(tree: Node) -> tuple[tuple[Zero, ...], ...]:
    """Zeros of the switches, clustered."""
    found = (zero for switch in dict.fromkeys(switches(tree)) for zero in zeros(switch))
    return cluster_zeros(found)


def cluster_zeros(found: Iterable[Zero]) -> tuple[tuple[Zero, ...], ...]:
    """Zeros in order, those that rounding cannot tell apart together, exact ones first among them."""
    clusters: list[list[Zero]] = []
    for zero in sorted(dict.fromkeys(found), key=lambda zero: zero.point):
        if clusters and _same(clusters[-1][-1], zero):
            clusters[-1].append(zero)
        else:
            clusters.append([zero])
    nearest = sorted(clusters, key=lambda cluster: abs(cluster[0].point))[:MAX_SWITCH_POINTS]
    ordered = sorted(nearest, key=lambda cluster: cluster[0].point)
    return tuple(tuple(sorted(cluster, key=lambda zero: not zero.exact)) for cluster in ordered)


def _same(a: Zero, b: Zero) -> bool:
    if a.exact and b.exact:
        return a.point == b.point
    return b.point - a.point <= 8 * Fraction(ulp(to_float(b.point)))


@lru_cache(maxsize=1024)
def kinks(tree: Node) -> tuple[float, ...]:
    """Points where a tree jumps or has no derivative, in order.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.kinks import kinks
    >>> kinks(parse("where(t < -1, -4*t, relu(1 - t)**2)"))
    ()
    >>> kinks(parse("min(2, relu(1 - t))"))
    (-1.0, 1.0)
    """
    clusters = switch_zeros(tree)
    points = [cluster[0].point for cluster in clusters]
    found = []
    for i, cluster in enumerate(clusters):
        gaps = [abs(points[i] - other) for other in (*points[max(i - 1, 0) : i], *points[i + 1 : i + 2])]
        room = min([*gaps, abs(points[i]) or Fraction(1)])
        if any(_is_kink(tree, location(zero), room) for zero in cluster):
            found.append(to_float(points[i]))
    return tuple(dict.fromkeys(found))


def _is_kink(tree: Node, point: arb, room: Fraction) -> bool:
    """Whether the left and right difference quotients stay apart, or grow, as the step shrinks."""
    with precision(BITS):
        unit = arb(2) ** (room.numerator.bit_length() - room.denominator.bit_length() - 1)
        wide, narrow = (unit / 2**60, unit / 2**120) if is_sharp(point) else (unit / 2**30, unit / 2**40)
        middle = value_at(tree, point)
        quotients = [
            [(value_at(tree, point + h) - middle) / h, (middle - value_at(tree, point - h)) / h] for h in (wide, narrow)
        ]
        if not all(q.is_finite() for pair in quotients for q in pair):
            return True
        (right, left), (nearer_right, nearer_left) = quotients
        apart = abs(nearer_right - nearer_left) > abs(right - left) / 2
        return bool(apart or abs(nearer_right) > 1.2 * abs(right) or abs(nearer_left) > 1.2 * abs(left))


# Functions made of straight pieces, and the kinks of functions that have them.


@lru_cache(maxsize=1024)
def is_piecewise_linear(tree: Node) -> bool:
    """Whether a function is made of straight pieces; it may jump between them.

    Decided by the formula: its second derivative simplifies to 0.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.kinks import is_piecewise_linear
    >>> is_piecewise_linear(parse("relu(1 - t) + abs(t)/2")), is_piecewise_linear(parse("relu(1 - t)**2"))
    (True, False)
    """
    return derivative(derivative(tree)) == ZERO


@lru_cache(maxsize=1024)
def kinks_and_jumps(tree: Node) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The kinks of a continuous function, in order, and by how much its slope jumps up at each.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.kinks import kinks_and_jumps
    >>> kinks_and_jumps(parse("relu(1 - t) + 3*relu(-t)"))
    ((0.0, 1.0), (3.0, 1.0))
    """
    found = kinks(tree)
    return found, tuple(_slope(tree, kink, 1) - _slope(tree, kink, -1) for kink in found)


@dataclass(frozen=True)
class Polygon:
    """A continuous function of straight pieces. Two formulas of the same function give the same polygon.

    Attributes
    ----------
    kinks : tuple of float
        In order.
    slopes : tuple of float
        Slope of each piece, from the left; one more than there are kinks.
    value : float
        Value at the first kink, or at 0 if there is none.
    """

    kinks: tuple[float, ...]
    slopes: tuple[float, ...]
    value: float


@lru_cache(maxsize=1024)
def polygon(tree: Node) -> Polygon | None:
    """The polygon that a formula describes; None if a piece is curved, the function jumps, or its pieces are not known.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.kinks import polygon
    >>> polygon(parse("relu(1 - t)"))
    Polygon(kinks=(1.0,), slopes=(-1.0, 0.0), value=0.0)
    >>> polygon(parse("max(1 - t, 0)")) == polygon(parse("(abs(1 - t) + 1 - t)/2")) == polygon(parse("relu(1 - t)"))
    True
    >>> polygon(parse("step(t)")) is None
    True
    """
    if not is_piecewise_linear(tree):
        return None
    found = kinks(tree)
    start = found[0] if found else 0.0
    try:
        if any(_value(tree, kink, -1) != _value(tree, kink, 1) for kink in found):
            return None
        slopes = (_slope(tree, start, -1), *(_slope(tree, kink, 1) for kink in found))
        return Polygon(found, slopes, _value(tree, start, -1))
    except (Undecidable, ExpressionError):
        return None


def _slope(tree: Node, kink: float, side: int) -> float:
    """Slope just left (side -1) or right (+1) of a kink, or of any point of a tree without switches."""
    return float(plain_values(derivative(_formula_beside(tree, kink, side)), np.array([kink]))[0])


def _value(tree: Node, kink: float, side: int) -> float:
    """Limit of the values from the left (side -1) or the right (+1) of a kink."""
    return float(plain_values(_formula_beside(tree, kink, side), np.array([kink]))[0])


def _formula_beside(tree: Node, kink: float, side: int) -> Node:
    """The formula that holds from a kink to the next switch point on this side.

    It is read off in the middle of that piece: the kink itself may be no double, such as 1/3, and then its double lies
    on one side of it.
    """
    points = switch_points(tree)
    if not points:
        return tree
    here = min(range(len(points)), key=lambda k: abs(points[k] - Fraction(kink)))
    beyond = here + side
    if 0 <= beyond < len(points):
        middle = (points[here] + points[beyond]) / 2
    else:
        middle = points[here] + side * max(abs(points[here]), Fraction(1))
    return beside(tree, middle, side)
