"""Zeros of a tree on the whole line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from flint import arb

from uneven.errors import ExpressionError
from uneven.expression import Node, derivative, substitute
from uneven.expression.algebra import add, mul, split
from uneven.expression.calculus import pieces, vanishing
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Number, Pow, depends_on_t
from uneven.inputs import to_float
from uneven.ops.floats import plain_values
from uneven.ops.precise import ball, root_near, value_at
from uneven.ops.rationals import exact_value
from uneven.shape.polynomials import as_polynomial, real_roots

MAX_ZEROS = 100  # of one scanned tree: the ones nearest to 0
_MAX_DIPS = 40
_GRID = 2048  # points of one vectorised refinement step
_MAX_ROUNDS = 30
_MAX_CASES = 300  # formulas of a tree with branches, each of which is solved by itself


class Zero(NamedTuple):
    """A zero: rational and exact, or the double nearest to a simple zero of ``source``."""

    point: Fraction
    exact: bool
    source: Node


@lru_cache(maxsize=1)
def probe_points() -> np.ndarray:
    """Points on every scale of doubles on both sides, dense from 2**-40 to 2**80; 0, and small integers."""
    dense, far = 2.0 ** np.arange(-40, 80, 0.125), 2.0 ** np.arange(80, 1001, 8.0)
    scales = np.concatenate([1 / far, dense, far])
    return np.unique(np.concatenate([-scales, [0.0], scales, np.arange(-20.0, 21.0)]))


@lru_cache(maxsize=4096)
def zeros(tree: Node) -> tuple[Zero, ...]:
    """Zeros in order: through factors, branches and polynomials exactly, else by a scan over all scales.

    Where a tree vanishes on an interval, its ends are found as zeros of inner parts. A scan sees zeros that
    probes on the scales of ``probe_points`` separate, and keeps the 100 nearest to 0. Zeros beyond the range of
    doubles are left out.
    """
    found = [zero for zero in dict.fromkeys(_zeros(tree)) if math.isfinite(to_float(zero.point))]
    return tuple(sorted(found, key=lambda zero: zero.point))


def _zeros(tree: Node) -> Iterable[Zero]:
    match tree:
        case Mul():
            return [zero for factor in tree.children for zero in zeros(factor)]
        case Neg(argument):
            return zeros(argument)
        case Pow(base, Number(exponent)) if exponent > 0:
            return zeros(base)
        case Call() if (inner := vanishing(tree)) is not None:
            return zeros(inner)
    resolved = _without_scan(tree)
    return _scan(tree) if resolved is None else resolved


@lru_cache(maxsize=4096)
def _without_scan(tree: Node) -> tuple[Zero, ...] | None:
    """Zeros that follow from those of polynomials; None if others may exist."""
    if not depends_on_t(tree):
        return ()
    match tree:
        case Mul():
            return _join_zeros(tree.children)
        case Inv():
            return ()
        case Neg(argument):
            return _without_scan(argument)
        case Pow(base, Number(exponent)):
            return _without_scan(base) if exponent > 0 else ()
        case Call(name, _) if FUNCTIONS[name].sign == "positive":
            return ()
        case Call() if (inner := vanishing(tree)) is not None:
            return _without_scan(inner)
    polynomial = as_polynomial(tree)
    if polynomial is not None:
        return tuple(Zero(point, source is None, source or tree) for point, source in real_roots(polynomial))
    if _cases(tree) > _MAX_CASES:
        return None
    piecewise = _piecewise_terms(tree)
    # Two terms with branches would multiply the cases.
    found = _join_zeros(_branches(tree, piecewise[0])) if len(piecewise) == 1 else None
    return None if found is None else tuple(zero for zero in found if _vanishes(tree, zero))


@lru_cache(maxsize=4096)
def _cases(tree: Node) -> int:
    """How many formulas a tree has, if each choice doubles them: nested abs have 2**depth."""
    choices = _choices(tree)
    if choices:
        return sum(map(_cases, choices))
    return max(map(_cases, tree.children), default=1)


def _join_zeros(trees: Iterable[Node]) -> tuple[Zero, ...] | None:
    """Zeros of any of the trees; None if one needs a scan."""
    found: list[Zero] = []
    for tree in trees:
        some = _without_scan(tree)
        if some is None:
            return None
        found.extend(some)
    return tuple(dict.fromkeys(found))


def _piecewise_terms(tree: Node) -> list[int]:
    return [i for i, term in enumerate(_terms(tree)) if _choices(split(term)[1])]


def _terms(tree: Node) -> tuple[Node, ...]:
    return tree.children if isinstance(tree, Add) else (tree,)


def _branches(tree: Node, i: int) -> Iterator[Node]:
    """Trees one of which equals the tree at each t, by the choices of its term number i; smallest first."""
    terms = _terms(tree)
    coefficient, rest = split(terms[i])
    for choice in sorted(_choices(rest), key=lambda node: node.size):
        yield add(*terms[:i], *terms[i + 1 :], mul(Number(coefficient), choice))


def _choices(node: Node) -> tuple[Node, ...]:
    written = pieces(node)
    return () if written is None else (written.yes, written.no)


def _vanishes(tree: Node, zero: Zero) -> bool:
    """Whether a zero of a branch lies where that branch holds."""
    value = rational_value(tree, zero.point) if zero.exact else None
    return _contains_zero(value_at(tree, location(zero))) if value is None else value == 0


def _contains_zero(value: arb) -> bool:
    return bool(value.is_finite() and value.contains(0))


def location(zero: Zero) -> arb:
    """The zero as a ball, narrow far beyond double precision unless its source is not smooth there."""
    return root_near(zero.source, zero.point, zero.exact)


def rational_value(tree: Node, point: Fraction) -> Fraction | None:
    """The value at a rational point, where the algebra of trees can fold it to a rational; else None."""
    try:
        value = exact_value(tree, point)
        if value is not None:
            return value
        folded = substitute(tree, {"t": Number(point)})
    except ExpressionError:  # more digits than are kept
        return None
    return folded.value if isinstance(folded, Number) else None


def _scan(tree: Node) -> list[Zero]:
    t = probe_points()
    y = plain_values(tree, t)
    sign = np.sign(y)
    crossing = np.flatnonzero(sign[:-1] * sign[1:] < 0)
    left, lowest, right, height = _dips(tree, t, y)
    below, touching = height < 0, (height >= 0) & (height <= 1e-12)  # two zeros; one of even order
    low = np.concatenate([t[crossing], left[below], lowest[below]])
    high = np.concatenate([t[crossing + 1], lowest[below], right[below]])
    nearest = np.argsort(np.abs(low), kind="stable")[:MAX_ZEROS]
    simple = np.concatenate([t[_find_isolated(t, y)], _crossings(tree, low[nearest], high[nearest])])
    found = [_as_zero(tree, point, tree) for point in simple]
    if touching.any():
        found += [_as_zero(tree, point, _slope(tree)) for point in lowest[touching]]
    # Underflow, poles and jumps look like zeros to floating point.
    return [zero for zero in found if zero.exact or _contains_zero(value_at(tree, location(zero)))]


def _find_isolated(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Probes at which the value is 0, but not a run of them.

    A run is an interval on which the tree vanishes, underflow, or rounding around a zero at 0, where the
    probes are dense. Two neighbours may both be zeros.
    """
    zero = np.pad(y == 0, 2)
    run = (zero[:-4] & zero[1:-3]) | (zero[1:-3] & zero[3:-1]) | (zero[3:-1] & zero[4:])
    return (y == 0) & (~run | (t == 0))


