"""Limits at plus and minus infinity, where they are rational or infinite and can be told."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from uneven.expression.algebra import holds
from uneven.expression.function_trees import ARGUMENTS, pieces_tree
from uneven.expression.functions import FUNCTIONS, Extended
from uneven.expression.tree import Node, Where
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
    >>> from uneven.shape.limits import exact_limit
    >>> exact_limit(parse("expit(-2*t)**2/3"), -1), exact_limit(parse("softplus(-t)"), -1)
    (Fraction(1, 3), inf)
    >>> exact_limit(parse("t*exp(-t)"), 1) is None
    True
    """
    try:
        return evaluate(tree, LIMITS, math.copysign(math.inf, side))
    except NotRational:
        return None
