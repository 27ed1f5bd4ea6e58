"""ONNX arithmetic: a tree as nodes of a graph. Its "numbers" are names of tensors of doubles."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

from uneven._inputs import to_float
from uneven.errors import ExpressionError
from uneven.expression import Node, to_text
from uneven.expression.tree import Where
from uneven.ops.evaluate import evaluate
from uneven.ops.printing import bound_of


class Graph(Protocol):
    """Where nodes go."""

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; returns the name of its output."""
        ...

    def number(self, value: float) -> str:
        """The name of a constant of double precision."""
        ...

    def single(self, operator: str, x: str) -> str:
        """A function that runtimes know in single precision only."""
        ...


class _Nodes:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def number(self, value: Fraction) -> str:
        return self.graph.number(to_float(value))

    def constant(self, name: str) -> str:
        return self.graph.number(getattr(math, name))

    def add(self, x: str, y: str) -> str:
        return self.graph.node("Add", x, y)

    def subtract(self, x: str, y: str) -> str:
        return self.graph.node("Sub", x, y)

    def negate(self, x: str) -> str:
        return self.graph.node("Neg", x)

    def multiply(self, x: str, y: str) -> str:
        return self.graph.node("Mul", x, y)

    def divide(self, x: str, y: str) -> str:
        return self.graph.node("Div", x, y)

    def rational_power(self, x: str, exponent: Fraction) -> str:
        return self.power(x, self.number(exponent))

    def power(self, x: str, y: str) -> str:
        return self.graph.node("Pow", x, y)

    def call(self, name: str, *arguments: Any) -> str:
        if name not in CALLS:
            raise ExpressionError(f"the function {name} has no counterpart in ONNX, so this loss cannot be exported")
        return CALLS[name](self, *arguments)

    def where(self, node: Where, t: str, value: Callable[[Node, str], str]) -> str:
        left, right, yes, no = (value(part, t) for part in (node.left, node.right, node.yes, node.no))
        return self.graph.node("Where", self.graph.node(_COMPARE[node.op], left, right), yes, no)

    def exp_of_minus(self, x: str) -> str:
        return self.graph.node("Exp", self.negate(x))

    def log1p(self, x: str) -> str:
        return self.graph.node("Log", self.add(self.graph.number(1.0), x))

    def expit(self, x: str) -> str:
        one = self.graph.number(1.0)
        return self.divide(one, self.add(one, self.exp_of_minus(x)))

    def softplus(self, x: str) -> str:
        return self.add(self.graph.node("Relu", x), self.log1p(self.exp_of_minus(self.graph.node("Abs", x))))

    def step(self, x: str) -> str:
        zero, one = self.graph.number(0.0), self.graph.number(1.0)
        return self.graph.node("Where", self.graph.node("Greater", x, zero), one, zero)


_COMPARE = {"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual"}


def _operator(name: str) -> Callable[..., str]:
    return lambda nodes, *arguments: nodes.graph.node(name, *arguments)


def _single(name: str) -> Callable[..., str]:
    return lambda nodes, x: nodes.graph.single(name, x)


def _expm1(nodes: _Nodes, x: str) -> str:
    return nodes.subtract(nodes.graph.node("Exp", x), nodes.graph.number(1.0))


def _erfc(nodes: _Nodes, x: str) -> str:
    return nodes.subtract(nodes.graph.number(1.0), nodes.graph.single("Erf", x))


#: Functions of the language as nodes: accurate to about 1e-7, not in the tails. Others cannot be exported.
CALLS: dict[str, Callable[..., str]] = {
    "exp": _operator("Exp"),
    "log": _operator("Log"),
    "log1p": _Nodes.log1p,
    "expm1": _expm1,
    "sqrt": _operator("Sqrt"),
    "abs": _operator("Abs"),
    "tanh": _operator("Tanh"),
    "atan": _single("Atan"),
    "erf": _single("Erf"),
    "erfc": _erfc,
    "expit": _Nodes.expit,
    "softplus": _Nodes.softplus,
    "relu": _operator("Relu"),
    "max": _operator("Max"),
    "min": _operator("Min"),
    "step": _Nodes.step,
}


def nodes(graph: Graph, tree: Node, t: str) -> str:
    """Add a tree at a tensor of doubles to a graph; the tree stays constant where floats become NaN.

    Raises
    ------
    ExpressionError
        If a function of the tree has no counterpart.
    """
    bound = bound_of(tree)
    if math.isfinite(bound):
        t = graph.node("Clip", t, graph.number(-bound), graph.number(bound))
    try:
        return evaluate(tree, _Nodes(graph), t)
    except ExpressionError as error:
        raise ExpressionError(f"{error}: {to_text(tree)}") from None
