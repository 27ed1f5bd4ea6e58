r"""Tangent: :math:`\varphi(t) = (2 \arctan t - 1)^2`."""

import math
from fractions import Fraction
from typing import Any

from uneven.losses.declaration import ClosedForm, Declaration, OwnOdds, from_risk_and_gap, only_even_margins

Array = Any
# For a gamma above this number or below its reciprocal, t = 0 does not minimise the risk at eta = 1/2.
_LARGEST_TANGENTIAL_GAMMA = Fraction("13.936010496007820872757024303")  # rounded down


def _risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    return 4 * a * b / (a + b)


def _gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    return difference * difference / (a + b)


def _own_odds(gamma: Fraction, parameters: dict[str, Fraction]) -> Fraction | None:
    return Fraction(1) if max(gamma, 1 / gamma) <= _LARGEST_TANGENTIAL_GAMMA else None


declaration = Declaration(
    sentence="(2*atan(t) - 1)**2",
    convex=False,
    limits=("(pi + 1)**2", "(pi - 1)**2"),
    minimiser=math.tan(0.5),
    minimum="0",
    closed_form=ClosedForm(
        "square loss of atan(t) + 1/2, gamma = 1", from_risk_and_gap(_risk, _gap), only_even_margins
    ),
    own_odds=OwnOdds("t = 0 minimises the risk at equal weights if max(gamma, 1/gamma) <= 13.936...", _own_odds),
)
