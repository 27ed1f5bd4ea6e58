"""One walk over a tree, in any arithmetic.

An arithmetic is one file that says how one kind of number behaves, such as :mod:`~uneven.ops.floats`,
:mod:`~uneven.ops.balls` and :mod:`~uneven.ops.rationals`. The "numbers" of :mod:`~uneven.ops.kernels` are names
of variables in printed source code.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

from uneven.expression.algebra import is_positive
from uneven.expression.tree import ONE, Add, Call, Inv, Mul, Neg, Node, Number, Pow, Symbol, T, Where

V = TypeVar("V")
#: Powers from here on are multiplied in two halves.
HIGH = 8
#: Whole powers up to this one are computed as products.
PRODUCTS = 40


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
    def call(self, name: str, *arguments: Any) -> V:
        """Value of a function; the order of a member of a family is the last argument, an int."""
        ...

    def where(self, node: Where, t: V, value: Callable[[Node, V], V]) -> V:
        """Value of a ``where``; ``value(subtree, t)`` evaluates its parts, also at another t."""
        ...


class _Step(NamedTuple):
    """One operation: a method of the arithmetic, what it needs first, and the registers it reads."""

    method: str
    extra: tuple[Any, ...]
    registers: tuple[int, ...]


@lru_cache(maxsize=8192)
def _program(tree: Node) -> tuple[_Step, ...]:
    """A tree as a list of steps, each common subtree once; register 0 is t, step k fills register k + 1."""
    steps: list[_Step] = []
    register: dict[Node, int] = {T: 0}

    def emit(method: str, *registers: int, extra: tuple[Any, ...] = ()) -> int:
        steps.append(_Step(method, extra, registers))
        return len(steps)

    def place(node: Node) -> int:
        if node not in register:
            register[node] = compute(node)
        return register[node]

    def compute(node: Node) -> int:
        match node:
            case Number(number):
                return emit("number", extra=(number,))
            case Symbol(name):
                return emit("constant", extra=(name,))
            case Add():
                first, *rest = node.children
                total = place(first)
                for term in rest:
                    if isinstance(term, Neg):
                        total = emit("subtract", total, place(term.argument))
                    else:
                        total = emit("add", total, place(term))
                return total
            case Neg(argument):
                return emit("negate", place(argument))
            case Mul():
                first, *rest = node.children
                total = place(first)
                for factor in rest:
                    if isinstance(factor, Inv):
                        divisor, times = _divisor(factor.argument)
                        for _ in range(times):
                            total = emit("divide", total, place(divisor))
                    else:
                        for part in _halves(factor):
                            total = emit("multiply", total, place(part))
                return total
            case Inv(argument):
                return emit("divide", place(ONE), place(argument))
            case Pow(base, Number(exponent)):
                return emit("rational_power", place(base), extra=(exponent,))
            case Pow(base, exponent_tree):
                return emit("power", place(base), place(exponent_tree))
            case Call(name, (argument, _)) if node.of_family:
                return emit("call_of_order", place(argument), extra=(name, node.order))
            case Call(name, arguments):
                return emit("call", *(place(argument) for argument in arguments), extra=(name,))
            case Where():
                return emit("where", extra=(node,))
        raise TypeError(node)

    end = place(tree)
    if end != len(steps):  # the tree is t itself, or a subtree computed before its last step
        steps.append(_Step("keep", (), (end,)))
    return tuple(steps)


def _divisor(argument: Node) -> tuple[Node, int]:
    """x/u**2 is x/u/u: u**2 may overflow where the quotient does not."""
    match argument:
        case Pow(base, Number(exponent)) if exponent in (2, 3):
            return base, exponent.numerator
    return argument, 1


def _halves(factor: Node) -> tuple[Node, ...]:
    """A high power of a positive base as two: it may underflow where the product does not."""
    match factor:
        case Pow(base, Number(exponent)) if exponent >= HIGH and exponent.denominator == 1 and is_positive(base):
            half = exponent.numerator // 2
            return Pow(base, Number(half)), Pow(base, Number(exponent - half))
    return (factor,)


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

    def value(subtree: Node, at: V) -> V:
        return evaluate(subtree, arithmetic, at)

    values = [t]
    for method, extra, registers in _program(tree):
        if method == "where":
            values.append(arithmetic.where(extra[0], t, value))
        elif method == "keep":
            values.append(values[registers[0]])
        elif method == "rational_power":
            values.append(arithmetic.rational_power(values[registers[0]], *extra))
        elif method == "call_of_order":
            values.append(arithmetic.call(extra[0], values[registers[0]], extra[1]))
        else:
            values.append(getattr(arithmetic, method)(*extra, *[values[register] for register in registers]))
    return values[-1]
