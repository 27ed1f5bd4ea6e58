"""NumPy arithmetic: float64 and float32 arrays.

Overflow to infinity and underflow to zero are silent and right. What floating point cannot decide
(0 * inf, inf - inf) is computed again in ball arithmetic, so that no NaN leaves this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.errors import ExpressionError
from uneven.expression import Node, to_text
from uneven.expression.tree import Where
from uneven.ops.evaluate import evaluate

Array = Any  # a float64 or float32 array or scalar


def _expit(x: Array) -> Array:
    small = np.exp(-np.abs(x))  # in (0, 1]: relative accuracy on both sides
    return np.where(x >= 0, 1, small) / (1 + small)


def _erf(x: Array) -> Array:
    from scipy.special import erf

    return erf(x)


def _erfc(x: Array) -> Array:
    from scipy.special import erfc, erfcx

    # SciPy's erfc is 0 where the result is subnormal; erfcx is not.
    return np.where(x > 5, erfcx(x) * exp_of_minus_square(x), erfc(x)) if np.any(x > 5) else erfc(x)


def exp_of_minus_square(x: Array) -> Array:
    """exp(-x**2) to full relative accuracy: the square of a double loses x**2 ulps, that of its head does not."""
    head = np.float64(np.float32(x)) if np.ndim(x) == 0 else x.astype(np.float32).astype(x.dtype)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(head), 0, np.exp(-head * head) * np.exp(-(x - head) * (x + head)))


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "tanh": np.tanh,
    "atan": np.arctan,
    "erf": _erf,
    "erfc": _erfc,
    "expit": _expit,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "relu": lambda x: np.maximum(x, 0),
    "max": np.maximum,
    "min": np.minimum,
    "step": lambda x: (x > 0).astype(x.dtype),
}
_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class _Floats:
    def __init__(self, dtype: Any) -> None:
        self.scalar = dtype.type

    def number(self, value: Fraction) -> Array:
        return self.scalar(to_float(value))

    def constant(self, name: str) -> Array:
        return self.scalar(getattr(math, name))

    def add(self, x: Array, y: Array) -> Array:
        return x + y

    def subtract(self, x: Array, y: Array) -> Array:
        return x - y

    def negate(self, x: Array) -> Array:
        return -x

    def multiply(self, x: Array, y: Array) -> Array:
        return x * y

    def divide(self, x: Array, y: Array) -> Array:
        return x / y

    def rational_power(self, x: Array, exponent: Fraction) -> Array:
        if exponent == 2:
            return x * x
        return np.power(x, self.number(exponent))

    def power(self, x: Array, y: Array) -> Array:
        return np.power(x, y)

    def call(self, name: str, *arguments: Array) -> Array:
        return _FUNCTIONS[name](*arguments)

    def where(self, node: Where, t: Array, value: Callable[[Node, Array], Array]) -> Array:
        chosen = _COMPARE[node.op](value(node.left, t), value(node.right, t))
        return np.where(chosen, value(node.yes, t), value(node.no, t))


_ARITHMETIC = {dtype: _Floats(dtype) for dtype in (np.dtype(np.float64), np.dtype(np.float32))}


def plain_values(tree: Node, t: Array) -> Array:
    """Values at an array of floats, as floating point has them (NaN included)."""
    with np.errstate(all="ignore"):
        result = evaluate(tree, _ARITHMETIC[t.dtype], t)
    return np.broadcast_to(result, t.shape) if np.shape(result) != t.shape else result


def values(tree: Node, t: Array) -> Array:
    """Values of a tree at an array of floats; exact limits of double range, never NaN.

    Parameters
    ----------
    tree : Node
    t : ndarray of float64 or float32
        Finite or infinite, not NaN.

    Raises
    ------
    ExpressionError
        Where the tree is undefined.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.expression import parse
    >>> from uneven.ops.floats import values
    >>> values(parse("t**2*exp(-t)"), np.array([0.0, 1e308]))
    array([0., 0.])
    """
    result = plain_values(tree, t)
    doubtful = np.isnan(result)
    if doubtful.any():
        result = np.array(result)
        result[doubtful] = repaired(tree, t[doubtful])
    return result


def repaired(tree: Node, t: Array) -> Array:
    """Values through ball arithmetic, one distinct point at a time."""
    from uneven.ops.balls import Undefined, nearest_float

    points, inverse = np.unique(t, return_inverse=True)
    found = []
    for point in points:
        try:
            value = nearest_float(tree, float(point))
        except Undefined:
            raise ExpressionError(f"{to_text(tree)} is undefined at t = {float(point)!r}") from None
        if value is None:
            raise ExpressionError(
                f"{to_text(tree)} cannot be decided at t = {float(point)!r}: huge terms cancel there; "
                "a smaller t or another way to write it would work"
            )
        found.append(value)
    return np.asarray(found, dtype=t.dtype)[inverse.reshape(t.shape)]
