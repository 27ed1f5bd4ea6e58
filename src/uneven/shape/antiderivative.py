"""Exact antiderivatives of quotients of polynomials in p = expit(t), also piecewise: dp = p (1 - p) dt.

With v = expit(t) or v = expit(-t), a slope S(t) dt becomes R(v) dv with a quotient R. If R changes its formula at
v = c, the difference of the two formulas is integrated from c on, as a function of relu(v - c).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpq, fmpq_poly

from uneven.expression import Node, affine, simplify, substitute
from uneven.expression.algebra import add, call, inv, mul, neg, power, subtract
from uneven.expression.tree import ONE, Call, Number, Symbol, T, depends_on_t, put, transform
from uneven.ops.floats import plain_values
from uneven.shape.kinks import switch_zeros
from uneven.shape.piece_on_cell import formula_inside
from uneven.shape.quotients import Quotient, quotient

Polynomial = Any  # an fmpq_poly
_V = Symbol("v")


class _NotElementary(ArithmeticError):
    """The antiderivative is not one that is found here."""


def antiderivative(tree: Node) -> Node | None:
    """A function with this slope; None if none is found. If it can, it tends to 0 at the end where a loss does.

    That is minus infinity if the slope is positive at t = 0, else infinity.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> from uneven.shape.antiderivative import antiderivative
    >>> to_text(antiderivative(parse("-expit(-t)**2")))
    '-expit(-t) + softplus(-t)'
    >>> print(antiderivative(parse("expit(t)**1.5")))
    None
    """
    slope = simplify(tree)
    first = 1 if plain_values(slope, np.zeros(1))[0] > 0 else -1
    for side, infinite in ((first, False), (-first, False), (first, True)):
        try:
            return _integrated(slope, side, infinite)
        except _NotElementary:
            continue
    return None


def _integrated(slope: Node, side: int, infinite: bool) -> Node:
    """The integral from v = 0, where v = expit(side t); it may be infinite there if ``infinite``."""
    v = call("expit", mul(Number(side), T))
    density = _in_v(slope, side)
    points = [Fraction(0), *_switches(density), Fraction(1)]
    formulas = [_quotient(formula_inside(density, low, high)) for low, high in pairwise(points)]
    parts, before = [], (fmpq_poly([0]), fmpq_poly([1]))
    for start, formula in zip(points, formulas, strict=False):
        excess = v if start == 0 else call("relu", subtract(v, Number(start)))
        parts.append(_from_zero(_moved(_difference(formula, before), start), excess, infinite))
        before = formula
    result = add(*parts)
    # log(1 - v) is the logarithm of expit(-side t); as a softplus it keeps its digits.
    return substitute(transform(result, lambda node: _softplus(node, side)), {})


def _in_v(slope: Node, side: int) -> Node:
    """R(v), written with t for v."""

    def replaced(node: Node) -> Node:
        line = affine(node.arguments[0]) if isinstance(node, Call) and node.name == "expit" else None
        if line == (Fraction(side), Fraction(0)):
            return _V
        return subtract(ONE, _V) if line == (Fraction(-side), Fraction(0)) else node

    density = mul(Number(side), transform(slope, replaced), inv(_V), inv(subtract(ONE, _V)))
    if depends_on_t(density):
        raise _NotElementary
    return simplify(put(density, {"v": T}))


def _switches(density: Node) -> list[Fraction]:
    found = [cluster[0] for cluster in switch_zeros(density)]
    inside = [zero for zero in found if 0 < zero.point < 1]
    if not all(zero.exact for zero in inside):
        raise _NotElementary
    return [zero.point for zero in inside]


def _quotient(tree: Node) -> Quotient:
    found = quotient(tree)
    if found is None:
        raise _NotElementary
    return _reduced(*found)


def _reduced(numerator: Polynomial, denominator: Polynomial) -> Quotient:
    common = numerator.gcd(denominator)
    return numerator // common, denominator // common


def _difference(x: Quotient, y: Quotient) -> Quotient:
    return _reduced(x[0] * y[1] - y[0] * x[1], x[1] * y[1])


def _moved(x: Quotient, start: Fraction) -> Quotient:
    """The quotient as a function of v - start."""
    shift = fmpq_poly([fmpq(start.numerator, start.denominator), 1])
    return x[0](shift), x[1](shift)


def _from_zero(x: Quotient, excess: Node, infinite: bool) -> Node:
    """The integral of a quotient from 0 to ``excess``: a polynomial, logarithms and powers of linear functions.

    If the quotient is infinite at 0, the integral is one from another point.
    """
    numerator, denominator = x
    whole, rest = divmod(numerator, denominator)
    terms = [mul(Number(_rational(c) / (k + 1)), power(excess, Number(k + 1))) for k, c in enumerate(whole.coeffs())]
    for factor, multiplicity in denominator.numer().factor()[1]:
        if factor.degree() != 1:
            raise _NotElementary
        root = Fraction(-int(factor[0]), int(factor[1]))
        if root == 0 and not infinite:
            raise _NotElementary  # the other end may do
        terms += _fractions(rest, denominator, root, multiplicity, excess)
    return add(*terms)


def _fractions(rest: Polynomial, denominator: Polynomial, root: Fraction, order: int, excess: Node) -> list[Node]:
    """Integrals of the terms a/(x - root)**m of the partial fractions."""
    shift = fmpq_poly([fmpq(root.numerator, root.denominator), 1])
    top = [_rational(c) for c in rest(shift).coeffs()] + [Fraction(0)] * order
    bottom = [_rational(c) for c in denominator(shift).coeffs()][order:] + [Fraction(0)] * order
    series: list[Fraction] = []
    for k in range(order):
        series.append((top[k] - sum(series[j] * bottom[k - j] for j in range(k))) / bottom[0])
    relative = subtract(ONE, mul(Number(1 / root), excess)) if root else excess  # 1 at the start
    terms = []
    for k, a in enumerate(series):
        m = order - k
        if m == 1:
            terms.append(mul(Number(a), call("log", relative)))
        else:
            scale = a * (-root or Fraction(1)) ** (1 - m) / (1 - m)
            terms.append(mul(Number(scale), subtract(inv(power(relative, Number(m - 1))), ONE)))
    return terms


def _rational(c: Any) -> Fraction:
    return Fraction(int(c.p), int(c.q))


def _softplus(node: Node, side: int) -> Node:
    v = call("expit", mul(Number(side), T))
    for argument, sign in ((subtract(ONE, v), side), (v, -side)):
        if node == call("log", argument):
            return neg(call("softplus", mul(Number(sign), T)))
    return node
