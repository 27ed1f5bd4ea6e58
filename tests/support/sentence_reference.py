"""Any phi to hundreds of digits, from its text alone.

This checks phis that have no formula in ``make_reference.py`` or ``reference_sides.py``. Python's parser reads the
text, and mpmath evaluates it; nothing is imported from the package under test.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb
from typing import Any

import mpmath

Number = Any  # a number of an mpmath context
Function = Callable[[Number], Number]

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class _Reader:
    """Evaluates Python's tree of a sentence in an mpmath context."""

    def __init__(self, mp: Any, text: str, names: Mapping[str, Number]) -> None:
        self.mp, self.text, self.names = mp, text, names
        self.functions = {
            "exp": mp.exp,
            "log": mp.log,
            "log1p": lambda x: mp.log(1 + x),
            "expm1": mp.expm1,
            "sqrt": mp.sqrt,
            "abs": abs,
            "tanh": mp.tanh,
            "atan": mp.atan,
            "erf": lambda x: 1 - self.erfc(x),
            "erfc": self.erfc,
            "expit": lambda x: 1 / (1 + mp.exp(-x)),
            "softplus": lambda x: mp.log(1 + mp.exp(x)) if x < 0 else x + mp.log(1 + mp.exp(-x)),
            "relu": lambda x: max(x, mp.zero),
            "step": lambda x: mp.one if x > 0 else mp.zero,
            "max": max,
            "min": min,
            "window": self.window,
        }

    def erfc(self, x: Number) -> Number:
        """Beyond 1000, where mpmath fails: the leading term, which is 0 in doubles like the true value."""
        if x < 0:
            return 2 - self.erfc(-x)
        return self.mp.exp(-x * x) / (x * self.mp.sqrt(self.mp.pi)) if x > 1000 else self.mp.erfc(x)

    def window(self, x: Number, order: Number) -> Number:
        """The probability of more than k successes in 2k trials with probability expit(x); for x >= 0 1 - its rest."""
        k = int(order)
        least = k + 1 if x < 0 else k
        odds, total = self.mp.exp(-abs(x)), self.mp.zero
        for j in range(2 * k, least - 1, -1):
            total = total * odds + comb(2 * k, j)
        share = total * odds**least / (1 + odds) ** (2 * k)
        return share if x < 0 else 1 - share

    def value(self, node: ast.expr) -> Number:
        match node:
            case ast.Constant():
                written = Fraction(str(ast.get_source_segment(self.text, node)))
                return self.mp.mpf(written.numerator) / written.denominator
            case ast.Name(name):
                return self.names[name]
            case ast.UnaryOp(ast.USub(), argument):
                return -self.value(argument)
            case ast.BinOp(left, sign, right):
                return _OPERATORS[type(sign)](self.value(left), self.value(right))
            case ast.Compare(left, [sign], [right]):
                return _OPERATORS[type(sign)](self.value(left), self.value(right))
            case ast.Call(ast.Name("where"), [condition, yes, no]):
                return self.value(yes if self.value(condition) else no)
            case ast.Call(ast.Name(name), arguments):
                return self.functions[name](*map(self.value, arguments))
        raise TypeError(ast.dump(node))


def function_of(sentence: str, parameters: Mapping[str, Fraction], mp: Any) -> Function:
    """The function of t that a sentence describes, in an mpmath context."""
    tree = ast.parse(sentence, mode="eval").body
    known = {name: mp.mpf(value.numerator) / value.denominator for name, value in parameters.items()}

    def value(t: Number) -> Number:
        names = {"pi": mp.pi, "e": mp.e, "inf": mp.inf, **known, "t": t}
        return mp.mpf(_Reader(mp, sentence, names).value(tree))

    return value


wide = mpmath.mp.clone()
wide.dps = 1450  # second differences with this step keep more than 100 digits, also of t**2 at t = 1e308
_STEP = wide.mpf(10) ** -340  # below the distance of the smallest double from 0
_SAME = wide.mpf(10) ** -30  # one-sided derivatives that differ relatively by less are equal


def derivatives(function: Function, t: Number) -> tuple[Number, Number | None, Number | None]:
    """Value, slope and curvature at t by differences; None for a derivative that does not exist."""
    f, h = function, _STEP
    middle, right, left = f(t), f(t + h), f(t - h)
    slope = _agreed((right - middle) / h, (middle - left) / h)
    if slope is None:
        return middle, None, None
    outer = f(t + 2 * h), f(t - 2 * h)
    return middle, slope, _agreed((middle - 2 * right + outer[0]) / h**2, (middle - 2 * left + outer[1]) / h**2)


def _agreed(right: Number, left: Number) -> Number | None:
    return right if abs(right - left) <= _SAME * max(abs(right), abs(left), wide.mpf(10) ** -300) else None
