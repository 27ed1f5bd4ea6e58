"""One walk over a tree, in any arithmetic.

An arithmetic is one file that says how numbers of its kind behave: :mod:`~uneven.ops.floats`,
:mod:`~uneven.ops.balls` and :mod:`~uneven.ops.rationals` are such files; a printer of source code or a
tensor library is another.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, TypeVar

from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Node, Number, Pow, Symbol, Where

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """What a kind of number must be able to do."""

    def number(self, value: Fraction) -> V: ...
    def constant(self, name: str) -> V: ...
    def add(self, x: V, y: V) -> V: ...
    def subtract(self, x: V, y: V) -> V: ...
    def negate(self, x: V) -> V: ...
    def multiply(self, x: V, y: V) -> V: ...
    def divide(self, x: V, y: V) -> V: ...
    def rational_power(self, x: V, exponent: Fraction) -> V: ...
    def power(self, x: V, y: V) -> V: ...
    def call(self, name: str, *arguments: V) -> V: ...
    def where(self, node: Where, t: V, value: Callable[[Node, V], V]) -> V:
        """Value of a ``where``; ``value(subtree, t)`` evaluates its parts, also at another t."""
        ...


def _divisor(argument: Node) -> tuple[Node, int]:
    """x/u**2 is x/u/u: u**2 may overflow where the quotient does not."""
    match argument:
        case Pow(base, Number(exponent)) if exponent in (2, 3):
            return base, exponent.numerator
    return argument, 1


def evaluate(tree: Node, arithmetic: Arithmetic[V], t: V) -> V:
    """Value of a tree at ``t``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.expression import parse
    >>> from uneven.ops import evaluate
    >>> from uneven.ops.rationals import RATIONALS
    >>> evaluate(parse("relu(1 - t)**2/3"), RATIONALS, Fraction(1, 2))
    Fraction(1, 12)
    """
    known: dict[Node, V] = {}

    def value(node: Node, at: V) -> V:
        if at is not t:
            return evaluate(node, arithmetic, at)
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node: Node) -> V:
        match node:
            case Number(number):
                return arithmetic.number(number)
            case Symbol("t"):
                return t
            case Symbol(name):
                return arithmetic.constant(name)
            case Add():
                first, *rest = node.children
                total = value(first, t)
                for term in rest:
                    if isinstance(term, Neg):
                        total = arithmetic.subtract(total, value(term.argument, t))
                    else:
                        total = arithmetic.add(total, value(term, t))
                return total
            case Neg(argument):
                return arithmetic.negate(value(argument, t))
            case Mul():
                first, *rest = node.children
                total = value(first, t)
                for factor in rest:
                    if isinstance(factor, Inv):
                        divisor, times = _divisor(factor.argument)
                        for _ in range(times):
                            total = arithmetic.divide(total, value(divisor, t))
                    else:
                        total = arithmetic.multiply(total, value(factor, t))
                return total
            case Inv(argument):
                return arithmetic.divide(arithmetic.number(Fraction(1)), value(argument, t))
            case Pow(base, Number(exponent)):
                return arithmetic.rational_power(value(base, t), exponent)
            case Pow(base, exponent_tree):
                return arithmetic.power(value(base, t), value(exponent_tree, t))
            case Call(name, arguments):
                return arithmetic.call(name, *(value(argument, t) for argument in arguments))
            case Where():
                return arithmetic.where(node, t, value)
        raise TypeError(node)

    return value(tree, t)
