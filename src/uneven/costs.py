"""What the two kinds of mistake cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from uneven import _inputs
from uneven._inputs import Exact
from uneven.errors import CostError

__all__ = ["Cost"]


@dataclass(frozen=True, kw_only=True)
class Cost:
    r"""Costs of a false positive and of a false negative.

    Only their ratio matters for a decision; it is carried by the cost parameter

    .. math:: \alpha = \frac{c_{FP}}{c_{FP} + c_{FN}},

    the threshold on P(Y = 1 | x) above which predicting positive is the cheaper decision.

    Parameters
    ----------
    fp_cost : number
        Cost of predicting positive for a negative example, at least 0.
    fn_cost : number
        Cost of predicting negative for a positive example, at least 0, not both 0.

    Examples
    --------
    >>> import uneven
    >>> uneven.Cost(fp_cost=1, fn_cost=9).alpha
    0.1
    >>> uneven.Cost.from_alpha(0.25)
    Cost(fp_cost=0.25, fn_cost=0.75)
    """

    fp_cost: float
    fn_cost: float

    def __post_init__(self) -> None:
        costs = self.exact_costs
        for name, number in zip(("fp_cost", "fn_cost"), costs, strict=True):
            if number < 0:
                raise CostError(f"{name} must not be negative, got {_inputs.brief(getattr(self, name))}")
        if sum(costs) == 0:
            raise CostError(
                f"one of the costs must be positive, got fp_cost={self.fp_cost!r} and fn_cost={self.fn_cost!r}"
            )

    @cached_property
    def exact_costs(self) -> tuple[Fraction, Fraction]:
        """fp_cost and fn_cost as rationals, without rounding."""
        fp_cost = _inputs.exact("fp_cost", self.fp_cost, CostError)
        return fp_cost, _inputs.exact("fn_cost", self.fn_cost, CostError)

    @cached_property
    def exact_alpha(self) -> Fraction:
        """alpha as a rational, without rounding."""
        fp_cost, fn_cost = self.exact_costs
        return fp_cost / (fp_cost + fn_cost)

    @property
    def alpha(self) -> float:
        """alpha as a double; for two positive costs the nearest one strictly between 0 and 1."""
        alpha = self.exact_alpha
        if alpha in (0, 1):
            return float(alpha)
        return min(max(float(alpha), math.ulp(0.0)), math.nextafter(1.0, 0.0))

    @classmethod
    def from_alpha(cls, alpha: Exact) -> Cost:
        """Costs that sum to one: alpha for a false positive, 1 - alpha for a false negative."""
        exact = _inputs.between_0_and_1("alpha", alpha, CostError)
        return cls(fp_cost=float(exact), fn_cost=float(1 - exact))
