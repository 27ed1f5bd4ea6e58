r"""Zero-one: :math:`\varphi(t) = 1\{t \le 0\}`."""

import math
from fractions import Fraction
from typing import Any

from uneven.losses.declaration import ClosedForm, Declaration, HalfLineInfima, OwnOdds

Array = Any


def _sides(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> HalfLineInfima:
    """The risk is b/gamma for t > 0, a for t < 0, and a + b/gamma at t = 0."""
    return HalfLineInfima(b / gamma, a + 0 * b, b / gamma - a)


def _own_odds(gamma: Fraction, parameters: dict[str, Fraction]) -> Fraction:
    return 1 / gamma


declaration = Declaration(
    sentence="1 - step(t)",
    convex=False,
    limits=("1", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("constant on each side of 0", _sides),
    own_odds=OwnOdds("constant on each side of 0, so A = B at odds 1/gamma", _own_odds),
    also_called=("accuracy", "misclassification"),
)
