"""The double nearest to a value, decided by balls of more and more bits."""

from __future__ import annotations

import math

from flint import arb

from uneven.expression.tree import Node
from uneven.ops.balls import Undefined, enclose_interval, interval

_PRECISIONS = (64, 128, 256, 1024, 4096)
_BEYOND_DOUBLES = arb(2) ** 1024


def nearest_float(tree: Node, t: float) -> float | None:
    """The value at a double, rounded to a double; None if no precision up to 4096 bits decides it.

    Raises
    ------
    Undefined
        If at every precision the tree may be undefined there.
    """
    point = interval(t, t)
    undefined = 0
    for bits in _PRECISIONS:
        try:
            result = enclose_interval(tree, point, bits=bits)
        except Undefined:
            undefined += 1
            continue
        lo, hi = float(result.lo), float(result.hi)
        if lo == hi or (math.isfinite(lo) and abs(hi - lo) <= 1e-15 * abs(lo)) or max(abs(lo), abs(hi)) < 5e-324:
            return hi
        if result.lo > _BEYOND_DOUBLES or result.hi < -_BEYOND_DOUBLES:
            return math.copysign(math.inf, lo)
    if undefined == len(_PRECISIONS):
        raise Undefined(f"undefined at {t!r}")
    return None
