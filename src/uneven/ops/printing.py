"""Trees as printed source code: an arithmetic whose numbers are names of variables.

:mod:`~uneven.ops.kernels` prints loops over doubles, :mod:`~uneven.ops.array_programs` functions of the arrays of
PyTorch and JAX. What they share is here: operators, the stable forms of expit and softplus, and what happens where |t|
is so large that floats become NaN.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.errors import ExpressionError
from uneven.expression import Node, derivative
from uneven.expression.tree import Where
from uneven.ops.evaluate import PRODUCTS, evaluate
from uneven.ops.floats import plain_values


class Printer(ABC):
    """An arithmetic whose numbers are names of variables; each distinct operation becomes one line."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self._opposites: dict[str, str] = {}

    def emit(self, expression: str) -> str:
        return self.lines.setdefault(expression, f"v{len(self.lines)}")

    def number(self, value: Fraction) -> str:
        return literal(to_float(value))

    def constant(self, name: str) -> str:
        return literal(getattr(math, name))

    def add(self, x: str, y: str) -> str:
        return self.emit(f"{x} + {y}")

    def subtract(self, x: str, y: str) -> str:
        return self.emit(f"{x} - {y}")

    def negate(self, x: str) -> str:
        result = self.emit(f"-{x}")
        self._opposites[result] = x
        return result

    def multiply(self, x: str, y: str) -> str:
        return self.emit(f"{x} * {y}")

    def divide(self, x: str, y: str) -> str:
        return self.emit(f"{x} / {y}")

    def rational_power(self, x: str, exponent: Fraction) -> str:
        if exponent.denominator == 1 and 2 <= exponent <= PRODUCTS:
            return self.whole_power(x, exponent.numerator)
        if abs(exponent) >= 2**53 and exponent.denominator == 1:  # as a double it would be even
            size = self.emit(f"{self.size(x)} ** {self.number(exponent)}")
            return self.select(f"{x} < 0.0", self.negate(size), size) if exponent % 2 else size
        return self.emit(f"{x} ** {self.number(exponent)}")

    def whole_power(self, x: str, exponent: int) -> str:
        """A power as products, which stay in vector registers."""
        if exponent == 1:
            return x
        half = self.whole_power(x, exponent // 2)
        square = self.emit(f"{half} * {half}")
        return self.emit(f"{square} * {x}") if exponent % 2 else square

    def power(self, x: str, y: str) -> str:
        return self.emit(f"{x} ** {y}")

    @abstractmethod
    def call(self, name: str, *arguments: Any) -> str: ...

    def where(self, node: Where, t: str, value: Callable[[Node, str], str]) -> str:
        left, right, yes, no = (value(part, t) for part in (node.left, node.right, node.yes, node.no))
        return self.select(f"{left} {node.op} {right}", yes, no)

    @abstractmethod
    def select(self, condition: str, yes: str, no: str) -> str:
        """One of two values."""

    @abstractmethod
    def exp(self, x: str) -> str: ...

    @abstractmethod
    def log1p_of_small(self, x: str) -> str:
        """ln(1 + x) for 0 <= x <= 1."""

    def size(self, x: str) -> str:
        """The absolute value: the same for -x and x, so that expit(-t) and expit(t) share their exponential."""
        return self.emit(f"abs({self._opposites.get(x, x)})")

    def clamped(self, t: str, bound: float) -> str:
        """t, cut to [-bound, bound]."""
        t = self.select(f"{t} > {literal(bound)}", literal(bound), t)
        return self.select(f"{t} < {literal(-bound)}", literal(-bound), t)

    def small_exp(self, x: str) -> str:
        """exp(-abs(x)), shared by expit and softplus."""
        return self.exp(f"-{self.size(x)}")

    def expit(self, x: str) -> str:
        small = self.small_exp(x)
        above = self.select(f"{x} >= 0.0", "1.0", small)
        below = self.emit(f"1.0 + {small}")
        return self.emit(f"{above} / {below}")

    def softplus(self, x: str) -> str:
        small = self.small_exp(x)
        logarithm = self.log1p_of_small(small)
        positive = self.call("relu", x)
        return self.emit(f"{positive} + {logarithm}")


def literal(value: float) -> str:
    """A number as source code."""
    if math.isinf(value):
        return "math.inf" if value > 0 else "(-math.inf)"
    return repr(value) if value >= 0 else f"({value!r})"


def cut(printer: Printer, tree: Node, dtype: type = np.float64) -> str:
    """The tree as printed lines; where |t| is so large that floats become NaN, a straight line continues it."""
    bound = bound_of(tree, dtype)
    if math.isinf(bound):
        return evaluate(tree, printer, "t")
    left, right = _slopes_at(tree, bound, dtype)
    t = printer.clamped("t", bound)
    inside = evaluate(tree, printer, t)
    rise = printer.select("t > 0.0", literal(right), literal(left))
    return printer.emit(f"{inside} + {rise} * (t - {t})")


@lru_cache(maxsize=4096)
def bound_of(tree: Node, dtype: type = np.float64) -> float:
    """The greatest power of two up to which plain floating point is never NaN (0 * inf); infinite if there is none."""
    sizes: np.ndarray = (2.0 ** np.arange(-1, np.finfo(dtype).maxexp)).astype(dtype)
    lost = np.isnan(plain_values(tree, np.stack([sizes, -sizes]))).any(axis=0)
    return float(sizes[max(int(lost.argmax()) - 1, 0)]) if lost.any() else math.inf


def _slopes_at(tree: Node, bound: float, dtype: type) -> tuple[float, float]:
    """The slopes at both ends, 0 if they are not finite, or too long to be written down."""
    try:
        ends = plain_values(derivative(tree), np.array([-bound, bound], dtype=dtype))
    except ExpressionError:
        return 0.0, 0.0
    left, right = (float(end) if math.isfinite(end) else 0.0 for end in ends)
    return left, right
