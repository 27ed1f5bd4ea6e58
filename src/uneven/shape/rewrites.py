"""Other ways to write the same function, so that intervals show its sign on wide cells and in the tails.

Common factors are written once, sums become one quotient, a common exponential is split off, and what a condition says
about its branches is written into them. Every rewrite is an identity for each t at which the tree is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

from flint import fmpq, fmpq_poly

from uneven.errors import ExpressionError
from uneven.expression import simplify
from uneven.expression.algebra import (
    add,
    affine,
    base_and_exponent,
    call,
    inv,
    is_positive,
    mul,
    neg,
    power,
    split,
    subtract,
    terms_of,
    where,
)
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
    T,
    Where,
    depends_on_t,
    put,
    transform,
)
from uneven.ops.evaluate import evaluate
from uneven.ops.rationals import exact_value
from uneven.shape.pieces import OPPOSITE, conditions, formula_inside, pole_arguments

Polynomial = Any  # an fmpq_poly
Quotient = tuple[Polynomial, Polynomial]
_MAX_DEGREE = 12
_MAX_BITS = 512  # of a coefficient: factoring stays in milliseconds


class _NoQuotient(ArithmeticError):
    """The tree is no quotient of polynomials, or one of too high a degree."""


def _kept(numerator: Polynomial, denominator: Polynomial) -> Quotient:
    if max(numerator.degree(), denominator.degree()) > _MAX_DEGREE or denominator == 0:
        raise _NoQuotient
    if max(map(_bits, (numerator, denominator))) > _MAX_BITS:
        raise _NoQuotient
    return numerator, denominator


def _bits(polynomial: Polynomial) -> int:
    whole = (*polynomial.numer().coeffs(), polynomial.denom())
    return max(int(c).bit_length() for c in whole)


class _Quotients:
    def number(self, value: Fraction) -> Quotient:
        return _kept(fmpq_poly([fmpq(value.numerator, value.denominator)]), fmpq_poly([1]))

    def constant(self, name: str) -> NoReturn:
        raise _NoQuotient

    def add(self, x: Quotient, y: Quotient) -> Quotient:
        return _kept(x[0] * y[1] + y[0] * x[1], x[1] * y[1])

    def subtract(self, x: Quotient, y: Quotient) -> Quotient:
        return _kept(x[0] * y[1] - y[0] * x[1], x[1] * y[1])

    def negate(self, x: Quotient) -> Quotient:
        return -x[0], x[1]

    def multiply(self, x: Quotient, y: Quotient) -> Quotient:
        return _kept(x[0] * y[0], x[1] * y[1])

    def divide(self, x: Quotient, y: Quotient) -> Quotient:
        return _kept(x[0] * y[1], x[1] * y[0])

    def rational_power(self, x: Quotient, exponent: Fraction) -> Quotient:
        if exponent.denominator != 1 or not 0 < exponent <= _MAX_DEGREE:
            raise _NoQuotient
        k = exponent.numerator
        if max(x[0].degree(), x[1].degree()) * k > _MAX_DEGREE:
            raise _NoQuotient
        return _kept(x[0] ** k, x[1] ** k)

    def power(self, x: Quotient, y: Quotient) -> NoReturn:
        raise _NoQuotient

    def call(self, name: str, *arguments: Any) -> NoReturn:
        raise _NoQuotient

    def where(self, node: Where, t: Quotient, value: Callable[[Node, Quotient], Quotient]) -> NoReturn:
        raise _NoQuotient


def quotient(tree: Node) -> Quotient | None:
    """Numerator and denominator of a tree that is a quotient of polynomials in t; None if it is none."""
    try:
        return evaluate(tree, _Quotients(), (fmpq_poly([0, 1]), fmpq_poly([1])))
    except _NoQuotient:
        return None


def as_one_quotient(tree: Node) -> Node | None:
    """A sum as a product of powers of polynomials in one function of t; None if it is none or has no common factor.

    The quotient has the same poles as the sum.

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> from uneven.shape.rewrites import as_one_quotient
    >>> to_text(as_one_quotient(simplify(parse("1/(1 - expit(t)/2) - 1 - expit(t)/2"))))
    '0.25*expit(t)**2/(1 - 0.5*expit(t))'
    """
    functions = set(_functions(tree))
    if len(functions) != 1 or not isinstance(tree, Add):
        return None
    (u,) = functions
    found = quotient(transform(tree, lambda node: T if node == u else node))
    if found is None:
        return None
    numerator, denominator = found
    if numerator == 0 or denominator.degree() == 0:  # a polynomial is left as it is written
        return None
    common = numerator.gcd(denominator)
    numerator, denominator = numerator // common, denominator // common
    if any(denominator % fmpq_poly(factor) != 0 for factor, _ in common.numer().factor()[1]):
        return None  # a pole would disappear: where the sum is undefined, the quotient must be
    if numerator[0] != 0:  # no power of u comes to the front
        return None
    return mul(_factor_at(numerator, u), inv(_factor_at(denominator, u)))


def _functions(tree: Node) -> list[Node]:
    """The largest parts that depend on t and are not made of sums, products, quotients and whole powers."""
    if not depends_on_t(tree):
        return []
    match tree:
        case Add() | Mul() | Neg() | Inv():
            return [found for child in tree.children for found in _functions(child)]
        case Pow(base, Number(exponent)) if exponent.denominator == 1:
            return _functions(base)
    return [tree]


def _factor_at(polynomial: Polynomial, u: Node) -> Node:
    """The polynomial at u as its content times the powers of its irreducible factors."""
    content, factors = polynomial.numer().factor()
    parts: list[Node] = [Number(Fraction(int(content), int(polynomial.denom())))]
    for factor, exponent in factors:
        terms = (mul(Number(int(c)), power(u, Number(k))) for k, c in enumerate(factor.coeffs()))
        parts.append(power(add(*terms), Number(exponent)))
    return mul(*parts)


# A sum with its common factors written once: intervals then show its sign on wide cells and in the tails.

_Powers = dict[tuple[Node, bool], Fraction]  # by base and sign of the exponent


@lru_cache(maxsize=4096)
def factor_out(tree: Node) -> Node:
    """The same function with common factors of its terms in front: x*a + x*b becomes x*(a + b).

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> from uneven.shape.rewrites import factor_out
    >>> to_text(factor_out(simplify(parse("expit(-t)*expit(t) - expit(-t)"))))
    '-expit(-t)**2'
    """
    try:
        return _factor(tree)
    except ExpressionError:  # too large: the tree itself will do
        return tree


def _factor(tree: Node) -> Node:
    match tree:
        case Neg(argument):
            return neg(_factor(argument))
        case Mul():
            return mul(*map(_factor, tree.children))
        case Where(op, left, right, yes, no):
            return where(op, left, right, _factor(yes), _factor(no))
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
    return mul(*_product(common), _factor(add(*rests)))


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


# The exponential rate that is written in a product: tree = exp(-rate * t) * rest.


@lru_cache(maxsize=1024)
def decay(node: Node) -> tuple[Fraction, Node]:
    """A rate and a rest with tree = exp(-rate * t) * rest, an identity for every t.

    ``expit(u)`` is ``exp(u) * expit(-u)``; its rest ``expit(-u)`` tends to 1 where u tends to minus infinity. A tree
    without such a factor is its own rest, with rate 0.

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> from uneven.shape.rewrites import decay
    >>> rate, rest = decay(simplify(parse("expit(-2*t)**2*expit(2*t)")))
    >>> rate, to_text(rest)
    (Fraction(4, 1), 'expit(2*t)**3')
    """
    match node:
        case Neg(argument):
            rate, rest = decay(argument)
            return rate, neg(rest)
        case Mul():
            parts = [decay(factor) for factor in node.children]
            return sum((rate for rate, _ in parts), Fraction(0)), mul(*(rest for _, rest in parts))
        case Inv(argument):
            rate, rest = decay(argument)
            return -rate, inv(rest)
        case Pow(base, Number(exponent)) if exponent.denominator == 1:
            rate, rest = decay(base)
            return rate * exponent, power(rest, Number(exponent))
        case Call("exp" | "expit" as name, (argument,)):
            line = affine(argument)
            if line is not None and (name == "exp" or line[0] < 0):
                slope, offset = line
                rest = ONE if name == "exp" else call("expit", neg(argument))
                return -slope, mul(call("exp", Number(offset)), rest)
    return Fraction(0), node


# What a condition says about its branches, written into them, so that intervals see it.
#
# In where(expit(t) <= 0.05, 0, (expit(t) - 0.05)**4) the second branch is used only where expit(t) - 0.05 is positive.
# There it equals relu(expit(t) - 0.05)**4, which is 0 where the first branch is used: the whole is that power, without
# a condition. Every rewrite here is an identity for each t at which the tree is defined.

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
def use_guards(tree: Node) -> Node:
    """The same function, its conditions made affine or removed where that is possible.

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> from uneven.shape.rewrites import use_guards
    >>> to_text(use_guards(simplify(parse("where(expit(t) <= 0.05, 0, (expit(t) - 0.05)**4)"))))
    'relu(-0.05 + expit(t))**4'
    >>> to_text(use_guards(simplify(parse("where(expit(t) < 1/2, 1, 4*expit(-t)**2)"))))
    'where(t < 0, 1, 4*expit(-t)**2)'
    """
    if all(affine(condition) is not None for condition in conditions(tree)):
        return tree
    try:
        return formula_inside(simplify(transform(tree, _rewrite)), -math.inf, math.inf)
    except ExpressionError:  # the rewritten tree would be too large
        return tree


def _rewrite(node: Node) -> Node:
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
            left, right = (_replace(high, {u: side}) for side in (neg(w), w))  # abs(w) where it exceeds the bound
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
        written = simplify(_replace(branch, values))
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


def _replace(tree: Node, values: dict[Node, Node]) -> Node:
    return transform(tree, lambda node: values.get(node, node))
