"""What the record of a function says about one call (pieces, domain, zeros, slope), and exact derivatives in t."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from uneven.expression.algebra import add, call, fill_symbols, inv, mul, neg, number, power, where
from uneven.expression.functions import FUNCTIONS
from uneven.expression.parse import ARGUMENTS, domain_tree, pieces_tree, sentence_tree
from uneven.expression.tree import (
    ONE,
    ZERO,
    Add,
    Call,
    Inv,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Symbol,
    Where,
    depends_on_t,
)


class Pieces(NamedTuple):
    """``yes`` where ``left op right`` holds, ``no`` elsewhere: a ``where`` that may be larger than a tree can be."""

    op: str
    left: Node
    right: Node
    yes: Node
    no: Node


def pieces(node: Node) -> Pieces | None:
    """The two formulas of a node and when each holds; None for a node of one formula.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> from uneven.expression.calculus import pieces
    >>> op, *parts = pieces(parse("relu(1 - t)"))
    >>> op, [to_text(part) for part in parts]
    ('>=', ['1 - t', '0', '1 - t', '0'])
    """
    match node:
        case Where(op, left, right, yes, no):
            return Pieces(op, left, right, yes, no)
        case Call(name, _) if (written := pieces_tree(FUNCTIONS[name])) is not None:
            return Pieces(written.op, *(_apply(part, node) for part in written.children))
    return None


def domain(node: Node) -> tuple[Node, bool] | None:
    """A tree that must be positive for a call to be defined, and whether 0 is allowed; None: always defined."""
    condition = domain_tree(FUNCTIONS[node.name]) if isinstance(node, Call) else None
    return None if condition is None else (_apply(condition[0], node), condition[1])


def vanishing(node: Call) -> Node | None:
    """A tree with the zeros of a call; None if the record names none."""
    zeros = FUNCTIONS[node.name].zeros
    return None if zeros is None else _apply(sentence_tree(zeros), node)


def outer_slope(node: Call) -> Node | None:
    """The derivative with respect to the argument; None if it is that of the piece."""
    slope = FUNCTIONS[node.name].slope
    if slope is None:
        return None
    return _apply(sentence_tree(slope if isinstance(slope, str) else slope(node.order)), node)


def _apply(sentence: Node, node: Node) -> Node:
    arguments = node.arguments if isinstance(node, Call) else ()
    return fill_symbols(sentence, dict(zip(ARGUMENTS, arguments, strict=False)))


# Exact symbolic differentiation with respect to t.


@lru_cache(maxsize=4096)
def derivative(node: Node) -> Node:
    """Derivative of a tree in normal form, in normal form.

    At a kink the value is a fixed element between the one-sided slopes: relu and abs have slope 0 where
    their argument is 0, step has slope 0 everywhere, and ``where``, ``max`` and ``min`` take the slope of
    the branch they select (max and min: of the first argument in a tie).

    Examples
    --------
    >>> from uneven.expression import derivative, parse, simplify, to_text
    >>> to_text(derivative(simplify(parse("relu(1 - t)**2"))))
    '-2*relu(1 - t)'
    """
    match node:
        case Symbol("t"):
            return ONE
        case Symbol() | Number():
            return ZERO
        case Add():
            return add(*map(derivative, node.children))
        case Neg(argument):
            return neg(derivative(argument))
        case Mul():
            factors = node.children
            return add(*(mul(*factors[:i], derivative(factors[i]), *factors[i + 1 :]) for i in range(len(factors))))
        case Inv(argument):
            return neg(mul(derivative(argument), power(argument, Number(-2))))
        case Pow(base, exponent):
            return _power_rule(base, exponent)
        case Where(op, left, right, yes, no):
            return where(op, left, right, derivative(yes), derivative(no))
        case Call("sqrt", (Call("relu", (u,)),)):
            return _where_positive(u, mul(Number(Fraction(1, 2)), inv(call("sqrt", u))))
        case Call():
            return _chain_rule(node)
    raise TypeError(node)


def _chain_rule(node: Call) -> Node:
    slope = outer_slope(node)
    if slope is None:
        written = pieces(node)
        if written is None:
            raise TypeError(node)
        return where(written.op, written.left, written.right, derivative(written.yes), derivative(written.no))
    inner = derivative(node.arguments[0])
    return ZERO if inner == ZERO else mul(slope, inner)


def _power_rule(base: Node, exponent: Node) -> Node:
    match base, exponent:
        case Call("relu", (u,)), Number(k) if k.denominator != 1:
            return _where_positive(u, mul(exponent, power(u, number(k - 1))))
    if isinstance(exponent, Number):
        lowered = power(base, number(exponent.value - 1))
        return mul(exponent, lowered, derivative(base))
    if not depends_on_t(exponent):
        return mul(exponent, power(base, add(exponent, Number(-1))), derivative(base))
    logarithm = add(
        mul(derivative(exponent), call("log", base)),
        mul(exponent, derivative(base), inv(base)) if depends_on_t(base) else ZERO,
    )
    return mul(power(base, exponent), logarithm)


def _where_positive(u: Node, outer: Node) -> Node:
    """Slope of a root of relu(u): 0 where u is not positive, where the power of u would not be defined."""
    return where(">", u, ZERO, mul(outer, derivative(u)), ZERO)
