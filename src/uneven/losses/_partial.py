"""One partial loss: weight * phi(inner * t), or weight * a user's function of t."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.errors import LossError
from uneven.expression import Node, derivative, substitute
from uneven.expression.algebra import mul
from uneven.expression.tree import Number, T
from uneven.losses._phi import Phi, evaluated
from uneven.ops.floats import repaired


@dataclass(frozen=True)
class Partial:
    """weight * function(inner * t), with exact weight and inner scale."""

    function: Phi | Callable[[Any], Any]
    weight: Fraction = Fraction(1)
    inner: Fraction = Fraction(1)

    def scaled(self, factor: Fraction) -> Partial:
        """The same partial loss times a positive number."""
        return Partial(self.function, self.weight * factor, self.inner)

    @property
    def tree(self) -> Node:
        """The partial loss as one tree in t; only for a phi."""
        function = self._phi("formula")
        return mul(Number(self.weight), substitute(function.tree, {"t": mul(Number(self.inner), T)}))

    @property
    def symbolic(self) -> bool:
        return isinstance(self.function, Phi)

    def _phi(self, wanted: str) -> Phi:
        if not isinstance(self.function, Phi):
            raise LossError(
                f"a loss given as a Python function has no {wanted} here; written as an expression it has one"
            )
        return self.function

    @property
    def limits(self) -> tuple[float, float]:
        """Values at t = -inf and t = inf."""
        if isinstance(self.function, Phi):
            left, right = self.function.limits
        else:
            left, right = (float(v) for v in self._called(np.array([-1e300, 1e300])))
        if self.inner < 0:
            left, right = right, left
        return left * to_float(self.weight), right * to_float(self.weight)

    @property
    def switch_points(self) -> tuple[float, ...]:
        """Values of t where the formula changes."""
        from uneven.ops.pieces import switch_points

        if not isinstance(self.function, Phi):
            return ()
        return tuple(sorted(to_float(point / self.inner) for point in switch_points(self.function.tree)))

    def value(self, t: np.ndarray) -> np.ndarray:
        """Values at an array of floats."""
        if not isinstance(self.function, Phi):
            return self._called(t)
        with np.errstate(over="ignore", invalid="ignore"):
            inside = t * t.dtype.type(to_float(self.inner))
            result = self.function.values(inside) * t.dtype.type(to_float(self.weight))
        # The value before a small weight is applied may have overflowed alone.
        doubtful = _misplaced(t, inside) | (np.isfinite(t) & np.isinf(result) & (self.weight < 1)) | np.isnan(result)
        if doubtful.any():
            result[doubtful] = repaired(self.tree, t[doubtful])
        return result

    def slope(self, t: np.ndarray) -> np.ndarray:
        """First derivative in t."""
        tree = derivative(self._phi("slope").tree)
        return self._differentiated(tree, self.weight * self.inner, lambda: derivative(self.tree), t)

    def curvature(self, t: np.ndarray) -> np.ndarray:
        """Second derivative in t."""
        tree = derivative(derivative(self._phi("curvature").tree))
        return self._differentiated(tree, self.weight * self.inner**2, lambda: derivative(derivative(self.tree)), t)

    def _differentiated(self, tree: Node, factor: Fraction, whole: Callable[[], Node], t: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            inside = t * t.dtype.type(to_float(self.inner))
            result = evaluated(tree, inside) * t.dtype.type(to_float(factor))
        doubtful = _misplaced(t, inside) | np.isnan(result)
        if doubtful.any():
            result[doubtful] = repaired(whole(), t[doubtful])
        return result + t.dtype.type(0)  # no negative zero

    def _called(self, t: np.ndarray) -> np.ndarray:
        inside = t * t.dtype.type(to_float(self.inner))
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
        return result.astype(t.dtype) * t.dtype.type(to_float(self.weight))


def _misplaced(t: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Where inner * t has left the range of normal floats, though t had not."""
    lost = (np.abs(inside) < np.finfo(t.dtype).tiny) & (t != 0)
    return lost | (np.isinf(inside) & np.isfinite(t))
