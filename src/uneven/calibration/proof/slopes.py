"""One-sided slopes of F at t = 0, exact if possible; and the eta at which A = B because of symmetry."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache

from uneven.calibration.proof.formulas import _ZERO, Formulas, Pair, PartialFormula
from uneven.errors import ExpressionError
from uneven.expression import Node, substitute
from uneven.expression.algebra import add, mul, neg, terms_of
from uneven.expression.tree import ZERO, Number, T
from uneven.ops.balls import Interval, Undefined, above, below, combination, enclose_interval, interval
from uneven.ops.rationals import exact_value
from uneven.shape.pieces import Undecidable, slope_beside


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
def tree_at_zero(tree: Node) -> Node:
    """The tree with t replaced by 0."""
    return substitute(tree, {"t": ZERO})
