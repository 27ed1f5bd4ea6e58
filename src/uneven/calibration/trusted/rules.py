"""The rules that a proof may use. Each is a few lines of ball arithmetic or exact rationals, without a search.

A rule proves that something holds on a whole cell, for F = a L1 + b L-1 with exact rational weights. It may fail to
prove something true, but it never accepts something false.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from uneven.calibration.trusted.formulas import (
    DIFFERENCE,
    NEGATIVE,
    POSITIVE,
    End,
    Level,
    Pair,
    PartialFormula,
    SlopesAtZero,
    at,
    tree_at_zero,
)
from uneven.errors import ExpressionError
from uneven.expression import Node, derivative, substitute
from uneven.expression.algebra import add, call, mul, neg, subtract
from uneven.expression.functions import CONSTANT, FALLING, RISING
from uneven.expression.tree import ZERO, Number, T
from uneven.ops.balls import Interval, Undefined, above, below, combination, enclose_interval, interval, precision
from uneven.shape.exact_limits import constant_limit, constant_sign, exact_limit
from uneven.shape.pieces import formula_inside, switches
from uneven.shape.rewrites import decay, factor_out
from uneven.shape.signs import direction, is_defined, never_negative
from uneven.shape.structure import is_convex

__all__ = ["DIFFERENCE", "NEGATIVE", "POSITIVE", "RULES", "End", "Level", "Pair", "Rules", "at"]

_ZERO = Fraction(0)
_FAR = Fraction(2**64)  # times the finite end of a cell: F beyond this t stands for its limit
_MOST_DERIVATIVES = 8
RULES = ("value", "falls", "rises", "mean", "tangent", "supporting", "balanced", "fades", "flat")


class Rules(SlopesAtZero):
    """Rules for one loss, at one precision."""

    def __init__(self, positive: PartialFormula, negative: PartialFormula, bits: int) -> None:
        super().__init__(positive, negative, bits)
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
        self.beyond = lru_cache(maxsize=2)(self._beyond)

    def _beyond(self, side: int) -> Rules:
        """Rules for the formulas that hold for t > 0 (side 1) or t < 0; these rules if no partial loss jumps.

        What they prove on cells of that side holds for F at every t of these cells but 0.
        """
        if all(self.both_continuous):
            return self
        ends = (_ZERO, math.inf) if side > 0 else (-math.inf, _ZERO)
        first, second = (
            PartialFormula(formula_inside(tree, *ends), partial.weight, Fraction(1))
            for tree, partial in zip(self.trees(0), self.partials, strict=True)
        )
        return Rules(first, second, self.bits)

    # Signs of F, F' or F'' on a cell.

    def has_sign(self, order: int, weights: Pair, sign: int, low: End, high: End) -> bool:
        """sign * (the derivative of F of this order) >= 0 on the cell.

        F >= 0 may also follow because F is monotone on the cell, and its value or limit is at least 0 at the end where
        it is smallest.
        """
        if self._shows_sign(order, weights, sign, low, high):
            return True
        if order > 0 or sign < 0 or min(weights) < 0:
            return False
        return any(self.is_floor(rule, weights, _ZERO, low, high) for rule in ("falls", "rises"))

    def _shows_sign(self, order: int, weights: Pair, sign: int, low: End, high: End) -> bool:
        """Whether an enclosure on the cell proves this sign."""
        if (order >= 1 and not self.is_continuous(weights)) or (order == 2 and not self.has_no_kink_inside(low, high)):
            return False
        try:
            enclosed = self.enclosure(order, weights, low, high)
        except (Undefined, ExpressionError):
            return False
        return bool(enclosed.lo >= 0 if sign > 0 else enclosed.hi <= 0)

    def has_wrong_sign_at(self, order: int, weights: Pair, sign: int, t: Fraction) -> bool:
        """sign * (the derivative of F of this order) is proved to be negative at a point."""
        try:
            enclosed = self.enclosure(order, weights, t, t)
        except (Undefined, ExpressionError):
            return False
        return bool(enclosed.hi < 0 if sign > 0 else enclosed.lo > 0)

    def is_below(self, weights: Pair, t: Fraction, level: Level) -> bool:
        """F(t) is proved to be below the level."""
        try:
            return bool(self.enclosure(0, weights, t, t).hi < self.wanted(weights, level).lo)
        except (Undefined, ExpressionError):
            return False

    def has_sign_by_structure(self, order: int, weights: Pair, sign: int) -> bool:
        """The same on the whole line, from the structure of the formulas; they may have jumps.

        Signs by structure hold wherever a formula is defined, so order 0, which every proof starts with, also shows
        that it is defined everywhere.
        """
        for weight, tree in zip(weights, self.trees(0), strict=True):
            if weight == 0:
                continue
            wanted = sign if weight > 0 else -sign
            if order == 0:
                holds = wanted > 0 and never_negative(tree) and is_defined(tree)
            elif order == 1:
                holds = direction(tree) in (CONSTANT, RISING if wanted > 0 else FALLING)
            else:
                holds = wanted > 0 and is_convex(tree)
            if not holds:
                return False
        return True

    # Lower bounds of F on a cell.

    def is_floor(self, rule: str, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F >= level on the cell, proved by one rule; the weights must be at least 0."""
        try:
            return self._floors[rule](weights, level, low, high)
        except (Undefined, ExpressionError):  # F may be undefined on the cell, or a formula too large
            return False

    def _by_value(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        if self.clears(weights, self.enclosure(0, weights, low, high), level):
            return True
        constant, wanted = self._constant_inside(weights, low, high), self.exact_level(weights, level)
        if constant is None or wanted is None or constant < wanted:
            return False
        return all(self.is_at_least(weights, end, level) for end in (low, high) if isinstance(end, Fraction))

    def _constant_inside(self, weights: Pair, low: End, high: End) -> Fraction | None:
        """F inside a cell, if it is a rational constant there."""
        total = _ZERO
        for factor, tree in zip(self.scaled(weights), self.trees(0), strict=True):
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
        """For an F that falls from start to end: its value or limit at the end is at least the level."""
        if isinstance(end, Fraction):
            return self.is_at_least(weights, end, level)
        if self._limit_clears(weights, level, 1 if end > 0 else -1):
            return True
        far = (_FAR * max(abs(start), Fraction(1))) if isinstance(start, Fraction) else _FAR
        low, high = (far, math.inf) if end > 0 else (-math.inf, -far)
        return self.clears(weights, self.enclosure(0, weights, low, high), level)

    def limit_at(self, weights: Pair, end: float) -> Fraction | None:
        """The limit of F at plus or minus infinity, if it is rational and known."""
        total = _ZERO
        for factor, tree in zip(self.scaled(weights), self.trees(0), strict=True):
            if factor != 0:
                limit = exact_limit(tree, 1 if end > 0 else -1)
                if not isinstance(limit, Fraction):
                    return None
                total += factor * limit
        return total

    def _limit_clears(self, weights: Pair, level: Level, side: int) -> bool:
        """The limit of F at plus or minus infinity is proved to be at least the level; both may be irrational."""
        limits: list[Node] = []
        for factor, tree in zip(self.scaled(weights), self.trees(0), strict=True):
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
        parts = zip(self.scaled(weights), self.trees(0), strict=True)
        return add(*(mul(Number(factor), tree_at_zero(tree)) for factor, tree in parts if factor != 0))

    def _by_mean_value(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        if not (self.is_continuous(weights) and isinstance(low, Fraction) and isinstance(high, Fraction)):
            return False
        middle, half = (low + high) / 2, (high - low) / 2
        slope = self.enclosure(1, weights, low, high)
        return self._clears_by(weights, level, middle, max(-below(slope.lo), above(slope.hi)) * half)

    def _by_tangent(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F is convex on the cell, so it lies above its tangent at the middle."""
        if not (isinstance(low, Fraction) and isinstance(high, Fraction) and self.has_sign(2, weights, 1, low, high)):
            return False
        middle, half = (low + high) / 2, (high - low) / 2
        slope = self.enclosure(1, weights, middle, middle)
        return self._clears_by(weights, level, middle, max(-below(slope.lo), above(slope.hi)) * half)

    def _by_supporting_line(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F is convex on the whole line by its formulas, so it lies above its tangent at a finite end of the cell.

        The slope of the tangent is the one-sided slope from inside the cell. If the other end is infinite, the tangent
        must not fall towards it.
        """
        if not self.is_continuous(weights) or not self.has_sign_by_structure(2, weights, 1):
            return False
        return any(
            self._clears_by(weights, level, end, drop)
            for end, other in ((low, high), (high, low))
            if isinstance(end, Fraction) and (drop := self._drop_along_tangent(weights, end, other)) is not None
        )

    def _drop_along_tangent(self, weights: Pair, end: Fraction, other: End) -> Fraction | None:
        """An upper bound of the fall of the tangent from one end to the other; None if it falls without limit."""
        low, high = min(end, other), max(end, other)
        factors = self.scaled(weights)
        used = [k for k in (0, 1) if factors[k] != 0]
        terms = tuple(self._slope_from_inside(k, end, low, high) for k in used)
        slope = combination(tuple(factors[k] for k in used), terms, bits=self.bits)
        steepest = -below(slope.lo) if other > end else above(slope.hi)
        if steepest <= 0:
            return _ZERO
        return steepest * abs(other - end) if isinstance(other, Fraction) else None

    def _slope_from_inside(self, which: int, end: Fraction, low: End, high: End) -> Interval:
        tree = formula_inside(self.trees(1)[which], low, high)
        return self.on_cell(tree, 0, end, end)

    def _clears_by(self, weights: Pair, level: Level, middle: Fraction, drop: Fraction) -> bool:
        enclosed = self.enclosure(0, weights, middle, middle)
        with precision(self.bits):
            lowest = (enclosed.lo - interval(drop, drop, bits=self.bits).hi).lower()
        return self.clears(weights, Interval(lowest, lowest), level)

    def _by_balance(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F is convex on a cell that contains 0, and F'(0) = 0, so F(0) is the minimum."""
        return (
            low <= 0 <= high
            and (level is None or self.is_at_least(weights, _ZERO, level))
            and self.is_balanced(weights)
            and self.has_sign(2, weights, 1, low, high)
        )

    def _by_higher_order(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F is smooth on a cell that contains 0, and its first derivatives are exactly 0 at 0; the next one decides.

        If derivatives 1 to n - 1 are 0 at 0, then F(t) - F(0) = F^(n)(s) t^n / n! for an s between 0 and t. This is at
        least 0 if F^(n) >= 0 on the cell, and n is even or the cell lies to the right of 0. It is also at least 0 if
        F^(n) <= 0 on the cell, n is odd and the cell lies to the left of 0.
        """
        if not (isinstance(low, Fraction) and isinstance(high, Fraction) and low <= 0 <= high):
            return False
        if not self.is_continuous(weights):
            return False
        if not (level is None or self.is_at_least(weights, _ZERO, level)):
            return False
        used = [k for k in (0, 1) if weights[k] != 0]
        trees = [formula_inside(self.trees(0)[k], low, high) for k in used]
        if any(map(_has_switch, trees)):
            return False
        factors = tuple(self.scaled(weights)[k] for k in used)
        for order in range(1, _MOST_DERIVATIVES + 1):
            trees = [factor_out(derivative(tree)) for tree in trees]
            terms = tuple(self.on_cell(tree, 0, low, high) for tree in trees)
            enclosed = combination(factors, terms, bits=self.bits)
            if (order % 2 == 0 or low == 0) and enclosed.lo >= 0:
                return True
            if order % 2 == 1 and high == 0 and enclosed.hi <= 0:
                return True
            # The enclosures above exist, so the trees are defined at 0.
            at_zero = add(*(mul(Number(f), tree_at_zero(tree)) for f, tree in zip(factors, trees, strict=True)))
            if at_zero != ZERO:
                return False
        return False

    def _by_rate(self, weights: Pair, level: Level, low: End, high: End) -> bool:
        """F falls towards infinity: dividing its slope by a common exponential shows the sign of the slope."""
        if not self.is_continuous(weights) or isinstance(low, Fraction) == isinstance(high, Fraction):
            return False
        side = 1 if isinstance(low, Fraction) else -1
        start, end = (low, high) if side > 0 else (high, low)
        assert isinstance(start, Fraction)
        factors = self.scaled(weights)
        used = [k for k in (0, 1) if factors[k] != 0]
        slopes = [self.trees(1)[k] for k in used]
        parts = [decay(slope if side > 0 else _mirror(slope)) for slope in slopes]
        slowest = min(rate for rate, _ in parts)
        tail = interval(side * start, math.inf, bits=self.bits)
        terms = []
        for rate, rest in parts:
            tree = mul(rest, call("exp", mul(Number(slowest - rate), T)))
            terms.append(enclose_interval(tree, tail, bits=self.bits))
        enclosed = combination(tuple(factors[k] for k in used), tuple(terms), bits=self.bits)
        falls = enclosed.hi <= 0 if side > 0 else enclosed.lo >= 0
        return bool(falls) and self._end_clears(weights, level, start, end)


@lru_cache(maxsize=4096)
def _has_switch(tree: Node) -> bool:
    return next(switches(tree), None) is not None


@lru_cache(maxsize=1024)
def _mirror(tree: Node) -> Node:
    """The tree at -t, so that what happens towards minus infinity happens towards infinity."""
    return substitute(tree, {"t": neg(T)})