def _dips(tree: Node, t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Minima of the size between probes of one sign: left end, place, right end, height relative to the ends.

    A negative height is a change of sign that the probes did not see.
    """
    sign, size = np.sign(y), np.abs(y)
    same = (sign[:-2] == sign[2:]) & (sign[:-2] != 0) & np.isfinite(size[:-2]) & np.isfinite(size[2:])
    inside = (sign[1:-1] == sign[:-2]) | (sign[1:-1] == 0)
    dips = np.flatnonzero(same & inside & local_minima(size)) + 1
    dips = np.sort(dips[np.argsort(np.abs(t[dips]), kind="stable")[:_MAX_DIPS]])
    left, right, side = t[dips - 1], t[dips + 1], sign[dips - 1]
    place, height = lowest_between(tree, left, right, side)
    # A probe that is a zero of even order is known already.
    height = np.where((size[dips] == 0) & (height >= 0), np.inf, height)
    with np.errstate(all="ignore"):
        return left, place, right, height / np.maximum(size[dips - 1], size[dips + 1])


def local_minima(y: np.ndarray) -> np.ndarray:
    """Which inner values are no larger than their neighbours, and smaller than one."""
    with np.errstate(invalid="ignore"):
        lower, upper = y[1:-1] - y[:-2], y[1:-1] - y[2:]
        return (lower <= 0) & (upper <= 0) & ((lower < 0) | (upper < 0))


def _slope(tree: Node) -> Node:
    """A zero of even order is a simple zero of the slope, which can be located sharply."""
    try:
        return derivative(tree)
    except ExpressionError:
        return tree


def _as_zero(tree: Node, t: float, source: Node) -> Zero:
    for point in (Fraction(t).limit_denominator(1000), Fraction(t)):
        if _contains_zero(value_at(tree, ball(point))) and rational_value(tree, point) == 0:
            return Zero(point, True, source)
    return Zero(Fraction(t), False, source)


def _grids(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Evenly spaced points of every interval, one row each, about 2048 in all."""
    parts = max(4, min(512, _GRID // len(low)))
    inner = low[:, None] + (high - low)[:, None] * (np.arange(1, parts) / parts)
    return np.column_stack([low, inner, high])


def _crossings(tree: Node, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """One change of sign inside each interval, by repeated subdivision of all of them at once."""
    if not len(low):
        return low
    rows = np.arange(len(low))
    first = np.sign(plain_values(tree, low))[:, None]
    for _ in range(_MAX_ROUNDS):
        grid = _grids(low, high)
        other = np.sign(plain_values(tree, grid)) != first
        other[:, -1] = True
        at = np.maximum(other.argmax(axis=1), 1)
        if np.all((grid[rows, at - 1] == low) & (grid[rows, at] == high)):
            break
        low, high = grid[rows, at - 1], grid[rows, at]
    ends = np.column_stack([low, high])
    return ends[rows, np.abs(plain_values(tree, ends)).argmin(axis=1)]


def lowest_between(
    tree: Node, low: np.ndarray, high: np.ndarray, side: np.ndarray | float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Where ``side`` times the tree is lowest in each interval, and its value there."""
    if not len(low):
        return low, low
    rows = np.arange(len(low))
    sides = np.broadcast_to(side, len(low))[:, None]
    for _ in range(_MAX_ROUNDS):
        grid = _grids(low, high)
        y = sides * plain_values(tree, grid)
        y = np.where(np.isnan(y), np.inf, y)
        at = y.argmin(axis=1)
        place, height = grid[rows, at], y[rows, at]
        # A smooth minimum is flat: closer is no lower.
        narrow = (high - low) <= 2.0**-30 * np.abs(place)
        low, high = grid[rows, np.maximum(at - 1, 0)], grid[rows, np.minimum(at + 1, grid.shape[1] - 1)]
        if narrow.all():
            break
    return place, height
