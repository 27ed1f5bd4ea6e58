r"""Window loss of order k: :math:`\varphi(t) = I_{\sigma(-t)}(k + 1, k)`, a regularised incomplete beta function.

The slope of the loss is a window around t = 0, of a width of about :math:`1/\sqrt{k}` in log-odds:

.. math:: \varphi'(t) = -\frac{p^{k+1} (1 - p)^k}{B(k + 1, k)}, \quad p = \frac{1}{1 + e^t}

At gamma = 1 it is twice the mean of the cost over costs with :math:`\alpha \sim \mathrm{Beta}(k, k)`: a proper loss
whose score is the log-odds. It leads from the logistic loss (:math:`\varphi_k/k` as k tends to 0) over
:math:`\sigma(-t)^2` (k = 1, the savage loss at half the scale) to the zero-one loss (k to infinity). docs/window.md has
the proofs.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, OwnOdds, Parameter, from_risk_and_gap, only_even_margins
from uneven.ops.floats import majority

Array = Any


def _risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """The minimiser is the log-odds of a : b, so both partial losses are incomplete beta functions of the shares."""
    k, total = int(parameters["order"]), a + b
    p, q = a / total, b / total
    return a * majority(k, q, p) + b * majority(k, p, q)


def _gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """(a + b)/2 times the mean of (|z| - V)+, where z = (a - b)/(a + b) and V has a density of (1 - v^2)^(k-1).

    The integral of (1 - v^2)^m from 0 to z is J_m = (z (1 - z^2)^m + 2m J_(m-1))/(2m + 1): positive terms.
    """
    k, total = int(parameters["order"]), a + b
    z = np.minimum(np.abs(difference) / total, 1)  # rounding may put it above
    rest = 4 * (a / total) * (b / total)  # 1 - z^2
    power, integral = np.ones_like(z), z
    for m in range(1, k):
        power = power * rest
        integral = (z * power + 2 * m * integral) / (2 * m + 1)
    with np.errstate(divide="ignore"):
        moment = -np.expm1(k * np.log1p(-z * z)) / (2 * k)
    return total * k * _mean_distance(k) * (z * integral - moment)


def _mean_distance(order: int) -> float:
    """binomial(2k, k)/4^k: the mean of V."""
    return math.comb(2 * order, order) / 4**order


def _own_odds(gamma: Fraction, parameters: dict[str, Fraction]) -> Fraction | None:
    """t = 0 minimises the risk at eta = 1/2 if and only if phi(0) (1 + g) <= 1, where g = max(gamma, 1/gamma)."""
    k = int(parameters["order"])
    at_zero = (1 - Fraction(math.comb(2 * k, k), 4**k)) / 2
    return Fraction(1) if at_zero * (1 + max(gamma, 1 / gamma)) <= 1 else None


declaration = Declaration(
    sentence="window(-t, order)",
    parameters=(Parameter("order", default=8, at_least=1, at_most=64, whole=True),),
    convex=False,
    limits=("1", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm(
        "proper loss of the probability expit(t), gamma = 1", from_risk_and_gap(_risk, _gap), only_even_margins
    ),
    own_odds=OwnOdds("t = 0 minimises the risk at equal weights if max(gamma, 1/gamma) <= 1/phi(0) - 1", _own_odds),
    also_called=("window_loss", "beta_loss"),
)
