"""Is a tree a loss? Defined and nonnegative everywhere, finite at 0."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from uneven.errors import ExpressionError
from uneven.expression import Node, simplify, to_text
from uneven.expression.algebra import holds, is_nonnegative
from uneven.expression.tree import Number, Pow, Where, depends_on_t, put, transform
from uneven.inputs import to_float
from uneven.ops.balls import Impossible, Undefined, enclose_interval, interval
from uneven.ops.floats import plain_values
from uneven.ops.precise import nearest_float, value_at
from uneven.ops.rationals import exact_value
from uneven.shape.bounds import negative_point
from uneven.shape.kinks import cluster_zeros, switch_zeros
from uneven.shape.pieces import pole_arguments
from uneven.shape.polynomials import is_nonnegative_polynomial
from uneven.shape.zeros import Zero, local_minima, location, lowest_between, probe_points, zeros

_MAX_WORK = 15_000  # points tried exactly times parts of the tree
_MAX_DIPS = 40


def require_loss(tree: Node) -> None:
    """Raise :class:`ExpressionError` unless the tree, as written, can be a partial loss.

    Floating point only proposes points; ball arithmetic at the exact point decides. A pole at an irrational
    zero of a denominator is decided there to hundreds of bits.
    """
    text = to_text(tree)
    _require_known_exponents(tree)
    at_zero = _value(tree, Fraction(0))
    if at_zero is None or math.isinf(at_zero):
        raise ExpressionError(f"a loss is finite at t = 0, but {text} is not", text=text)
    normal = simplify(tree)
    critical = _critical_zeros(tree, normal)
    t = _proposals(critical)
    y = plain_values(tree, t)
    undefined = _undefined_point(tree, critical, t, y)
    if undefined is not None:
        raise ExpressionError(f"a loss is defined for every t, but {text} is undefined at t = {undefined:.12g}")
    proved = is_nonnegative(normal) or is_nonnegative_polynomial(normal)
    negative = None if proved else _negative_point(tree, normal, critical, t, y)
    if negative is not None:
        value = _value(tree, negative)
        shown = "negative" if value is None else f"{value:.6g}"
        raise ExpressionError(f"a loss is never negative, but {text} is {shown} at t = {to_float(negative):.12g}")


def _require_known_exponents(tree: Node) -> None:
    """Refuse ``t**(2**65536)``: whether a negative t has such a power depends on digits that are not kept."""
    for node in tree.walk():
        if not isinstance(node, Pow) or isinstance(node.exponent, Number) or depends_on_t(node.exponent):
            continue
        exponent = simplify(node.exponent)
        if any(map(_is_unfolded_integer, exponent.walk())) and not is_nonnegative(simplify(node.base)):
            raise ExpressionError(
                f"the exponent {to_text(node.exponent)} has more than about 900 digits, which are not kept; "
                "a smaller one would work"
            )


def _is_unfolded_integer(node: Node) -> bool:
    match node:
        case Pow(Number(_), Number(exponent)):
            return exponent.denominator == 1
    return False


def _value(tree: Node, point: Fraction) -> float | None:
    try:
        return nearest_float(_fold_at(tree, point), 0.0)
    except Undefined:
        return None


def _fold_at(tree: Node, point: Fraction) -> Node:
    """The tree at a point, every rational part folded and every decided branch taken.

    Nothing that is undefined folds: 0*log(0) keeps its logarithm.
    """

    def fold(node: Node) -> Node:
        match node:
            case Where(op, Number(left), Number(right), yes, no):
                return yes if holds(op, left, right) else no
        if not node.children or not all(isinstance(child, Number) for child in node.children):
            return node
        try:
            value = exact_value(node, point)
        except ExpressionError:  # more digits than are kept
            value = None
        return node if value is None else Number(value)

    return transform(put(tree, {"t": Number(point)}), fold)


def _critical_zeros(tree: Node, normal: Node) -> list[Zero]:
    """Where the value may change its formula, or the tree as written may cease to be defined."""
    found = [zero for cluster in switch_zeros(normal) for zero in cluster]
    for argument in dict.fromkeys(pole_arguments(tree)):
        found += zeros(argument)
        found += [zero for cluster in switch_zeros(argument) for zero in cluster]
    return [cluster[0] for cluster in cluster_zeros(found)]


def _between(critical: list[Zero]) -> list[float]:
    """A point of every interval between critical points, and one beyond each end."""
    points = [to_float(zero.point) for zero in critical]
    if not points:
        return []
    middles = [0.5 * low + 0.5 * high for low, high in itertools.pairwise(points)]
    beyond = [points[0] - 1 - abs(points[0]), points[-1] + 1 + abs(points[-1])]
    return [point for point in beyond + middles if math.isfinite(point)]


def _proposals(critical: list[Zero]) -> np.ndarray:
    points = [to_float(zero.point) for zero in critical]
    t = np.unique(np.concatenate([probe_points(), points, _between(critical)]))
    return t[np.isfinite(t)]


def _by_size(points: np.ndarray) -> list[float]:
    """Points a person would choose first: whole numbers, then near 0."""
    return sorted((float(p) for p in points), key=lambda p: (not p.is_integer() or abs(p) > 100, abs(p)))


def _undefined_point(tree: Node, critical: list[Zero], t: np.ndarray, y: np.ndarray) -> float | None:
    arguments = list(dict.fromkeys(pole_arguments(tree)))
    if not arguments:
        return None
    suspects = _by_size(t[~np.isfinite(y)])
    for point in suspects[:8] + suspects[-2:]:
        if _is_undefined(tree, Fraction(point)):
            return point
    tries = max(8, _MAX_WORK // tree.size)
    poles = [zero for argument in arguments for zero in zeros(argument)]
    for zero in list(dict.fromkeys([*poles, *critical]))[:tries]:
        if _is_undefined_at_zero(tree, zero):
            return to_float(zero.point)
    return next((point for point in _between(critical)[:tries] if _is_undefined(tree, Fraction(point))), None)


def _is_undefined_at_zero(tree: Node, zero: Zero) -> bool:
    known = _is_undefined(_fold_at(tree, zero.point), zero.point) if zero.exact else None
    return bool(value_at(tree, location(zero)).is_nan()) if known is None else known


def _is_undefined(tree: Node, point: Fraction) -> bool | None:
    """Whether the tree is surely undefined at a point; None if ball arithmetic cannot tell."""
    for bits in (64, 512):
        try:
            enclosure = enclose_interval(tree, interval(point, point), bits=bits)
        except Impossible:
            if bits == 512:  # fewer may not tell the branches of a where apart
                return True
        except Undefined:
            continue
        else:
            if enclosure.lo.is_finite() or enclosure.hi.is_finite():
                return False
    return None


def _negative_point(tree: Node, normal: Node, critical: list[Zero], t: np.ndarray, y: np.ndarray) -> Fraction | None:
    proposed = [Fraction(point) for point in _by_size(t[y < 0])[:30] + _dips(tree, t, y)]
    for point in proposed:
        if _negative_at(tree, point):
            return point
    for zero in critical:  # a value of its own at a rational point that is no double
        is_double = Fraction(to_float(zero.point)) == zero.point
        if zero.exact and not is_double and _negative_at(_fold_at(tree, zero.point), zero.point):
            return zero.point
    found = negative_point(normal)
    return Fraction(found) if found is not None and _negative_at(tree, Fraction(found)) else None


def _negative_at(tree: Node, point: Fraction) -> bool:
    try:
        return bool(enclose_interval(tree, interval(point, point), bits=256).hi < 0)
    except Undefined:
        return False


def _dips(tree: Node, t: np.ndarray, y: np.ndarray) -> list[float]:
    """Refined local minima where a loss dips to zero or below between the probes."""
    dips = np.flatnonzero(local_minima(y)) + 1
    dips = dips[np.argsort(y[dips], kind="stable")[:_MAX_DIPS]]
    place, height = lowest_between(tree, t[dips - 1], t[dips + 1])
    around = np.maximum(np.abs(y[dips - 1]), np.abs(y[dips + 1]))
    return [float(point) for point in place[height <= 1e-12 * around]]
