r"""Focal loss with exponent g: :math:`\varphi(t) = (1 - p)^g (-\ln p)`, :math:`p = 1/(1 + e^{-t})`.

With g = 0 it is the logistic loss. Publications call the exponent gamma. Their "alpha = 0.25" puts weight 0.25 on the
positives; here that is ``UnevenMarginLoss("focal", alpha=0.75)``, so a false positive costs as much as three false
negatives.
"""

import math
from fractions import Fraction

from uneven.losses.declaration import Declaration, OwnOdds, Parameter


def _own_odds(gamma: Fraction, parameters: dict[str, Fraction]) -> Fraction:
    """phi' crosses the value phi'(0) only at t = 0, so t = 0 minimises the risk at eta = 1/2 for every gamma."""
    return Fraction(1)


declaration = Declaration(
    sentence="expit(-t)**exponent*softplus(-t)",
    parameters=(Parameter("exponent", default=2, at_least=0),),
    convex=False,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    own_odds=OwnOdds("t = 0 minimises the risk at equal weights, for every gamma", _own_odds),
)
