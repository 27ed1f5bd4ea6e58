"""Points where a tree changes its formula, and which of them are kinks. Floats find them, so no proof uses them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import ulp

from flint import arb

from uneven._inputs import to_float
from uneven.expression import Node
from uneven.ops.balls import precision
from uneven.ops.precise import BITS, is_sharp, value_at
from uneven.shape.pieces import switches
from uneven.shape.zeros import Zero, location, zeros

MAX_SWITCH_POINTS = 200


def switch_points(tree: Node) -> tuple[Fraction, ...]:
    """All points where the formula of a tree may change, in order; of more than 200, the 200 nearest to 0."""
    return tuple(cluster[0].point for cluster in switch_zeros(tree))


@lru_cache(maxsize=1024)
def switch_zeros(tree: Node) -> tuple[tuple[Zero, ...], ...]:
    """Zeros of the switches, clustered."""
    found = (zero for switch in dict.fromkeys(switches(tree)) for zero in zeros(switch))
    return clustered(found)


def clustered(found: Iterable[Zero]) -> tuple[tuple[Zero, ...], ...]:
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
