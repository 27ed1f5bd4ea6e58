r"""Perceptron: :math:`\varphi(t) = (-t)_+`. Its kink at 0 makes it calibrated for no alpha."""

import math
from typing import Any

import numpy as np

from uneven.losses._family import ClosedForm, Family, Sides

Array = Any


def _sides(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Sides:
    zero = np.zeros_like(a + b)
    return Sides(zero, zero, zero)


family = Family(
    sentence="relu(-t)",
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("phi(0) = 0 is its minimum", _sides),
)
