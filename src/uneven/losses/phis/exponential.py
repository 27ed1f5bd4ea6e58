r"""Exponential loss, as in AdaBoost: :math:`\varphi(t) = e^{-t}`."""

import math
from typing import Any

import numpy as np

from uneven.losses.declaration import ClosedForm, Declaration, from_risk_and_gap

Array = Any


def _risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """a^p b^q / p with p = gamma/(1+gamma), q = 1/(1+gamma): section 4.3 with correction A1."""
    p, q = gamma / (1 + gamma), 1 / (1 + gamma)
    return a**p * b**q / p


def _gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """a + b/gamma - risk, without cancellation: (b/p) (p e^u + q - e^{pu}) with u = ln(a/b)."""
    p, q = gamma / (1 + gamma), 1 / (1 + gamma)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = np.where(np.abs(difference) < b / 2, np.log1p(difference / b), np.log(a) - np.log(b))
        small = _series(u, p, q) * (b / p)
        # The bracket, divided by e^u if u > 0. The two terms of each difference have similar size and tend to 0
        # together as p or q tends to 0, so the difference keeps its relative precision.
        if p > 0.5:
            low = -np.exp(u) * np.expm1(-q * u) - q * np.expm1(u)
            high = -np.expm1(-q * u) + q * np.expm1(-u)
        else:
            low = p * np.expm1(u) - np.expm1(p * u)
            high = -p * np.expm1(-u) - np.exp(-u) * np.expm1(p * u)
        gap = np.where(np.abs(u) < 0.5, small, np.where(u > 0, a * high, b * low) / p)
    return np.where(b == 0, a, np.where(a == 0, b / gamma, gap))


def _series(u: Array, p: float, q: float) -> Array:
    """p e^u + q - e^{pu} = sum_{k>=2} p q (1 + p + ... + p^{k-2}) u^k / k!."""
    total, power, geometric = np.zeros_like(u), u * u / 2, 1.0
    for k in range(2, 20):
        total = total + geometric * power
        geometric, power = geometric * p + 1, power * u / (k + 1)
    return p * q * total


declaration = Declaration(
    sentence="exp(-t)",
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("Scott, section 4.3, with correction A1", from_risk_and_gap(_risk, _gap)),
    also_called=("adaboost", "exp_loss"),
)
