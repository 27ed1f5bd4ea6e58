"""Lemma M: if L1 falls and L-1 rises, then A - B never rises as eta grows, and mu = nu for every alpha."""

from __future__ import annotations

from uneven.expression.functions import FALLING, RISING
from uneven.losses import Loss, Phi
from uneven.losses.partial import Partial
from uneven.shape.structure import direction_by_structure


def falls_and_rises(loss: Loss) -> bool:
    """Whether L1 falls up to a minimiser at t > 0 and L-1 rises from a minimiser at t < 0.

    A t beyond these minimisers is no better for either label, so it can be ignored.
    """
    return all(_moves(partial, sign) for partial, sign in zip(loss.partials, (1, -1), strict=True))


def _moves(partial: Partial, sign: int) -> bool:
    if not isinstance(partial.function, Phi):
        return False
    declared = partial.function.declaration.minimiser if partial.function.built_in else None
    if declared is not None and declared > 0:
        return partial.inner * sign > 0
    return direction_by_structure(partial.tree) == (FALLING if sign > 0 else RISING)
