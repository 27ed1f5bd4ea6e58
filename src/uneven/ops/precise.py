"""Values at one point to hundreds of bits, zeros located as sharply, and the double nearest to a value."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, fmpq

from uneven.expression.algebra import holds, subtract
from uneven.expression.tree import Node, Where
from uneven.ops import window
from uneven.ops.balls import Undefined, enclose_interval, interval, precision
from uneven.ops.evaluate import evaluate

_PRECISIONS = (64, 128, 256, 1024, 4096)
_BEYOND_DOUBLES = arb(2) ** 1024


def nearest_float(tree: Node, t: float) -> float | None:
    """The value at a double, rounded to a double; None if no precision up to 4096 bits decides it.

    Raises
    ------
    Undefined
        If at every precision the tree may be undefined there.
    """
    point = interval(t, t)
    undefined = 0
    for bits in _PRECISIONS:
        try:
            result = enclose_interval(tree, point, bits=bits)
        except Undefined:
            undefined += 1
            continue
        lo, hi = float(result.lo), float(result.hi)
        if lo == hi or (math.isfinite(lo) and abs(hi - lo) <= 1e-15 * abs(lo)) or max(abs(lo), abs(hi)) < 5e-324:
            return hi
        if result.lo > _BEYOND_DOUBLES or result.hi < -_BEYOND_DOUBLES:
            return math.copysign(math.inf, lo)
    if undefined == len(_PRECISIONS):
        raise Undefined(f"undefined at {t!r}")
    return None


# Values at one point to hundreds of bits, and zeros located as sharply.
#
# Nothing here is a proof, unlike in :mod:`~uneven.ops.balls`: two numbers that agree to all computed bits count as
# equal. At a zero of ``u``, known to far more than double precision, ``where(u <= 0, a, b)`` is ``a``.

BITS = 512
_ROOT_BITS = 260  # a zero is located to this many bits
_ZERO, _ONE = arb(0), arb(1)
_HUGE = arb(2) ** 300


def value_at(tree: Node, t: arb) -> arb:
    """The value at a point given as a narrow ball; NaN where the tree is undefined."""
    with precision(BITS):
        return evaluate(tree, _PRECISE, t)


def ball(value: Fraction) -> arb:
    """A rational as a ball."""
    with precision(BITS):
        return arb(fmpq(value.numerator, value.denominator))


@lru_cache(maxsize=4096)
def root_near(tree: Node, point: Fraction, exact: bool) -> arb:
    """The zero of a tree next to a point, by the secant method; if it does not converge, the point with its error."""
    start = ball(point)
    if exact:
        return start
    with precision(BITS):
        unit = abs(start) / 2**52
        old, new = start - unit, start + unit
        y_old, y_new = value_at(tree, old), value_at(tree, new)
        for _ in range(12):
            step = y_new * (new - old) / (y_new - y_old)
            if not step.is_finite() or abs(step) > 2**26 * unit:
                break
            old, y_old = new, y_new
            new = (new - step).mid()
            if abs(step) <= abs(start) / 2**_ROOT_BITS:
                return new + arb(0, 1) * abs(start) / 2**_ROOT_BITS
            y_new = value_at(tree, new)
        return start + arb(0, 1) * unit


def is_sharp(root: arb) -> bool:
    """Whether a root is known far beyond double precision."""
    return bool(root.rad() <= abs(root.mid()) / 2**200)


class _Precise:
    def number(self, value: Fraction) -> arb:
        return arb(fmpq(value.numerator, value.denominator))

    def constant(self, name: str) -> arb:
        return arb.pi() if name == "pi" else arb.const_e()

    def add(self, x: arb, y: arb) -> arb:
        return x + y

    def subtract(self, x: arb, y: arb) -> arb:
        return x - y

    def negate(self, x: arb) -> arb:
        return -x

    def multiply(self, x: arb, y: arb) -> arb:
        return x * y

    def divide(self, x: arb, y: arb) -> arb:
        return x / y

    def rational_power(self, x: arb, exponent: Fraction) -> arb:
        if exponent < 0:
            return 1 / self.rational_power(x, -exponent)
        if exponent.denominator == 1:
            return x**exponent.numerator
        return _root(x, lambda base: base ** self.number(exponent))

    def power(self, x: arb, y: arb) -> arb:
        return _exp(y * x.log())

    def call(self, name: str, *arguments: Any) -> arb:
        return CALLS[name](*arguments)

    def where(self, node: Where, t: arb, value: Callable[[Node, arb], arb]) -> arb:
        difference = value(_difference(node), t)
        if difference.is_nan():
            return difference
        sign = Fraction((difference > 0) - (difference < 0))
        return value(node.yes if holds(node.op, sign, Fraction(0)) else node.no, t)


@lru_cache(maxsize=4096)
def _difference(node: Where) -> Node:
    # Terms that cancel must cancel in the tree: 512 bits do not tell exp(t) + t**11 from exp(t) near 0.
    return subtract(node.left, node.right)


def _root(x: arb, function: Callable[[arb], arb]) -> arb:
    """A fractional power; a ball around 0 stands for 0 and what lies above it."""
    if x > 0 or x < 0 or x.is_nan():
        return function(x)
    return _ZERO if x.is_zero() else function(x.upper()).union(_ZERO)


def _exp(x: arb) -> arb:
    # Beyond any double by far, and iterated exponentials would not fit into memory.
    return arb.pos_inf() if x > _HUGE else _ZERO if x < -_HUGE else x.exp()


def _expit(x: arb) -> arb:
    small = _exp(-abs(x))
    return small / (1 + small) if x < 0 else 1 / (1 + small)


def _step(x: arb) -> arb:
    return x if x.is_nan() else _ONE if x > 0 else _ZERO


#: Each function of the language at a narrow ball.
CALLS: dict[str, Callable[..., arb]] = {
    "exp": _exp,
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "expm1": lambda x: x.expm1() if x < _HUGE else arb.pos_inf(),
    "sqrt": lambda x: _root(x, lambda base: base.sqrt()),
    "abs": abs,
    "tanh": lambda x: x.tanh(),
    "atan": lambda x: x.atan(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "expit": _expit,
    "softplus": lambda x: x.max(_ZERO) + _exp(-abs(x)).log1p(),
    "relu": lambda x: x.max(_ZERO),
    "max": lambda x, y: x.max(y),
    "min": lambda x, y: x.min(y),
    "step": _step,
    "window": lambda x, order: window.of_ball(x.max(-_HUGE).min(_HUGE), order),
}
_PRECISE = _Precise()
