r"""Probit: the normal tail :math:`\varphi(t) = \Phi(-t)`."""

import math
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, only_even_margins, symmetric_sides

Array = Any


def _value(t: Array) -> Array:
    """Phi(-t) = erfcx(t/sqrt(2)) exp(-t^2/2)/2. The tree would round t/sqrt(2), an error of t^2 ulps in the tail."""
    from scipy.special import erfc, erfcx

    scaled = t * t.dtype.type(math.sqrt(0.5))
    head = t.astype(np.float32).astype(t.dtype)
    density = np.exp(-head * head / 2) * np.exp(-(t - head) * (t + head) / 2)
    tail = erfcx(scaled) * np.where(np.isinf(head), 0, density)
    return np.where(scaled > 1, tail, erfc(scaled)) / 2


declaration = Declaration(
    sentence="erfc(t/sqrt(2))/2",
    convex=False,
    limits=("1", "0"),
    minimiser=math.inf,
    minimum="0",
    special_value=_value,
    closed_form=ClosedForm("phi(t) + phi(-t) = 1, gamma = 1", symmetric_sides, only_even_margins),
)
