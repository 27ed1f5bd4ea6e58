"""Convexity that follows from the structure of a tree (disciplined convex rules): sound, not complete."""

from __future__ import annotations

from uneven.expression.algebra import is_nonnegative, is_positive
from uneven.expression.functions import AFFINE, CONCAVE, CONVEX, FUNCTIONS, Function
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Node, Number, Pow, Symbol, depends_on_t


def is_convex(tree: Node) -> bool:
    """True only if the tree is convex on the real line.

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.curvature import is_convex
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
            return _combined([curvature(term) for term in node.children])
        case Neg(argument):
            return _negated(curvature(argument))
        case Mul():
            return _product(node.children)
        case Inv(argument):
            return CONVEX if is_positive(argument) and curvature(argument) in (AFFINE, CONCAVE) else None
        case Pow(base, Number(exponent)):
            whole_even = exponent.denominator == 1 and exponent % 2 == 0 and exponent > 0
            if whole_even and curvature(base) == AFFINE:
                return CONVEX
            if exponent >= 1 and is_nonnegative(base) and curvature(base) in (AFFINE, CONVEX):
                return CONVEX
        case Call(name, arguments):
            return _composed(FUNCTIONS[name], [curvature(argument) for argument in arguments])
    return None


def _composed(function: Function, arguments: list[int | None]) -> int | None:
    """Convex and rising of convex is convex, convex and falling of concave is convex; any of affine; concave alike."""
    if function.curvature is None or None in arguments:
        return None
    bent = {kind for kind in arguments if kind != AFFINE}
    allowed = set() if function.direction is None else {function.curvature * function.direction}
    return function.curvature if bent <= allowed else None


def _negated(kind: int | None) -> int | None:
    return None if kind is None else -kind


def _combined(kinds: list[int | None]) -> int | None:
    if None in kinds:
        return None
    bent = set(kinds) - {AFFINE}
    return AFFINE if not bent else bent.pop() if len(bent) == 1 else None


def _product(factors: tuple[Node, ...]) -> int | None:
    """A constant of known sign times one factor that varies."""
    varying = [factor for factor in factors if depends_on_t(factor)]
    if len(varying) != 1:
        return None
    constants = [factor for factor in factors if not depends_on_t(factor)]
    return curvature(varying[0]) if all(map(is_positive, constants)) else None


__all__ = ["AFFINE", "CONCAVE", "CONVEX", "curvature", "is_convex"]
