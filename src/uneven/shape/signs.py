"""Sign and direction of a tree, by its structure and its exact limits, and whether it is defined on the whole line.

A yes is certain; a no means that the rules cannot tell.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from uneven.expression.algebra import is_nonnegative, is_positive
from uneven.expression.calculus import domain
from uneven.expression.functions import FALLING, RISING
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Node, Number, Pow, T, Where, depends_on_t
from uneven.ops.balls import Undefined, enclose_interval, interval
from uneven.shape.exact_limits import constant_limit, constant_sign
from uneven.shape.structure import common_kind, direction_by_structure, sign_by_structure


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


@lru_cache(maxsize=1024)
def direction(node: Node) -> int | None:
    """RISING, FALLING or CONSTANT in t, as in :func:`direction_by_structure`, with signs that follow from limits too.

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.signs import direction
    >>> direction(simplify(parse("(1 - 2*atan(t)/pi)**2")))
    -1
    """
    found = direction_by_structure(node)
    if found is not None:
        return found
    match node:
        case Neg(argument):
            kind = direction(argument)
            return None if kind is None else -kind
        case Add():
            return common_kind([direction(term) for term in node.children])
        case Mul():
            return _direction_of_product(node.children)
        case Pow(base, Number(exponent)) if exponent > 0 and never_negative(base):
            return direction(base)
        case Inv(argument) if is_positive(argument):
            kind = direction(argument)
            return None if kind is None else -kind
        case Call("max" | "min", arguments):
            return common_kind([direction(argument) for argument in arguments])
        case Call(name, (argument, *order)):
            outer, inner = direction_by_structure(Call(name, T, *order)), direction(argument)
            return None if outer is None or inner is None else outer * inner
    return None


def _direction_of_product(factors: tuple[Node, ...]) -> int | None:
    """Only the sizes of the factors move; the sign of a factor does not matter if all others are constant."""
    varying = [factor for factor in factors if depends_on_t(factor)]
    signs = [_sign(factor) for factor in factors if len(varying) > 1 or not depends_on_t(factor)]
    if 0 in signs:
        return None
    kinds = []
    for factor in varying:
        kind = direction(factor)
        size = _sign(factor) if len(varying) > 1 else 1
        kinds.append(None if kind is None else kind * size)
    moved = common_kind(kinds)
    negative = sum(sign < 0 for sign in signs) % 2 == 1
    return moved if moved is None or not negative else -moved


def _sign(node: Node) -> int:
    """1 if the tree is never negative, -1 if never positive, 0 if that is not seen."""
    found = sign_by_structure(node)
    if found:
        return found
    match node:
        case Neg(argument):
            return -_sign(argument)
        case Mul():
            result = 1
            for factor in node.children:
                result *= _sign(factor)
            return result or _by_limit(node)
        case Add():
            return _common([_sign(term) for term in node.children]) or _by_limit(node)
        case Pow(base, Number(exponent)) if exponent > 0 and _sign(base) > 0:
            return 1
        case Where(_, _, _, yes, no):
            return _common([_sign(yes), _sign(no)])
    return _by_limit(node)


def _common(signs: list[int]) -> int:
    return signs[0] if len(set(signs)) == 1 else 0


def _by_limit(node: Node) -> int:
    """A function that falls is never below its limit at infinity and never above the one at minus infinity."""
    moves = direction(node)
    if moves not in (FALLING, RISING):
        return 0
    for sign in (1, -1):
        limit = constant_limit(node, -moves * sign)
        if limit is None:
            continue
        value = int(math.copysign(1, limit)) if isinstance(limit, float) else constant_sign(limit)
        if value is not None and value * sign >= 0:
            return sign
    return 0


_HALVES = ((-math.inf, Fraction(0)), (Fraction(0), math.inf))


@lru_cache(maxsize=1024)
def is_defined(tree: Node) -> bool:
    """True only if the tree has a value at every t.

    Each division, logarithm, root and power is defined by the structure of its argument, or an enclosure of the whole
    tree on each half line shows that it has a value there (which also sees the conditions of ``where``).

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.signs import is_defined
    >>> is_defined(simplify(parse("sqrt(1 - 2*atan(t)/pi)"))), is_defined(simplify(parse("log(2 - exp(t))")))
    (True, False)
    """
    return all(map(_has_good_argument, tree.walk())) or all(_has_enclosure(tree, *half) for half in _HALVES)


def _has_good_argument(node: Node) -> bool:
    """Whether a node is defined wherever its parts are, by their structure."""
    match node:
        case Inv(argument):
            return is_positive(argument)
        case Call() if (boundary := domain(node)) is not None:
            argument, closed = boundary
            return is_positive(argument) or (closed and never_negative(argument))
        case Pow(base, Number(exponent)):
            return (
                (exponent.denominator == 1 and exponent >= 0)
                or is_positive(base)
                or (exponent > 0 and never_negative(base))
            )
        case Pow(base, _):
            return is_positive(base)
    return True


def _has_enclosure(tree: Node, low: Fraction | float, high: Fraction | float) -> bool:
    try:
        enclose_interval(tree, interval(low, high), bits=96)
    except Undefined:
        return False
    return True
