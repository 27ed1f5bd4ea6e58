"""Closed forms that several phis share: infima of the conditional risk over t >= 0 and over t <= 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uneven.losses.declaration import Array, HalfLineInfima


def from_risk_and_gap(
    risk: Callable[..., Array], gap: Callable[..., Array]
) -> Callable[[Array, Array, Array, float, dict[str, float]], HalfLineInfima]:
    """Infima of a loss whose infimum over the wrong half line is at t = 0 (true if it is convex: theorem 5).

    ``risk`` is the infimum over all t, ``gap`` is C(0) - risk, which is nonnegative. The infimum over all t lies on
    the positive half line if and only if a >= b.
    """

    def sides(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> HalfLineInfima:
        best = risk(a, b, difference, gamma, parameters)
        excess = gap(a, b, difference, gamma, parameters)
        positive = difference >= 0
        return HalfLineInfima(
            positive=np.where(positive, best, best + excess),
            negative=np.where(positive, best + excess, best),
            difference=np.where(positive, -excess, excess),
        )

    return sides


def mirrored(function: Callable[..., Array]) -> Callable[..., Array]:
    """Extend a formula valid for gamma >= 1 by C_gamma(a, b) = C_{1/gamma}(b, a)/gamma."""

    def extended(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
        if gamma >= 1:
            return function(a, b, difference, gamma, parameters)
        return function(b, a, -difference, 1 / gamma, parameters) / gamma

    return extended


def squared_risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """((1+gamma)^2/gamma) a b/(a + gamma b): section 4.2."""
    return (1 + gamma) ** 2 / gamma * a * b / (a + gamma * b)


def squared_gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """(a - b)^2/(a + gamma b)."""
    return difference * difference / (a + gamma * b)


def hinge_risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """((1+gamma)/gamma) min(a, b): section 4.1."""
    return (1 + gamma) / gamma * np.minimum(a, b)


def hinge_gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """a - b for a >= b, else (b - a)/gamma."""
    return np.where(difference >= 0, difference, -difference / gamma)


def only_even_margins(gamma: float, parameters: dict[str, float]) -> bool:
    """The formula is for gamma = 1."""
    return gamma == 1


def symmetric_sides(
    a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]
) -> HalfLineInfima:
    """gamma = 1 and phi(t) + phi(-t) = 1, phi from 1 down to 0: the risk is monotone in t."""
    half = (a + b) / 2
    return HalfLineInfima(positive=np.minimum(half, b), negative=np.minimum(half, a), difference=-difference / 2)
