"""A sum with its common factors written once: intervals then show its sign on wide cells and in the tails."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from uneven.errors import ExpressionError
from uneven.expression.algebra import add, base_and_exponent, mul, neg, power, split, where
from uneven.expression.tree import Add, Call, Mul, Neg, Node, Number, Where, depends_on_t
from uneven.shape.quotients import as_one_quotient

_Powers = dict[tuple[Node, bool], Fraction]  # by base and sign of the exponent


@lru_cache(maxsize=4096)
def factored(tree: Node) -> Node:
    """The same function with common factors of its terms in front: x*a + x*b becomes x*(a + b).

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> from uneven.shape.factored import factored
    >>> to_text(factored(simplify(parse("expit(-t)*expit(t) - expit(-t)"))))
    '-expit(-t)**2'
    """
    try:
        return _factored(tree)
    except ExpressionError:  # too large: the tree itself will do
        return tree


def _factored(tree: Node) -> Node:
    match tree:
        case Neg(argument):
            return neg(_factored(argument))
        case Mul():
            return mul(*map(_factored, tree.children))
        case Where(op, left, right, yes, no):
            return where(op, left, right, _factored(yes), _factored(no))
        case Add():
            return _with_common_factors(tree)
    return tree


def _with_common_factors(tree: Node) -> Node:
    parts = [split(term) for term in tree.children]
    powers = _with_shared_steps([_powers(rest) for _, rest in parts])
    common = {key: min((p[key] for p in powers), key=abs) for key in powers[0] if all(key in p for p in powers[1:])}
    if not common:
        return as_one_quotient(tree) or tree
    rests = [
        mul(Number(coefficient), *_product({key: p[key] - common.get(key, Fraction(0)) for key in p}))
        for (coefficient, _), p in zip(parts, powers, strict=True)
    ]
    return mul(*_product(common), _factored(add(*rests)))


def _with_shared_steps(powers: list[_Powers]) -> list[_Powers]:
    """relu(v) is relu(v)*step(v): a step that all other terms have in this way is written in each."""
    steps = {base for p in powers for base, _ in p if isinstance(base, Call) and base.name == "step"}
    for step in steps:
        key, gate = (step, True), (Call("relu", step.children[0]), True)
        if all(key in p or gate in p for p in powers):
            powers = [p if key in p else {**p, key: Fraction(1)} for p in powers]
    return powers


def _powers(rest: Node) -> _Powers:
    found: _Powers = {}
    for factor in rest.children if isinstance(rest, Mul) else (rest,):
        base, exponent = base_and_exponent(factor)
        if not depends_on_t(base):
            base, exponent = factor, Fraction(1)
        key = (base, exponent > 0)
        found[key] = found.get(key, Fraction(0)) + exponent
    return found


def _product(powers: _Powers) -> list[Node]:
    return [power(base, Number(exponent)) for (base, _), exponent in powers.items() if exponent]
