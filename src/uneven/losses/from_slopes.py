"""A partial loss from its slope: an exact antiderivative where one is found, else a numeric one.

Exact ones are those of quotients of polynomials in p = expit(t), also piecewise: dp = p (1 - p) dt. With v = expit(t)
or v = expit(-t), a slope S(t) dt becomes R(v) dv with a quotient R. If R changes its formula at v = c, the difference
of the two formulas is integrated from c on, as a function of relu(v - c).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpq, fmpq_poly

from uneven.errors import ExpressionError, LossError
from uneven.expression import Node, affine, parse, simplify, substitute, to_text
from uneven.expression.algebra import add, call, inv, mul, neg, power, subtract
from uneven.expression.tree import MAX_CHARACTERS, ONE, Call, Number, Symbol, T, depends_on_t, put, transform
from uneven.losses.margin_function import Phi, phi
from uneven.ops.floats import plain_values
from uneven.shape.kinks import switch_points, switch_zeros
from uneven.shape.pieces import formula_inside
from uneven.shape.rewrites import Quotient, quotient

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
    >>> from uneven.losses.from_slopes import antiderivative
    >>> to_text(antiderivative(parse("-expit(-t)**2")))
    '-expit(-t) + softplus(-t)'
    >>> print(antiderivative(parse("expit(t)**1.5")))
    None
    """
    slope = simplify(tree)
    first = 1 if plain_values(slope, np.zeros(1))[0] > 0 else -1
    for side, infinite in ((first, False), (-first, False), (first, True)):
        try:
            return _integrate(slope, side, infinite)
        except _NotElementary:
            continue
    return None


def _integrate(slope: Node, side: int, infinite: bool) -> Node:
    """The integral from v = 0, where v = expit(side t); it may be infinite there if ``infinite``."""
    v = call("expit", mul(Number(side), T))
    density = _in_v(slope, side)
    points = [Fraction(0), *_switches(density), Fraction(1)]
    formulas = [_quotient(formula_inside(density, low, high)) for low, high in pairwise(points)]
    parts, before = [], (fmpq_poly([0]), fmpq_poly([1]))
    for start, formula in zip(points, formulas, strict=False):
        excess = v if start == 0 else call("relu", subtract(v, Number(start)))
        parts.append(_from_zero(_move(_difference(formula, before), start), excess, infinite))
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
    return _reduce(*found)


def _reduce(numerator: Polynomial, denominator: Polynomial) -> Quotient:
    common = numerator.gcd(denominator)
    return numerator // common, denominator // common


def _difference(x: Quotient, y: Quotient) -> Quotient:
    return _reduce(x[0] * y[1] - y[0] * x[1], x[1] * y[1])


def _move(x: Quotient, start: Fraction) -> Quotient:
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


_FAR = 1e12
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def from_slope(label: str, slope: str) -> Phi | Integral:
    """The loss with this slope, up to a constant that makes it nonnegative."""
    if not isinstance(slope, str):
        raise LossError(f"the slope of the {label} loss is an expression in t such as '-expit(-t)**2', got {slope!r}")
    tree = simplify(parse(slope))
    exact = antiderivative(tree)
    numeric = Integral(slope)
    lowest = numeric.lowest
    if math.isinf(lowest):
        raise LossError(f"the loss of a {label} example with the slope {slope} has no lower bound")
    if exact is None:
        return numeric
    text = to_text(exact)
    try:
        return phi(text)
    except ExpressionError as error:
        if len(text) > MAX_CHARACTERS or "negative" not in str(error):
            return numeric
    # The least value is below 0: lift it by a little more than the numeric one.
    at_zero = float(plain_values(exact, np.array([0.0]))[0])
    lift = Fraction(math.ceil((-(at_zero + lowest) + 1e-9) * 2**20), 2**20)
    return phi(f"{text} + {lift}")


@dataclass(frozen=True)
class Integral:
    """The integral of a slope from 0, minus its least value: by Gauss's rule with 20 points on intervals of 1/4."""

    slope: str

    @cached_property
    def _tree(self) -> Node:
        return simplify(parse(self.slope))

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """Points, and the integral from 0 to each."""
        near, far = np.arange(-40.0, 40.25, 0.25), np.geomspace(41.0, _FAR, 200)
        switches = [float(point) for point in switch_points(self._tree) if abs(point) < _FAR]
        points = np.unique(np.concatenate([-far, near, far, switches]))
        steps, zero = self._between(points[:-1], points[1:]), int(np.searchsorted(points, 0.0))
        left, right = -np.cumsum(steps[:zero][::-1])[::-1], np.cumsum(steps[zero:])
        return points, np.concatenate([left, [0.0], right])

    @cached_property
    def lowest(self) -> float:
        """The least value of the integral from 0; -inf if there is none."""
        points, values = self._table
        for outwards in (values, values[::-1]):
            # The intervals grow outwards by a constant factor: on them, a bounded function falls less and less.
            sooner, last = outwards[-2] - outwards[-3], outwards[-1] - outwards[-2]
            if last < 0 and last < 0.95 * sooner:
                return -math.inf
        fine = np.unique(np.concatenate([points, np.linspace(-40, 40, 8001)]))
        return float(min(values.min(), self._from_zero(fine).min()))

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """Values; never negative."""
        return np.maximum(self._from_zero(np.asarray(t, dtype=np.float64)) - self.lowest, 0.0)

    def _from_zero(self, t: np.ndarray) -> np.ndarray:
        points, values = self._table
        place = np.clip(np.searchsorted(points, t) - 1, 0, points.size - 1)
        return values[place] + self._between(points[place], t)

    def _between(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        half, middle = (high - low) / 2, low / 2 + high / 2
        at = middle[..., None] + half[..., None] * _NODES
        with np.errstate(all="ignore"):
            return half * (plain_values(self._tree, at.ravel()).reshape(at.shape) @ _WEIGHTS)
