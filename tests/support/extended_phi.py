"""Values, slopes and curvatures of a phi in extended precision, from its text alone, and its kinks.

Python's parser reads the text; a jet (value, slope, curvature) goes through it. Nothing is imported from the package
under test, so its formulas, derivatives and kinks are checked, not used.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

#: 64 bits of mantissa on most machines: 1,000 times finer than a double.
Extended = np.longdouble
_EPS = Extended(np.finfo(Extended).eps)


@dataclass(frozen=True)
class Jet:
    """Value, slope and curvature in t."""

    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray

    def through(self, value: np.ndarray, slope: np.ndarray, curvature: np.ndarray) -> Jet:
        """f(self), from f, f' and f'' at the value."""
        return Jet(value, slope * self.slope, slope * self.curvature + curvature * self.slope**2)

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.slope + other.slope, self.curvature + other.curvature)

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.slope, -self.curvature)

    def __mul__(self, other: Jet) -> Jet:
        return Jet(
            self.value * other.value,
            self.slope * other.value + self.value * other.slope,
            self.curvature * other.value + 2 * self.slope * other.slope + self.value * other.curvature,
        )

    def power(self, exponent: float) -> Jet:
        x = self.value
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = exponent * x ** (exponent - 1)
            curvature = exponent * (exponent - 1) * x ** (exponent - 2) if exponent != 1 else 0 * x
        return self.through(x**exponent, slope, curvature)


def _chosen(condition: np.ndarray, yes: Jet, no: Jet) -> Jet:
    return Jet(*(np.where(condition, *pair) for pair in zip(vars(yes).values(), vars(no).values(), strict=True)))


def _softplus(x: Jet) -> Jet:
    small = np.exp(-np.abs(x.value))
    share = np.where(x.value > 0, 1, small) / (1 + small)
    return x.through(np.maximum(x.value, 0) + np.log1p(small), share, small / (1 + small) ** 2)


def _exp(x: Jet) -> Jet:
    value = np.exp(x.value)
    return x.through(value, value, value)


def _expit(x: Jet) -> Jet:
    small = np.exp(-np.abs(x.value))
    share, rest = np.where(x.value > 0, 1, small) / (1 + small), np.where(x.value > 0, small, 1) / (1 + small)
    return x.through(share, share * rest, share * rest * (rest - share))


@dataclass(frozen=True)
class Rounded:
    """phi with ramps instead of kinks, at some t.

    ``slope`` is in the subdifferential of phi at ``point``, where phi is ``value``. On a ramp, which is where ``point``
    is a kink, all slopes from ``lowest`` to ``highest`` are.
    """

    point: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    on_ramp: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray


class _Reader:
    """Evaluates Python's tree of a sentence on a jet."""

    def __init__(self, text: str, t: Jet) -> None:
        self.text, self.t = text, t

    def constant(self, written: Fraction) -> Jet:
        zero = np.zeros_like(self.t.value)
        return Jet(zero + Extended(written.numerator) / Extended(written.denominator), zero, zero)

    def value(self, node: ast.expr) -> Jet:
        match node:
            case ast.Constant():
                return self.constant(Fraction(str(ast.get_source_segment(self.text, node))))
            case ast.Name("t"):
                return self.t
            case ast.UnaryOp(ast.USub(), argument):
                return -self.value(argument)
            case ast.BinOp(left, ast.Add(), right):
                return self.value(left) + self.value(right)
            case ast.BinOp(left, ast.Sub(), right):
                return self.value(left) + -self.value(right)
            case ast.BinOp(left, ast.Mult(), right):
                return self.value(left) * self.value(right)
            case ast.BinOp(left, ast.Div(), right):
                return self.value(left) * self.value(right).power(-1)
            case ast.BinOp(base, ast.Pow(), ast.Constant(exponent)):
                return self.value(base).power(exponent)
            case ast.Call(ast.Name("where"), [ast.Compare(left, [sign], [right]), yes, no]):
                difference = self.value(left).value - self.value(right).value
                tests = {ast.Lt: difference < 0, ast.LtE: difference <= 0, ast.Gt: difference > 0}
                return _chosen(tests[type(sign)], self.value(yes), self.value(no))
            case ast.Call(ast.Name(name), arguments):
                return self.call(name, [self.value(argument) for argument in arguments])
        raise TypeError(f"{self.text!r} has a part that this evaluator does not know: {ast.dump(node)}")

    def call(self, name: str, given: list[Jet]) -> Jet:
        first = given[0]
        if name in ("max", "min"):
            for other in given[1:]:
                first = _chosen((first.value > other.value) == (name == "max"), first, other)
            return first
        functions = {
            "relu": lambda x: _chosen(x.value > 0, x, self.constant(Fraction(0))),
            "abs": lambda x: _chosen(x.value > 0, x, -x),
            "sqrt": lambda x: x.power(0.5),
            "softplus": _softplus,
            "exp": _exp,
            "expit": _expit,
        }
        return functions[name](first)


