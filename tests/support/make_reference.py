"""Write tests/reference/losses.json: seventeen phis to 25 digits, from mpmath alone, one of them in several orders.

Run ``python tests/support/make_reference.py``. Everything is computed with 400 digits, so that differences such as
1 - 5e-324 keep far more digits than are written. Nothing is imported from the package under test: the formulas here,
with derivatives by hand, check its expressions independently. A new phi needs no entry here: its expression is then
evaluated with mpmath when the tests run (``sentence_reference.py``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import mpmath

TABLE = Path(__file__).parents[1] / "reference" / "losses.json"
DIGITS = 25

mp = mpmath.mp.clone()  # our own context, so that its precision does not affect others
mp.dps = 400

Number = Any  # a number of the context mp
Function = Callable[[Number], Number]
Entry = dict[str, Any]

LARGEST = mp.mpf(1.7976931348623157e308)
SMALLEST = mp.mpf(5e-324)

SIZES = (1e308, 1e100, 750.0, 709.9, 100.0, 38.0, 20.0, 5.0, 2.5, 1.3, 0.7, 0.1, 1e-3, 1e-8, 1e-17, 1e-300, 5e-324)
POINTS = sorted([0.0, *SIZES, *(-size for size in SIZES)])
GAMMAS = (1e-8, 0.3, 1.0, 7.0, 1e8)
UNEVEN_SIZES = (1e308, 750.0, 1.0, 1e-300)
UNEVEN_POINTS = sorted([*UNEVEN_SIZES, *(-size for size in UNEVEN_SIZES)])

WIDTH, CAP, EXPONENT, ORDER = 1, 2, 2, 8  # defaults of smoothed_hinge, ramp, focal and beta
ORDERS = (1, 2, 4, 8, 16, 64)
ORDER_SIZES = (10.8, 3.4, 1.9, 0.25, 0.015)  # besides the others: the tails of high orders, and zeros of the curvature
ORDER_POINTS = sorted([*POINTS, *ORDER_SIZES, *(-size for size in ORDER_SIZES)])


@dataclass(frozen=True)
class Reference:
    """A phi with its two derivatives, where it has no slope, and where only the curvature is missing."""

    value: Function
    slope: Function
    curvature: Function
    corners: tuple[int, ...] = ()
    jumps: tuple[int, ...] = ()


def falling(t: Number) -> Number:
    """1/(1 + e^t)."""
    return 1 / (1 + mp.exp(t))


def rising(t: Number) -> Number:
    """1/(1 + e^-t)."""
    return 1 / (1 + mp.exp(-t))


def softplus(t: Number) -> Number:
    """ln(1 + e^t)."""
    return mp.log1p(mp.exp(t))


def zero(t: Number) -> Number:
    """0."""
    return mp.zero


def modified_huber(t: Number) -> Number:
    """(1 - t)+^2 for t >= -1, else -4t."""
    return max(1 - t, 0) ** 2 if t >= -1 else -4 * t


def modified_huber_slope(t: Number) -> Number:
    """-2 (1 - t)+ for t >= -1, else -4."""
    return -2 * max(1 - t, 0) if t >= -1 else mp.mpf(-4)


def smoothed_hinge(t: Number) -> Number:
    """0, a parabola, a line."""
    if t >= 1:
        return mp.zero
    return (1 - t) ** 2 / (2 * WIDTH) if t > 1 - WIDTH else 1 - t - mp.mpf(WIDTH) / 2


def smoothed_hinge_slope(t: Number) -> Number:
    """-(1 - t)+/s, at least -1."""
    return -min(max(1 - t, 0) / WIDTH, mp.one)


def focal(t: Number) -> Number:
    """q^g b with q = 1/(1 + e^t) and b = ln(1 + e^-t)."""
    return falling(t) ** EXPONENT * softplus(-t)


def focal_slope(t: Number) -> Number:
    """-q^g (g p b + q), because q' = -p q and b' = -q."""
    p, q, b = rising(t), falling(t), softplus(-t)
    return -(q**EXPONENT) * (EXPONENT * p * b + q)


def focal_curvature(t: Number) -> Number:
    """q^g p (g^2 p b - g q b + 2 g q + q)."""
    p, q, b, g = rising(t), falling(t), softplus(-t), EXPONENT
    return q**g * p * (g * g * p * b - g * q * b + 2 * g * q + q)


def beta(k: int) -> Reference:
    """The binomial sum of more than k successes in 2k trials, u = 1/(1 + e^t), w = 1 - u, because u' = -u w."""

    def value(t: Number) -> Number:
        u, w = falling(t), rising(t)
        return mp.fsum(comb(2 * k, j) * u**j * w ** (2 * k - j) for j in range(k + 1, 2 * k + 1))

    def slope(t: Number) -> Number:
        return -k * comb(2 * k, k) * falling(t) ** (k + 1) * rising(t) ** k

    def curvature(t: Number) -> Number:
        return slope(t) * (k * falling(t) - (k + 1) * rising(t))

    return Reference(value, slope, curvature)


def savage_curvature(t: Number) -> Number:
    """8 u^2 w (2 w - u) with u = 1/(1 + e^2t) and w = 1 - u, because u' = -2 u w."""
    u, w = falling(2 * t), rising(2 * t)
    return 8 * u**2 * w * (2 * w - u)


def tangent_error(t: Number) -> Number:
    """2 atan t - 1."""
    return 2 * mp.atan(t) - 1


def density(t: Number) -> Number:
    """The normal density."""
    return mp.exp(-t * t / 2) / mp.sqrt(2 * mp.pi)


