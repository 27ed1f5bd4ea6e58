"""What is guaranteed for the cuts of several actions: Theorem G at each break, all together; see docs/guarantee.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uneven.decisions.guarantee import ShiftGuarantee
from uneven.decisions.shift_bounds import slightly_more
from uneven.inputs import show_above

__all__ = ["ActionsGuarantee"]


@dataclass(frozen=True)
class ActionsGuarantee:
    """Bounds of what several actions cost on new rows, which hold together with the stated confidence.

    The cost of an action is what it costs more than the right action for the label of its row. All bounds are in the
    unit of the costs, per row.

    Attributes
    ----------
    confidence : float
        The probability, over the draw of the rows, with which all bounds hold together is at least this.
    breaks : dict of str to ShiftGuarantee
        For each break, by the name of the action that begins there, the bounds of its two-action problem. Each holds
        with a greater confidence, so that all hold together with the stated one.
    constant_cost : float
        Mean cost on the rows of the best constant rule: the same action for every row.
    """

    confidence: float
    breaks: dict[str, ShiftGuarantee]
    constant_cost: float

    def _sum(self, name: str) -> float:
        return slightly_more(sum(float(getattr(part.mean, name)) for part in self.breaks.values()))

    @property
    def cost_bound(self) -> float:
        """The expected cost of new rows is at most this."""
        return self._sum("cost_bound")

    @property
    def regret_bound(self) -> float:
        """The expected cost is at most this much above that of the best cuts of the same score."""
        return self._sum("regret_bound")

    @property
    def psi_regret_bound(self) -> float:
        """The same by the window losses and psi, if the model's log-odds are right up to a shift at each break."""
        return self._sum("psi_regret_bound")

    @property
    def vacuous(self) -> bool:
        """Whether the regret bound says nothing: it is not below the cost of the best constant rule."""
        return self.regret_bound >= self.constant_cost

    def to_dict(self) -> dict[str, Any]:
        """The fields, the sums and the verdict as a dictionary that JSON can hold."""
        return {
            "confidence": self.confidence,
            "cost_bound": self.cost_bound,
            "regret_bound": self.regret_bound,
            "psi_regret_bound": self.psi_regret_bound,
            "constant_cost": self.constant_cost,
            "vacuous": self.vacuous,
            "breaks": {name: part.to_dict() for name, part in self.breaks.items()},
        }

    def in_words(self) -> str:
        """The bound, whether it says anything, for which model, and what it assumes."""
        one = next(iter(self.breaks.values()))
        bound, constant = show_above(self.regret_bound, 3), f"{self.constant_cost:.3g}"
        if self.vacuous:
            first = (
                f"No useful guarantee: {one.rows_per_fold:,} rows{' per fold' if one.folds > 1 else ''} are too few. "
                f"The actions are only known to cost at most {bound} per row more than with the best thresholds, and "
                f"the same action for everyone costs {constant}."
            )
        else:
            first = (
                f"With {100 * self.confidence:.6g} % confidence, the actions cost at most {bound} per row more than "
                f"with the best thresholds; for comparison, the same action for everyone costs {constant}."
            )
        return f"{first} {one.terms_in_words('these thresholds')}"
