"""The distribution of the cost ratio as any density of the little language, integrated on panels that fit it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from uneven.errors import ExpressionError, ParameterError
from uneven.expression import Node, parse, simplify, to_text
from uneven.expression.tree import Mul, put
from uneven.inputs import to_float
from uneven.losses.ratio_distributions import (
    NODES,
    WEIGHTS,
    Panels,
    RatioDistribution,
    bisect,
    expit,
    expit_of_minus,
)
from uneven.ops.floats import plain_values, values

Array = np.ndarray

#: Log-ratios beyond these are not integrated: a ratio of 1e100 is no cost, and its square is still a double.
_REACH = 230.0
#: Panels of a density are halved until both halves agree with the whole; more panels mean that it is not smooth.
_MOST_PANELS = 20_000
_AGREEMENT = 1e-12
#: An error of this share of the whole does not matter, not even in a tail.
_NEGLIGIBLE = 1e-40
#: A panel below this width is not halved again: if it still matters, the density has a pole, or a jump not seen.
_NARROWEST = 1e-9


@dataclass(frozen=True)
class Density(RatioDistribution):
    """A density written in the little language, of the ratio or of alpha, up to a factor; 0 outside an interval."""

    tree: Node  # in t, which stands for the ratio or for alpha
    unit: str
    low: Fraction
    high: Fraction | None  # None: no end (ratio)

    @property
    def ends(self) -> tuple[float, float]:
        last = math.inf if self.high is None else to_float(self.high)
        if self.unit == "ratio" or self.high is None:
            return to_float(self.low), last
        return to_float(1 / self.high - 1), math.inf if self.low == 0 else to_float(1 / self.low - 1)

    @property
    def table(self) -> Panels:
        return _density_panels(self)

    @property
    def of_log_ratio(self) -> Node:
        """The density of u = ln R, with t for u: the language keeps the digits of 1 - expit(t)."""
        return _in_log_ratio(self.tree, self.unit)

    def at(self, u: Array) -> Array:
        """The density of u, up to the factor."""
        result = plain_values(self.of_log_ratio, u)
        doubtful = np.isnan(result)  # such as infinity times 0
        if doubtful.any():
            result[doubtful] = values(self.of_log_ratio, u[doubtful])
        return result

    @property
    def has_mean(self) -> bool:
        total, rest = self.table.beyond(np.array([-_REACH, 0.9 * _REACH]), np.exp)
        return bool(rest <= _AGREEMENT * total)

    def below(self, u: Array) -> Array:
        return self.table.up_to(u, np.ones_like)

    def above(self, u: Array) -> Array:
        return self.table.beyond(u, np.ones_like)

    def quantile(self, q: Array) -> Array:
        return bisect(self, q, float(self.table.edges[0]), float(self.table.edges[-1]))

    def misses(self, u: Array, money: bool) -> Array:
        return self.table.up_to(u, np.exp if money else expit)

    def alarms(self, u: Array, money: bool) -> Array:
        return self.table.beyond(u, np.ones_like if money else expit_of_minus)


@lru_cache(maxsize=64)
def _in_log_ratio(tree: Node, unit: str) -> Node:
    if unit == "ratio":
        return simplify(Mul(put(tree, {"t": parse("exp(t)")}), parse("exp(t)")))
    return simplify(Mul(put(tree, {"t": parse("expit(-t)")}), parse("expit(t)*expit(-t)")))


@lru_cache(maxsize=64)
def _density_panels(density: Density) -> Panels:
    """Panels that are halved until Gauss quadrature is exact to rounding on each."""
    shown = f"the density {to_text(density.tree)!r} of {density.unit}"
    edges = _first_edges(density, shown)
    finished: list[Array] = []
    start, end = edges[:-1], edges[1:]
    total = 0.0
    while start.size:
        middle = (start + end) / 2
        whole = _quadrature(density, start, end, shown)
        halves = _quadrature(density, start, middle, shown) + _quadrature(density, middle, end, shown)
        total = max(total, float(halves.sum()))
        error = np.abs(whole - halves)
        rough = (error > _AGREEMENT * whole) & (error > _NEGLIGIBLE * total)
        if (rough & (end - start < _NARROWEST) & (error > _AGREEMENT * total)).any():
            raise ParameterError(f"{shown} is too rough to be integrated; a smoother one would work")
        rough &= end - start >= _NARROWEST
        finished.append(start[~rough])
        start, end = np.concatenate([start[rough], middle[rough]]), np.concatenate([middle[rough], end[rough]])
        if sum(map(len, finished)) + start.size > _MOST_PANELS:
            raise ParameterError(f"{shown} is too rough to be integrated; a smoother one would work")
    panels = Panels(np.unique(np.concatenate([*finished, edges[-1:]])), density.at)
    for cut, rest in ((-_REACH, panels.up_to), (_REACH, panels.beyond)):
        open_end = cut in (edges[0], edges[-1])
        if open_end and not rest(np.array([cut * 0.9]), np.ones_like)[0] < _AGREEMENT:
            raise ParameterError(
                f"{shown} has no finite integral, or one that is reached too slowly; limit it with between=(low, high)"
            )
    return panels


def _first_edges(density: Density, shown: str) -> Array:
    """Edges half a unit of ln R apart and where the formula changes, from the first to the last place with weight."""
    from uneven.shape.kinks import switch_points

    first, last = (math.log(end) if 0 < end < math.inf else math.copysign(_REACH, end - 1) for end in density.ends)
    inner = [place for place in map(float, switch_points(density.of_log_ratio)) if first < place < last]
    corners = np.unique([max(first, -_REACH), *inner, min(last, _REACH)])
    edges = np.unique(np.concatenate([np.linspace(a, b, math.ceil(2 * (b - a)) + 1) for a, b in pairwise(corners)]))
    weight = np.flatnonzero(_quadrature(density, edges[:-1], edges[1:], shown) > 0)
    if not weight.size:
        raise ParameterError(f"{shown} is 0 everywhere between its ends; it needs some weight")
    return edges[weight[0] : weight[-1] + 2]


def _quadrature(density: Density, start: Array, end: Array, shown: str) -> Array:
    u = start[:, None] + np.multiply.outer((end - start) / 2, NODES + 1)
    try:
        heights = density.at(u)
    except ExpressionError as error:
        raise ParameterError(f"{shown} must be defined between its ends: {error}") from None
    wrong = ~(heights >= 0) | np.isinf(heights)
    if wrong.any():
        at = float(np.exp(u[wrong][0]))
        place = f"ratio = {at:.6g}" if density.unit == "ratio" else f"alpha = {1 / (1 + at):.6g}"
        raise ParameterError(f"{shown} must be a number of at least 0, but it is {heights[wrong][0]:.6g} at {place}")
    return (end - start) / 2 * (heights @ WEIGHTS)
