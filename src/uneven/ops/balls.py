"""Rigorous arithmetic on Arb balls: the result contains the true value for every t of the input.

Internally an enclosure is a pair of exact Arb endpoints, because a midpoint and a radius cannot hold
``[1e-13, 1e13]`` without losing its lower end, nor a half line at all. Monotone functions are evaluated
at both ends, so wide and infinite inputs stay tight.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

import flint
from flint import arb

from uneven.expression.algebra import affine, subtract
from uneven.expression.tree import Node, Where
from uneven.ops import window
from uneven.ops.evaluate import evaluate

_INF = arb.pos_inf()
_MINUS_INF = arb.neg_inf()
_ZERO = arb(0)
_ONE = arb(1)
# exp of anything larger is only known to be infinite or huge; exp(_HUGE) is a valid lower bound of it.
_HUGE = arb(2) ** 120
_REASONABLE = 6000  # bits of the exponent of a bound kept as a rational


class Undefined(ArithmeticError):
    """The tree is not known to be defined on the whole input."""


class Impossible(Undefined):
    """The tree is surely undefined on the whole input."""


class Interval(NamedTuple):
    """All reals from ``lo`` to ``hi``: exact Arb numbers, infinities allowed."""

    lo: arb
    hi: arb

    def contains(self, value: Fraction | float | arb) -> bool:
        point = value if isinstance(value, arb) else interval(value, value).lo
        return bool(self.lo <= point <= self.hi)


def shared_lock() -> threading.RLock:
    """A lock that its owner may take again. Also a child process that is forked meanwhile starts with it free."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        # The fork waits until the lock is free: what it protects is then in order in the child, too.
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


