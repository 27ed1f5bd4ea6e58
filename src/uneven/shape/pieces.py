"""Where a tree changes its formula: switch points, one-sided formulas, kinks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import ulp

from flint import arb

from uneven._inputs import to_float
from uneven.errors import ExpressionError
from uneven.expression import Node, derivative, simplify
from uneven.expression.algebra import holds, is_positive, subtract
from uneven.expression.calls import domain, pieces
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import ZERO, Call, Inv, Mul, Neg, Number, Pow, transform
from uneven.ops.balls import Undefined, enclose_interval, interval, precision
from uneven.ops.precise import BITS, is_sharp, value_at
from uneven.ops.rationals import exact_value
from uneven.shape.zeros import Zero, location, zeros

MAX_SWITCH_POINTS = 200
_ORDER = 16  # derivatives looked at to find the sign of a function beside one of its zeros


class Undecidable(ArithmeticError):
    """A sign beside a point could not be decided exactly."""


def switches(tree: Node) -> Iterator[Node]:
    """Trees at whose zeros a formula changes: of functions with pieces, of where, and ends of a closed domain."""
    for node in tree.walk():
        written = pieces(node)
        if written is not None:
            yield subtract(written.left, written.right)
            continue
        match node:
            case Call() if (boundary := domain(node)) is not None and boundary[1]:
                yield boundary[0]
            case Pow(base, exponent) if not (isinstance(exponent, Number) and exponent.value.denominator == 1):
                yield base


def pole_arguments(tree: Node) -> Iterator[Node]:
    """Trees at or beyond whose zeros a division, logarithm, root or power is undefined."""
    for node in tree.walk():
        match node:
            case Inv(argument):
                yield argument
            case Call() if (boundary := domain(node)) is not None:
                yield boundary[0]
            case Pow(base, Number(exponent)) if exponent.denominator == 1 and exponent >= 0:
                pass
            case Pow(base, _):
                yield base


def sign_beside(tree: Node, point: Fraction, side: int) -> int:
    """Sign of a tree just right (side +1) or left (-1) of a rational point; 0 if it vanishes there.

    Raises
    ------
    Undecidable
        If the first derivatives all seem to vanish.
    """
    return _smooth_sign(beside(tree, point, side), point, side)


@lru_cache(maxsize=4096)
def _smooth_sign(tree: Node, point: Fraction, side: int) -> int:
    """Sign beside a point of a tree without switches."""
    if is_positive(tree):
        return 1
    match tree:
        case Neg(argument):
            return -_smooth_sign(argument, point, side)
        case Inv(argument):
            return _smooth_sign(argument, point, side)
        case Mul():
            sign = 1
            for factor in tree.children:
                sign *= _smooth_sign(factor, point, side)
            return sign
        case Pow(base, Number(exponent)) if exponent.denominator == 1:
            return _smooth_sign(base, point, side) ** exponent.numerator
        case Call(name, (argument,)) if FUNCTIONS[name].keeps_sign:
            return _smooth_sign(argument, point, side)
    return _sign_by_derivatives(tree, point, side)


def _sign_by_derivatives(tree: Node, point: Fraction, side: int) -> int:
    for order in range(_ORDER):
        if tree == ZERO:
            return 0
        sign = _sign_at(tree, point)
        if sign:
            return sign * side**order
        try:
            tree = derivative(tree)
        except ExpressionError:  # too large
            break
    raise Undecidable


def _sign_at(tree: Node, point: Fraction) -> int:
    try:
        value = exact_value(tree, point)  # substituting would fold 0 * (1/0) to 0
    except ExpressionError:  # more digits than are kept
        value = None
    if value is not None:
        return (value > 0) - (value < 0)
    for bits in (64, 256, 1024):
        try:
            enclosure = enclose_interval(tree, interval(point, point), bits=bits)
        except Undefined:
            continue
        if enclosure.lo > 0 or enclosure.hi < 0:
            return 1 if enclosure.lo > 0 else -1
    raise Undecidable


@lru_cache(maxsize=4096)
def beside(tree: Node, point: Fraction, side: int) -> Node:
    """The formula that holds just right (side +1) or left (-1) of a point, free of switches there.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.expression import parse, to_text
    >>> from uneven.shape.pieces import beside
    >>> to_text(beside(parse("relu(1 - t)"), Fraction(1), -1))
    '1 - t'
    """

    def sign(resolved: Node) -> int:  # children come first: their switches are resolved already
        return _smooth_sign(simplify(resolved), point, side)

    def resolved(node: Node) -> Node:
        written = pieces(node)
        if written is None:
            return node
        side_of_switch = Fraction(sign(subtract(written.left, written.right)))
        return written.yes if holds(written.op, side_of_switch, Fraction(0)) else written.no

    return simplify(transform(tree, resolved))


def slope_beside(tree: Node, point: Fraction, side: int) -> Node:
    """The one-sided derivative at a point, as a tree to be evaluated there."""
    return derivative(beside(tree, point, side))


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
    >>> from uneven.shape.pieces import kinks
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


__all__ = [
    "Undecidable",
    "beside",
    "clustered",
    "kinks",
    "pole_arguments",
    "sign_beside",
    "slope_beside",
    "switch_points",
    "switch_zeros",
    "switches",
]