class ExtendedPhi:
    """A convex phi in extended precision.

    Parameters
    ----------
    text : str
        The formula.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree = ast.parse(text, mode="eval").body

    def jet(self, t: np.ndarray) -> Jet:
        t = np.asarray(t, dtype=Extended)
        return _Reader(self.text, Jet(t, np.ones_like(t), np.zeros_like(t))).value(self._tree)

    @cached_property
    def kinks(self) -> np.ndarray:
        """Where the slope jumps, to the last bits: cells of a grid in which it changes too much, then bisection."""
        grid = np.linspace(-8, 8, 1601, dtype=Extended) + Extended("0.00123")
        low, high = grid[:-1], grid[1:]
        for _ in range(80):
            middle = (low + high) / 2
            left, at, right = (self.jet(t).slope for t in (low, middle, high))
            upper = right - at > at - left
            low, high = np.where(upper, middle, low), np.where(upper, high, middle)
        hair = 8 * _EPS * (1 + np.abs(low))
        jumps = self.jet(high + hair).slope - self.jet(low - hair).slope
        found = ((low + high) / 2)[jumps > 1e-6]
        found = np.where(np.abs(found) < 4 * _EPS, 0, found)
        doubles = found.astype(np.float64).astype(Extended)  # a kink at a double is that double
        return np.where(np.abs(doubles - found) <= 4 * _EPS * (1 + np.abs(found)), doubles, found)

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last point of each smooth piece, a hair inside its kinks."""
        hair = 8 * _EPS * (1 + np.abs(self.kinks))
        infinite = np.array([np.inf], dtype=Extended)
        return np.concatenate([-infinite, self.kinks + hair]), np.concatenate([self.kinks - hair, infinite])

    def rounded(self, t: np.ndarray, width: float) -> Rounded:
        """The slope rises linearly over this width at each kink; the pieces between the kinks move apart for it."""
        t = np.asarray(t, dtype=Extended)
        if not self.kinks.size:
            jet = self.jet(t)
            return Rounded(t, jet.value, jet.slope, jet.curvature, np.zeros(t.shape, dtype=bool), jet.slope, jet.slope)
        count = self.kinks.size
        first, last = self._ends
        # Piece m is shifted by (m - count/2) widths; between pieces m and m + 1 is the ramp of kink m.
        shifts = (np.arange(count + 1) - Extended(count) / 2) * Extended(width)
        starts, stops = first + shifts, last + shifts
        piece = np.searchsorted(starts[1:], t, side="right")
        kink = np.minimum(piece, count - 1)
        on_ramp = (piece < count) & (t > stops[piece])
        point = np.where(on_ramp, self.kinks[kink], np.clip(t - shifts[piece], first[piece], last[piece]))
        jet = self.jet(point)
        left, right = self.jet(last[:-1]).slope[kink], self.jet(first[1:]).slope[kink]
        length = starts[kink + 1] - stops[kink]
        ramp = left + (t - stops[kink]) / length * (right - left)
        return Rounded(
            point,
            jet.value,
            np.where(on_ramp, ramp, jet.slope),
            np.where(on_ramp, (right - left) / length, jet.curvature),
            on_ramp,
            np.where(on_ramp, left, jet.slope),
            np.where(on_ramp, right, jet.slope),
        )


@lru_cache(maxsize=64)
def extended_phi(text: str) -> ExtendedPhi:
    return ExtendedPhi(text)
