"""The rows' costs along a scale of alphas: what "for all alpha" means if the costs differ from row to row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics.rows import Rows


@dataclass(frozen=True)
class ScaledCosts:
    r"""Costs of the rows at every alpha.

    Let r be a row's regret of a false positive divided by its mean over the rows, and s the same for false negatives.
    At alpha, a false positive costs alpha r in this row and a false negative (1 - alpha) s. So the rows keep their
    costs relative to each other, and alpha is that of the average costs. If the costs are the same for all rows,
    r = s = 1.

    Attributes
    ----------
    own_alpha : float
        The alpha of the given costs: the mean regret of a false positive divided by the sum of both mean regrets.
    unit : float
        The sum of both mean regrets: a cost at ``own_alpha``, times the unit, is in the unit of the given costs.
    fp_share, fn_share : float or ndarray
        r and s.
    """

    own_alpha: float
    unit: float
    fp_share: float | np.ndarray
    fn_share: float | np.ndarray

    @classmethod
    def of(cls, rows: Rows) -> ScaledCosts:
        """The scale through the costs of these rows; their means are weighted like the rows."""
        fp_mean, fp_share = _mean_and_shares("fp_cost", "tn_cost", rows.costs.fp_regret, rows.weight)
        fn_mean, fn_share = _mean_and_shares("fn_cost", "tp_cost", rows.costs.fn_regret, rows.weight)
        half = fp_mean / 2 + fn_mean / 2  # the sum of two large costs may be infinite, their mean is not
        if half == 0:
            raise CostError("one kind of mistake must cost something on average, got 0 for both")
        return cls(fp_mean / 2 / half, 2 * half, fp_share, fn_share)

    def at(self, alpha: float, count: int) -> RowCosts:
        """The costs of the rows at one alpha."""
        return RowCosts(count, alpha * self.fp_share, (1 - alpha) * self.fn_share)

    @property
    def mistakes_pay(self) -> bool:
        """Whether in some row a mistake costs less than the right decision."""
        return bool(np.min(self.fp_share) < 0 or np.min(self.fn_share) < 0)

    def turning_alphas(self, probability: np.ndarray) -> np.ndarray:
        """The alpha below which predicting positive is the cheaper decision in each row, if no mistake pays.

        It is the probability itself if the costs are the same for all rows. It is 0 where both decisions cost the same
        at every alpha: then the decision is negative.
        """
        if not isinstance(self.fp_share, np.ndarray) and not isinstance(self.fn_share, np.ndarray):
            return probability
        gain, price = probability * self.fn_share, (1 - probability) * self.fp_share
        total = gain + price
        return np.asarray(gain / np.where(total > 0, total, 1.0))


def _mean_and_shares(
    mistake: str, right: str, regret: float | np.ndarray, weight: np.ndarray
) -> tuple[float, float | np.ndarray]:
    if not isinstance(regret, np.ndarray):
        if regret < 0:
            raise CostError(f"{mistake} must not be below {right} in every row: then the mistake would pay")
        return regret, 1.0
    mean = float(weight @ regret)
    if not mean > 0:
        raise CostError(
            f"{mistake} minus {right} must be positive on average for a scale of alphas, got {mean!r}; "
            "expected_cost and cost_by_threshold work with any costs"
        )
    return mean, regret / mean
