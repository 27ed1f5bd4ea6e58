r"""Sigmoid: :math:`\varphi(t) = 1/(1 + e^t)`."""

import math
from fractions import Fraction

from uneven.losses.declaration import ClosedForm, Declaration, OwnOdds, only_even_margins, symmetric_sides


def _own_odds(gamma: Fraction, parameters: dict[str, Fraction]) -> Fraction | float:
    """Odds of alpha(gamma), to full precision for every gamma (Scott, appendix B).

    With d = gamma - 1 >= 0: z in (0, 1) solves gamma z^(gamma-1) + (gamma-1) z^gamma = 1, which is
    t = -log1p(d (1 + e^t))/d for t = ln z, and odds = (1 + d (1 + z))/gamma^2.
    """
    if gamma == 1:
        return Fraction(1)
    if gamma < 1:  # alpha(1/gamma) = 1 - alpha(gamma)
        return 1 / _odds_above_one(float((1 - gamma) / gamma))
    return _odds_above_one(float(gamma - 1))


def _odds_above_one(d: float) -> float:
    t = -1.2784645427610738 if d < 1e-3 else -math.log1p(2 * d) / d  # near d = 0: the limit of the root
    for _ in range(60):
        z = math.exp(t)
        u = d * (1 + z)
        step = (t + math.log1p(u) / d) / (1 + z / (1 + u))
        t -= step
        if abs(step) <= 1e-16 * abs(t):
            break
    return ((1 + d * (1 + math.exp(t))) / (1 + d)) / (1 + d)


declaration = Declaration(
    sentence="expit(-t)",
    convex=False,
    limits=("1", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("phi(t) + phi(-t) = 1, gamma = 1", symmetric_sides, only_even_margins),
    own_odds=OwnOdds("Scott, section 4.4 and appendix B", _own_odds),
)
