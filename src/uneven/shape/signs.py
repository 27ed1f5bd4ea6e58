"""Trees that are never negative, by their structure and their exact limits: sound, not complete."""

from __future__ import annotations

import math
from functools import lru_cache

from uneven.expression.algebra import is_nonnegative
from uneven.expression.tree import Add, Mul, Neg, Node, Number, Pow, Where
from uneven.shape import monotone
from uneven.shape.constants import constant_limit, constant_sign


@lru_cache(maxsize=1024)
def never_negative(tree: Node) -> bool:
    """True only if the tree is nowhere negative.

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.signs import never_negative
    >>> never_negative(simplify(parse("-expit(-t)*log(max(expit(t), 1e-8))")))
    True
    """
    return is_nonnegative(tree) or _sign(tree) > 0


def _sign(node: Node) -> int:
    """1 if the tree is never negative, -1 if never positive, 0 if that is not seen."""
    found = monotone.sign(node)
    if found:
        return found
    match node:
        case Neg(argument):
            return -_sign(argument)
        case Mul():
            result = 1
            for factor in node.children:
                result *= _sign(factor)
            return result
        case Add():
            return _common([_sign(term) for term in node.children])
        case Pow(base, Number(exponent)) if exponent > 0 and _sign(base) > 0:
            return 1
        case Where(_, _, _, yes, no):
            return _common([_sign(yes), _sign(no)])
    return _by_limit(node)


def _common(signs: list[int]) -> int:
    return signs[0] if len(set(signs)) == 1 else 0


def _by_limit(node: Node) -> int:
    """A function that falls is never below its limit at infinity and never above the one at minus infinity."""
    falls = monotone.direction(node)
    if falls not in (monotone.FALLING, monotone.RISING):
        return 0
    for sign in (1, -1):
        limit = constant_limit(node, -falls * sign)
        if limit is None:
            continue
        value = int(math.copysign(1, limit)) if isinstance(limit, float) else constant_sign(limit)
        if value is not None and value * sign >= 0:
            return sign
    return 0
