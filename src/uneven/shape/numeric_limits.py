"""Limits at plus and minus infinity as floats: exact where they can be told, else guessed."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from uneven._inputs import to_float
from uneven.errors import ExpressionError
from uneven.expression import Node
from uneven.ops.floats import values
from uneven.shape.limits import exact_limit


@lru_cache(maxsize=4096)
def limit(tree: Node, side: int) -> float:
    """The limit at plus (side 1) or minus infinity as a float: the exact one, else :func:`numeric_limit`.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.numeric_limits import limit
    >>> limit(parse("1/log(2 + t**2)"), 1), limit(parse("t*exp(-t)"), 1)
    (0.0, 0.0)
    """
    exact = exact_limit(tree, side)
    return numeric_limit(tree, side) if exact is None else to_float(exact) if isinstance(exact, Fraction) else exact


def numeric_limit(tree: Node, side: int) -> float:
    """A guess of the limit, from the three points farthest out where the tree can be evaluated.

    If the values still grow there, the limit is taken to be infinite; if they still shrink by a constant factor, 0.
    """
    seen: list[float] = []
    for size in (1e300, 1e150, 1e75, 1e30, 1e12, 1e6, 1e3, 1e2, 1e1):
        try:
            seen.append(float(values(tree, np.array([side * size]))[0]))
        except ExpressionError:
            continue
        if len(seen) == 3:
            break
    far, middle, near = seen
    if far > middle > near and far - middle > 1e-6 * abs(far):
        return math.inf
    if 0 < abs(far) < 0.9 * abs(middle) < 0.81 * abs(near):
        return 0.0
    if far < middle < near and middle - far > 1e-6 * abs(far):
        return -math.inf
    return far
