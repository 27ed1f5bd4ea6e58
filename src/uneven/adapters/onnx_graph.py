"""Nodes of an ONNX graph, by way of skl2onnx, and what a converter of a learner is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto

from uneven.losses.inverse_link import link_tree
from uneven.ops.onnx import nodes

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
        From a fitted learner to a classifier whose probability of the positive class is the input of ``scores``. None:
        the input is X.
    """

    learner: type
    scores: Scores
    probability: Probability = by_inverse_link
    has_probability: Callable[[Any], bool] = identifies_probabilities
    inner: Callable[[Any], Any] | None = None
