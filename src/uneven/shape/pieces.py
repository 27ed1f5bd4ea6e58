"""Where a tree changes its formula, and the formula that holds beside a point."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from uneven.errors import ExpressionError
from uneven.expression import derivative, simplify
from uneven.expression.algebra import holds, is_positive, subtract
from uneven.expression.calls import domain, pieces
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
