"""Trees that are polynomials in t with rational coefficients, and their real roots."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpq, fmpq_poly

from uneven.expression.algebra import add, mul, power
from uneven.expression.tree import Node, Number, T, Where
from uneven.ops.balls import precision
from uneven.ops.evaluate import evaluate

Polynomial = Any  # an fmpq_poly
_MAX_DEGREE = 40  # factoring stays in milliseconds
_MAX_BITS = 4096


class NotPolynomial(ArithmeticError):
    """The tree is no polynomial, or one of too high a degree."""


class _Polynomials:
    def number(self, value: Fraction) -> Polynomial:
        return fmpq_poly([fmpq(value.numerator, value.denominator)])

    def constant(self, name: str) -> NoReturn:
        raise NotPolynomial(name)

    def add(self, x: Polynomial, y: Polynomial) -> Polynomial:
        return x + y

    def subtract(self, x: Polynomial, y: Polynomial) -> Polynomial:
        return x - y

    def negate(self, x: Polynomial) -> Polynomial:
        return -x

    def multiply(self, x: Polynomial, y: Polynomial) -> Polynomial:
        if x.degree() + y.degree() > _MAX_DEGREE:
            raise NotPolynomial("degree")
        return x * y

    def divide(self, x: Polynomial, y: Polynomial) -> Polynomial:
        if y.degree() != 0:
            raise NotPolynomial("division")
        return x * (1 / y[0])

    def rational_power(self, x: Polynomial, exponent: Fraction) -> Polynomial:
        whole = exponent.denominator == 1 and exponent >= 0
        if not whole or x.degree() < 1 or x.degree() * exponent > _MAX_DEGREE:
            raise NotPolynomial("power")
        return x**exponent.numerator

    def power(self, x: Polynomial, y: Polynomial) -> NoReturn:
        raise NotPolynomial("variable power")

    def call(self, name: str, *arguments: Polynomial) -> NoReturn:
        raise NotPolynomial(name)

    def where(self, node: Where, t: Polynomial, value: Callable[[Node, Polynomial], Polynomial]) -> NoReturn:
        raise NotPolynomial("where")


_POLYNOMIALS = _Polynomials()


def as_polynomial(tree: Node) -> Polynomial | None:
    """The polynomial a tree is, or None."""
    try:
        polynomial = evaluate(tree, _POLYNOMIALS, fmpq_poly([0, 1]))
    except NotPolynomial:
        return None
    digits = max((int(c).bit_length() for c in polynomial.numer().coeffs()), default=0)
    return polynomial if max(digits, int(polynomial.denom()).bit_length()) <= _MAX_BITS else None


def real_roots(polynomial: Polynomial) -> list[tuple[Fraction, Node | None]]:
    """Distinct real roots: exact ones with None, others as a double with the irreducible factor they belong to."""
    found: list[tuple[Fraction, Node | None]] = []
    for factor, _ in polynomial.numer().factor()[1]:
        if factor.degree() == 1:
            found.append((Fraction(-int(factor[0]), int(factor[1])), None))
            continue
        tree = _tree(factor)
        found.extend((Fraction(root), tree) for root in _real_parts(factor) if math.isfinite(root))
    return found


def is_nonnegative_polynomial(tree: Node) -> bool:
    """Whether a tree is a polynomial that is nowhere negative."""
    polynomial = as_polynomial(tree)
    if polynomial is None or polynomial[0] < 0 or polynomial.leading_coefficient() < 0:
        return False
    return all(k % 2 == 0 or not _real_parts(factor) for factor, k in polynomial.numer().factor()[1])


def _real_parts(factor: Any) -> list[float]:
    """Real roots of an irreducible polynomial, rounded."""
    with precision(128):
        return [float(root.real.mid()) for root, _ in factor.complex_roots() if root.imag.is_zero()]


def _tree(factor: Any) -> Node:
    return add(*(mul(Number(int(c)), power(T, Number(k))) for k, c in enumerate(factor.coeffs())))
