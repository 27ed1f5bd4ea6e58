"""Is a tree a loss? Defined and nonnegative everywhere, finite at 0."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from uneven._inputs import to_float
from uneven.errors import ExpressionError
from uneven.expression import Node, to_text
from uneven.ops.balls import Undefined, enclose_interval, interval, nearest_float
from uneven.ops.floats import plain_values
from uneven.ops.pieces import _minimise, critical_points, probe_points


def require_loss(tree: Node) -> None:
    """Raise :class:`ExpressionError` unless the tree, as written, can be a partial loss.

    Floating point only proposes points; ball arithmetic at the exact point decides.
    """
    text = to_text(tree)
    at_zero = _value(tree, 0.0)
    if at_zero is None or math.isinf(at_zero):
        raise ExpressionError(f"a loss is finite at t = 0, but {text} is not", text=text)
    critical = critical_points(tree)
    t = np.unique(np.concatenate([probe_points(), [to_float(point) for point in critical]]))
    t = t[np.isfinite(t)]
    y = plain_values(tree, t)
    suspects = _by_size(t[~np.isfinite(y)])
    near = [(to_float(point), math.ulp(point)) for point in critical]
    for point, radius in [(point, 0.0) for point in suspects[:8] + suspects[-2:]] + near:
        if _undefined_on(tree, Fraction(point) - Fraction(radius), Fraction(point) + Fraction(radius)):
            raise ExpressionError(f"a loss is defined for every t, but {text} is undefined at t = {point:.12g}")
    for point in _by_size(t[y < 0])[:50] + _dips(tree, t, y):
        if _negative_at(tree, point):
            value = _value(tree, point)
            shown = "negative" if value is None else f"{value:.6g}"
            raise ExpressionError(f"a loss is never negative, but {text} is {shown} at t = {point:.12g}")


def _value(tree: Node, t: float) -> float | None:
    try:
        return nearest_float(tree, t)
    except Undefined:
        return None


def _by_size(points: np.ndarray) -> list[float]:
    """Points a person would choose first: whole numbers, then near 0."""
    return sorted((float(p) for p in points), key=lambda p: (not p.is_integer() or abs(p) > 100, abs(p)))


def _undefined_on(tree: Node, low: Fraction, high: Fraction) -> bool:
    """No precision shows the tree to be defined on the interval (which is one ulp wide at a possible pole)."""
    for bits in (64, 512):
        try:
            enclosure = enclose_interval(tree, interval(low, high), bits=bits)
        except Undefined:
            continue
        if enclosure.lo.is_finite() or enclosure.hi.is_finite():
            return False
    return True


def _negative_at(tree: Node, point: float) -> bool:
    exact = Fraction(point)
    try:
        return bool(enclose_interval(tree, interval(exact, exact), bits=256).hi < 0)
    except Undefined:
        return False


def _dips(tree: Node, t: np.ndarray, y: np.ndarray) -> list[float]:
    """Refined local minima, where a loss could dip below zero between the probes."""
    with np.errstate(invalid="ignore"):
        local = (y[1:-1] <= y[:-2]) & (y[1:-1] <= y[2:]) & ((y[1:-1] < y[:-2]) | (y[1:-1] < y[2:]))
    return [
        _minimise(lambda x: float(plain_values(tree, np.array([x]))[0]), t[i - 1], t[i + 1])
        for i in (np.flatnonzero(local) + 1)[:40]
    ]
