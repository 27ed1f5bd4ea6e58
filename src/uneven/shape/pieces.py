"""Where a tree changes its formula, and the formula that holds beside a point or inside a cell.

The sign of a condition on a cell is exact if the condition is affine, and comes from an enclosure for any other. Cells
with the same signs share one formula, which is simplified once.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from uneven.errors import ExpressionError
from uneven.expression import derivative, simplify
from uneven.expression.algebra import affine, holds, is_positive, subtract
from uneven.expression.calculus import domain, pieces
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import ZERO, Call, Inv, Mul, Neg, Node, Number, Pow, transform
from uneven.ops.balls import Undefined, enclose_interval, interval
from uneven.ops.rationals import exact_value

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


End = Fraction | float  # of a cell; a float here is an infinity

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_BITS = 96
# What is known of the sign of a switch at every t strictly inside a cell.
_UNKNOWN, _POSITIVE, _NOT_NEGATIVE, _NEGATIVE, _NOT_POSITIVE = range(5)
_TRUE_FOR = {
    ">": (_POSITIVE,),
    ">=": (_POSITIVE, _NOT_NEGATIVE),
    "<": (_NEGATIVE,),
    "<=": (_NEGATIVE, _NOT_POSITIVE),
}
_CLOSED = {_NOT_NEGATIVE: _POSITIVE, _NOT_POSITIVE: _NEGATIVE}


def conditions(tree: Node) -> Iterator[Node]:
    """Trees whose sign selects a formula; unlike switches, ends of a domain are none."""
    for node in tree.walk():
        switch = _switch_of(node)
        if switch is not None:
            yield switch


def _switch_of(node: Node) -> Node | None:
    written = pieces(node)
    return None if written is None else subtract(written.left, written.right)


@lru_cache(maxsize=4096)
def _distinct_conditions(tree: Node) -> tuple[Node, ...]:
    return tuple(dict.fromkeys(conditions(tree)))


@lru_cache(maxsize=65536)
def formula_inside(tree: Node, low: End, high: End) -> Node:
    """A formula that equals the tree strictly inside an interval.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.expression import parse, to_text
    >>> from uneven.shape.pieces import formula_inside
    >>> to_text(formula_inside(parse("relu(expit(t) - 0.05)**2 + relu(t)"), Fraction(-1), Fraction(0)))
    '(0.05 - expit(t))**2'
    """
    while True:  # a resolved inner switch may make an outer one affine
        kept = _distinct_conditions(tree)
        signs = tuple(_sign_inside(switch, low, high) for switch in kept)
        if not any(signs):
            return tree
        following = _resolve(tree, signs)
        if following == tree:
            return tree
        tree = following


@lru_cache(maxsize=65536)
def _sign_inside(switch: Node, low: End, high: End) -> int:
    line = affine(switch)
    if line is not None:
        return _sign_of_line(*line, low, high)
    try:
        value = enclose_interval(switch, interval(low, high, bits=_BITS), bits=_BITS)
    except Undefined:
        return _UNKNOWN
    if value.lo >= 0:
        return _POSITIVE if value.lo > 0 else _NOT_NEGATIVE
    if value.hi <= 0:
        return _NEGATIVE if value.hi < 0 else _NOT_POSITIVE
    return _UNKNOWN


def _sign_of_line(slope: Fraction, offset: Fraction, low: End, high: End) -> int:
    """Sign of slope * t + offset strictly between low and high."""
    if slope == 0:
        return _POSITIVE if offset > 0 else _NEGATIVE if offset < 0 else _NOT_NEGATIVE
    zero = -offset / slope
    if low >= zero or high <= zero:
        return _POSITIVE if (low >= zero) == (slope > 0) else _NEGATIVE
    return _UNKNOWN


@lru_cache(maxsize=4096)
def _resolve(tree: Node, signs: tuple[int, ...]) -> Node:
    """The tree with its switches resolved, for signs in the order of its distinct switches."""
    known = dict(zip(_distinct_conditions(tree), signs, strict=True))

    def resolve(node: Node) -> Node:
        written = pieces(node)
        if written is None:
            return node
        sign = known.get(subtract(written.left, written.right), _UNKNOWN)
        if sign in _CLOSED and isinstance(node, Call) and not FUNCTIONS[node.name].jumps:
            sign = _CLOSED[sign]  # both pieces agree where the switch is 0
        if sign in _TRUE_FOR[written.op]:
            return written.yes
        return written.no if sign in _TRUE_FOR[OPPOSITE[written.op]] else node

    return simplify(transform(tree, resolve))
