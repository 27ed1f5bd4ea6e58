r"""Savage: :math:`\varphi(t) = 1/(1 + e^{2t})^2`."""

import math
from fractions import Fraction
from typing import Any

from uneven.losses.declaration import ClosedForm, Declaration, OwnOdds, from_risk_and_gap, only_even_margins

Array = Any


def _risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    return a * b / (a + b)


def _gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    return difference * difference / (4 * (a + b))


def _own_odds(gamma: Fraction, parameters: dict[str, Fraction]) -> Fraction | None:
    """t = 0 minimises the risk at eta = 1/2 if and only if 1/3 <= gamma <= 3."""
    return Fraction(1) if gamma <= 3 and 3 * gamma >= 1 else None


declaration = Declaration(
    sentence="expit(-2*t)**2",
    convex=False,
    limits=("1", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm(
        "square loss of the probability expit(2t), gamma = 1", from_risk_and_gap(_risk, _gap), only_even_margins
    ),
    own_odds=OwnOdds("t = 0 minimises the risk at equal weights if 1/3 <= gamma <= 3", _own_odds),
)
