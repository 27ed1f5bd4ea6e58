"""The tree of the little language: immutable nodes that know their size and depth.

The constructor raises for a node larger than :data:`MAX_NODES` or deeper than :data:`MAX_DEPTH`. This bounds
parsing, simplification and differentiation, which need no checks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from uneven.errors import ExpressionError
from uneven.expression.functions import FUNCTIONS

MAX_CHARACTERS = 2000
MAX_DEPTH = 60
MAX_NODES = 500
# Numbers are exact rationals. Folding stops before a numerator or denominator grows past this, so that
# 9**9**9**9 stays a short tree instead of becoming a number.
MAX_BITS = 3072

CONSTANTS = ("pi", "e")
COMPARISONS = ("<", "<=", ">", ">=")


class Node:
    """A tree; ``args`` (children, and a name, number or operator) identify it."""

    __slots__ = ("_hash", "args", "children", "depth", "size")
    args: tuple[Any, ...]
    children: tuple[Node, ...]
    size: int
    depth: int

    def __init__(self, *args: Any) -> None:
        size, depth = 1, 0
        children = tuple(arg for arg in args if isinstance(arg, Node))
        for child in children:
            size += child.size
            depth = max(depth, child.depth)
        if size > MAX_NODES or depth + 1 > MAX_DEPTH:
            raise ExpressionError(
                f"the expression (or its derivative) has more than {MAX_NODES} parts or is nested "
                f"deeper than {MAX_DEPTH}; a shorter one would work"
            )
        put = object.__setattr__
        put(self, "args", args)
        put(self, "children", children)
        put(self, "size", size)
        put(self, "depth", depth + 1)
        put(self, "_hash", hash((type(self).__name__, args)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("expression trees are immutable")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            type(self) is type(other)
            and self._hash == other._hash  # type: ignore[attr-defined]
            and self.args == other.args
        )

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        # Rebuilt, not restored: hashes of strings differ between processes.
        return (type(self), self.args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.args!r}"

    def walk(self) -> Iterator[Node]:
        """This node and everything below it, parents first."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


class Number(Node):
    """An exact rational."""

    __slots__ = ()
    __match_args__ = ("value",)

    def __init__(self, value: Fraction | int) -> None:
        super().__init__(Fraction(value))

    @property
    def value(self) -> Fraction:
        return self.args[0]


class Symbol(Node):
    """The variable ``t``, a constant (``pi``, ``e``) or a parameter of a registered phi."""

    __slots__ = ()
    __match_args__ = ("name",)

    @property
    def name(self) -> str:
        return self.args[0]


class Add(Node):
    """A sum of two or more terms; ``a - b`` is ``Add(a, Neg(b))``."""

    __slots__ = ()


class Mul(Node):
    """A product of two or more factors; ``a / b`` is ``Mul(a, Inv(b))``."""

    __slots__ = ()


class Neg(Node):
    """Minus its argument (never a number: those carry their sign)."""

    __slots__ = ()
    __match_args__ = ("argument",)

    @property
    def argument(self) -> Node:
        return self.args[0]


class Inv(Node):
    """One over its argument."""

    __slots__ = ()
    __match_args__ = ("argument",)

    @property
    def argument(self) -> Node:
        return self.args[0]


class Pow(Node):
    """``base ** exponent``."""

    __slots__ = ()
    __match_args__ = ("base", "exponent")

    @property
    def base(self) -> Node:
        return self.args[0]

    @property
    def exponent(self) -> Node:
        return self.args[1]


class Call(Node):
    """A function (see :mod:`uneven.expression.functions`) applied to its arguments; an order is the last of them."""

    __slots__ = ()
    __match_args__ = ("name", "arguments")

    def __init__(self, name: str, *arguments: Node) -> None:
        orders = FUNCTIONS[name].orders
        if orders is not None:
            _require_order(name, orders, arguments)
        super().__init__(name, *arguments)

    @property
    def name(self) -> str:
        return self.args[0]

    @property
    def arguments(self) -> tuple[Node, ...]:
        return self.args[1:]

    @property
    def of_family(self) -> bool:
        """Whether the last argument is an order."""
        return FUNCTIONS[self.name].orders is not None

    @property
    def order(self) -> int:
        """The order of a member of a family."""
        last = self.args[-1]
        if not isinstance(last, Number):
            raise ExpressionError(f"the order of {self.name} is the parameter {last.name}, which has no value here")
        return last.value.numerator


def _require_order(name: str, orders: range, arguments: tuple[Node, ...]) -> None:
    last = arguments[-1]
    parameter = isinstance(last, Symbol) and last.name not in ("t", *CONSTANTS)
    if len(arguments) < 2 or not (parameter or (isinstance(last, Number) and last.value in orders)):
        given = last.value if len(arguments) > 1 and isinstance(last, Number) else "another expression"
        raise ExpressionError(
            f"{name} takes its order as second argument, a whole number from {orders[0]} to {orders[-1]} as in "
            f"{name}(t, {orders[-1]}), got {given}"
        )


class Where(Node):
    """``where(left op right, yes, no)``."""

    __slots__ = ()
    __match_args__ = ("op", "left", "right", "yes", "no")

    @property
    def op(self) -> str:
        return self.args[0]

    @property
    def left(self) -> Node:
        return self.args[1]

    @property
    def right(self) -> Node:
        return self.args[2]

    @property
    def yes(self) -> Node:
        return self.args[3]

    @property
    def no(self) -> Node:
        return self.args[4]


T = Symbol("t")
ZERO = Number(0)
ONE = Number(1)


def rebuild(node: Node, children: tuple[Node, ...]) -> Node:
    """The same kind of node over other children."""
    replacement = iter(children)
    return type(node)(*(next(replacement) if isinstance(arg, Node) else arg for arg in node.args))


def transform(node: Node, function: Callable[[Node], Node]) -> Node:
    """Apply ``function`` to every node, children first."""
    if node.children:
        children = tuple(transform(child, function) for child in node.children)
        if children != node.children:
            node = rebuild(node, children)
    return function(node)


def put(tree: Node, values: dict[str, Node]) -> Node:
    """Replace symbols by trees; nothing is simplified."""
    return transform(tree, lambda node: values.get(node.name, node) if isinstance(node, Symbol) else node)


def depends_on_t(node: Node) -> bool:
    """Whether the variable occurs in a tree."""
    return any(part == T for part in node.walk())