#: Arb has one precision for the whole process. The thread that has set it holds this lock until it is set back.
_LOCK = shared_lock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with ``bits`` bits inside the block. Balls must be computed in such a block, or threads would disturb it.

    Only comparisons and conversions to numbers are exact whatever the precision; even a change of sign rounds.
    """
    with _LOCK:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


def _exact(value: Fraction | float) -> Interval:
    """The tightest interval around a rational or a double."""
    if isinstance(value, float):
        if math.isinf(value):
            point = _INF if value > 0 else _MINUS_INF
            return Interval(point, point)
        value = Fraction(value)
    ball = arb(value.numerator)
    if value.denominator != 1:
        ball = ball / value.denominator
    return Interval(ball.lower(), ball.upper())


def interval(lo: Fraction | float, hi: Fraction | float, *, bits: int = 53) -> Interval:
    """The interval from ``lo`` to ``hi``, rounded outwards; doubles are not rounded."""
    with precision(bits):
        return Interval(_exact(lo).lo, _exact(hi).hi)


def enclose(tree: Node, t: arb | Interval, *, bits: int = 64) -> arb:
    """A ball that contains the value of ``tree`` at every point of ``t``; NaN if that may be undefined.

    Examples
    --------
    >>> from flint import arb
    >>> from uneven.expression import parse
    >>> from uneven.ops.balls import enclose
    >>> hinge = enclose(parse("relu(1 - t)"), arb(0).union(arb(3)))
    >>> bool(0 in hinge), bool(1 in hinge), bool(hinge < 1.01)
    (True, True, True)
    """
    try:
        with precision(bits):
            enclosed = enclose_interval(tree, t, bits=bits)
            return enclosed.lo.union(enclosed.hi)
    except Undefined:
        return arb.nan()


def enclose_interval(tree: Node, t: arb | Interval, *, bits: int = 64) -> Interval:
    """Like :func:`enclose`, with exact endpoints; raises :class:`Undefined`."""
    with precision(bits):
        if isinstance(t, arb):
            if t.is_nan():
                raise Undefined("NaN")
            t = Interval(t.lower(), t.upper())
        return evaluate(tree, BALLS, t)


def _undefined(surely: bool, message: str) -> Undefined:
    return Impossible(message) if surely else Undefined(message)


def _round_outwards(x: arb, y: arb) -> Interval:
    return Interval(x.lower(), y.upper())


class _Balls:
    def number(self, value: Fraction) -> Interval:
        return _exact(value)

    def constant(self, name: str) -> Interval:
        ball = arb.pi() if name == "pi" else arb.const_e()
        return _round_outwards(ball, ball)

    def add(self, x: Interval, y: Interval) -> Interval:
        lo, hi = (x.lo + y.lo), (x.hi + y.hi)
        return Interval(
            _MINUS_INF if lo.is_nan() or _MINUS_INF in (x.lo, y.lo) else lo.lower(),
            _INF if hi.is_nan() or _INF in (x.hi, y.hi) else hi.upper(),
        )

    def subtract(self, x: Interval, y: Interval) -> Interval:
        return self.add(x, self.negate(y))

    def negate(self, x: Interval) -> Interval:
        return Interval(-x.hi, -x.lo)

    def multiply(self, x: Interval, y: Interval) -> Interval:
        corners = [_product(a, b) for a in x for b in y]
        return Interval(_least([c.lower() for c in corners]), _greatest([c.upper() for c in corners]))

    def divide(self, x: Interval, y: Interval) -> Interval:
        if y.lo.is_zero() and y.hi.is_zero():
            raise Impossible("division by 0")
        if not (y.lo > 0 or y.hi < 0):
            raise Undefined("division by an interval that contains 0")
        return self.multiply(x, _round_outwards(_reciprocal(y.hi), _reciprocal(y.lo)))

    def rational_power(self, x: Interval, exponent: Fraction) -> Interval:
        if exponent < 0:
            return self.divide(_exact(Fraction(1)), self.rational_power(x, -exponent))
        if exponent == 0:
            return _exact(Fraction(1))
        if exponent.denominator == 1:
            return _whole_power(x, exponent.numerator)
        if not x.lo >= 0:
            raise _undefined(x.hi < 0, "fractional power of a negative number")
        k = arb(exponent.numerator) / exponent.denominator
        return _round_and_clamp(_positive_power(x.lo, k), _positive_power(x.hi, k), 0, None)

    def power(self, x: Interval, y: Interval) -> Interval:
        if x.lo.is_zero() and y.lo > 0:  # 0 to a positive power is 0
            upper = _ZERO if x.hi.is_zero() else self.power(Interval(x.hi, x.hi), y).hi
            return Interval(_ZERO, _greatest([upper, _ONE]) if x.hi > 1 else upper)
        if not x.lo > 0:
            raise _undefined(x.hi < 0, "variable power of a number that may not be positive")
        return self.call("exp", self.multiply(y, self.call("log", x)))

    def call(self, name: str, *arguments: Any) -> Interval:
        return CALLS[name](*arguments)

    def where(self, node: Where, t: Interval, value: Callable[[Node, Interval], Interval]) -> Interval:
        left, right = value(node.left, t), value(node.right, t)
        decided = _compare(node.op, left, right)
        if decided is not None:
            return value(node.yes if decided else node.no, t)
        yes_at, no_at = _sides(node, t)
        yes, no = value(node.yes, yes_at), value(node.no, no_at)
        return Interval(_least([yes.lo, no.lo]), _greatest([yes.hi, no.hi]))


def _sides(node: Where, t: Interval) -> tuple[Interval, Interval]:
    """The parts of t where the condition can hold and where it can fail (all of t if unknown)."""
    line = affine(subtract(node.left, node.right))
    if line is None or line[0] == 0:
        return t, t
    knot = _exact(-line[1] / line[0])
    below = Interval(t.lo, _least([t.hi, knot.hi]))
    above = Interval(_greatest([t.lo, knot.lo]), t.hi)
    return (below, above) if (line[0] > 0) == node.op.startswith("<") else (above, below)


def _compare(op: str, x: Interval, y: Interval) -> bool | None:
    if op in (">", ">="):
        op, x, y = {">": "<", ">=": "<="}[op], y, x
    if x.hi < y.lo or (op == "<=" and x.hi <= y.lo):
        return True
    if x.lo > y.hi or (op == "<" and x.lo >= y.hi):
        return False
    return None


def _least(points: list[arb]) -> arb:
    smallest = points[0]
    for point in points[1:]:
        smallest = min(smallest, point)
    return smallest


def _greatest(points: list[arb]) -> arb:
    return -_least([-point for point in points])


def _product(a: arb, b: arb) -> arb:
    # An endpoint 0 times an endpoint inf bounds products 0 * x with x finite: 0.
    return _ZERO if a.is_zero() or b.is_zero() else a * b


def _reciprocal(a: arb) -> arb:
    return _ZERO if a in (_INF, _MINUS_INF) else 1 / a


def _whole_power(x: Interval, k: int) -> Interval:
    if k % 2 == 0:
        x = _abs(x)
    lo, hi = (end if end in (_INF, _MINUS_INF) else end**k for end in x)
    if k % 2 == 0:
        return _round_and_clamp(lo, hi, 0, None)
    return _round_outwards(lo, hi)


def _positive_power(end: arb, k: arb) -> arb:
    return end if end.is_zero() or end == _INF else end**k


def _round_and_clamp(lo: arb, hi: arb, least: int | None, greatest: int | None) -> Interval:
    """Round outwards, then back into the range of the function."""
    low, high = lo.lower(), hi.upper()
    if least is not None and not low >= least:
        low = arb(least)
    if greatest is not None and not high <= greatest:
        high = arb(greatest)
    return Interval(low, high)


def increasing(
    function: Callable[[arb], arb], least: int | None = None, greatest: int | None = None
) -> Callable[[Interval], Interval]:
    """An increasing function on intervals, from one on points; its range is rounded back to [least, greatest]."""

    def apply(x: Interval) -> Interval:
        return _round_and_clamp(function(x.lo), function(x.hi), least, greatest)

    return apply


def _exp_interval(x: Interval) -> Interval:
    lo = x.lo if x.lo < _HUGE else _HUGE
    hi = x.hi.exp() if x.hi < _HUGE else _INF
    return _round_and_clamp(lo.exp(), hi, 0, None)


def _expm1_interval(x: Interval) -> Interval:
    lo = x.lo if x.lo < _HUGE else _HUGE
    hi = x.hi.expm1() if x.hi < _HUGE else _INF
    return _round_and_clamp(lo.expm1(), hi, -1, None)


def _expit(x: arb) -> arb:
    small = (-abs(x)).exp()
    return small / (1 + small) if x < 0 else 1 / (1 + small)


def _softplus(x: arb) -> arb:
    if x in (_INF, _MINUS_INF):
        return _INF if x > 0 else _ZERO
    return (-abs(x)).exp().log1p() + (x if x > 0 else _ZERO)


def _erf(x: arb) -> arb:
    return x.sgn() if x in (_INF, _MINUS_INF) else x.erf()


def _erfc(x: arb) -> arb:
    return 1 - x.sgn() if x in (_INF, _MINUS_INF) else x.erfc()


def _erfc_interval(x: Interval) -> Interval:
    return _round_and_clamp(_erfc(x.hi), _erfc(x.lo), 0, 2)


def _log(x: Interval) -> Interval:
    if not x.lo > 0:
        raise _undefined(x.hi <= 0, "log of a number that may not be positive")
    return _round_outwards(x.lo.log(), _INF if x.hi == _INF else x.hi.log())


def _log1p(x: Interval) -> Interval:
    if not x.lo > -1:
        raise _undefined(x.hi <= -1, "log1p of a number that may not exceed -1")
    return _round_outwards(x.lo.log1p(), _INF if x.hi == _INF else x.hi.log1p())


def _sqrt(x: Interval) -> Interval:
    if not x.lo >= 0:
        raise _undefined(x.hi < 0, "square root of a number that may be negative")
    return _round_and_clamp(x.lo.sqrt(), _INF if x.hi == _INF else x.hi.sqrt(), 0, None)


def _abs(x: Interval) -> Interval:
    if x.lo >= 0:
        return x
    if x.hi <= 0:
        return Interval(-x.hi, -x.lo)
    return Interval(_ZERO, _greatest([-x.lo, x.hi]))


def _relu(x: Interval) -> Interval:
    return Interval(_greatest([x.lo, _ZERO]), _greatest([x.hi, _ZERO]))


def _step(x: Interval) -> Interval:
    return Interval(_ONE if x.lo > 0 else _ZERO, _ONE if x.hi > 0 else _ZERO)


def _window(x: Interval, order: int) -> Interval:
    return increasing(lambda end: window.of_ball(end, order), 0, 1)(x)


#: Each function of the language on intervals.
CALLS: dict[str, Callable[..., Interval]] = {
    "exp": _exp_interval,
    "log": _log,
    "log1p": _log1p,
    "expm1": _expm1_interval,
    "sqrt": _sqrt,
    "abs": _abs,
    "tanh": increasing(lambda x: x.tanh(), -1, 1),
    "atan": increasing(lambda x: x.atan()),
    "erf": increasing(_erf, -1, 1),
    "erfc": _erfc_interval,
    "expit": increasing(_expit, 0, 1),
    "softplus": increasing(_softplus, 0),
    "relu": _relu,
    "max": lambda x, y: Interval(_greatest([x.lo, y.lo]), _greatest([x.hi, y.hi])),
    "min": lambda x, y: Interval(_least([x.lo, y.lo]), _least([x.hi, y.hi])),
    "step": _step,
    "window": _window,
}

BALLS = _Balls()


def combination(weights: tuple[Fraction, ...], terms: tuple[Interval, ...], *, bits: int) -> Interval:
    """The sum of weight * term, rounded outwards; a zero weight drops its term."""
    with precision(bits):
        kept = [BALLS.multiply(_exact(w), term) for w, term in zip(weights, terms, strict=True) if w != 0]
        total = kept[0]
        for term in kept[1:]:
            total = BALLS.add(total, term)
        return total


def below(point: arb) -> Fraction:
    """A rational at or below an Arb number; :class:`Undefined` if there is none of reasonable size."""
    return -above(point, -1)


def above(point: arb, sign: int = 1) -> Fraction:
    """A rational at or above sign times an Arb number; :class:`Undefined` if there is none of reasonable size."""
    if not point.is_finite():
        raise Undefined("unbounded")
    mantissa, exponent = map(int, point.man_exp())
    mantissa *= sign
    size = exponent + abs(mantissa).bit_length()  # the number is smaller than 2**size
    if abs(size) <= _REASONABLE or mantissa == 0:
        return Fraction(mantissa * 2**exponent) if exponent >= 0 else Fraction(mantissa, 2**-exponent)
    if size < 0:
        return Fraction(1, 2**_REASONABLE) if mantissa > 0 else Fraction(0)
    if mantissa > 0:
        raise Undefined("astronomically large")
    return Fraction(-(2**_REASONABLE))
