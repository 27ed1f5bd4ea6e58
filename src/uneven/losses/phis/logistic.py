r"""Logistic loss, as in logistic regression: :math:`\varphi(t) = \ln(1 + e^{-t})` (not divided by ln 2)."""

import math
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, from_risk_and_gap, only_even_margins

Array = Any


def _risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """a ln((a+b)/a) + b ln((a+b)/b): the entropy."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(a > 0, a * np.log1p(b / a), 0) + np.where(b > 0, b * np.log1p(a / b), 0)


def _gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """(w/2) [(1+d) ln(1+d) + (1-d) ln(1-d)] with w = a + b, d = (a-b)/w."""
    w = a + b
    d = difference / w
    series = sum(d ** (2 * k) / (k * (2 * k - 1)) for k in range(1, 17))
    with np.errstate(divide="ignore", invalid="ignore"):
        up = (1 + d) * np.log1p(d)
        down = (1 - d) * np.log1p(-d)
    direct = np.where(d <= -1, 0, up) + np.where(d >= 1, 0, down)
    return w / 2 * np.where(np.abs(d) < 0.3, series, direct)


declaration = Declaration(
    sentence="softplus(-t)",
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("theorem 5 and the entropy, gamma = 1", from_risk_and_gap(_risk, _gap), only_even_margins),
    also_called=("log_loss", "logloss", "cross_entropy", "binary_cross_entropy", "bce", "deviance"),
)
