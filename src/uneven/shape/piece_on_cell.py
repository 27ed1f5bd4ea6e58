"""The formula of a tree inside a cell: conditions and kinks that do not turn there are resolved.

The sign of a switch on a cell is exact for an affine switch, and comes from an enclosure for any other. Cells with the
same signs share one formula, which is simplified once.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from uneven.expression import simplify
from uneven.expression.algebra import affine, subtract
from uneven.expression.calls import pieces
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Call, Node, transform
from uneven.ops.balls import Undefined, enclose_interval, interval

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
    >>> from uneven.shape.piece_on_cell import formula_inside
    >>> to_text(formula_inside(parse("relu(expit(t) - 0.05)**2 + relu(t)"), Fraction(-1), Fraction(0)))
    '(0.05 - expit(t))**2'
    """
    while True:  # a resolved inner switch may make an outer one affine
        kept = _distinct_conditions(tree)
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
def _resolved(tree: Node, signs: tuple[int, ...]) -> Node:
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