def normal_tail(t: Number) -> Number:
    """Phi(-t); beyond 1000, where mpmath's erfc gives up, its bound density(t)/t, which also is 0 in doubles."""
    if t < 0:
        return 1 - normal_tail(-t)
    return density(t) / t if t > 1000 else mp.erfc(t / mp.sqrt(2)) / 2


REFERENCES = {
    "absolute": Reference(lambda t: abs(1 - t), lambda t: mp.sign(t - 1), zero, corners=(1,)),
    "beta": beta(ORDER),
    "exponential": Reference(lambda t: mp.exp(-t), lambda t: -mp.exp(-t), lambda t: mp.exp(-t)),
    "focal": Reference(focal, focal_slope, focal_curvature),
    "hinge": Reference(lambda t: max(1 - t, 0), lambda t: -mp.mpf(t < 1), zero, corners=(1,)),
    "logistic": Reference(lambda t: softplus(-t), lambda t: -falling(t), lambda t: rising(t) * falling(t)),
    "modified_huber": Reference(modified_huber, modified_huber_slope, lambda t: 2 * mp.mpf(-1 < t < 1), jumps=(-1, 1)),
    "perceptron": Reference(lambda t: max(-t, 0), lambda t: -mp.mpf(t < 0), zero, corners=(0,)),
    "probit": Reference(normal_tail, lambda t: -density(t), lambda t: t * density(t)),
    "ramp": Reference(
        lambda t: min(CAP, max(1 - t, 0)),
        lambda t: -mp.mpf(1 - CAP < t < 1),
        zero,
        corners=(1 - CAP, 1),
    ),
    "savage": Reference(
        lambda t: falling(2 * t) ** 2,
        lambda t: -4 * falling(2 * t) ** 2 * rising(2 * t),
        savage_curvature,
    ),
    "sigmoid": Reference(
        falling,
        lambda t: -rising(t) * falling(t),
        lambda t: rising(t) * falling(t) * (rising(t) - falling(t)),
    ),
    "smoothed_hinge": Reference(
        smoothed_hinge,
        smoothed_hinge_slope,
        lambda t: mp.mpf(1 - WIDTH < t < 1) / WIDTH,
        jumps=(1 - WIDTH, 1),
    ),
    "squared": Reference(lambda t: (1 - t) ** 2, lambda t: -2 * (1 - t), lambda t: mp.mpf(2)),
    "squared_hinge": Reference(
        lambda t: max(1 - t, 0) ** 2,
        lambda t: -2 * max(1 - t, 0),
        lambda t: 2 * mp.mpf(t < 1),
        jumps=(1,),
    ),
    "tangent": Reference(
        lambda t: tangent_error(t) ** 2,
        lambda t: 4 * tangent_error(t) / (1 + t * t),
        lambda t: 8 * (1 - t * tangent_error(t)) / (1 + t * t) ** 2,
    ),
    "zero_one": Reference(lambda t: mp.mpf(t <= 0), zero, zero, corners=(0,)),
}


def written(number: Number) -> str:
    """A number as text: inf beyond the largest double, 0 below the smallest."""
    if abs(number) > LARGEST:
        return "inf" if number > 0 else "-inf"
    return "0" if abs(number) < SMALLEST else mp.nstr(mp.mpf(number), DIGITS)


def partial(reference: Reference, t: float, inner: Number, weight: Number) -> Entry:
    """Value, slope and curvature of weight * phi(inner * t), None where they do not exist."""
    at = inner * mp.mpf(t)
    no_slope = at in reference.corners
    no_curvature = no_slope or at in reference.jumps
    return {
        "value": written(weight * reference.value(at)),
        "slope": None if no_slope else written(weight * inner * reference.slope(at)),
        "curvature": None if no_curvature else written(weight * inner**2 * reference.curvature(at)),
    }


def phi_entry(name: str, t: float) -> Entry:
    """What is true of phi at t."""
    return {"phi": name, "t": t, **partial(REFERENCES[name], t, mp.one, mp.one)}


def negative_entry(name: str, gamma: float, t: float) -> Entry:
    """What is true of phi(-gamma t)/gamma at t."""
    exact = mp.mpf(gamma)
    return {"phi": name, "gamma": gamma, "t": t, **partial(REFERENCES[name], t, -exact, 1 / exact)}


def order_entry(order: int, t: float) -> Entry:
    """What is true of the phi "beta" of an order at t."""
    return {"phi": "beta", "order": order, "t": t, **partial(beta(order), t, mp.one, mp.one)}


def phi_entries() -> Iterator[Entry]:
    """Every phi at every point."""
    return (phi_entry(name, t) for name in sorted(REFERENCES) for t in POINTS)


def negative_entries() -> Iterator[Entry]:
    """Every negative partial loss at its points."""
    return (negative_entry(name, gamma, t) for name in sorted(REFERENCES) for gamma in GAMMAS for t in UNEVEN_POINTS)


def order_entries() -> Iterator[Entry]:
    """The phi "beta" of every order at its points."""
    return (order_entry(order, t) for order in ORDERS for t in ORDER_POINTS)


def lines(entries: Iterator[Entry]) -> str:
    """A JSON list with one entry on each line."""
    return "[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries) + "\n]"


def table() -> str:
    """The whole file."""
    parts = {"phi": phi_entries(), "negative": negative_entries(), "orders": order_entries()}
    return "{" + ",\n".join(f'"{kind}":{lines(entries)}' for kind, entries in parts.items()) + "}\n"


def main() -> None:
    """Write the file."""
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main()
