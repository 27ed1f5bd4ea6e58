"""NumPy arithmetic: float64 and float32 arrays.

Results that floating point may have got wrong are computed again in ball arithmetic: NaN (0 * inf, inf - inf), an
infinity where a logarithm, root or quotient of the overflowed number is finite, and a comparison of two values that
came out equal (both may have overflowed, or underflowed to 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.errors import ExpressionError
from uneven.expression import Node, to_text
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Add, Call, Inv, Neg, Number, Pow, Where, depends_on_t
from uneven.ops.evaluate import HIGH, PRODUCTS, evaluate
from uneven.ops.majority import Array, whole_power, window


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
    """exp(-x**2) to full relative accuracy.

    Rounding x**2 would cost x**2 units in the last place. The square of the leading 24 bits of x is exact; the rest
    of the exponent is small.
    """
    head = np.float64(np.float32(x)) if np.ndim(x) == 0 else x.astype(np.float32).astype(x.dtype)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(head), 0, np.exp(-head * head) * np.exp(-(x - head) * (x + head)))


#: Each function of the language on arrays.
CALLS: dict[str, Callable[..., Array]] = {
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
    "window": window,
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
        self.tied: Array = np.False_  # where two compared values were equal or NaN

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
        if exponent.denominator == 1 and 2 <= exponent <= PRODUCTS:
            return whole_power(x, exponent.numerator)
        if abs(exponent) >= 2**53 and exponent.denominator == 1:  # as a double it would be even
            size = np.power(np.abs(x), self.number(exponent))
            return np.copysign(size, x) if exponent % 2 else size
        return np.power(x, self.number(exponent))

    def power(self, x: Array, y: Array) -> Array:
        return np.power(x, y)

    def call(self, name: str, *arguments: Any) -> Array:
        if FUNCTIONS[name].jumps:
            self.tied = self.tied | ~(arguments[0] != 0) | np.isnan(arguments[0])
        return CALLS[name](*arguments)

    def where(self, node: Where, t: Array, value: Callable[[Node, Array], Array]) -> Array:
        left, right = value(node.left, t), value(node.right, t)
        self.tied = self.tied | ~((left < right) | (left > right))
        return np.where(_COMPARE[node.op](left, right), value(node.yes, t), value(node.no, t))


@lru_cache(maxsize=4096)
def leaves_single_precision(tree: Node) -> bool:
    """Whether a high power, or a function made of such powers, may leave the range of float32 on the way."""
    for node in tree.walk():
        match node:
            case Call() if node.of_family:
                return True
            case Pow(_, Number(exponent)) if abs(exponent) >= HIGH:
                return True
    return False


def _evaluated(tree: Node, t: Array) -> tuple[Array, Array]:
    if t.dtype == np.float32 and leaves_single_precision(tree):
        result, tied = _evaluated(tree, t.astype(np.float64))
        with np.errstate(all="ignore"):
            return result.astype(np.float32), tied
    arithmetic = _Floats(t.dtype)
    with np.errstate(all="ignore"):
        result = evaluate(tree, arithmetic, t)
    return np.broadcast_to(result, t.shape) if np.shape(result) != t.shape else result, arithmetic.tied


def plain_values(tree: Node, t: Array) -> Array:
    """Values at an array of floats in plain floating point, NaN included."""
    return _evaluated(tree, t)[0]


@lru_cache(maxsize=4096)
def _may_return_from_infinity(tree: Node) -> bool:
    """Whether the value can be finite although a part of the tree overflows."""
    for node in tree.walk():
        match node:
            case Inv():
                return True
            case Call(name, _) if FUNCTIONS[name].slow_growth:
                return True
            case Pow(_, exponent) if not (isinstance(exponent, Number) and exponent.value >= 1):
                return True
            case Add() if any(isinstance(term, Neg) and depends_on_t(term) for term in node.children):
                return True
    return False


def values(tree: Node, t: Array) -> Array:
    """Values of a tree at an array of floats: never NaN, infinite only beyond the range of doubles.

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
    result, tied = _evaluated(tree, t)
    lost = np.isnan(result)
    doubtful = lost | tied
    if np.isinf(result).any() and _may_return_from_infinity(tree):
        doubtful = doubtful | np.isinf(result)
    if doubtful.any():
        result = np.array(result)
        result[doubtful] = repaired(tree, t[doubtful], otherwise=result[doubtful])
    return result


def repaired(tree: Node, t: Array, otherwise: Array | None = None) -> Array:
    """Values through ball arithmetic, one distinct point at a time.

    Where balls cannot decide either, the value of ``otherwise`` is kept; it is an error if that is missing or NaN.
    """
    points, first, inverse = np.unique(t, return_index=True, return_inverse=True)
    kept = [math.nan] * points.size if otherwise is None else [float(v) for v in np.ravel(otherwise)[first]]
    found = [_one_repaired(tree, float(point), value) for point, value in zip(points, kept, strict=True)]
    return np.asarray(found, dtype=t.dtype)[inverse.reshape(t.shape)]


def _one_repaired(tree: Node, t: float, otherwise: float) -> float:
    from uneven.ops.balls import Undefined
    from uneven.ops.nearest import nearest_float

    try:
        value = nearest_float(tree, t)
        complaint = "cannot be decided"
        hint = ": huge terms cancel there; a smaller t or another way to write it would work"
    except Undefined:
        value, complaint, hint = None, "is undefined", ""
    if value is None and math.isnan(otherwise):
        raise ExpressionError(f"{to_text(tree)} {complaint} at t = {t!r}{hint}")
    return otherwise if value is None else value
