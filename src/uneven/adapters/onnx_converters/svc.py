"""Kernel support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.adapters.onnx_graph import Converter, SkGraph
from uneven.errors import ParameterError
from uneven.learners.svc import UnevenSVC


def kernel_scores(graph: SkGraph, model: Any, X: str) -> str:
    turned, kernel = model._classes.turned, model._kernel
    coefficients = graph.constant(np.asarray(turned(model.dual_coef_[0]), dtype=np.float64))
    values = graph.node("MatMul", _kernel_values(graph, model, kernel, X), coefficients)
    return graph.node("Add", values, graph.number(float(turned(model.intercept_[0]))))


def _kernel_values(graph: SkGraph, model: Any, kernel: Any, X: str) -> str:
    """k(x, z) of all rows x and support vectors z."""
    if kernel.name == "precomputed":
        return graph.node("Gather", X, graph.constant(model.support_.astype(np.int64)), axis=1)
    if callable(kernel.name):
        raise ParameterError(
            "an UnevenSVC whose kernel is a Python function cannot be exported to ONNX; linear, poly, rbf, sigmoid and "
            "precomputed can"
        )
    Z = model.support_vectors_
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)
    if kernel.name == "rbf":
        # A Gaussian depends on differences only; centred, the squared norms lose less to rounding.
        centre = Z.mean(axis=0)
        X, Z = graph.node("Sub", X, graph.constant(centre)), Z - centre
    product = graph.node("MatMul", X, graph.constant(Z.T.copy()))
    if kernel.name == "linear":
        return product
    width = graph.number(float(kernel.width))
    if kernel.name == "rbf":
        ones = graph.constant(np.ones((Z.shape[1], 1)))
        squares = graph.node("MatMul", graph.node("Mul", X, X), ones)
        norms = graph.node("Add", squares, graph.constant((Z * Z).sum(axis=1)[None, :]))
        distance = graph.node("Sub", norms, graph.node("Mul", graph.number(2.0), product))
        return graph.node("Exp", graph.node("Neg", graph.node("Mul", width, graph.node("Relu", distance))))
    line = graph.node("Add", graph.node("Mul", width, product), graph.number(float(kernel.offset)))
    if kernel.name == "sigmoid":
        return graph.node("Tanh", line)
    return _power(graph, line, int(kernel.degree))


def _power(graph: SkGraph, x: str, exponent: int) -> str:
    """By products: runtimes compute Pow with fewer digits."""
    if exponent <= 1:
        return x if exponent else graph.node("Add", graph.node("Mul", x, graph.number(0.0)), graph.number(1.0))
    half = _power(graph, x, exponent // 2)
    square = graph.node("Mul", half, half)
    return graph.node("Mul", square, x) if exponent % 2 else square


CONVERTERS = [Converter(UnevenSVC, kernel_scores)]
