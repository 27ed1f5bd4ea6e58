"""One partial loss: weight * phi(inner * t), or weight * a user's function of t."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from uneven.errors import LossError
from uneven.expression import Node, derivative, substitute, to_text
from uneven.expression.algebra import affine, call, holds, mul, number, subtract, where
from uneven.expression.tree import Number, T, Where, rebuild
from uneven.inputs import to_float
from uneven.losses.margin_function import Phi, phi
from uneven.ops.floats import plain_values, repair_values

_ORDINARY = 1e100


@dataclass(frozen=True)
class Partial:
    """weight * function(inner * t), with exact weight and inner scale."""

    function: Phi | Callable[[Any], Any]
    weight: Fraction = Fraction(1)
    inner: Fraction = Fraction(1)

    def scaled(self, factor: Fraction) -> Partial:
        """The same partial loss times a positive number."""
        return Partial(self.function, self.weight * factor, self.inner)

    def clipped(self, bound: Fraction) -> Partial:
        """The same partial loss at t clipped to [-bound, bound]."""
        from uneven.shape.pieces import formula_inside

        reach = bound * abs(self.inner)
        if isinstance(self.function, Phi):
            sides = ((-math.inf, Fraction(0)), (Fraction(0), math.inf))
            if all(isinstance(formula_inside(self.function.tree, *ends), Number) for ends in sides):
                return self  # it is constant on each side of 0, such as the cost itself
            return Partial(phi(to_text(_clip(self.function.tree, reach))), self.weight, self.inner)
        return Partial(_Clipped(self.function, to_float(reach)), self.weight, self.inner)

    @cached_property
    def _factors(self) -> tuple[float, float, float, float]:
        """inner, weight, weight * inner and weight * inner**2 as floats."""
        w, k = self.weight, self.inner
        return to_float(k), to_float(w), to_float(w * k), to_float(w * k * k)

    @cached_property
    def tree(self) -> Node:
        """The partial loss as one tree in t; only for a phi."""
        function = self.require_phi("formula")
        return mul(Number(self.weight), substitute(function.tree, {"t": mul(Number(self.inner), T)}))

    @property
    def key(self) -> object:
        """What makes two partial losses equal: the formula, else the function and its factors."""
        return self.tree if self.symbolic else (self.function, self.weight, self.inner)

    @property
    def symbolic(self) -> bool:
        return isinstance(self.function, Phi)

    def require_phi(self, wanted: str) -> Phi:
        """The phi, or an error that says what a Python function lacks."""
        if not isinstance(self.function, Phi):
            raise LossError(
                f"a loss given as a Python function has no {wanted} here; written as an expression it has one"
            )
        return self.function

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Values at t = -inf and t = inf."""
        if isinstance(self.function, Phi):
            left, right = self.function.limits
        else:
            left, right = (float(v) for v in self._called(np.array([-1e300, 1e300])))
        if self.inner < 0:
            left, right = right, left
        return left * self._factors[1], right * self._factors[1]

    @cached_property
    def switch_points(self) -> tuple[float, ...]:
        """Values of t where the formula changes."""
        from uneven.shape.kinks import switch_points

        if not isinstance(self.function, Phi):
            return ()
        return tuple(sorted(to_float(point / self.inner) for point in switch_points(self.function.tree)))

    def value(self, t: np.ndarray) -> np.ndarray:
        """Values at an array of floats."""
        if not isinstance(self.function, Phi):
            return self._called(t)
        quick = self._quick(0, t)
        if quick is not None:
            return quick
        with np.errstate(all="ignore"):
            inside = t * t.dtype.type(self._factors[0])
            result = self.function.values(inside) * t.dtype.type(self._factors[1])
        # The value before a small weight is applied may have overflowed alone.
        doubtful = _misplaced(t, inside) | (np.isfinite(t) & np.isinf(result) & (self.weight < 1)) | np.isnan(result)
        if doubtful.any():
            result[doubtful] = repair_values(self.tree, t[doubtful])
        return result

    def slope(self, t: np.ndarray) -> np.ndarray:
        """First derivative in t."""
        return self._differentiated(1, t)

    def curvature(self, t: np.ndarray) -> np.ndarray:
        """Second derivative in t."""
        return self._differentiated(2, t)

    def _differentiated(self, order: int, t: np.ndarray) -> np.ndarray:
        function = self.require_phi("slope" if order == 1 else "curvature")
        quick = self._quick(order, t)
        if quick is not None:
            return quick
        with np.errstate(all="ignore"):
            inside = t * t.dtype.type(self._factors[0])
            result = function.derivatives(order, inside) * t.dtype.type(self._factors[order + 1])
        # As for values: the derivative before a small factor is applied may have overflowed alone.
        overflowed = np.isfinite(t) & np.isinf(result) & (abs(self._factors[order + 1]) < 1)
        doubtful = _misplaced(t, inside) | overflowed | np.isnan(result)
        if doubtful.any():
            whole = derivative(self.tree)
            result[doubtful] = repair_values(whole if order == 1 else derivative(whole), t[doubtful])
        return result + t.dtype.type(0)  # no negative zero

    @cached_property
    def _plain(self) -> tuple[Node, Node, Node] | None:
        """Trees of phi and its derivatives, if plain floats are accurate at arguments of ordinary size."""
        if not isinstance(self.function, Phi) or self.function.declaration.special_value is not None:
            return None
        if self.switch_points:
            return None
        tree = self.function.tree
        return tree, derivative(tree), derivative(derivative(tree))

    def _quick(self, order: int, t: np.ndarray) -> np.ndarray | None:
        """Values or derivatives of a smooth phi at doubles of ordinary size; None if more care is needed."""
        if self._plain is None or t.dtype != np.float64 or t.size == 0:
            return None
        size, scale = np.abs(t), abs(self._factors[0])
        small = size[size > 0].min(initial=math.inf)
        if not (float(size.max()) * scale < _ORDINARY and float(small) * scale > 1 / _ORDINARY):
            return None
        inside = t * self._factors[0]
        result = plain_values(self._plain[order], inside) * self._factors[(1, 2, 3)[order]]
        return result + 0.0 if np.isfinite(result).all() else None

    def unchecked(self, order: int, t: np.ndarray) -> np.ndarray:
        """Derivatives in plain floating point, NaN where they are undefined: for searches that tolerate NaN."""
        tree = derivative(self.require_phi("slope").tree)
        with np.errstate(all="ignore"):
            inside = t * self._factors[0]
            return plain_values(tree if order == 1 else derivative(tree), inside) * self._factors[order + 1]

    def _called(self, t: np.ndarray) -> np.ndarray:
        inside = t * t.dtype.type(self._factors[0])
        with np.errstate(all="ignore"):
            raw = self.function(inside)
        result = np.asarray(raw)
        if result.shape != t.shape or result.dtype.kind not in "fiub":
            raise LossError(
                f"a partial loss given as a function must return an array of numbers of shape {t.shape} for an "
                f"array of that shape, got {result.dtype} of shape {result.shape}"
            )
        wrong = ~(result >= 0)
        if wrong.any():
            at, value = float(inside[wrong].flat[0]), result[wrong].flat[0]
            raise LossError(f"a loss is never negative or NaN, but the given function returns {value} at t = {at:.12g}")
        return result.astype(t.dtype) * t.dtype.type(self._factors[1])


