"""F = a L1 + b L-1 with exact rational weights: its formulas, and enclosures of F and its derivatives on cells.

A cell is a closed interval of t with rational or infinite ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from uneven.errors import ExpressionError
from uneven.expression import Node, derivative, substitute
from uneven.expression.algebra import add, mul
from uneven.expression.tree import Number, T
from uneven.ops.balls import Interval, Undefined, above, combination, enclose_interval, interval
from uneven.ops.rationals import exact_value
from uneven.shape.factored import factored
from uneven.shape.guards import guarded
from uneven.shape.piece_on_cell import formula_inside
from uneven.shape.structure import is_continuous

End = Fraction | float  # an end of a cell; a float is always an infinity
Level = Fraction | None  # None: the value of F at 0
Pair = tuple[Fraction, Fraction]

_ZERO = Fraction(0)
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
        first, second = (guarded(partial.unweighted) for partial in self.partials)
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
                known = [*known, (factored(derivative(first)), factored(derivative(second)))]
            except ExpressionError:
                raise Undefined("a derivative is too large") from None
            self._trees = known  # a new list: two threads that append to one would shift the orders
        return known[order]

    def _enclose(self, order: int, which: int, low: End, high: End) -> Interval:
        return self.on_cell(self.trees(order)[which], order, low, high)

    def on_cell(self, tree: Node, order: int, low: End, high: End) -> Interval:
        if order > 0 and low < high:  # a derivative may not exist at the ends
            piece = formula_inside(tree, low, high)
            tree = tree if piece == tree else factored(piece)
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

    def has_no_kink_inside(self, low: End, high: End) -> bool:
        """Whether the slopes are continuous strictly inside an interval."""
        try:
            return all(is_continuous(formula_inside(tree, low, high)) for tree in self.trees(1))
        except (Undefined, ExpressionError):
            return False
