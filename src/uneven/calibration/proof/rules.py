"""The rules a proof may use. Each is a few lines of ball arithmetic or exact rationals; none of them searches.

F stands for a L1 + b L-1 with exact rational weights. A cell is a closed interval of t with rational or
infinite ends. A rule says that something holds on the whole cell; it may fail to see what is true, never
the reverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache

from uneven.errors import ExpressionError
from uneven.expression import Node, derivative, substitute
from uneven.expression.algebra import add, call, mul, neg, subtract
from uneven.expression.tree import ZERO, Mul, Number, T
from uneven.losses import Phi
from uneven.losses.partial import Partial
from uneven.ops.balls import Interval, Undefined, above, below, combination, enclose_interval, interval, precision
from uneven.ops.rationals import exact_value
from uneven.shape.constants import constant_limit, constant_sign
from uneven.shape.continuity import is_continuous
from uneven.shape.curvature import is_convex
from uneven.shape.decay import decay
from uneven.shape.factored import factored
from uneven.shape.guards import guarded
from uneven.shape.limits import exact_limit
from uneven.shape.monotone import CONSTANT, FALLING, RISING, direction
from uneven.shape.piece_on_cell import formula_inside
from uneven.shape.pieces import Undecidable, slope_beside, switches
from uneven.shape.signs import never_negative

End = Fraction | float  # of a cell; a float here is an infinity
Level = Fraction | None  # None: the value of F at 0
Pair = tuple[Fraction, Fraction]

_ZERO = Fraction(0)
POSITIVE, NEGATIVE, DIFFERENCE = (Fraction(1), _ZERO), (_ZERO, Fraction(1)), (Fraction(1), Fraction(-1))
_FAR = Fraction(2**64)  # times the last finite end of a cell: where its tail is enclosed
_MOST_DERIVATIVES = 8
RULES = ("value", "falls", "rises", "mean", "tangent", "supporting", "balanced", "fades", "flat")


def at(eta: Fraction) -> Pair:
    """The weights of C(eta, .)."""
    return eta, 1 - eta


class Rules:
    """Rules for one loss, at one precision."""

    def __init__(self, positive: Partial, negative: Partial, bits: int) -> None:
        self.partials = (positive, negative)
        self.bits = bits
        # Without their weights, which go to those of F: a weight that binary cannot hold would blur signs.
        first, second = (guarded(Partial(partial.function, inner=partial.inner).tree) for partial in self.partials)
        self._trees = [(first, second)]
        self._enclosed = lru_cache(maxsize=65536)(self._enclose)
        self._merged = lru_cache(maxsize=1024)(self._merge)
        self._exactly_at = lru_cache(maxsize=4096)(self._exact_pair)
        self.is_balanced = lru_cache(maxsize=1024)(self._is_balanced)
        self._wanted = lru_cache(maxsize=1024)(self._enclose_level)
        self._floors: dict[str, Callable[[Pair, Level, End, End], bool]] = {
            "value": self._by_value,
            "falls": self._by_falling,
            "rises": self._by_rising,
            "mean": self._by_mean_value,
            "tangent": self._by_tangent,
            "supporting": self._by_supporting_line,
            "balanced": self._by_balance,
            "fades": self._by_rate,
            "flat": self._by_higher_order,
        }

    # What everything else is made of: enclosures of phi(scale * t) for both partial losses, and derivatives.

    def _scaled(self, weights: Pair) -> Pair:
        """What multiplies phi(scale * t) in F."""
        return weights[0] * self.partials[0].weight, weights[1] * self.partials[1].weight

    def trees(self, order: int) -> tuple[Node, Node]:
        """Both functions or their derivatives of this order; :class:`Undefined` if one is too large."""
        while len(self._trees) <= order:
            first, second = self._trees[-1]
            try:
                self._trees.append((factored(derivative(first)), factored(derivative(second))))
            except ExpressionError:
                raise Undefined("a derivative is too large") from None
        return self._trees[order]

    def _enclose(self, order: int, which: int, low: End, high: End) -> Interval:
        return self._on_cell(self.trees(order)[which], order, low, high)

    def _on_cell(self, tree: Node, order: int, low: End, high: End) -> Interval:
        if order > 0 and low < high:  # a slope need not exist at the ends
            tree = formula_inside(tree, low, high)
        with precision(self.bits):
            cell = interval(low, high)
        return enclose_interval(tree, cell, bits=self.bits)

    def enclosure(self, order: int, weights: Pair, low: End, high: End) -> Interval:
        """The derivative of F of this order on a cell; :class:`Undefined` if it may not exist there."""
        merged = self._merged(order, weights)
        if merged is not None:
            return self._on_cell(merged, order, low, high)
        factors = self._scaled(weights)
        used = [k for k in (0, 1) if factors[k] != 0]
        terms = tuple(self._enclosed(order, k, low, high) for k in used)
        return combination(tuple(factors[k] for k in used), terms, bits=self.bits)

    def _merge(self, order: int, weights: Pair) -> Node | None:
        """F or its derivative as one tree, where like terms of both partial losses have met in it."""
        trees = self.trees(order)
        if 0 in weights:
            return None
        try:
            whole = add(*(mul(Number(factor), tree) for factor, tree in zip(self._scaled(weights), trees, strict=True)))
        except ExpressionError:  # too large
            return None
        return whole if whole.size < sum(tree.size for tree in trees) else None

    def _exact_pair(self, t: Fraction) -> tuple[Fraction | None, Fraction | None]:
        first, second = self.trees(0)
        return exact_value(first, t), exact_value(second, t)

    def exact_at(self, weights: Pair, t: Fraction) -> Fraction | None:
        """F at a point, if it is rational."""
        total = _ZERO
        for factor, value in zip(self._scaled(weights), self._exactly_at(t), strict=True):
            if factor != 0:
                if value is None:
                    return None
                total += factor * value
        return total

    def upper_at(self, weights: Pair, t: Fraction) -> Fraction:
        """A rational at or above F at a point."""
        exact = self.exact_at(weights, t)
        return above(self.enclosure(0, weights, t, t).hi) if exact is None else exact

    def upper_affine(self, eta: Fraction, t: Fraction) -> Fraction:
        """A rational at or above C(eta, t) that is affine in eta for a given t."""
        return sum((w * self.upper_at(unit, t) for w, unit in ((eta, POSITIVE), (1 - eta, NEGATIVE))), _ZERO)

    def _is_at_least(self, weights: Pair, t: Fraction, level: Level) -> bool:
        """F(t) >= level."""
        if level is None and t == 0:
            return True
        exact, wanted = self.exact_at(weights, t), self._level(weights, level)
        if exact is not None and wanted is not None:
            return exact >= wanted
        return self._clears(weights, self.enclosure(0, weights, t, t), level)

    def _level(self, weights: Pair, level: Level) -> Fraction | None:
        return self.exact_at(weights, _ZERO) if level is None else level

    def _clears(self, weights: Pair, enclosed: Interval, level: Level) -> bool:
        return bool(enclosed.lo >= self._wanted(weights, level).hi)

    def _enclose_level(self, weights: Pair, level: Level) -> Interval:
        if level is None:
            return self.enclosure(0, weights, _ZERO, _ZERO)
        with precision(self.bits):
            return interval(level, level)

    # Continuity: only then do slopes speak about values, and curvatures about slopes.

    @cached_property
    def continuous(self) -> bool:
        return all(map(is_continuous, self.trees(0)))

    def has_no_kink_inside(self, low: End, high: End) -> bool:
        """Whether the slopes are continuous strictly inside an interval."""
        try:
            return all(is_continuous(formula_inside(tree, low, high)) for tree in self.trees(1))
        except (Undefined, ExpressionError):
            return False

    # Signs of F, F' or F'' on a cell.

    def has_sign(self, order: int, weights: Pair, sign: int, low: End, high: End) -> bool:
        """sign * (the derivative of F of this order) >= 0 on the cell, so that F is monotone or convex there.

        F itself may also be seen to be at least 0 because it is monotone on the cell and its value or limit at the
        lower end is.
        """
        if self._shows_sign(order, weights, sign, low, high):
            return True
        if order > 0 or sign < 0 or min(weights) < 0:
            return False
        return any(self.is_floor(rule, weights, _ZERO, low, high) for rule in ("falls", "rises"))

    def _shows_sign(self, order: int, weights: Pair, sign: int, low: End, high: End) -> bool:
        """An enclosure on the cell has this sign."""
        if (order >= 1 and not self.continuous) or (order == 2 and not self.has_no_kink_inside(low, high)):
            return False
        try:
            enclosed = self.enclosure(order, weights, low, high)
        except (Undefined, ExpressionError):
            return False
        return bool(enclosed.lo >= 0 if sign > 0 else enclosed.hi <= 0)

    def has_wrong_sign_at(self, order: int, weights: Pair, sign: int, t: Fraction) -> bool:
        """sign * (the formula of this derivative of F) is surely negative at a point."""
        try:
            enclosed = self.enclosure(order, weights, t, t)
        except (Undefined, ExpressionError):
            return False
        return bool(enclosed.hi < 0 if sign > 0 else enclosed.lo > 0)

    def is_below(self, weights: Pair, t: Fraction, level: Level) -> bool:
        """F(t) is surely below the level."""
        try:
            return bool(self.enclosure(0, weights, t, t).hi < self._wanted(weights, level).lo)
        except (Undefined, ExpressionError):
            return False

    def has_sign_by_structure(self, order: int, weights: Pair, sign: int) -> bool:
        """The same on the whole line, read off the formulas (jumps are no obstacle there)."""
        for weight, tree in zip(weights, self.trees(0), strict=True):
            if weight == 0:
                continue
            wanted = sign if weight > 0 else -sign
            if order == 0:
                holds = wanted > 0 and never_negative(tree)
            elif order == 1:
                holds = direction(tree) in (CONSTANT, RISING if wanted > 0 else FALLING)
            else:
                holds = wanted > 0 and is_convex(tree)
            if not holds:
                return False
        return True

    # Slopes at t = 0.

    @cached_property
    def _slopes_beside(self) -> list[tuple[Node, Node]] | None:
        """Left and right slopes at 0 of both partial losses, as trees to be evaluated at 0."""
        try:
            return [(slope_beside(tree, _ZERO, -1), slope_beside(tree, _ZERO, 1)) for tree in self.trees(0)]
        except (Undecidable, Undefined, ExpressionError):
            return None

    def _at_zero(self, tree: Node) -> Interval:
        exact = exact_value(tree, _ZERO)
        with precision(self.bits):
            point = interval(exact, exact) if exact is not None else interval(_ZERO, _ZERO)
        return point if exact is not None else enclose_interval(tree, point, bits=self.bits)

    def slopes_at_zero(self, side: int) -> tuple[Interval, Interval] | None:
        """Enclosures of the one-sided slopes at 0 of both phi(scale * t)."""
        if self._slopes_beside is None or not self.continuous:
            return None
        try:
            first, second = (self._at_zero(pair[side > 0]) for pair in self._slopes_beside)
        except Undefined:
            return None
        return first, second

    def balance(self) -> tuple[Fraction, bool] | None:
        """The eta at which the slope of C(eta, .) at 0 vanishes, and whether it is exact; None if it is not seen."""
        slopes = self.slopes_at_zero(1)
        if slopes is None or self._slopes_beside is None:
            return None
        exact = [exact_value(pair[1], _ZERO) for pair in self._slopes_beside]
        near = [below(slope.lo) / 2 + above(slope.hi) / 2 for slope in slopes]
        p, n = (
            partial.weight * (middle if value is None else value)
            for partial, value, middle in zip(self.partials, exact, near, strict=True)
        )
        return (n / (n - p), None not in exact) if n != p else None

    def is_differentiable_at_zero(self) -> bool:
        if self.slopes_at_zero(1) is None or self._slopes_beside is None:
            return False
        for left, right in self._slopes_beside:
            values = exact_value(left, _ZERO), exact_value(right, _ZERO)
            if left != right and (values[0] is None or values[0] != values[1]):
                return False
        return True

    def descends_at_zero(self) -> bool:
        """Both partial losses are differentiable at 0, with L1'(0) < 0 < L-1'(0)."""
        slopes = self.slopes_at_zero(1)
        return slopes is not None and self.is_differentiable_at_zero() and bool(slopes[0].hi < 0 < slopes[1].lo)

    def has_kink_at_zero(self, which: int) -> bool:
        """The one-sided slopes of a partial loss at 0 differ, the right one being larger."""
        if self._slopes_beside is not None and self.continuous:  # exactly, however small the kink
            exact = [exact_value(slope, _ZERO) for slope in self._slopes_beside[which]]
            if exact[0] is not None and exact[1] is not None:
                return exact[0] < exact[1]
        left, right = self.slopes_at_zero(-1), self.slopes_at_zero(1)
        return left is not None and right is not None and bool(left[which].hi < right[which].lo)

    def slope_sign_at_zero(self, weights: Pair, side: int) -> int | None:
        """Sign of the one-sided slope of F at 0, if it is decided; 0 only where it is exactly 0."""
        slopes = self.slopes_at_zero(side)
        if slopes is None or self._slopes_beside is None:
            return None
        factors = self._scaled(weights)
        exact = [exact_value(pair[side > 0], _ZERO) for pair in self._slopes_beside]
        if all(value is not None or factor == 0 for value, factor in zip(exact, factors, strict=True)):
            total = sum((f * v for f, v in zip(factors, exact, strict=True) if v is not None), _ZERO)
            return (total > 0) - (total < 0)
        used = [k for k in (0, 1) if factors[k] != 0]
        enclosed = combination(tuple(factors[k] for k in used), tuple(slopes[k] for k in used), bits=self.bits)
        return 1 if enclosed.lo > 0 else -1 if enclosed.hi < 0 else None

    @cached_property
    def own_balance(self) -> Fraction | None:
        """For one function on two scales: the eta at which the slope of C(eta, .) at 0 vanishes."""
        first, second = self.partials
        if not (isinstance(first.function, Phi) and isinstance(second.function, Phi)):
            return None
        if first.function.tree != second.function.tree or first.inner * second.inner >= 0:
            return None
        p, n = first.weight * first.inner, second.weight * second.inner
        return n / (n - p)

    def _is_balanced(self, weights: Pair) -> bool:
        """F'(0) = 0 exactly: by the two scales of one function, in rationals, or because the terms cancel."""
        if not self.is_differentiable_at_zero() or self._slopes_beside is None:
            return False
        a, b = weights
        if a + b != 0 and self.own_balance == a / (a + b):
            return True
        if self.slope_sign_at_zero(weights, 1) == 0:
            return True
        factors = self._scaled(weights)
        terms = (mul(Number(f), _at_zero(pair[1])) for f, pair in zip(factors, self._slopes_beside, strict=True))
        return add(*terms) == ZERO

    def mirrored_at(self) -> Fraction | None:
        """If L-1(t) = k L1(-t): the eta k/(1 + k), at which both sides tie."""
        (first, core), (second, other) = map(_factored, self.trees(0))
        if substitute(core, {"t": neg(T)}) != other:
            return None
        p, n = self._scaled((first, second))
        return n / (p + n) if p > 0 and n > 0 else None

    # Lower bounds of F on a cell.

    def is_floor(self, rule: str, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F >= level on the cell, by one rule; every weight is at least 0."""
        try:
            return self._floors[rule](weights, level, low, high)
        except (Undefined, ExpressionError):  # it may not be defined, or a formula is too large
            return False

    def _by_value(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        if self._clears(weights, self.enclosure(0, weights, low, high), level):
            return True
        constant, wanted = self._constant_inside(weights, low, high), self._level(weights, level)
        if constant is None or wanted is None or constant < wanted:
            return False
        return all(self._is_at_least(weights, end, level) for end in (low, high) if isinstance(end, Fraction))

    def _constant_inside(self, weights: Pair, low: End, high: End) -> Fraction | None:
        """F inside a cell, if it is one rational number there."""
        total = _ZERO
        for factor, tree in zip(self._scaled(weights), self.trees(0), strict=True):
            if factor != 0:
                piece = formula_inside(tree, low, high)
                if not isinstance(piece, Number):
                    return None
                total += factor * piece.value
        return total

    def _by_falling(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        return self._shows_sign(1, weights, -1, low, high) and self._end_clears(weights, level, low, high)

    def _by_rising(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        return self._shows_sign(1, weights, 1, low, high) and self._end_clears(weights, level, high, low)

    def _end_clears(self, weights: Pair, level: Level, start: End, end: End) -> bool:
        """F moves down from start to end: is its value or limit there at least the level?"""
        if isinstance(end, Fraction):
            return self._is_at_least(weights, end, level)
        if self._limit_clears(weights, level, 1 if end > 0 else -1):
            return True
        far = (_FAR * max(abs(start), Fraction(1))) if isinstance(start, Fraction) else _FAR
        low, high = (far, math.inf) if end > 0 else (-math.inf, -far)
        return self._clears(weights, self.enclosure(0, weights, low, high), level)

    def limit_at(self, weights: Pair, end: float) -> Fraction | None:
        """The limit of F at plus or minus infinity, if it is rational and known."""
        total = _ZERO
        for factor, tree in zip(self._scaled(weights), self.trees(0), strict=True):
            if factor != 0:
                limit = exact_limit(tree, 1 if end > 0 else -1)
                if not isinstance(limit, Fraction):
                    return None
                total += factor * limit
        return total

    def _limit_clears(self, weights: Pair, level: Level, side: int) -> bool:
        """The limit of F at plus or minus infinity is seen to be at least the level; both may be irrational."""
        limits: list[Node] = []
        for factor, tree in zip(self._scaled(weights), self.trees(0), strict=True):
            if factor != 0:
                limit = constant_limit(tree, side)
                if limit is None:
                    return False
                if isinstance(limit, float):  # no partial loss tends to minus infinity
                    return limit > 0
                limits.append(mul(Number(factor), limit))
        wanted = self._tree_at_zero(weights) if level is None else Number(level)
        excess = constant_sign(subtract(add(*limits), wanted))
        return excess is not None and excess >= 0

    def _tree_at_zero(self, weights: Pair) -> Node:
        """F(0) as a tree without t; both partial losses are finite at 0."""
        parts = zip(self._scaled(weights), self.trees(0), strict=True)
        return add(*(mul(Number(factor), _at_zero(tree)) for factor, tree in parts if factor != 0))

    def _by_mean_value(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        if not (self.continuous and isinstance(low, Fraction) and isinstance(high, Fraction)):
            return False
        middle, half = (low + high) / 2, (high - low) / 2
        slope = self.enclosure(1, weights, low, high)
        return self._clears_by(weights, level, middle, max(-below(slope.lo), above(slope.hi)) * half)

    def _by_tangent(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """Convex on the cell, so above its tangent in the middle."""
        if not (isinstance(low, Fraction) and isinstance(high, Fraction) and self.has_sign(2, weights, 1, low, high)):
            return False
        middle, half = (low + high) / 2, (high - low) / 2
        slope = self.enclosure(1, weights, middle, middle)
        return self._clears_by(weights, level, middle, max(-below(slope.lo), above(slope.hi)) * half)

    def _by_supporting_line(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """Convex on the whole line by its formulas, so above its tangent at either finite end of the cell.

        The slope is the one-sided slope from inside the cell. Towards infinity it must have the right sign.
        """
        if not self.continuous or not self.has_sign_by_structure(2, weights, 1):
            return False
        return any(
            self._clears_by(weights, level, end, drop)
            for end, other in ((low, high), (high, low))
            if isinstance(end, Fraction) and (drop := self._drop_along_tangent(weights, end, other)) is not None
        )

    def _drop_along_tangent(self, weights: Pair, end: Fraction, other: End) -> Fraction | None:
        """How far the tangent at one end falls at most on the way to the other; None if it falls for ever."""
        low, high = min(end, other), max(end, other)
        factors = self._scaled(weights)
        used = [k for k in (0, 1) if factors[k] != 0]
        terms = tuple(self._slope_from_inside(k, end, low, high) for k in used)
        slope = combination(tuple(factors[k] for k in used), terms, bits=self.bits)
        steepest = -below(slope.lo) if other > end else above(slope.hi)
        if steepest <= 0:
            return _ZERO
        return steepest * abs(other - end) if isinstance(other, Fraction) else None

    def _slope_from_inside(self, which: int, end: Fraction, low: End, high: End) -> Interval:
        tree = formula_inside(self.trees(1)[which], low, high)
        return self._on_cell(tree, 0, end, end)

    def _clears_by(self, weights: Pair, level: Level, middle: Fraction, drop: Fraction) -> bool:
        enclosed = self.enclosure(0, weights, middle, middle)
        with precision(self.bits):
            lowest = (enclosed.lo - interval(drop, drop).hi).lower()
        return self._clears(weights, Interval(lowest, lowest), level)

    def _by_balance(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """Convex on a cell that holds 0, where its slope vanishes: F(0) is the minimum."""
        return (
            low <= 0 <= high
            and (level is None or self._is_at_least(weights, _ZERO, level))
            and self.is_balanced(weights)
            and self.has_sign(2, weights, 1, low, high)
        )

    def _by_higher_order(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F is smooth on a cell that holds 0, where its first derivatives are exactly 0: the next one decides.

        With derivatives 1 to n - 1 equal to 0 at 0, F(t) - F(0) = F^(n)(s) t^n / n! for an s between 0 and t. That
        is at least 0 if F^(n) >= 0 on the cell and n is even or the cell lies to the right of 0, and on the left for
        odd n if F^(n) <= 0.
        """
        if not (self.continuous and low <= 0 <= high and isinstance(low, Fraction) and isinstance(high, Fraction)):
            return False
        if not (level is None or self._is_at_least(weights, _ZERO, level)):
            return False
        used = [k for k in (0, 1) if weights[k] != 0]
        trees = [formula_inside(self.trees(0)[k], low, high) for k in used]
        if any(map(_has_switch, trees)):
            return False
        factors = tuple(self._scaled(weights)[k] for k in used)
        for order in range(1, _MOST_DERIVATIVES + 1):
            trees = [factored(derivative(tree)) for tree in trees]
            terms = tuple(self._on_cell(tree, 0, low, high) for tree in trees)
            enclosed = combination(factors, terms, bits=self.bits)
            if (order % 2 == 0 or low == 0) and enclosed.lo >= 0:
                return True
            if order % 2 == 1 and high == 0 and enclosed.hi <= 0:
                return True
            # The enclosures say that the trees are defined at 0.
            at_zero = add(*(mul(Number(f), _at_zero(tree)) for f, tree in zip(factors, trees, strict=True)))
            if at_zero != ZERO:
                return False
        return False

    def _by_rate(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F falls towards infinity: the sign of its slope is seen once a common exponential is divided out."""
        if not self.continuous or isinstance(low, Fraction) == isinstance(high, Fraction):
            return False
        side = 1 if isinstance(low, Fraction) else -1
        start, end = (low, high) if side > 0 else (high, low)
        assert isinstance(start, Fraction)
        factors = self._scaled(weights)
        used = [k for k in (0, 1) if factors[k] != 0]
        slopes = [self.trees(1)[k] for k in used]
        if side < 0:  # seen from the mirror image of t, where "towards infinity" is to the right
            slopes = [substitute(slope, {"t": neg(T)}) for slope in slopes]
        parts = [decay(slope) for slope in slopes]
        slowest = min(rate for rate, _ in parts)
        with precision(self.bits):
            tail = interval(abs(start), math.inf)
        terms = []
        for rate, rest in parts:
            tree = mul(rest, call("exp", mul(Number(slowest - rate), T)))
            terms.append(enclose_interval(tree, tail, bits=self.bits))
        enclosed = combination(tuple(factors[k] for k in used), tuple(terms), bits=self.bits)
        falls = enclosed.hi <= 0 if side > 0 else enclosed.lo >= 0
        return bool(falls) and self._end_clears(weights, level, start, end)


def _factored(tree: Node) -> tuple[Fraction, Node]:
    """A rational factor and what it multiplies."""
    match tree:
        case Mul() if isinstance(tree.children[0], Number):
            return tree.children[0].value, mul(*tree.children[1:])
    return Fraction(1), tree


@lru_cache(maxsize=1024)
def _at_zero(tree: Node) -> Node:
    """The value at 0 as a tree without t."""
    return substitute(tree, {"t": ZERO})


@lru_cache(maxsize=4096)
def _has_switch(tree: Node) -> bool:
    return next(switches(tree), None) is not None
