"""Test on a grid whether the facts declared about a phi are false."""

from __future__ import annotations

import numpy as np

from uneven.errors import LossError
from uneven.losses.margin_function import Phi
from uneven.shape.numeric_limits import limit

_POINTS = np.unique(
    np.concatenate([np.linspace(-8, 8, 401), np.geomspace(1e-3, 1e3, 61), -np.geomspace(1e-3, 1e3, 61)])
)


def falsified(phi: Phi) -> str | None:
    """A sentence about the first declared fact that is false on the grid; None if there is none."""
    values = np.asarray(phi(_POINTS))
    scale = 1e-12 * (1 + np.where(np.isfinite(values), values, 0))
    if phi.declaration.convex:
        middle = phi((_POINTS[:-2] + _POINTS[2:]) / 2)
        chord = values[:-2] / 2 + values[2:] / 2  # halve first, because the sum may overflow
        bad = middle > chord + scale[:-2] + scale[2:]
        if bad.any():
            return f"declared convex, but it is above its chord at t = {_POINTS[1:-1][bad][0]:.6g}"
    if phi.declaration.limits is not None:
        for declared, end in zip(phi.limits, (-1, 1), strict=True):
            reached = limit(phi.tree, end)
            if not np.isclose(reached, declared, rtol=1e-9, atol=1e-9):
                return f"declared to tend to {declared:.6g}, but it tends to {reached:.6g} as t -> {end * np.inf}"
    if phi.declaration.minimiser is not None:
        slack = scale[:-1] + scale[1:]
        with np.errstate(invalid="ignore"):
            steps = np.nan_to_num(np.diff(values))
        falling = _POINTS[1:] <= phi.declaration.minimiser
        rising = _POINTS[:-1] >= phi.declaration.minimiser
        if (steps[falling] > slack[falling]).any() or (steps[rising] < -slack[rising]).any():
            return f"declared to fall up to t = {phi.declaration.minimiser:.6g} and rise after it, but it does not"
    minimum = phi.minimum
    if minimum is not None and (values < minimum - scale).any():
        return f"declared to be at least {minimum:.6g}, but it is {values.min():.6g}"
    return None


def require_true(phi: Phi) -> None:
    """Raise if a declared fact is false."""
    complaint = falsified(phi)
    if complaint is not None:
        raise LossError(f"{phi.text} is {complaint}: correct the declaration")
