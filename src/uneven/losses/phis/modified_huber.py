r"""Modified Huber: :math:`\varphi(t) = (1 - t)_+^2` for :math:`t \ge -1`, else :math:`-4t`."""

import math
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, from_risk_and_gap, mirrored, squared_gap, squared_risk

Array = Any


def _linear_piece(a: Array, b: Array, gamma: float) -> Array:
    """Whether the minimiser lies on the linear piece of the negative loss (for gamma >= 1)."""
    return a * (3 * gamma - 1) > 2 * gamma * (a + b)


def _risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        linear = 4 * b * difference / a
    return np.where(_linear_piece(a, b, gamma), linear, squared_risk(a, b, difference, gamma, parameters))


def _gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        linear = (a - 2 * b) ** 2 / a + b / gamma
    return np.where(_linear_piece(a, b, gamma), linear, squared_gap(a, b, difference, gamma, parameters))


declaration = Declaration(
    sentence="where(t < -1, -4*t, relu(1 - t)**2)",
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("theorem 5, minimised piece by piece", from_risk_and_gap(mirrored(_risk), mirrored(_gap))),
    also_called=("huber",),
)
