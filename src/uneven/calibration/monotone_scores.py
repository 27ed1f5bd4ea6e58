"""Whether it is proved that a larger score of a loss never stands for a smaller probability.

With N = L-1' and P = -L1', the probability is q = N/(N + P). Two rules prove that it does not fall: both losses are
convex (N does not fall, P does not rise), or N/P is one and the same function that does not fall on all pieces.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

from flint import fmpq, fmpq_poly

from uneven.errors import ExpressionError
from uneven.expression import derivative, simplify
from uneven.expression.algebra import affine, inv, mul, neg, subtract, terms_of
from uneven.expression.functions import CONSTANT, RISING
from uneven.expression.tree import ONE, ZERO, Add, Call, Inv, Mul, Neg, Node, Number, Pow, T, depends_on_t
from uneven.losses import Loss
from uneven.ops.balls import Undefined, above, below, enclose_interval, interval
from uneven.ops.rationals import exact_value
from uneven.shape.exact_limits import constant_sign
from uneven.shape.kinks import switch_zeros
from uneven.shape.pieces import Undecidable, beside, conditions, formula_inside
from uneven.shape.rewrites import Quotient
from uneven.shape.signs import direction, never_negative
from uneven.shape.structure import is_convex

_BITS = 128
End = Fraction | float


def never_falls(loss: Loss) -> bool:
    """Whether it is proved that the probability that a score stands for does not fall with the score."""
    positive, negative = loss.partials
    rising, falling = derivative(negative.tree), neg(derivative(positive.tree))
    if all(is_convex(partial.tree) for partial in loss.partials):
        return True
    try:
        return (_does_not_fall(rising) and _does_not_fall(neg(falling))) or _has_one_quotient(rising, falling)
    except (Undecidable, ExpressionError):  # a sign that is not known, or a tree that grew too large
        return False


def _does_not_fall(tree: Node) -> bool:
    """On no piece, and at no point between two, which must be rational."""
    points = [cluster[0] for cluster in switch_zeros(tree)]
    if not all(zero.exact for zero in points):
        return False
    ends: list[End] = [-math.inf, *(zero.point for zero in points), math.inf]
    if any(direction(formula_inside(tree, low, high)) not in (RISING, CONSTANT) for low, high in pairwise(ends)):
        return False
    jumps = [subtract(beside(tree, zero.point, 1), beside(tree, zero.point, -1)) for zero in points]
    values = [exact_value(jump, zero.point) for jump, zero in zip(jumps, points, strict=True)]
    return all(value is not None and value >= 0 for value in values)


def _has_one_quotient(rising: Node, falling: Node) -> bool:
    """Whether N/P is the same function, which does not fall, wherever N and P are not both 0.

    Floats locate the points where a formula changes. Cells end a little before such a point, and a strip around it
    overlaps both cells. All conditions whose sign is open on the strip must vanish at one and the same point.
    """
    points = sorted({cluster[0].point for tree in (rising, falling) for cluster in switch_zeros(tree)})
    points = [point for k, point in enumerate(points) if not k or point - points[k - 1] > _TOGETHER]
    room = min([Fraction(1), *(high - low for low, high in pairwise(points))]) / 2**10
    for point in points:
        strip = (point - 2 * room, point + 2 * room)
        places = {
            _place(open_one) for tree in (rising, falling) for open_one in conditions(formula_inside(tree, *strip))
        }
        if len(places) > 1 or None in places:
            return False
    ends: list[End] = [-math.inf, *points, math.inf]
    quotients = set()
    for low, high in pairwise(ends):
        cell = (low if isinstance(low, float) else low + room), (high if isinstance(high, float) else high - room)
        numerator, denominator = formula_inside(rising, *cell), formula_inside(falling, *cell)
        if numerator == ZERO and denominator == ZERO:
            continue
        quotients.add(_rising_quotient(numerator, denominator))
    return len(quotients) == 1 and None not in quotients


def _rising_quotient(numerator: Node, denominator: Node) -> Any:
    """N/P in a normal form, if both are seen to be nonnegative and their quotient does not fall; else None."""
    if denominator == ZERO:
        return None
    scale, first = _split_constants(numerator)
    other_scale, second = _split_constants(denominator)
    n, p = _in_odds(first), _in_odds(second)
    if scale == other_scale and n is not None and p is not None:
        top, bottom = n[0] * p[1], n[1] * p[0]
        common = top.gcd(bottom)
        top, bottom = top // common, bottom // common
        bend = top.derivative() * bottom - top * bottom.derivative()
        if all(_one_sign(*pair) for pair in (n, p, (top, bottom))) and (bend == 0 or _one_sign(bend, bottom * bottom)):
            lead = bottom[bottom.degree()]
            return str(top / lead), str(bottom / lead)
    if never_negative(numerator) and never_negative(denominator):
        found = simplify(mul(numerator, inv(denominator)))
        return found if direction(found) in (RISING, CONSTANT) else None
    return None


def _split_constants(tree: Node) -> tuple[frozenset[Node], Node]:
    """Factors without t that are positive but not rational, such as 1/log(10), and the rest."""
    if isinstance(tree, Neg):
        constants, rest = _split_constants(tree.children[0])
        return constants, neg(rest)
    fixed: list[Node] = []
    others: list[Node] = []
    for factor in tree.children if isinstance(tree, Mul) else (tree,):
        known = not depends_on_t(factor) and not isinstance(factor, Number) and constant_sign(factor) == 1
        (fixed if known else others).append(factor)
    return frozenset(fixed), mul(*others) if others else ONE


def _one_sign(numerator: Any, denominator: Any) -> bool:
    """Whether a quotient is never negative at positive arguments because all coefficients have one sign."""
    signs = {bool(value > 0) for poly in (numerator, denominator) for value in poly.coeffs() if value != 0}
    return len(signs) == 1


def _in_odds(tree: Node) -> Quotient | None:
    """A tree as a reduced quotient of polynomials in x = exp(t); None if it is none."""
    one = fmpq_poly([1])
    match tree:
        case Number(value):
            return fmpq_poly([fmpq(value.numerator, value.denominator)]), one
        case Call("exp" | "expit" as name, (argument,)):
            odds = _power_of_odds(argument)
            if odds is None or name == "exp":
                return odds
            return _reduce(odds[0], odds[0] + odds[1])
    parts = [_in_odds(child) for child in tree.children]
    known = [part for part in parts if part is not None]
    if not parts or len(known) < len(parts):
        return None
    first = known[0]
    match tree:
        case Neg():
            return -first[0], first[1]
        case Inv():
            return (first[1], first[0]) if first[0] != 0 else None
        case Pow(_, Number(exponent)) if exponent.denominator == 1 and 0 <= exponent <= _MAX_DEGREE:
            return first[0] ** int(exponent), first[1] ** int(exponent)
        case Add():
            return reduce(lambda x, y: _reduce(x[0] * y[1] + y[0] * x[1], x[1] * y[1]), known)
        case Mul():
            return reduce(lambda x, y: _reduce(x[0] * y[0], x[1] * y[1]), known)
    return None


def _reduce(numerator: Any, denominator: Any) -> Quotient:
    common = numerator.gcd(denominator)
    return numerator // common, denominator // common


def _power_of_odds(argument: Node) -> Quotient | None:
    """exp of k t plus logarithms of numbers, k a whole number, as a power of x times a number; None if it is none."""
    factor, exponent = Fraction(1), 0
    for node, times in terms_of(argument).items():
        match node:
            case Call("log", (Number(value),)) if abs(times) == 1 and value > 0:
                factor *= value if times > 0 else 1 / value
            case _ if node == T and times.denominator == 1 and abs(times) <= _MAX_DEGREE:
                exponent = int(times)
            case _:
                return None
    power = fmpq_poly([0] * abs(exponent) + [1])
    number = fmpq_poly([fmpq(factor.numerator, factor.denominator)])
    return (number * power, fmpq_poly([1])) if exponent >= 0 else (number, power)


#: Powers of x beyond this are not multiplied out.
_MAX_DEGREE = 200
#: Two points that floats found this close together are taken for one; whether they are is then proved.
_TOGETHER = Fraction(1, 2**30)


def _place(condition: Node) -> tuple[str, Fraction] | None:
    """The only zero of a condition that is monotone: t, or exp(t), as a rational; None if it is not seen.

    Known are lines, lines in exp(t) or exp(-t), and t plus logarithms of numbers.
    """
    line = affine(condition)
    if line is not None:
        return None if line[0] == 0 else ("t", -line[1] / line[0])
    whole = _power_of_odds(condition)  # exp(condition) = factor * x
    odds = _in_odds(condition) if whole is None else (whole[0] - whole[1], whole[1])
    if odds is None or odds[0].degree() != 1 or any(odds[1][k] != 0 for k in range(odds[1].degree())):
        return None  # the denominator must be a power of x, which is positive
    root = -odds[0][0] / odds[0][1]
    return ("exp(t)", Fraction(int(root.p), int(root.q))) if root > 0 else None


def falls_for_sure(loss: Loss, first: float, second: float) -> bool:
    """Whether q(first) > q(second) is proved, by N(first) P(second) > N(second) P(first) with all four positive."""
    positive, negative = loss.partials
    rising, falling = derivative(negative.tree), neg(derivative(positive.tree))
    try:
        n1, n2, p1, p2 = (
            enclose_interval(tree, interval(place, place), bits=_BITS)
            for tree in (rising, falling)
            for place in (first, second)
        )
        if not min(n1.lo, p1.lo, n2.lo, p2.lo) > 0:
            return False
        return below(n1.lo) * below(p2.lo) > above(n2.hi) * above(p1.hi)
    except Undefined:
        return False
