"""A = inf over t >= 0 and B = inf over t <= 0 of C(t) = a phi(t) + (b / gamma) phi(-gamma t), by independent routes.

Three routes, in 80 digits: closed forms; roots of C' on a grid; brute force from another grid, without derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mpmath.ctx_mp import MPContext

Real = Any  # an mpf of the context below
Function = Callable[[Real], Real]
Pair = tuple[Real, Real]

mp = MPContext()  # our own context, so that importing this file does not change the precision of others
mp.dps = 80
TOLERANCE = mp.mpf(10) ** -26  # relative accuracy of a minimiser: that of the minimum is its square
GOLDEN = (3 - mp.sqrt(5)) / 2
NODES = {"fine": (mp.mpf("1.25"), mp.mpf(2)), "other": (mp.mpf("1.31"), mp.mpf("2.3"))}


@dataclass(frozen=True)
class Phi:
    """A function phi, nonincreasing up to its argmin > 0 and with infimum 0 (perceptron: argmin 0)."""

    value: Function
    low: Real  # the limit at -inf
    high: Real = 0  # the limit at +inf
    knots: tuple[Real, ...] = ()  # where the formula changes, or the minimum
    slope: Function | None = None  # given where the stationary route is wanted


def _logistic(t: Real) -> Real:
    """The probability 1 / (1 + e^-t)."""
    return 1 / (1 + mp.exp(-t))


def _focal_slope(t: Real) -> Real:
    """The derivative of (1-p)^2 (-ln p)."""
    p, q = _logistic(t), _logistic(-t)
    return -q * q * (q + 2 * p * mp.log1p(mp.exp(-t)))


def _huber(t: Real) -> Real:
    """The modified Huber function."""
    return max(1 - t, 0) ** 2 if t >= -1 else -4 * t


def _smoothed(t: Real) -> Real:
    """The smoothed hinge of width 1."""
    return max(1 - t, 0) ** 2 / 2 if t >= 0 else mp.mpf(1) / 2 - t


INF, ONE = mp.inf, mp.mpf(1)
PHIS: dict[str, Phi] = {
    "hinge": Phi(lambda t: max(1 - t, 0 * t), INF, knots=(ONE,)),
    "squared": Phi(lambda t: (1 - t) ** 2, INF, INF, (ONE,)),
    "exponential": Phi(lambda t: mp.exp(-t), INF),
    "sigmoid": Phi(lambda t: _logistic(-t), 1, slope=lambda t: -_logistic(t) * _logistic(-t)),
    "logistic": Phi(lambda t: mp.log1p(mp.exp(-t)), INF, slope=lambda t: -_logistic(-t)),
    "squared_hinge": Phi(lambda t: max(1 - t, 0 * t) ** 2, INF, knots=(ONE,)),
    "modified_huber": Phi(_huber, INF, knots=(ONE, -ONE)),
    "smoothed_hinge": Phi(_smoothed, INF, knots=(ONE,)),
    "absolute": Phi(lambda t: abs(1 - t), INF, INF, (ONE,)),
    "savage": Phi(lambda t: _logistic(-2 * t) ** 2, 1, slope=lambda t: -4 * _logistic(-2 * t) ** 2 * _logistic(2 * t)),
    "tangent": Phi(
        lambda t: (2 * mp.atan(t) - 1) ** 2,
        (mp.pi + 1) ** 2,
        (mp.pi - 1) ** 2,
        (mp.tan(ONE / 2),),
        lambda t: 4 * (2 * mp.atan(t) - 1) / (1 + t * t),
    ),
    "ramp": Phi(lambda t: min(2 * ONE, max(1 - t, 0 * t)), 2, knots=(ONE, -ONE)),
    "focal": Phi(lambda t: _logistic(-t) ** 2 * mp.log1p(mp.exp(-t)), INF, slope=_focal_slope),
    "probit": Phi(lambda t: mp.ncdf(-t), 1),
    "perceptron": Phi(lambda t: max(-t, 0 * t), INF),
    "zero_one": Phi(lambda t: ONE if t <= 0 else 0 * ONE, 1),
}


def minimise(f: Function, lo: Real, x: Real, hi: Real) -> Pair:
    """A local minimiser of f in [lo, hi] and its value, by Brent's method started at x."""
    w = v = x
    fx = fw = fv = f(x)
    d = e = mp.mpf(0)
    for _ in range(1000):
        middle, step = (lo + hi) / 2, TOLERANCE * abs(x)
        if abs(x - middle) <= 2 * step - (hi - lo) / 2:
            break
        r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
        p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
        p, q = (-p, q) if q > 0 else (p, -q)
        if abs(e) > step and abs(p) < abs(q * e / 2) and q * (lo - x) < p < q * (hi - x):
            e, d = d, p / q
            if min(x + d - lo, hi - x - d) < 2 * step:
                d = step * mp.sign(middle - x)
        else:
            e = (hi if x < middle else lo) - x
            d = GOLDEN * e
        u = x + (d if abs(d) >= step else step * (mp.sign(d) or 1))
        fu = f(u)
        if fu <= fx:
            lo, hi = (x, hi) if u >= x else (lo, x)
            v, w, x, fv, fw, fx = w, x, u, fw, fx, fu
        else:
            lo, hi = (u, hi) if u < x else (lo, u)
            if fu <= fw or w == x:
                v, w, fv, fw = w, u, fw, fu
            elif fu <= fv or v in (x, w):
                v, fv = u, fu
    return x, fx


