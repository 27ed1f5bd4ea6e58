r"""Smoothed hinge of width s: the hinge with its kink replaced by a parabola on :math:`(1 - s, 1)`.

.. math:: \varphi(t) = 0 \; (t \ge 1), \quad \frac{(1-t)^2}{2s} \; (1 - s < t < 1),
          \quad 1 - t - \frac{s}{2} \; (t \le 1 - s)
"""

import math
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, Parameter, from_risk_and_gap

Array = Any


def _risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    s = parameters["width"]
    with np.errstate(divide="ignore", invalid="ignore"):
        right = b * (1 + (1 - s / 2) / gamma - s * b / (2 * a))
        left = a * (1 + (1 - s / 2) * gamma - s * a / (2 * b)) / gamma
    return np.where(difference >= 0, right, left)


def _gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """(a-b)(1 - s(a+b)/(2a)) for a >= b, with the factor written as a sum of nonnegative terms."""
    s = parameters["width"]
    size = np.abs(difference)
    larger = np.maximum(a, b)
    gap = size * ((2 - 2 * s) * larger + s * size) / (2 * larger)
    return np.where(difference >= 0, gap, gap / gamma)


declaration = Declaration(
    sentence="where(t <= 1 - width, 1 - t - width/2, relu(1 - t)**2/(2*width))",
    parameters=(Parameter("width", default=1, above=0, at_most=1),),
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("theorem 5, minimised piece by piece", from_risk_and_gap(_risk, _gap)),
)
