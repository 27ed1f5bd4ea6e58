"""Exact limits at plus and minus infinity: rational or infinite, or as trees without t.

Such a tree may be irrational, so 1 - (2/pi)*(pi/2) is 0 and not almost 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from uneven.errors import ExpressionError
from uneven.expression.algebra import add, call, holds, inv, mul, neg, power, subtract
from uneven.expression.calculus import domain, pieces
from uneven.expression.functions import FUNCTIONS, Extended
from uneven.expression.parse import ARGUMENTS, pieces_tree
from uneven.expression.tree import ONE, ZERO, Call, Node, Number, Symbol, Where, depends_on_t
from uneven.ops.balls import Undefined, enclose_interval, interval
from uneven.ops.evaluate import evaluate
from uneven.ops.rationals import RATIONALS, NotRational


def _is_infinite(x: Extended) -> bool:
    return isinstance(x, float)


class _Limits:
    """Rationals and two infinities; whatever is indeterminate raises :class:`NotRational`."""

    def __init__(self, symbols: dict[str, Extended]) -> None:
        self.symbols = symbols

    def number(self, value: Fraction) -> Extended:
        return value

    def constant(self, name: str) -> Extended:
        if name not in self.symbols:
            raise NotRational(name)
        return self.symbols[name]

    def add(self, x: Extended, y: Extended) -> Extended:
        if _is_infinite(x) and _is_infinite(y) and x != y:
            raise NotRational("inf - inf")
        return x if _is_infinite(x) else y if _is_infinite(y) else x + y

    def subtract(self, x: Extended, y: Extended) -> Extended:
        return self.add(x, self.negate(y))

    def negate(self, x: Extended) -> Extended:
        return -x

    def multiply(self, x: Extended, y: Extended) -> Extended:
        if not (_is_infinite(x) or _is_infinite(y)):
            return x * y
        if x == 0 or y == 0:
            raise NotRational("0 * inf")
        return math.inf if (x > 0) == (y > 0) else -math.inf

    def divide(self, x: Extended, y: Extended) -> Extended:
        if y == 0:
            raise NotRational("division by 0")
        return self.multiply(x, Fraction(0) if _is_infinite(y) else 1 / y)

    def rational_power(self, x: Extended, exponent: Fraction) -> Extended:
        if isinstance(x, Fraction):
            return RATIONALS.rational_power(x, exponent)
        if exponent == 0:
            return Fraction(1)
        if x < 0 and exponent.denominator != 1:
            raise NotRational("fractional power of a negative number")
        grown = math.inf if x > 0 or exponent % 2 == 0 else -math.inf
        return grown if exponent > 0 else Fraction(0)

    def power(self, x: Extended, y: Extended) -> Extended:
        if isinstance(x, Fraction) and isinstance(y, Fraction) and x > 0:
            return RATIONALS.power(x, y)
        raise NotRational("a variable power of 0 or infinity, or an infinite power")

    def call(self, name: str, *arguments: Any) -> Extended:
        function = FUNCTIONS[name]
        written = pieces_tree(function)
        if written is not None:
            inner = _Limits(dict(zip(ARGUMENTS, arguments, strict=False)))
            return self._chosen(written, lambda part: evaluate(part, inner, arguments[0]))
        x, *order = arguments
        if isinstance(x, Fraction):
            return RATIONALS.call(name, x, *order)
        limit = function.limits[x > 0]
        if limit is None:
            raise NotRational(f"{name} at infinity")
        return limit

    def where(self, node: Where, t: Extended, value: Callable[[Node, Extended], Extended]) -> Extended:
        return self._chosen(node, lambda part: value(part, t))

    def _chosen(self, node: Where, limit: Callable[[Node], Extended]) -> Extended:
        left, right = limit(node.left), limit(node.right)
        if left != right:
            chosen = node.yes if holds(node.op, Fraction(1 if left > right else -1), Fraction(0)) else node.no
            return limit(chosen)
        # The branch is not known, but both may tend to the same number.
        yes, no = limit(node.yes), limit(node.no)
        if yes != no:
            raise NotRational("a condition that tends to equality")
        return yes


LIMITS = _Limits({})


@lru_cache(maxsize=4096)
def exact_limit(tree: Node, side: int) -> Extended | None:
    """The limit at plus (side 1) or minus infinity if it is rational or infinite and can be told, else None.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.exact_limits import exact_limit
    >>> exact_limit(parse("expit(-2*t)**2/3"), -1), exact_limit(parse("softplus(-t)"), -1)
    (Fraction(1, 3), inf)
    >>> exact_limit(parse("t*exp(-t)"), 1) is None
    True
    """
    try:
        return evaluate(tree, LIMITS, math.copysign(math.inf, side))
    except NotRational:
        return None


Constant = Node | float  # a tree without t, or an infinity
_BITS = (64, 512)
_HALF_PI = mul(Number(Fraction(1, 2)), Symbol("pi"))


@lru_cache(maxsize=4096)
def constant_sign(tree: Node) -> int | None:
    """The sign of a tree without t; 0 only if its normal form is 0, None if the sign is not seen."""
    if isinstance(tree, Number):
        return (tree.value > 0) - (tree.value < 0)
    if depends_on_t(tree):
        return None
    for bits in _BITS:
        try:
            value = enclose_interval(tree, interval(Fraction(0), Fraction(0)), bits=bits)
        except Undefined:
            return None
        if value.lo > 0 or value.hi < 0:
            return 1 if value.lo > 0 else -1
    return None


def _sign(x: Constant) -> int:
    found = (1 if x > 0 else -1) if isinstance(x, float) else constant_sign(x)
    if found is None:
        raise NotRational("a sign that is not seen")
    return found


def _finite(x: Constant) -> Node:
    if isinstance(x, float):
        raise NotRational("infinity")
    return x


class _Constants:
    """Trees without t, and two infinities; whatever is indeterminate raises :class:`NotRational`.

    Every function of the language is continuous where it is defined, except step. So the limit of f(u) is f at the
    limit of u wherever f is defined around that limit.
    """

    def number(self, value: Fraction) -> Constant:
        return Number(value)

    def constant(self, name: str) -> Constant:
        return Symbol(name)

    def add(self, x: Constant, y: Constant) -> Constant:
        if isinstance(x, float) and isinstance(y, float) and x != y:
            raise NotRational("inf - inf")
        return x if isinstance(x, float) else y if isinstance(y, float) else add(x, y)

    def subtract(self, x: Constant, y: Constant) -> Constant:
        return self.add(x, self.negate(y))

    def negate(self, x: Constant) -> Constant:
        return -x if isinstance(x, float) else neg(x)

    def multiply(self, x: Constant, y: Constant) -> Constant:
        if not (isinstance(x, float) or isinstance(y, float)):
            return mul(x, y)
        sign = _sign(x) * _sign(y)
        if sign == 0:
            raise NotRational("0 * inf")
        return sign * math.inf

    def divide(self, x: Constant, y: Constant) -> Constant:
        if isinstance(y, float):
            return mul(_finite(x), ZERO)
        if _sign(y) == 0:
            raise NotRational("division by 0")
        return self.multiply(x, inv(y))

    def rational_power(self, x: Constant, exponent: Fraction) -> Constant:
        if isinstance(x, float):
            limit = LIMITS.rational_power(x, exponent)
            return limit if isinstance(limit, float) else Number(limit)
        sign = _sign(x)
        if (exponent < 0 and sign == 0) or (exponent.denominator != 1 and sign < 0):
            raise NotRational("a power that is not defined")
        return power(x, Number(exponent))

    def power(self, x: Constant, y: Constant) -> Constant:
        base, exponent = _finite(x), _finite(y)
        if _sign(base) <= 0:
            raise NotRational("a variable power of 0")
        return power(base, exponent)

    def call(self, name: str, *arguments: Any) -> Constant:
        if name in ("max", "min"):
            first, second = arguments
            larger = _sign(self.subtract(first, second)) >= 0 if first != second else True
            return first if larger == (name == "max") else second
        x, *order = arguments
        if isinstance(x, float):
            if name == "atan":
                return _HALF_PI if x > 0 else neg(_HALF_PI)
            limit = LIMITS.call(name, x, *order)
            return limit if isinstance(limit, float) else Number(limit)
        orders = tuple(map(Number, order))
        node = Call(name, x, *orders)
        condition = domain(node)
        if condition is not None and _sign(condition[0]) < (0 if condition[1] else 1):
            raise NotRational(f"{name} at the end of its domain or outside")
        written = pieces(node) if FUNCTIONS[name].jumps else None
        if written is not None:
            side = _sign(subtract(written.left, written.right))
            if side == 0:
                raise NotRational(f"{name} of a number that tends to its jump")
            return written.yes if holds(written.op, Fraction(side), Fraction(0)) else written.no
        return call("log", add(ONE, x)) if name == "log1p" else call(name, x, *orders)  # log1p(1) is log(2)

    def where(self, node: Where, t: Constant, value: Callable[[Node, Constant], Constant]) -> Constant:
        left, right = value(node.left, t), value(node.right, t)
        sign = _sign(self.subtract(left, right))
        if sign == 0:
            raise NotRational("a condition that tends to equality")
        return value(node.yes if holds(node.op, Fraction(sign), Fraction(0)) else node.no, t)


@lru_cache(maxsize=4096)
def constant_limit(tree: Node, side: int) -> Constant | None:
    """The limit at plus (side 1) or minus infinity as a tree without t or an infinity; None if it is not seen.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> from uneven.shape.exact_limits import constant_limit
    >>> [to_text(constant_limit(parse("1 - atan(t)*2/pi"), side)) for side in (1, -1)]
    ['0', '2']
    >>> to_text(constant_limit(parse("atan(t) + log(2)"), 1))
    '0.5*pi + log(2)'
    """
    try:
        return evaluate(tree, _Constants(), math.copysign(math.inf, side))
    except (NotRational, ExpressionError):
        return None
