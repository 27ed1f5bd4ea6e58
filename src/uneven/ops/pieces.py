"""Where a tree changes its formula: switch points, one-sided formulas, kinks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from uneven.expression import Node, affine, derivative, simplify
from uneven.expression.algebra import holds, neg, subtract
from uneven.expression.tree import ONE, ZERO, Call, Inv, Number, Pow, Where, depends_on_t, transform
from uneven.ops.balls import Undefined, enclose_interval, interval
from uneven.ops.floats import plain_values
from uneven.ops.rationals import exact_value

_ORDER = 8  # derivatives looked at to find the sign of a function beside one of its zeros


class Undecidable(ArithmeticError):
    """A sign beside a point could not be decided exactly."""


def probe_points() -> np.ndarray:
    """Points on every scale from 2**-40 to 2**80 on both sides, 0, and small integers."""
    scales = 2.0 ** np.arange(-40, 80, 0.125)
    points = np.concatenate([-scales, [0.0], scales, np.arange(-20.0, 21.0)])
    return np.unique(points)


def switches(tree: Node) -> Iterator[Node]:
    """Trees at whose zeros a formula changes: arguments of relu, abs, step; differences in max, min, where."""
    for node in tree.walk():
        match node:
            case Call("relu" | "abs" | "step" | "sqrt", (argument,)):
                yield argument
            case Call("max" | "min", (left, right)):
                yield subtract(left, right)
            case Where(_, left, right, _, _):
                yield subtract(left, right)
            case Pow(base, exponent) if not (isinstance(exponent, Number) and exponent.value.denominator == 1):
                yield base


def zeros(tree: Node) -> list[Fraction]:
    """Zeros of a tree: exact if it is affine or has them at simple rationals, else nearest doubles.

    Found by a scan over all scales; zeros of even order are found as minima of the absolute value.
    """
    if not depends_on_t(tree):
        return []
    line = affine(tree)
    if line is not None:
        return [-line[1] / line[0]] if line[0] else []
    t = probe_points()
    y = plain_values(tree, t)
    zero = y == 0
    # A run of zeros is an interval on which the tree vanishes (its ends are zeros of inner switches), underflow,
    # or rounding around a zero at 0, where the probes are dense.
    alone = zero & ~np.append(False, zero[:-1]) & ~np.append(zero[1:], False)
    found = [Fraction(point) for point in t[alone | (zero & (t == 0))]]
    for i in np.flatnonzero(np.sign(y[:-1]) * np.sign(y[1:]) < 0):
        found.append(_snapped(tree, _bisect(tree, t[i], t[i + 1], y[i])))
    size = np.abs(y)
    dips = (size[1:-1] < size[:-2]) & (size[1:-1] < size[2:]) & (size[1:-1] > 0)
    for i in (np.flatnonzero(dips) + 1)[:20]:
        lowest = _minimise(lambda x: abs(_at(tree, x)), t[i - 1], t[i + 1])
        if abs(_at(tree, lowest)) <= 1e-12 * max(size[i - 1], size[i + 1]):
            found.append(_snapped(tree, lowest))
    return sorted(set(found))


def _at(tree: Node, t: float) -> float:
    return float(plain_values(tree, np.array([t]))[0])


def _bisect(tree: Node, low: float, high: float, at_low: float) -> float:
    while low < (middle := 0.5 * (low + high)) < high:
        if (_at(tree, middle) > 0) == (at_low > 0):
            low = middle
        else:
            high = middle
    return middle


def _minimise(function, low: float, high: float) -> float:  # type: ignore[no-untyped-def]
    """Golden section."""
    ratio = 0.6180339887498949
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = function(a), function(b)
    for _ in range(80):
        if fa <= fb:
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = function(a)
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = function(b)
    return 0.5 * (low + high)


def _snapped(tree: Node, t: float) -> Fraction:
    simple = Fraction(t).limit_denominator(1000)
    return simple if exact_value(tree, simple) == 0 else Fraction(t)


def sign_beside(tree: Node, point: Fraction, side: int) -> int:
    """Sign of a tree just right (side +1) or left (-1) of a rational point; 0 if it vanishes there.

    Raises
    ------
    Undecidable
        If the first derivatives all seem to vanish.
    """
    smooth = beside(tree, point, side)
    for order in range(_ORDER):
        if smooth == ZERO:
            return 0
        sign = _sign_at(smooth, point)
        if sign:
            return sign * side**order
        smooth = derivative(smooth)
    raise Undecidable


def _sign_at(tree: Node, point: Fraction) -> int:
    value = exact_value(tree, point)
    if value is not None:
        return (value > 0) - (value < 0)
    for bits in (64, 256, 1024):
        try:
            enclosure = enclose_interval(tree, interval(point, point), bits=bits)
        except Undefined:
            continue
        if enclosure.lo > 0 or enclosure.hi < 0:
            return 1 if enclosure.lo > 0 else -1
    raise Undecidable


def beside(tree: Node, point: Fraction, side: int) -> Node:
    """The formula that holds just right (side +1) or left (-1) of a point, free of switches there.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.expression import parse, to_text
    >>> from uneven.ops.pieces import beside
    >>> to_text(beside(parse("relu(1 - t)"), Fraction(1), -1))
    '1 - t'
    """

    def resolved(node: Node) -> Node:
        match node:
            case Call("relu", (u,)):
                return u if sign_beside(u, point, side) > 0 else ZERO
            case Call("step", (u,)):
                return ONE if sign_beside(u, point, side) > 0 else ZERO
            case Call("abs", (u,)):
                return u if sign_beside(u, point, side) >= 0 else neg(u)
            case Call("max" | "min" as name, (left, right)):
                first = sign_beside(subtract(left, right), point, side) >= 0
                return left if first == (name == "max") else right
            case Where(op, left, right, yes, no):
                sign = sign_beside(subtract(left, right), point, side)
                return yes if holds(op, Fraction(sign), Fraction(0)) else no
        return node

    return simplify(transform(tree, resolved))


@lru_cache(maxsize=1024)
def switch_points(tree: Node) -> tuple[Fraction, ...]:
    """All points where the formula of a tree may change, in order."""
    return tuple(sorted({point for switch in switches(tree) for point in zeros(switch)}))


@lru_cache(maxsize=1024)
def kinks(tree: Node) -> tuple[float, ...]:
    """Points where a tree jumps or has no derivative, in order.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.ops.pieces import kinks
    >>> kinks(parse("where(t < -1, -4*t, relu(1 - t)**2)"))
    ()
    >>> kinks(parse("min(2, relu(1 - t))"))
    (-1.0, 1.0)
    """
    return tuple(float(point) for point in switch_points(tree) if _is_kink(tree, point))


def _is_kink(tree: Node, point: Fraction) -> bool:
    # An irrational switch point is known to a rounding error only: look a little to each side of it.
    exact = any(exact_value(switch, point) == 0 for switch in switches(tree))
    offset = Fraction(0) if exact else max(abs(point), Fraction(1)) / 2**30
    try:
        left, right = beside(tree, point - offset, -1), beside(tree, point + offset, 1)
    except Undecidable:
        return True
    if left == right:
        return False
    tolerance = 0.0 if exact else 1e-6
    return any(_differ(a, b, point, tolerance) for a, b in ((left, right), (derivative(left), derivative(right))))


def _differ(left: Node, right: Node, point: Fraction, tolerance: float) -> bool:
    a, b = exact_value(left, point), exact_value(right, point)
    if a is not None and b is not None:
        return abs(a - b) > tolerance
    try:
        at = interval(point, point)
        x, y = (enclose_interval(side, at, bits=256) for side in (left, right))
    except Undefined:
        return True
    return bool(x.lo > y.hi + tolerance or y.lo > x.hi + tolerance)


def critical_points(tree: Node) -> list[Fraction]:
    """Switch points, and points where a division, logarithm or root may be undefined."""
    points = set(switch_points(tree))
    for node in tree.walk():
        match node:
            case Inv(argument) | Call("log", (argument,)):
                points.update(zeros(argument))
            case Call("log1p", (argument,)):
                points.update(zeros(subtract(argument, Number(-1))))
            case Pow(base, _):
                points.update(zeros(base))
    return sorted(points)


def slope_beside(tree: Node, point: Fraction, side: int) -> Node:
    """The one-sided derivative at a point, as a tree to be evaluated there."""
    return derivative(beside(tree, point, side))


__all__ = [
    "Undecidable",
    "beside",
    "critical_points",
    "kinks",
    "probe_points",
    "sign_beside",
    "slope_beside",
    "switch_points",
    "zeros",
]
