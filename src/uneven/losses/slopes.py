"""A partial loss from its slope: an exact antiderivative where one is found, else a numeric one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from uneven.errors import ExpressionError, LossError
from uneven.expression import Node, parse, simplify, to_text
from uneven.expression.tree import MAX_CHARACTERS
from uneven.losses.margin_function import Phi, phi
from uneven.ops.floats import plain_values
from uneven.shape.antiderivative import antiderivative
from uneven.shape.kinks import switch_points

_FAR = 1e12
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def from_slope(label: str, slope: str) -> Phi | Integral:
    """The loss with this slope, up to a constant that makes it nonnegative."""
    if not isinstance(slope, str):
        raise LossError(f"the slope of the {label} loss is an expression in t such as '-expit(-t)**2', got {slope!r}")
    tree = simplify(parse(slope))
    exact = antiderivative(tree)
    numeric = Integral(slope)
    lowest = numeric.lowest
    if math.isinf(lowest):
        raise LossError(f"the loss of a {label} example with the slope {slope} has no lower bound")
    if exact is None:
        return numeric
    text = to_text(exact)
    try:
        return phi(text)
    except ExpressionError as error:
        if len(text) > MAX_CHARACTERS or "negative" not in str(error):
            return numeric
    # The least value is below 0: lift it by a little more than the numeric one.
    at_zero = float(plain_values(exact, np.array([0.0]))[0])
    lift = Fraction(math.ceil((-(at_zero + lowest) + 1e-9) * 2**20), 2**20)
    return phi(f"{text} + {lift}")


@dataclass(frozen=True)
class Integral:
    """The integral of a slope from 0, minus its least value: by Gauss's rule with 20 points on intervals of 1/4."""

    slope: str

    @cached_property
    def _tree(self) -> Node:
        return simplify(parse(self.slope))

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """Points, and the integral from 0 to each."""
        near, far = np.arange(-40.0, 40.25, 0.25), np.geomspace(41.0, _FAR, 200)
        switches = [float(point) for point in switch_points(self._tree) if abs(point) < _FAR]
        points = np.unique(np.concatenate([-far, near, far, switches]))
        steps, zero = self._between(points[:-1], points[1:]), int(np.searchsorted(points, 0.0))
        left, right = -np.cumsum(steps[:zero][::-1])[::-1], np.cumsum(steps[zero:])
        return points, np.concatenate([left, [0.0], right])

    @cached_property
    def lowest(self) -> float:
        """The least value of the integral from 0; -inf if there is none."""
        points, values = self._table
        for outwards in (values, values[::-1]):
            # The intervals grow outwards by a constant factor: on them, a bounded function falls less and less.
            sooner, last = outwards[-2] - outwards[-3], outwards[-1] - outwards[-2]
            if last < 0 and last < 0.95 * sooner:
                return -math.inf
        fine = np.unique(np.concatenate([points, np.linspace(-40, 40, 8001)]))
        return float(min(values.min(), self._from_zero(fine).min()))

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """Values; never negative."""
        return np.maximum(self._from_zero(np.asarray(t, dtype=np.float64)) - self.lowest, 0.0)

    def _from_zero(self, t: np.ndarray) -> np.ndarray:
        points, values = self._table
        place = np.clip(np.searchsorted(points, t) - 1, 0, points.size - 1)
        return values[place] + self._between(points[place], t)

    def _between(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        half, middle = (high - low) / 2, low / 2 + high / 2
        at = middle[..., None] + half[..., None] * _NODES
        with np.errstate(all="ignore"):
            return half * (plain_values(self._tree, at.ravel()).reshape(at.shape) @ _WEIGHTS)
