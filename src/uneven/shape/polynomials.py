"""Trees that are polynomials in t with rational coefficients, and their real roots."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpq, fmpq_poly

from uneven.errors import ExpressionError
from uneven.expression.algebra import add, mul, power
from uneven.expression.tree import Call, Node, Number, T, Where
from uneven.ops.balls import precision
from uneven.ops.evaluate import evaluate
from uneven.shape.root_separation import closeness
from uneven.shape.sturm import sturm_roots

Polynomial = Any  # an fmpq_poly
_MAX_DEGREE = 40  # factoring stays in milliseconds
_MAX_BITS = 4096
_MAX_WORK = 2**17  # degree times bits: one discriminant stays within about a tenth of a second
_HARMLESS = 500  # roots of a polynomial are at least about 2**-((degree - 1) * bits) apart
_MAX_STURM_WORK = 2**16  # degree**2 * bits: keeps Sturm's theorem within a hundredth of a second


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

    def call(self, name: str, *arguments: Any) -> NoReturn:
        raise NotPolynomial(name)

    def where(self, node: Where, t: Polynomial, value: Callable[[Node, Polynomial], Polynomial]) -> NoReturn:
        raise NotPolynomial("where")


_POLYNOMIALS = _Polynomials()


def as_polynomial(tree: Node) -> Polynomial | None:
    """The polynomial a tree is, or None."""
    if any(isinstance(node, Call | Where) for node in tree.walk()):
        return None
    try:
        polynomial = evaluate(tree, _POLYNOMIALS, fmpq_poly([0, 1]))
    except NotPolynomial:
        return None
    bits = max(polynomial.numer().height_bits(), int(polynomial.denom()).bit_length())
    return polynomial if bits <= _MAX_BITS and bits * polynomial.degree() <= _MAX_WORK else None


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
    if _has_close_roots(factor):
        if factor.degree() ** 2 * factor.height_bits() > _MAX_STURM_WORK:
            raise ExpressionError(
                f"a polynomial of degree {factor.degree()} with coefficients of {factor.height_bits()} bits has zeros "
                "that lie too close together to tell them apart; a lower degree or fewer digits would work"
            )
        return sturm_roots(factor)
    with precision(128):
        return [float(root.real.mid()) for root, _ in factor.complex_roots() if root.imag.is_zero()]


def _has_close_roots(factor: Any) -> bool:
    """Whether some complex roots are so close together that flint would take long to isolate them.

    At each precision flint takes 4 * degree + 64 steps, each of which gains a bit of two close roots. Then it
    doubles the precision: eight times is quick, twenty times takes hours.
    """
    degree = factor.degree()
    if (degree - 1) * factor.height_bits() <= _HARMLESS:
        return False
    return closeness(factor) > 8 * (4 * degree + 64)


def _tree(factor: Any) -> Node:
    return add(*(mul(Number(int(c)), power(T, Number(k))) for k, c in enumerate(factor.coeffs())))
