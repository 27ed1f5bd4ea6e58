"""A tree as nodes of an ONNX graph, and the graph of a learner. The "numbers" are names of tensors of doubles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from onnx import TensorProto

from uneven.errors import ExpressionError
from uneven.expression import Node, to_text
from uneven.expression.tree import Where
from uneven.inputs import to_float
from uneven.losses.margin_function import link_tree
from uneven.ops.array_programs import bound_of
from uneven.ops.evaluate import evaluate


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


# -- nodes by way of skl2onnx, and converters of learners -------------------------------------------------------------

_DOUBLE, _FLOAT = TensorProto.DOUBLE, TensorProto.FLOAT
_TYPES = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "b": TensorProto.BOOL, "U": TensorProto.STRING}


class SkGraph:
    """Adds nodes to the graph that skl2onnx builds; all numbers are doubles unless said otherwise."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container
        self._numbers: dict[float, str] = {}

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; returns the name of its output."""
        output = self._scope.get_unique_variable_name(f"uneven_{operator.lower()}")
        self.into([output], operator, *inputs, **attributes)
        return str(output)

    def into(self, outputs: list[str], operator: str, *inputs: str, **attributes: Any) -> None:
        """Add a node with given names of outputs."""
        name = self._scope.get_unique_operator_name(f"Uneven{operator}")
        self._container.add_node(operator, list(inputs), outputs, name=name, **attributes)

    def constant(self, values: Any) -> str:
        """An array of numbers, truth values or texts."""
        array = np.asarray(values)
        kind = {"u": "i", "O": "U"}.get(array.dtype.kind, array.dtype.kind)
        name = self._scope.get_unique_variable_name("uneven_constant")
        flat = [text.encode("utf-8") for text in array.ravel()] if kind == "U" else array.ravel().tolist()
        self._container.add_initializer(name, _TYPES[kind], list(array.shape), flat)
        return str(name)

    def number(self, value: float) -> str:
        """A number, kept once."""
        if value not in self._numbers:
            self._numbers[value] = self.constant(np.float64(value))
        return self._numbers[value]

    def double(self, x: str) -> str:
        """In double precision."""
        return self.node("Cast", x, to=_DOUBLE)

    def single(self, operator: str, x: str) -> str:
        """A function that runtimes know in single precision only."""
        return self.double(self.node(operator, self.node("Cast", x, to=_FLOAT)))


#: From a graph, a fitted learner and the name of its input (doubles) to the name of the positive class's scores.
Scores = Callable[[SkGraph, Any, str], str]
#: From a graph, a fitted learner and the name of these scores to that of the positive class's probability.
Probability = Callable[[SkGraph, Any, str], str]


def by_inverse_link(graph: SkGraph, model: Any, score: str) -> str:
    """The probability that a score stands for."""
    return nodes(graph, link_tree(model.loss_), score)


def identifies_probabilities(model: Any) -> bool:
    """Whether ``predict_proba`` works without costs."""
    return hasattr(model, "predict_proba") and not model._has_row_costs


@dataclass(frozen=True)
class Converter:
    """How learners of one class are exported. Errors of :mod:`uneven.errors` say what cannot be.

    Attributes
    ----------
    learner : type
    scores : callable
        See :data:`Scores`. The learner says positive where the score is above 0.
    probability : callable
        See :data:`Probability`.
    has_probability : callable
        Whether a fitted learner has probabilities.
    inner : callable or None
        From a fitted learner to a classifier whose probability of the positive class is the input of ``scores``, or of
        all classes, if there are several. None, or a learner for which it gives None: the input is X.
    actions : callable or None
        From a learner fitted to several classes to what its scores stand for, an array of labels; None for one that was
        fitted to two. ``scores`` then gives a score for each, of which the largest is chosen, and ``probability``
        gives, from the input, the probabilities of all classes.
    ties : bool
        Whether rows exactly at the threshold are many, as forests say it, so that a comparison counts them.
    """

    learner: type
    scores: Scores
    probability: Probability = by_inverse_link
    has_probability: Callable[[Any], bool] = identifies_probabilities
    inner: Callable[[Any], Any] | None = None
    actions: Callable[[Any], np.ndarray | None] | None = None
    ties: bool = False

    def labels_of(self, model: Any) -> np.ndarray | None:
        """What ``actions`` gives."""
        return None if self.actions is None else self.actions(model)

    def classifier_inside(self, model: Any) -> Any:
        """What ``inner`` gives."""
        return None if self.inner is None else self.inner(model)
