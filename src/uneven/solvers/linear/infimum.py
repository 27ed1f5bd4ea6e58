"""A lower bound of a convex phi, for bounds that must be true."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from uneven.errors import ExpressionError
from uneven.expression import Node
from uneven.losses import Phi
from uneven.ops.kernels import CompiledPhi
from uneven.shape.pieces import Undecidable

#: Margins at which slopes are read: from far left to far right, dense around 0.
_SIZES = 2.0 ** np.arange(-20.0, 40.0)
_MARGINS = np.concatenate([-_SIZES[::-1], [0.0], _SIZES])
_HALVINGS = 60


def infimum(phi: Phi, kernel: CompiledPhi) -> float:
    """A number that a convex phi never falls below, close to its infimum; minus infinity if none is known.

    A phi that falls everywhere has its limit as infimum. One that falls and rises lies above its supporting lines left
    and right of its minimum, hence above the point where they meet.
    """
    if phi.minimum is not None:
        return phi.minimum
    return _of_tree(phi.tree, phi, kernel)


@lru_cache(maxsize=256)
def _of_tree(tree: Node, phi: Phi, kernel: CompiledPhi) -> float:
    values, slopes = kernel.plain.first(_MARGINS)
    usable = np.isfinite(values) & np.isfinite(slopes)
    falling, rising = np.flatnonzero(usable & (slopes < 0)), np.flatnonzero(usable & (slopes > 0))
    if not (falling.size and rising.size):
        flat = values[usable & (slopes == 0)]
        if flat.size:
            return float(flat.min())
        try:
            end = phi.limits[1 if falling.size else 0]
        except (ExpressionError, Undecidable):
            return -math.inf
        return end if math.isfinite(end) else -math.inf
    low, high = float(_MARGINS[falling[-1]]), float(_MARGINS[rising[0]])
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        slope = kernel.plain.first(np.array([middle]))[1][0]
        if slope == 0:
            return float(kernel.plain.first(np.array([middle]))[0][0])
        low, high = (middle, high) if slope < 0 else (low, middle)
    (left, right), (down, up) = kernel.plain.first(np.array([low, high]))
    # The two lines meet between the two margins, so each falls at most this deep before.
    return float(max(left + down * (high - low), right - up * (high - low)))
