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
from math import comb
from typing import Any

import numpy as np

from uneven.errors import ExpressionError
from uneven.expression import Node, to_text
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Add, Call, Inv, Neg, Number, Pow, Where, depends_on_t
from uneven.inputs import to_float
from uneven.ops.evaluate import HIGH, PRODUCTS, evaluate
from uneven.ops.window import coefficients

Array = Any  # a float64 or float32 array or scalar
_BLOCK = 4096  # entries: what a polynomial is evaluated on at once stays in the cache


def majority(order: int, p: Array, q: Array) -> Array:
    """The probability of more than ``order`` successes in twice as many trials; arrays of p and of q = 1 - p."""
    half = (order + 1) // 2
    # Half of the power last: it may underflow before it is multiplied by the sum, where the product does not.
    power = whole_power(p, half)
    return power * _sum(order, q) * (power if order % 2 else power * p)


def _sum(order: int, q: Array) -> Array:
    highest, *others = reversed(coefficients(order))
    total = np.full_like(q, highest)
    for coefficient in others:
        total *= q
        total += q.dtype.type(coefficient)
    return total


def whole_power(x: Array, exponent: int) -> Array:
    """x to a positive whole power by products, which take a tenth of the time of NumPy's power."""
    if exponent == 1:
        return x
    half = whole_power(x, exponent // 2)
    return half * half * x if exponent % 2 else half * half


def window(x: Array, order: int) -> Array:
    r"""The function ``window`` of the language, :math:`I_{\sigma(x)}(k+1, k)`, at an array."""
    flat = np.ravel(x)
    result = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        result[start : start + _BLOCK] = _of_block(flat[start : start + _BLOCK], order)
    return result.reshape(np.shape(x))


def _of_block(x: Array, order: int) -> Array:
    small = np.exp(-np.abs(x))
    larger = 1 / (1 + small)
    smaller = small * larger
    tail = majority(order, smaller, larger)
    right = x > 0
    if not right.any():
        return tail
    even = comb(2 * order, order) * whole_power(smaller * larger, order)
    return np.where(right, 1 - (tail + even), tail)


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


def _evaluate_once(tree: Node, t: Array) -> tuple[Array, Array]:
    if t.dtype == np.float32 and leaves_single_precision(tree):
        result, tied = _evaluate_once(tree, t.astype(np.float64))
        with np.errstate(all="ignore"):
            return result.astype(np.float32), tied
    arithmetic = _Floats(t.dtype)
    with np.errstate(all="ignore"):
        result = evaluate(tree, arithmetic, t)
    return np.broadcast_to(result, t.shape) if np.shape(result) != t.shape else result, arithmetic.tied


def plain_values(tree: Node, t: Array) -> Array:
    """Values at an array of floats in plain floating point, NaN included."""
    return _evaluate_once(tree, t)[0]


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
    result, tied = _evaluate_once(tree, t)
    lost = np.isnan(result)
    doubtful = lost | tied
    if np.isinf(result).any() and _may_return_from_infinity(tree):
        doubtful = doubtful | np.isinf(result)
    if doubtful.any():
        result = np.array(result)
        result[doubtful] = repair_values(tree, t[doubtful], otherwise=result[doubtful])
    return result


def repair_values(tree: Node, t: Array, otherwise: Array | None = None) -> Array:
    """Values through ball arithmetic, one distinct point at a time.

    Where balls cannot decide either, the value of ``otherwise`` is kept; it is an error if that is missing or NaN.
    """
    points, first, inverse = np.unique(t, return_index=True, return_inverse=True)
    kept = [math.nan] * points.size if otherwise is None else [float(v) for v in np.ravel(otherwise)[first]]
    found = [_repair_one(tree, float(point), value) for point, value in zip(points, kept, strict=True)]
    return np.asarray(found, dtype=t.dtype)[inverse.reshape(t.shape)]


def _repair_one(tree: Node, t: float, otherwise: float) -> float:
    from uneven.ops.balls import Undefined
    from uneven.ops.precise import nearest_float

    try:
        value = nearest_float(tree, t)
        complaint = "cannot be decided"
        hint = ": huge terms cancel there; a smaller t or another way to write it would work"
    except Undefined:
        value, complaint, hint = None, "is undefined", ""
    if value is None and math.isnan(otherwise):
        raise ExpressionError(f"{to_text(tree)} {complaint} at t = {t!r}{hint}")
    return otherwise if value is None else value
