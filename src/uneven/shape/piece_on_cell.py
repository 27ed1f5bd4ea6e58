"""The formula of a tree inside a cell: conditions and kinks that do not turn there are resolved.

The sign of a switch on a cell is exact for an affine switch, and comes from an enclosure for any other. Cells with the
same signs share one formula, which is simplified once.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from uneven.expression import simplify
from uneven.expression.algebra import affine, neg, subtract
from uneven.expression.tree import ONE, ZERO, Call, Node, Where, transform
from uneven.ops.balls import Undefined, enclose_interval, interval, precision

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


def switches(tree: Node) -> Iterator[Node]:
    """Trees whose sign selects a formula."""
    for node in tree.walk():
        switch = _switch_of(node)
        if switch is not None:
            yield switch


def _switch_of(node: Node) -> Node | None:
    match node:
        case Call("relu" | "abs" | "step", (argument,)):
            return argument
        case Call("max" | "min", (left, right)) | Where(_, left, right, _, _):
            return subtract(left, right)
    return None


@lru_cache(maxsize=4096)
def _distinct_switches(tree: Node) -> tuple[Node, ...]:
    return tuple(dict.fromkeys(switches(tree)))


@lru_cache(maxsize=65536)
def formula_inside(tree: Node, low: End, high: End) -> Node:
    """A formula that equals the tree strictly inside an interval.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.expression import parse, to_text
    >>> from uneven.shape.piece_on_cell import formula_inside
    >>> to_text(formula_inside(parse("relu(expit(t) - 0.05)**2 + relu(t)"), Fraction(-1), Fraction(0)))
    '(0.05 - expit(t))**2'
    """
    while True:  # a resolved inner switch may make an outer one affine
        kept = _distinct_switches(tree)
        signs = tuple(_sign_inside(switch, low, high) for switch in kept)
        if not any(signs):
            return tree
        following = _resolved(tree, signs)
        if following == tree:
            return tree
        tree = following


@lru_cache(maxsize=65536)
def _sign_inside(switch: Node, low: End, high: End) -> int:
    line = affine(switch)
    if line is not None:
        return _sign_of_line(*line, low, high)
    with precision(_BITS):
        cell = interval(low, high)
    try:
        value = enclose_interval(switch, cell, bits=_BITS)
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
def _resolved(tree: Node, signs: tuple[int, ...]) -> Node:
    """The tree with its switches resolved, for signs in the order of its distinct switches."""
    known = dict(zip(_distinct_switches(tree), signs, strict=True))

    def resolve(node: Node) -> Node:
        switch = _switch_of(node)
        sign = _UNKNOWN if switch is None else known.get(switch, _UNKNOWN)
        if sign == _UNKNOWN:
            return node
        up = sign in (_POSITIVE, _NOT_NEGATIVE)
        match node:
            case Call("relu", (u,)):
                return u if up else ZERO
            case Call("abs", (u,)):
                return u if up else neg(u)
            case Call("step", _) if sign != _NOT_NEGATIVE:
                return ONE if up else ZERO
            case Call("max" | "min" as name, (left, right)):
                return left if up == (name == "max") else right
            case Where(op, _, _, yes, no):
                return yes if sign in _TRUE_FOR[op] else no if sign in _TRUE_FOR[OPPOSITE[op]] else node
        return node

    return simplify(transform(tree, resolve))
