"""Monotonicity and sign that follow from the structure of a tree: sound, not complete."""

from __future__ import annotations

import math

from uneven.expression.algebra import is_nonnegative
from uneven.expression.functions import CONSTANT, FALLING, FUNCTIONS, RISING
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Node, Number, Pow, Symbol, depends_on_t


def direction(node: Node) -> int | None:
    """RISING (nondecreasing), FALLING (nonincreasing), CONSTANT in t, or None if the rules cannot tell.

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.monotone import direction
    >>> direction(simplify(parse("expit(-t)**2*softplus(-t)"))), direction(simplify(parse("(1 - t)**2")))
    (-1, None)
    """
    if not depends_on_t(node):
        return CONSTANT
    match node:
        case Symbol():
            return RISING
        case Neg(argument):
            return _turned(direction(argument))
        case Inv(argument):
            return _turned(direction(argument)) if sign(argument) else None
        case Add():
            return _joined([direction(term) for term in node.children])
        case Mul():
            return _product(node.children)
        case Pow(base, Number(exponent)):
            if exponent > 0 and (is_nonnegative(base) or (exponent.denominator == 1 and exponent % 2 == 1)):
                return direction(base)
        case Call(name, arguments) if (outer := FUNCTIONS[name].direction) is not None:
            inner = _joined([direction(argument) for argument in arguments])
            return inner if outer == RISING else _turned(inner)
    return None


def sign(node: Node) -> int:
    """1 if the tree is never negative, -1 if never positive, 0 if the rules cannot tell."""
    if is_nonnegative(node):
        return 1
    match node:
        case Number(value):
            return 1 if value >= 0 else -1
        case Neg(argument):
            return -sign(argument)
        case Inv(argument):
            return sign(argument)
        case Call(name, (argument,)) if FUNCTIONS[name].keeps_sign:
            return sign(argument)
        case Add():
            signs = {sign(term) for term in node.children}
            return signs.pop() if len(signs) == 1 else 0
        case Mul():
            return _sign_of_product(node.children)
    return 0


def _sign_of_product(factors: tuple[Node, ...]) -> int:
    return math.prod(map(sign, factors))


def _turned(kind: int | None) -> int | None:
    return None if kind is None else -kind


def _joined(kinds: list[int | None]) -> int | None:
    if None in kinds:
        return None
    moving = set(kinds) - {CONSTANT}
    return CONSTANT if not moving else moving.pop() if len(moving) == 1 else None


def _product(factors: tuple[Node, ...]) -> int | None:
    """A product of factors of known sign is the product of their sizes, each of which must move one way."""
    moving = [factor for factor in factors if depends_on_t(factor)]
    if len(moving) == 1:  # its own sign does not matter
        factors = tuple(factor for factor in factors if factor is not moving[0])
        constant = _sign_of_product(factors)
        kind = direction(moving[0])
        return None if constant == 0 else kind if constant > 0 else _turned(kind)
    signs = [sign(factor) for factor in factors]
    if 0 in signs:
        return None
    sizes = _joined([kind if s > 0 else _turned(kind) for s, kind in zip(signs, map(direction, factors), strict=True)])
    negative = sum(s < 0 for s in signs) % 2 == 1
    return _turned(sizes) if negative else sizes


__all__ = ["CONSTANT", "FALLING", "RISING", "direction", "sign"]
