"""What a condition says about its branches, written into them, so that intervals see it.

In where(expit(t) <= 0.05, 0, (expit(t) - 0.05)**4) the second branch is used only where expit(t) - 0.05 is positive.
There it equals relu(expit(t) - 0.05)**4, which is 0 where the first branch is used: the whole is that power, without a
condition. Every rewrite here is an identity for each t at which the tree is defined.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from uneven.errors import ExpressionError
from uneven.expression import simplify
from uneven.expression.algebra import add, affine, call, is_positive, mul, neg, subtract, terms_of, where
from uneven.expression.tree import ONE, ZERO, Call, Node, Number, Symbol, T, Where, depends_on_t, put, transform
from uneven.ops.rationals import exact_value
from uneven.shape.piece_on_cell import OPPOSITE, conditions, formula_inside
from uneven.shape.pieces import pole_arguments

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Strictly increasing functions, and their value at 0.
_AT_ZERO = {
    "exp": Fraction(1),
    "expm1": Fraction(0),
    "expit": Fraction(1, 2),
    "tanh": Fraction(0),
    "atan": Fraction(0),
    "erf": Fraction(0),
}
_EXCESS = Symbol("excess")


@lru_cache(maxsize=1024)
def guarded(tree: Node) -> Node:
    """The same function, its conditions made affine or removed where that is possible.

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> from uneven.shape.guards import guarded
    >>> to_text(guarded(simplify(parse("where(expit(t) <= 0.05, 0, (expit(t) - 0.05)**4)"))))
    'relu(-0.05 + expit(t))**4'
    >>> to_text(guarded(simplify(parse("where(expit(t) < 1/2, 1, 4*expit(-t)**2)"))))
    'where(t < 0, 1, 4*expit(-t)**2)'
    """
    if all(affine(condition) is not None for condition in conditions(tree)):
        return tree
    try:
        return formula_inside(simplify(transform(tree, _rewritten)), -math.inf, math.inf)
    except ExpressionError:  # the rewritten tree would be too large
        return tree


def _rewritten(node: Node) -> Node:
    match node:
        case Where(op, left, right, yes, no):
            found = _without_condition(op, simplify(subtract(left, right)), yes, no)
            return node if found is None else found
        case Call("max" | "min" as name, (left, right)) if affine(subtract(left, right)) is None:
            for constant, other in ((left, right), (right, left)):
                if isinstance(constant, Number):  # max(c, u) = c + relu(u - c), min(c, u) = c - relu(c - u)
                    sign = 1 if name == "max" else -1
                    excess = call("relu", mul(Number(sign), subtract(other, constant)))
                    return add(constant, mul(Number(sign), excess))
    return node


def _without_condition(op: str, difference: Node, yes: Node, no: Node) -> Node | None:
    """where(difference op 0, yes, no), if its condition is a comparison of one term that is not affine; else None."""
    if affine(difference) is not None:
        return None
    terms = terms_of(difference)
    varying = [rest for rest in terms if rest != ONE]
    if len(varying) != 1 or not depends_on_t(varying[0]):
        return None
    (u,) = varying
    bound = -terms.get(ONE, Fraction(0)) / terms[u]
    if terms[u] < 0:
        op = _TURNED[op]
    if op in (">", ">="):  # where(u > bound, yes, no) = where(u <= bound, no, yes)
        op, yes, no = OPPOSITE[op], no, yes
    return _by_inverse(op, u, bound, yes, no) or _by_excess(u, bound, yes, no)


def _by_inverse(op: str, u: Node, bound: Fraction, low: Node, high: Node) -> Node | None:
    """where(u op bound, low, high) with an affine condition, for op < or <= and a u that can be inverted."""
    match u:
        case Call("abs", (w,)) if affine(w) is not None and bound > 0:
            left, right = (_replaced(high, {u: side}) for side in (neg(w), w))  # abs(w) where it exceeds the bound
            return where(op, w, Number(bound), where(op, neg(w), Number(bound), low, left), right)
        case Call(name, (w,)) if affine(w) is not None and _AT_ZERO.get(name) == bound:
            return where(op, w, ZERO, low, high)
    return None


def _by_excess(u: Node, bound: Fraction, low: Node, high: Node) -> Node | None:
    """where(u <= bound, low, high) without its condition, if one branch is the value of the other at u = bound.

    The branch ``high`` is used where u = bound + relu(u - bound). Written so, and if t occurs nowhere else in it, it
    keeps its value at u = bound where u is smaller. The same holds for ``low`` with u = bound - relu(bound - u).
    Which branch a condition takes where u equals the bound does not matter then. No pole may hide at u = bound:
    simplifying folds 0*(1/0) to 0.
    """
    for branch, other, sign in ((high, low, 1), (low, high, -1)):
        if depends_on_t(other):
            continue
        limited = add(Number(bound), mul(Number(sign), _EXCESS))
        values = {u: limited}
        if isinstance(u, Call) and u.name == "expit":
            values[call("expit", neg(u.arguments[0]))] = subtract(ONE, limited)
        written = simplify(_replaced(branch, values))
        if depends_on_t(written) or not all(map(_is_regular_at_the_bound, pole_arguments(written))):
            continue
        if simplify(put(written, {"excess": ZERO})) == simplify(other):
            excess = call("relu", mul(Number(sign), subtract(u, Number(bound))))
            return put(written, {"excess": excess})
    return None


def _is_regular_at_the_bound(argument: Node) -> bool:
    """Whether what is divided by, or under a logarithm or root, is positive where the excess is 0."""
    value = exact_value(put(argument, {"excess": T}), Fraction(0))
    return is_positive(argument) or (value is not None and value > 0)


def _replaced(tree: Node, values: dict[Node, Node]) -> Node:
    return transform(tree, lambda node: values.get(node, node))
