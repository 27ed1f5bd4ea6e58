r"""Ramp loss, a hinge that is at most c: :math:`\varphi(t) = \min(c, (1 - t)_+)`."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, HalfLineInfima, OwnOdds, Parameter

Array = Any


def _heights(gamma: float, parameters: dict[str, float]) -> tuple[float, float]:
    """phi(-1/gamma) and phi(-gamma): the loss of one class where the loss of the other becomes 0."""
    cap = parameters["cap"]
    return min(cap, 1 + 1 / gamma), min(cap, 1 + gamma)


def _sides(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> HalfLineInfima:
    """A = min(C(0), b m2/gamma), B = min(C(0), a m1): the risk is piecewise linear."""
    m1, m2 = _heights(gamma, parameters)
    at_zero, right, left = a + b / gamma, b * m2 / gamma, a * m1
    # Compute the differences from C(0) through a - b; they would cancel where m1 and m2 equal those of the hinge.
    right_gap = -difference + b * (m2 - 1 - gamma) / gamma
    left_gap = -difference / gamma + a * (1 / gamma - (m1 - 1))
    difference_of_sides = np.where(
        right < at_zero,
        np.where(left < at_zero, right - left, right_gap),
        np.where(left < at_zero, left_gap, 0.0),
    )
    return HalfLineInfima(np.minimum(at_zero, right), np.minimum(at_zero, left), difference_of_sides)


def _own_odds(gamma: Fraction, parameters: dict[str, Fraction]) -> Fraction:
    cap = parameters["cap"]
    m1, m2 = min(cap, 1 + 1 / gamma), min(cap, 1 + gamma)
    return m2 / (gamma * m1)


declaration = Declaration(
    sentence="min(cap, relu(1 - t))",
    parameters=(Parameter("cap", default=2, at_least=1),),
    convex=False,
    limits=("cap", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("piecewise linear: the minimum is at 0, 1, -1/gamma or infinity", _sides),
    own_odds=OwnOdds("A and B are linear and cross at alpha = m2/(m2 + gamma m1)", _own_odds),
    also_called=("clipped_hinge", "truncated_hinge"),
)
