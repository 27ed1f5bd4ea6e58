"""Sums that are one quotient of polynomials in one function: 1/(1 - u) - 1 - u is u**2/(1 - u), which has a sign."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpq, fmpq_poly

from uneven.expression.algebra import add, inv, mul, power
from uneven.expression.tree import Add, Inv, Mul, Neg, Node, Number, Pow, T, Where, depends_on_t, transform
from uneven.ops.evaluate import evaluate

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
    >>> from uneven.shape.quotients import as_one_quotient
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
    return mul(_factored_at(numerator, u), inv(_factored_at(denominator, u)))


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


def _factored_at(polynomial: Polynomial, u: Node) -> Node:
    """The polynomial at u as its content times the powers of its irreducible factors."""
    content, factors = polynomial.numer().factor()
    parts: list[Node] = [Number(Fraction(int(content), int(polynomial.denom())))]
    for factor, exponent in factors:
        terms = (mul(Number(int(c)), power(u, Number(k))) for k, c in enumerate(factor.coeffs()))
        parts.append(power(add(*terms), Number(exponent)))
    return mul(*parts)
