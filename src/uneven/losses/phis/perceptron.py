r"""Perceptron: :math:`\varphi(t) = (-t)_+`. Because of its kink at 0 it is calibrated for no costs."""

import math
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, HalfLineInfima

Array = Any


def _sides(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> HalfLineInfima:
    zero = np.zeros_like(a + b)
    return HalfLineInfima(zero, zero, zero)


declaration = Declaration(
    sentence="relu(-t)",
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("phi(0) = 0 is its minimum", _sides),
)
