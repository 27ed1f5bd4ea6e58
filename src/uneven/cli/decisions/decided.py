"""What a fitted model says about rows: decisions, probabilities, thresholds and expected costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics.passing_costs import answer_with_costs


@dataclass(frozen=True)
class Decisions:
    """Decisions for rows with costs.

    Attributes
    ----------
    costs : RowCosts
    said_positive : ndarray of bool
    score : ndarray
        Its threshold is 0.
    probability : ndarray or None
        Of the positive class; None if the loss does not identify it.
    why_no_probability : str
    """

    costs: RowCosts
    said_positive: np.ndarray
    score: np.ndarray
    probability: np.ndarray | None
    why_no_probability: str = ""

    @cached_property
    def threshold(self) -> np.ndarray:
        """The probability above which positive is the cheaper decision; NaN where it is cheaper below."""
        return thresholds_of(self.costs)

    @cached_property
    def expected_costs(self) -> tuple[np.ndarray, np.ndarray]:
        """What the negative and the positive decision are expected to cost in each row."""
        p = self._known
        negative = p * self.costs.fn_cost + (1 - p) * self.costs.tn_cost
        return negative, p * self.costs.tp_cost + (1 - p) * self.costs.fp_cost

    @property
    def saved(self) -> np.ndarray:
        """What the positive decision is expected to save in each row."""
        negative, positive = self.expected_costs
        return np.asarray(negative - positive)

    def at(self, costs: RowCosts) -> np.ndarray:
        """The decisions that are cheaper at other costs."""
        return costs.prefers_positive(self._known)

    @property
    def _known(self) -> np.ndarray:
        if self.probability is None:
            raise CostError(f"this model has no probabilities: {self.why_no_probability}")
        return self.probability


def thresholds_of(costs: RowCosts) -> np.ndarray:
    """The probability above which positive is the cheaper decision in each row; NaN where it is cheaper below.

    0 where positive is always cheaper, 1 where it never is: there at most one mistake pays.
    """
    alpha, sign = costs.thresholds()
    return np.where((sign > 0) | np.isinf(alpha), np.clip(sign * alpha, 0.0, 1.0), np.nan)


def decisions(pipeline: Any, X: Any, costs: RowCosts, *, per_row: bool) -> Decisions:
    """What a fitted pipeline says; its labels are 0 and 1."""
    features, last = pipeline[:-1].transform(X), pipeline[-1]
    probability, why = _probability(last, features, costs, per_row=per_row)
    if per_row:
        score = answer_with_costs(last, "decision_function", features, costs)
    else:
        score = last.decision_function(features)
    return Decisions(costs, score > 0, score, probability, why)


def _probability(last: Any, features: Any, costs: RowCosts, *, per_row: bool) -> tuple[np.ndarray | None, str]:
    try:
        if per_row:
            return answer_with_costs(last, "predict_proba", features, costs)[:, 1], ""
        return last.predict_proba(features)[:, 1], ""
    except (AttributeError, CostError) as error:  # the loss has none; rows whose costs the scores cannot give back
        return None, str(error).partition(": ")[2] or str(error)
