"""What the structure of a tree shows: direction, sign, curvature, continuity.

Every rule is sound: what it says is true. None is complete: None, 0 or False means that the rules cannot tell.
"""

from __future__ import annotations

import math

from uneven.expression.algebra import affine, is_nonnegative, is_positive, subtract
from uneven.expression.functions import AFFINE, CONCAVE, CONSTANT, CONVEX, FUNCTIONS, RISING, Function
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Node, Number, Pow, Symbol, Where, depends_on_t
from uneven.ops.rationals import exact_value


def direction_by_structure(node: Node) -> int | None:
    """RISING (nondecreasing), FALLING (nonincreasing), CONSTANT in t, or None if the rules cannot tell.

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.structure import direction_by_structure
    >>> [direction_by_structure(simplify(parse(text))) for text in ("expit(-t)**2*softplus(-t)", "(1 - t)**2")]
    [-1, None]
    """
    if not depends_on_t(node):
        return CONSTANT
    match node:
        case Symbol():
            return RISING
        case Neg(argument):
            return _reverse(direction_by_structure(argument))
        case Inv(argument):
            return _reverse(direction_by_structure(argument)) if sign_by_structure(argument) else None
        case Add():
            return common_kind([direction_by_structure(term) for term in node.children])
        case Mul():
            return _direction_of_product(node.children)
        case Pow(base, Number(exponent)):
            if exponent > 0 and (is_nonnegative(base) or (exponent.denominator == 1 and exponent % 2 == 1)):
                return direction_by_structure(base)
        case Call(name, arguments) if (outer := FUNCTIONS[name].direction) is not None:
            inner = common_kind([direction_by_structure(argument) for argument in arguments])
            return inner if outer == RISING else _reverse(inner)
    return None


def sign_by_structure(node: Node) -> int:
    """1 if the tree is never negative, -1 if never positive, 0 if the rules cannot tell."""
    if is_nonnegative(node):
        return 1
    match node:
        case Number(value):
            return 1 if value >= 0 else -1
        case Neg(argument):
            return -sign_by_structure(argument)
        case Inv(argument):
            return sign_by_structure(argument)
        case Call(name, (argument,)) if FUNCTIONS[name].keeps_sign:
            return sign_by_structure(argument)
        case Add():
            signs = {sign_by_structure(term) for term in node.children}
            return signs.pop() if len(signs) == 1 else 0
        case Mul():
            return _sign_of_product(node.children)
    return 0


def _sign_of_product(factors: tuple[Node, ...]) -> int:
    return math.prod(map(sign_by_structure, factors))


def _reverse(kind: int | None) -> int | None:
    """The direction or curvature of minus a tree."""
    return None if kind is None else -kind


def common_kind(kinds: list[int | None]) -> int | None:
    """The direction or curvature of a sum: that of all terms that have one, if they agree; None if one is unknown.

    CONSTANT and AFFINE, which have none, are both 0.
    """
    if None in kinds:
        return None
    moving = set(kinds) - {CONSTANT}
    return CONSTANT if not moving else moving.pop() if len(moving) == 1 else None


def _direction_of_product(factors: tuple[Node, ...]) -> int | None:
    """A product of factors of known sign is the product of their sizes, each of which must move one way."""
    moving = [factor for factor in factors if depends_on_t(factor)]
    if len(moving) == 1:  # its own sign does not matter
        factors = tuple(factor for factor in factors if factor is not moving[0])
        constant = _sign_of_product(factors)
        kind = direction_by_structure(moving[0])
        return None if constant == 0 else kind if constant > 0 else _reverse(kind)
    signs = [sign_by_structure(factor) for factor in factors]
    if 0 in signs:
        return None
    sizes = common_kind(
        [kind if s > 0 else _reverse(kind) for s, kind in zip(signs, map(direction_by_structure, factors), strict=True)]
    )
    negative = sum(s < 0 for s in signs) % 2 == 1
    return _reverse(sizes) if negative else sizes


def is_convex(tree: Node) -> bool:
    """True only if the tree is convex on the real line.

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.structure import is_convex
    >>> is_convex(simplify(parse("relu(1 - t)**2 + exp(-t)"))), is_convex(simplify(parse("expit(-t)")))
    (True, False)
    """
    return curvature(tree) in (AFFINE, CONVEX)


def curvature(node: Node) -> int | None:
    """AFFINE, CONVEX, CONCAVE, or None if the rules cannot tell."""
    if not depends_on_t(node):
        return AFFINE
    match node:
        case Symbol():
            return AFFINE
        case Add():
            return common_kind([curvature(term) for term in node.children])
        case Neg(argument):
            return _reverse(curvature(argument))
        case Mul():
            return _curvature_of_product(node.children)
        case Inv(argument):
            return CONVEX if is_positive(argument) and curvature(argument) in (AFFINE, CONCAVE) else None
        case Pow(base, Number(exponent)):
            whole_even = exponent.denominator == 1 and exponent % 2 == 0 and exponent > 0
            if whole_even and curvature(base) == AFFINE:
                return CONVEX
            if exponent >= 1 and is_nonnegative(base) and curvature(base) in (AFFINE, CONVEX):
                return CONVEX
        case Call(name, arguments):
            return _compose(FUNCTIONS[name], [curvature(argument) for argument in arguments])
    return None


def _compose(function: Function, arguments: list[int | None]) -> int | None:
    """Convex and rising of convex is convex, convex and falling of concave is convex; any of affine; concave alike."""
    if function.curvature is None or None in arguments:
        return None
    bent = {kind for kind in arguments if kind != AFFINE}
    allowed = set() if function.direction is None else {function.curvature * function.direction}
    return function.curvature if bent <= allowed else None


def _curvature_of_product(factors: tuple[Node, ...]) -> int | None:
    """A constant of known sign times one factor that varies."""
    varying = [factor for factor in factors if depends_on_t(factor)]
    if len(varying) != 1:
        return None
    constants = [factor for factor in factors if not depends_on_t(factor)]
    return curvature(varying[0]) if all(map(is_positive, constants)) else None


def is_continuous(tree: Node) -> bool:
    """True only if the tree surely has no jump: no step, and where joins its branches at a rational point.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.structure import is_continuous
    >>> is_continuous(parse("where(t < -1, -4*t, relu(1 - t)**2)")), is_continuous(parse("1 - step(t)"))
    (True, False)
    """
    for node in tree.walk():
        match node:
            case Call(name, _) if FUNCTIONS[name].jumps:
                return False
            case Pow(base, exponent) if not (isinstance(exponent, Number) or is_positive(base)):
                return False  # 0**0 is 1, beside it are other values
            case Where(_, left, right, yes, no):
                line = affine(subtract(left, right))
                if line is None or line[0] == 0:
                    return False
                point = -line[1] / line[0]
                value = exact_value(yes, point)
                if value is None or value != exact_value(no, point):
                    return False
    return True