def root(f: Function, lo: Real, hi: Real) -> Real:
    """A zero of f between two points where its signs differ, by the Illinois method."""
    flo, fhi = f(lo), f(hi)
    before = lo
    for _ in range(1000):
        x = (lo * fhi - hi * flo) / (fhi - flo)
        fx = f(x)
        if fx == 0 or abs(x - before) <= TOLERANCE * abs(x):
            return x
        if (fx > 0) != (fhi > 0):
            lo, flo = hi, fhi
        else:
            flo = flo / 2
        hi, fhi, before = x, fx, x
    raise ArithmeticError(f"no root found in [{lo}, {hi}]")


def local_minima(values: list[Real], slack: Real = 0) -> list[int]:
    """The inner indices whose value no neighbour undercuts and at least one exceeds (by more than the slack)."""
    return [
        i
        for i in range(1, len(values) - 1)
        if max(values[i - 1], values[i + 1]) > values[i] + slack
        and min(values[i - 1], values[i + 1]) >= values[i] - slack
    ]


class Sides:
    """The pair (A, B) of one phi and gamma, as a function of the weights a and b, by each route."""

    def __init__(self, name: str, gamma: float, phi: Phi | None = None) -> None:
        """Tabulate phi(t) and phi(-gamma t) on two multi-scale grids, from t = 0 outwards."""
        self.name, self.phi, self.gamma = name, phi or PHIS[name], mp.mpf(gamma)
        self.at_zero = self.phi.value(mp.mpf(0))
        self.tables = {kind: (self._table(kind, 1), self._table(kind, -1)) for kind in NODES}

    def _table(self, kind: str, side: int) -> list[tuple[Real, ...]]:
        """The rows (t, phi(t), phi(-gamma t) / gamma and, where wanted, ln of the ratio of slopes) of a half line."""
        inner, outer = NODES[kind]
        sizes = [mp.mpf("0.9e-18")]
        while sizes[-1] < 20000:
            sizes.append(sizes[-1] * (inner if 1e-3 < sizes[-1] < 1e3 else outer))
        points = {side * s for s in sizes} | {side * s / self.gamma for s in sizes} | set(self.phi.knots)
        points |= {-k / self.gamma for k in self.phi.knots}
        ordered = sorted((t for t in points if t * side > 0), key=abs)
        return [self._row(t) for t in (mp.mpf(0), *ordered)]

    def _row(self, t: Real) -> tuple[Real, ...]:
        """One row of the table: C' has the sign of ln(phi'(-gamma t) / phi'(t)) - ln(a / b) between the argmins."""
        value, slope, g = self.phi.value, self.phi.slope, self.gamma
        row = t, value(t), value(-g * t) / g
        if slope is None:
            return row
        left, right = slope(-g * t), slope(t)
        return (*row, math.inf if right >= 0 else -math.inf if left >= 0 else float(mp.log(left / right)))

    def _limits(self, a: Real, b: Real) -> Pair:
        """C at +inf and at -inf, a zero weight annulling an infinite phi."""
        ends = ((self.phi.high, self.phi.low), (self.phi.low, self.phi.high))
        return tuple((a * u if a else 0) + (b * v / self.gamma if b else 0) for u, v in ends)

    def brute(self, a: Real, b: Real, kind: str = "fine") -> Pair:
        """Minimise C from every local minimum of a grid, without derivatives."""
        value, g, found = self.phi.value, self.gamma, []
        for table, limit in zip(self.tables[kind], self._limits(a, b), strict=True):
            costs = [a * row[1] + b * row[2] for row in table]
            refined = [limit]
            for i in local_minima(costs):
                lo, hi = sorted((table[i - 1][0], table[i + 1][0]))
                refined.append(minimise(lambda t: a * value(t) + b * value(-g * t) / g, lo, table[i][0], hi)[1])
            found.append(min(*costs, *refined))
        return tuple(found)

    def stationary(self, a: Real, b: Real) -> Pair:
        """Compare C at 0, at the knots, at infinity and where C' turns from falling to rising."""
        value, slope, g, found = self.phi.value, self.phi.slope, self.gamma, []
        level = float(mp.log(a / b))
        for side, table, best in zip((1, -1), self.tables["other"], self._limits(a, b), strict=True):
            special = [0, *(k for knot in self.phi.knots for k in (knot, -knot / g) if k * side > 0)]
            signs = [side * (row[3] - level) for row in table]
            turns = [i for i, (s, e) in enumerate(pairwise(signs)) if s < 0 < e]
            special += [root(lambda t: a * slope(t) - b * slope(-g * t), table[i][0], table[i + 1][0]) for i in turns]
            found.append(min(best, *(a * value(t) + b * value(-g * t) / g for t in special)))
        return tuple(found)

    def closed(self, a: Real, b: Real) -> Pair | None:
        """The closed form of docs/theory.md (H in closed form, the sigmoid family), where there is one."""
        g, name = self.gamma, self.name
        origin = self.at_zero * (a + b / g)
        if a == 0 or b == 0:
            return (origin, mp.mpf(0)) if a == 0 else (mp.mpf(0), origin)
        match name:
            case "perceptron":
                return mp.mpf(0), mp.mpf(0)
            case "zero_one":
                return b / g, a
            case "ramp":
                return min(origin, b * min(2, 1 + g) / g), min(origin, a * min(2, 1 + 1 / g))
            case "probit":
                return self._probit(a, b, origin)
            case "sigmoid" if g == 1:
                return min(origin, b), min(origin, a)
        least = _least(name, a, b, g)
        if least is None:
            return None
        return (origin, least) if a < b else (least, origin)

    def _probit(self, a: Real, b: Real, origin: Real) -> Pair:
        """The normal tail: C' vanishes where t^2 (1 - gamma^2) = 2 ln(a / b), and nowhere else."""
        g = self.gamma
        square = 2 * mp.log(a / b) / (1 - g * g) if g != 1 else -ONE
        t = mp.sqrt(square) if square > 0 else mp.mpf(0)
        at = [a * mp.ncdf(-s) + b * mp.ncdf(g * s) / g for s in (t, -t)]
        return min(origin, b / g, at[0]), min(origin, a, at[1])

    def first(self, a: Real, b: Real) -> Pair:
        """The closed form, or else the stationary route, or else brute force from another grid."""
        return self.closed(a, b) or (self.brute(a, b, "other") if self.phi.slope is None else self.stationary(a, b))


def _least(name: str, a: Real, b: Real, g: Real) -> Real | None:
    """C* of the losses calibrated at a = b, where C^- = C(0)."""
    w = a + b
    match name:
        case "hinge" | "absolute":
            return (1 + g) / g * min(a, b)
        case "squared" | "squared_hinge":
            return (1 + g) ** 2 / g * a * b / (a + g * b)
        case "exponential":
            return (1 + g) / g * mp.exp((g * mp.log(a) + mp.log(b)) / (1 + g))
        case "smoothed_hinge":
            return (a + b / g) / 2 - (a - b) ** 2 / (2 * a if a > b else 2 * g * b)
        case "modified_huber" if g < 1:
            return _least(name, b, a, 1 / g) / g
        case "modified_huber":
            return 4 * b * (a - b) / a if a * (3 * g - 1) > 2 * g * w else _least("squared", a, b, g)
        case "logistic" if g == 1:
            return -a * mp.log(a / w) - b * mp.log(b / w)
        case "savage" if g == 1:
            return a * b / w
        case "tangent" if g == 1:
            return 4 * a * b / w
    return None