def _misplaced(t: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Where inner * t has left the range of normal floats, though t had not."""
    lost = (np.abs(inside) < np.finfo(t.dtype).tiny) & (t != 0)
    return lost | (np.isinf(inside) & np.isfinite(t))


@dataclass(frozen=True)
class _Clipped:
    """A user's function of t, called with t clipped to [-reach, reach]."""

    function: Callable[[Any], Any]
    reach: float

    def __call__(self, t: np.ndarray) -> Any:
        return self.function(np.clip(t, -self.reach, self.reach))


def _clip(tree: Node, reach: Fraction) -> Node:
    """The tree with t clipped to [-reach, reach].

    A condition of ``where`` that changes at one t inside the range holds for the clipped t exactly if it holds for t.
    It stays as it is, because the continuity of a ``where`` can be proved only if its condition is affine. A condition
    that changes outside the range is decided.
    """
    if tree == T:
        return call("max", number(-reach), call("min", number(reach), T))
    if isinstance(tree, Where):
        line = affine(subtract(tree.left, tree.right))
        if line is not None and line[0] != 0:
            change = -line[1] / line[0]
            if abs(change) < reach:
                return where(tree.op, tree.left, tree.right, _clip(tree.yes, reach), _clip(tree.no, reach))
            if abs(change) > reach:
                return _clip(tree.yes if holds(tree.op, line[1], Fraction(0)) else tree.no, reach)
    if not tree.children:
        return tree
    return rebuild(tree, tuple(_clip(child, reach) for child in tree.children))
