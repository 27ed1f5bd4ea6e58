"""Trees that are polynomials in t with rational coefficients, and their real roots."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpq, fmpq_poly, fmpz_poly

from uneven.errors import ExpressionError
from uneven.expression.algebra import add, mul, power
from uneven.expression.tree import Call, Node, Number, T, Where
from uneven.ops.balls import precision
from uneven.ops.evaluate import evaluate


def closeness(polynomial: Any) -> float:
    r"""Roughly the sum of :math:`\log_2 (\max(|r|, |s|)/|r - s|)` over all pairs of roots r, s.

    It is about 0 or below if the roots are spread out, however different their sizes; two roots that agree in
    their first k bits add k. Infinite for a polynomial with a double root.

    With leading coefficient a and degree n, the discriminant is :math:`a^{2n-2} \prod (r - s)^2`. The sizes of the
    roots are the slopes of the Newton polygon.

    Examples
    --------
    >>> from flint import fmpz_poly
    >>> from uneven.shape.polynomials import closeness
    >>> round(closeness(fmpz_poly([-2, 0, 1]))), round(closeness(fmpz_poly([10**40, -2 * 10**40, 10**40 + 1])))
    (-1, 66)
    """
    discriminant = polynomial.discriminant()
    if discriminant == 0:
        return math.inf
    n = polynomial.degree()
    sizes = sorted(_root_sizes([_log2(c) for c in polynomial.coeffs()]), reverse=True)
    larger_of_each_pair = sum((n - 1 - i) * size for i, size in enumerate(sizes))
    return (n - 1) * _log2(polynomial.leading_coefficient()) + larger_of_each_pair - _log2(discriminant) / 2


def _root_sizes(logs: list[float]) -> list[float]:
    """Logarithms of the sizes of the roots, from those of the coefficients: slopes of their upper hull."""
    hull: list[tuple[int, float]] = []
    for k, height in enumerate(logs):
        if height == -math.inf:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], (k, height)):
            hull.pop()
        hull.append((k, height))
    return [-_slope(a, b) for a, b in itertools.pairwise(hull) for _ in range(b[0] - a[0])]


def _slope(a: tuple[int, float], b: tuple[int, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])


def _log2(value: Any) -> float:
    """log2 of the size of an integer that may be too large for a double."""
    size = abs(int(value))
    shift = max(size.bit_length() - 60, 0)
    return math.log2(size >> shift) + shift if size else -math.inf


# Real roots of a polynomial by Sturm's theorem: exact however close together they lie, for low degrees only.

_SIGN_BIT = 1 << 63


def sturm_roots(polynomial: fmpz_poly) -> list[float]:
    """A double next to each real root of a squarefree polynomial without rational roots, in order.

    Roots between the same two doubles count as one; roots beyond the range of doubles are left out.
    """
    chain = _chain(polynomial)
    low, high = _rank(-math.inf) + 1, _rank(math.inf) - 1
    pending = [(low, high, _variations(chain, low), _variations(chain, high))]
    found = []
    while pending:
        low, high, at_low, at_high = pending.pop()
        if at_low == at_high:
            continue
        if high - low == 1:
            found.append(_double(low))
            continue
        middle = (low + high) // 2
        at_middle = _variations(chain, middle)
        pending += [(middle, high, at_middle, at_high), (low, middle, at_low, at_middle)]
    return found


def _chain(polynomial: fmpz_poly) -> list[fmpz_poly]:
    """The polynomial, its derivative, and minus the remainder of each pair: positive factors taken out."""
    chain = [polynomial, polynomial.derivative()]
    while chain[-1].degree() > 0:
        remainder = -(fmpq_poly(chain[-2]) % fmpq_poly(chain[-1])).numer()
        content = remainder.content()
        chain.append(fmpz_poly([coefficient // content for coefficient in remainder.coeffs()]))
    return chain


def _variations(chain: list[fmpz_poly], rank: int) -> int:
    """Changes of sign along the chain at a double; the number of roots between two doubles is the difference."""
    numerator, denominator = _double(rank).as_integer_ratio()
    values: list[Any] = [link(fmpq(numerator, denominator)) for link in chain]
    signs = [value > 0 for value in values if value != 0]
    return sum(a != b for a, b in itertools.pairwise(signs))


def _rank(x: float) -> int:
    """Doubles as consecutive integers in the same order."""
    bits: int = struct.unpack("<Q", struct.pack("<d", x))[0]
    return -(bits - _SIGN_BIT) if bits >= _SIGN_BIT else bits


def _double(rank: int) -> float:
    bits = _SIGN_BIT - rank if rank < 0 else rank
    x: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return x


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
