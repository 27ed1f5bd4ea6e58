"""F = a L1 + b L-1 with exact rational weights: its formulas, its enclosures on cells, and its slopes at t = 0.

A cell is a closed interval of t with rational or infinite ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from uneven.errors import ExpressionError
from uneven.expression import Node, derivative, substitute
from uneven.expression.algebra import add, mul, neg, terms_of
from uneven.expression.tree import ZERO, Number, T
from uneven.ops.balls import Interval, Undefined, above, below, combination, enclose_interval, interval
from uneven.ops.rationals import exact_value
from uneven.shape.pieces import Undecidable, formula_inside, slope_beside
from uneven.shape.rewrites import factor_out, use_guards
from uneven.shape.structure import is_continuous

End = Fraction | float  # an end of a cell; a float is always an infinity
Level = Fraction | None  # None: the value of F at 0
Pair = tuple[Fraction, Fraction]

_ZERO = Fraction(0)
_NEAR = Fraction(1, 2**64)  # a formula that holds up to here beside 0 shows whether F jumps at 0
POSITIVE, NEGATIVE, DIFFERENCE = (Fraction(1), _ZERO), (_ZERO, Fraction(1)), (Fraction(1), Fraction(-1))


def at(eta: Fraction) -> Pair:
    """The weights of C(eta, .)."""
    return eta, 1 - eta


@dataclass(frozen=True)
class PartialFormula:
    """One partial loss, weight * function(scale * t): all that a proof knows of it."""

    function: Node
    weight: Fraction
    scale: Fraction

    @property
    def unweighted(self) -> Node:
        """function(scale * t) as one tree."""
        return substitute(self.function, {"t": mul(Number(self.scale), T)})


class Formulas:
    """Formulas and enclosures of F for one loss, at one precision."""

    def __init__(self, positive: PartialFormula, negative: PartialFormula, bits: int) -> None:
        self.partials = (positive, negative)
        self.bits = bits
        # The trees leave out the weights of the partial losses, which multiply the weights of F instead: a weight such
        # as 1/10 would be rounded in a tree and could hide a sign.
        first, second = (use_guards(partial.unweighted) for partial in self.partials)
        self._trees = [(first, second)]
        self._enclosed = lru_cache(maxsize=65536)(self._enclose)
        self._merged = lru_cache(maxsize=1024)(self._merge)
        self._exactly_at = lru_cache(maxsize=4096)(self._exact_pair)
        self.wanted = lru_cache(maxsize=1024)(self._enclose_level)

    def scaled(self, weights: Pair) -> Pair:
        """The factors of phi(scale * t) in F, with the weights of the partial losses."""
        return weights[0] * self.partials[0].weight, weights[1] * self.partials[1].weight

    def trees(self, order: int) -> tuple[Node, Node]:
        """Both functions or their derivatives of this order; :class:`Undefined` if one is too large."""
        known = self._trees
        while len(known) <= order:
            first, second = known[-1]
            try:
                known = [*known, (factor_out(derivative(first)), factor_out(derivative(second)))]
            except ExpressionError:
                raise Undefined("a derivative is too large") from None
            self._trees = known  # a new list: two threads that append to one would shift the orders
        return known[order]

    def _enclose(self, order: int, which: int, low: End, high: End) -> Interval:
        return self.on_cell(self.trees(order)[which], order, low, high)

    def on_cell(self, tree: Node, order: int, low: End, high: End) -> Interval:
        if order > 0 and low < high:  # a derivative may not exist at the ends
            piece = formula_inside(tree, low, high)
            tree = tree if piece == tree else factor_out(piece)
        return enclose_interval(tree, interval(low, high, bits=self.bits), bits=self.bits)

    def enclosure(self, order: int, weights: Pair, low: End, high: End) -> Interval:
        """An enclosure of the derivative of F of this order on a cell; :class:`Undefined` if it may not exist there."""
        merged = self._merged(order, weights)
        if merged is not None:
            return self.on_cell(merged, order, low, high)
        factors = self.scaled(weights)
        used = [k for k in (0, 1) if factors[k] != 0]
        terms = tuple(self._enclosed(order, k, low, high) for k in used)
        return combination(tuple(factors[k] for k in used), terms, bits=self.bits)

    def _merge(self, order: int, weights: Pair) -> Node | None:
        """F or its derivative as one tree, if terms of the two partial losses combine; else None."""
        trees = self.trees(order)
        if 0 in weights:
            return None
        try:
            whole = add(*(mul(Number(factor), tree) for factor, tree in zip(self.scaled(weights), trees, strict=True)))
        except ExpressionError:  # too large
            return None
        return whole if whole.size < sum(tree.size for tree in trees) else None

    def _exact_pair(self, t: Fraction) -> tuple[Fraction | None, Fraction | None]:
        first, second = self.trees(0)
        return exact_value(first, t), exact_value(second, t)

    def exact_at(self, weights: Pair, t: Fraction) -> Fraction | None:
        """F at a point, if it is rational."""
        total = _ZERO
        for factor, value in zip(self.scaled(weights), self._exactly_at(t), strict=True):
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

    def is_at_least(self, weights: Pair, t: Fraction, level: Level) -> bool:
        """F(t) >= level."""
        if level is None and t == 0:
            return True
        exact, wanted = self.exact_at(weights, t), self.exact_level(weights, level)
        if exact is not None and wanted is not None:
            return exact >= wanted
        return self.clears(weights, self.enclosure(0, weights, t, t), level)

    def exact_level(self, weights: Pair, level: Level) -> Fraction | None:
        return self.exact_at(weights, _ZERO) if level is None else level

    def clears(self, weights: Pair, enclosed: Interval, level: Level) -> bool:
        return bool(enclosed.lo >= self.wanted(weights, level).hi)

    def _enclose_level(self, weights: Pair, level: Level) -> Interval:
        if level is None:
            return self.enclosure(0, weights, _ZERO, _ZERO)
        return interval(level, level, bits=self.bits)

    # Continuity: without it, the sign of a slope says nothing about values, nor a curvature about slopes.

    @cached_property
    def both_continuous(self) -> tuple[bool, bool]:
        first, second = map(is_continuous, self.trees(0))
        return first, second

    def is_continuous(self, weights: Pair) -> bool:
        """F is proved to have no jump."""
        return all(known or weight == 0 for known, weight in zip(self.both_continuous, weights, strict=True))

    def is_continuous_at_zero(self, weights: Pair, side: int) -> bool:
        """F is proved to be continuous at 0 from the right (side 1) or from the left."""
        return all(known or weight == 0 for known, weight in zip(self._joins_at_zero(side), weights, strict=True))

    def _joins_at_zero(self, side: int) -> tuple[bool, bool]:
        parts = zip(self.both_continuous, self.trees(0), strict=True)
        first, second = (known or _joins_at_zero(tree, side) for known, tree in parts)
        return first, second

    def has_no_kink_inside(self, low: End, high: End) -> bool:
        """Whether the slopes are continuous strictly inside an interval."""
        try:
            return all(is_continuous(formula_inside(tree, low, high)) for tree in self.trees(1))
        except (Undefined, ExpressionError):
            return False


# One-sided slopes of F at t = 0, exact if possible; and the eta at which A = B because of symmetry.


class SlopesAtZero(Formulas):
    """One-sided slopes of F at t = 0, and what follows from them."""

    def __init__(self, positive: PartialFormula, negative: PartialFormula, bits: int) -> None:
        super().__init__(positive, negative, bits)
        self.is_balanced = lru_cache(maxsize=1024)(self._is_balanced)

    @cached_property
    def _slopes_beside(self) -> list[tuple[Node, Node]] | None:
        """Left and right slopes at 0 of both partial losses, as trees to be evaluated at 0."""
        try:
            return [(slope_beside(tree, _ZERO, -1), slope_beside(tree, _ZERO, 1)) for tree in self.trees(0)]
        except (Undecidable, Undefined, ExpressionError):
            return None

    def _at_zero(self, tree: Node) -> Interval:
        exact = exact_value(tree, _ZERO)
        if exact is not None:
            return interval(exact, exact, bits=self.bits)
        return enclose_interval(tree, interval(_ZERO, _ZERO), bits=self.bits)

    def slopes_at_zero(self, side: int) -> tuple[Interval, Interval] | None:
        """Enclosures of the one-sided slopes at 0 of both phi(scale * t)."""
        if self._slopes_beside is None or not all(self.both_continuous):
            return None
        try:
            first, second = (self._at_zero(pair[side > 0]) for pair in self._slopes_beside)
        except Undefined:
            return None
        return first, second

    def balance(self) -> tuple[Fraction, bool] | None:
        """The eta at which the slope of C(eta, .) at 0 is 0, and whether it is exact; None if it is not found."""
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
        """The right slope of a partial loss at 0 is larger than the left one."""
        if self._slopes_beside is not None and self.both_continuous[which]:  # exact slopes show even a tiny kink
            exact = [exact_value(slope, _ZERO) for slope in self._slopes_beside[which]]
            if exact[0] is not None and exact[1] is not None:
                return exact[0] < exact[1]
        left, right = self.slopes_at_zero(-1), self.slopes_at_zero(1)
        return left is not None and right is not None and bool(left[which].hi < right[which].lo)

    def slope_sign_at_zero(self, weights: Pair, side: int) -> int | None:
        """Sign of the one-sided slope of F at 0, if it is proved; 0 only if the slope is exactly 0."""
        slopes = self.slopes_at_zero(side)
        if slopes is None or self._slopes_beside is None:
            return None
        factors = self.scaled(weights)
        exact = [exact_value(pair[side > 0], _ZERO) for pair in self._slopes_beside]
        if all(value is not None or factor == 0 for value, factor in zip(exact, factors, strict=True)):
            total = sum((f * v for f, v in zip(factors, exact, strict=True) if v is not None), _ZERO)
            return (total > 0) - (total < 0)
        used = [k for k in (0, 1) if factors[k] != 0]
        enclosed = combination(tuple(factors[k] for k in used), tuple(slopes[k] for k in used), bits=self.bits)
        return 1 if enclosed.lo > 0 else -1 if enclosed.hi < 0 else None

    @cached_property
    def own_balance(self) -> Fraction | None:
        """If both partial losses use one function on two scales: the eta at which the slope of C(eta, .) at 0 is 0."""
        first, second = self.partials
        if first.function != second.function or first.scale * second.scale >= 0:
            return None
        p, n = first.weight * first.scale, second.weight * second.scale
        return n / (n - p)

    def _is_balanced(self, weights: Pair) -> bool:
        """F'(0) = 0 exactly: because one function has two scales, in rationals, or because the terms cancel."""
        if not self.is_differentiable_at_zero() or self._slopes_beside is None:
            return False
        a, b = weights
        if a + b != 0 and self.own_balance == a / (a + b):
            return True
        if self.slope_sign_at_zero(weights, 1) == 0:
            return True
        factors = self.scaled(weights)
        terms = (mul(Number(f), tree_at_zero(pair[1])) for f, pair in zip(factors, self._slopes_beside, strict=True))
        return add(*terms) == ZERO

    def mirrored_at(self) -> Fraction | None:
        """If L-1(t) = k L1(-t): the eta k/(1 + k), at which A = B."""
        first, second = self.trees(0)
        turned, terms = terms_of(substitute(first, {"t": neg(T)})), terms_of(second)
        if set(turned) != set(terms):
            return None
        ratios = {terms[rest] / turned[rest] for rest in terms if turned[rest] != 0}
        if len(ratios) != 1 or 0 in turned.values():
            return None
        p, n = self.scaled((Fraction(1), ratios.pop()))
        return n / (p + n) if p > 0 and n > 0 else None


@lru_cache(maxsize=1024)
def _joins_at_zero(tree: Node, side: int) -> bool:
    """The formula beside 0 is continuous, and at 0 it has the value of the tree; both values are rational."""
    beside = formula_inside(tree, *sorted((_ZERO, side * _NEAR)))
    value = exact_value(beside, _ZERO)
    return is_continuous(beside) and value is not None and value == exact_value(tree, _ZERO)


@lru_cache(maxsize=1024)
def tree_at_zero(tree: Node) -> Node:
    """The tree with t replaced by 0."""
    return substitute(tree, {"t": ZERO})
