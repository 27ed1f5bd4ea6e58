"""Exact arithmetic in rationals, for trees (and points) that allow it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from uneven.expression.algebra import holds, power
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Node, Number, Where
from uneven.ops.evaluate import evaluate


class NotRational(ArithmeticError):
    """The value is irrational, undefined, or has more digits than are kept."""


class _Rationals:
    def number(self, value: Fraction) -> Fraction:
        return value

    def constant(self, name: str) -> NoReturn:
        raise NotRational(name)

    def add(self, x: Fraction, y: Fraction) -> Fraction:
        return x + y

    def subtract(self, x: Fraction, y: Fraction) -> Fraction:
        return x - y

    def negate(self, x: Fraction) -> Fraction:
        return -x

    def multiply(self, x: Fraction, y: Fraction) -> Fraction:
        return x * y

    def divide(self, x: Fraction, y: Fraction) -> Fraction:
        if y == 0:
            raise NotRational("division by zero")
        return x / y

    def rational_power(self, x: Fraction, exponent: Fraction) -> Fraction:
        return _rational(power(Number(x), Number(exponent)))

    def power(self, x: Fraction, y: Fraction) -> Fraction:
        return self.rational_power(x, y)

    def call(self, name: str, *arguments: Any) -> Fraction:
        exact = FUNCTIONS[name].exact_value(*arguments)
        if exact is None:
            raise NotRational(name)
        return exact

    def where(self, node: Where, t: Fraction, value: Callable[[Node, Fraction], Fraction]) -> Fraction:
        chosen = node.yes if holds(node.op, value(node.left, t), value(node.right, t)) else node.no
        return value(chosen, t)


def _rational(tree: Node) -> Fraction:
    # The algebra of trees already folds what is rational; it is not written again here.
    if not isinstance(tree, Number):
        raise NotRational(repr(tree))
    return tree.value


RATIONALS = _Rationals()


def exact_value(tree: Node, t: Fraction) -> Fraction | None:
    """The value at a rational point if it is rational and can be found exactly, else None."""
    try:
        return evaluate(tree, RATIONALS, t)
    except NotRational:
        return None
