"""Functions made of straight pieces, and the kinks of functions that have them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from uneven.errors import ExpressionError
from uneven.expression import Node, derivative
from uneven.expression.tree import ZERO
from uneven.ops.floats import plain_values
from uneven.shape.kinks import kinks, switch_points
from uneven.shape.pieces import Undecidable, beside


@lru_cache(maxsize=1024)
def is_piecewise_linear(tree: Node) -> bool:
    """Whether a function is made of straight pieces; it may jump between them.

    Decided by the formula: its second derivative simplifies to 0.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.polygon import is_piecewise_linear
    >>> is_piecewise_linear(parse("relu(1 - t) + abs(t)/2")), is_piecewise_linear(parse("relu(1 - t)**2"))
    (True, False)
    """
    return derivative(derivative(tree)) == ZERO


@lru_cache(maxsize=1024)
def kinks_and_jumps(tree: Node) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The kinks of a continuous function, in order, and by how much its slope jumps up at each.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.polygon import kinks_and_jumps
    >>> kinks_and_jumps(parse("relu(1 - t) + 3*relu(-t)"))
    ((0.0, 1.0), (3.0, 1.0))
    """
    found = kinks(tree)
    return found, tuple(_slope(tree, kink, 1) - _slope(tree, kink, -1) for kink in found)


@dataclass(frozen=True)
class Polygon:
    """A continuous function of straight pieces. Two formulas of the same function give the same polygon.

    Attributes
    ----------
    kinks : tuple of float
        In order.
    slopes : tuple of float
        Slope of each piece, from the left; one more than there are kinks.
    value : float
        Value at the first kink, or at 0 if there is none.
    """

    kinks: tuple[float, ...]
    slopes: tuple[float, ...]
    value: float


@lru_cache(maxsize=1024)
def polygon(tree: Node) -> Polygon | None:
    """The polygon that a formula describes; None if a piece is curved, the function jumps, or its pieces are not known.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.polygon import polygon
    >>> polygon(parse("relu(1 - t)"))
    Polygon(kinks=(1.0,), slopes=(-1.0, 0.0), value=0.0)
    >>> polygon(parse("max(1 - t, 0)")) == polygon(parse("(abs(1 - t) + 1 - t)/2")) == polygon(parse("relu(1 - t)"))
    True
    >>> polygon(parse("step(t)")) is None
    True
    """
    if not is_piecewise_linear(tree):
        return None
    found = kinks(tree)
    start = found[0] if found else 0.0
    try:
        if any(_value(tree, kink, -1) != _value(tree, kink, 1) for kink in found):
            return None
        slopes = (_slope(tree, start, -1), *(_slope(tree, kink, 1) for kink in found))
        return Polygon(found, slopes, _value(tree, start, -1))
    except (Undecidable, ExpressionError):
        return None


def _slope(tree: Node, kink: float, side: int) -> float:
    """Slope just left (side -1) or right (+1) of a kink, or of any point of a tree without switches."""
    return float(plain_values(derivative(_formula_beside(tree, kink, side)), np.array([kink]))[0])


def _value(tree: Node, kink: float, side: int) -> float:
    """Limit of the values from the left (side -1) or the right (+1) of a kink."""
    return float(plain_values(_formula_beside(tree, kink, side), np.array([kink]))[0])


def _formula_beside(tree: Node, kink: float, side: int) -> Node:
    """The formula that holds from a kink to the next switch point on this side.

    It is read off in the middle of that piece: the kink itself may be no double, such as 1/3, and then its double lies
    on one side of it.
    """
    points = switch_points(tree)
    if not points:
        return tree
    here = min(range(len(points)), key=lambda k: abs(points[k] - Fraction(kink)))
    beyond = here + side
    if 0 <= beyond < len(points):
        middle = (points[here] + points[beyond]) / 2
    else:
        middle = points[here] + side * max(abs(points[here]), Fraction(1))
    return beside(tree, middle, side)
