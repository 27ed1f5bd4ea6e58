"""What a fitted model says about rows: decisions, probabilities, thresholds and expected costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit

from uneven.cli.decisions.given_costs import four
from uneven.costs import RowCosts
from uneven.decisions.alpha import probability_thresholds, threshold_log_odds
from uneven.errors import CostError
from uneven.metrics.passing_costs import answer_with_costs, takes_costs


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
    threshold : ndarray
        The probability above which a row is flagged; NaN where it is flagged below.
    why_no_probability : str
    """

    costs: RowCosts
    said_positive: np.ndarray
    score: np.ndarray
    probability: np.ndarray | None
    threshold: np.ndarray
    why_no_probability: str = ""

    @cached_property
    def expected_costs(self) -> tuple[np.ndarray, np.ndarray]:
        """What the negative and the positive decision are expected to cost in each row."""
        p = self._known
        negative = p * self.costs.fn_cost + (1 - p) * self.costs.tn_cost
        return negative, p * self.costs.tp_cost + (1 - p) * self.costs.fp_cost

    @property
    def spread_of_total(self) -> float:
        """Standard deviation of what all decisions together cost, if every probability is right."""
        p, costs = self._known, self.costs
        apart = np.where(self.said_positive, costs.fp_cost - costs.tp_cost, costs.fn_cost - costs.tn_cost)
        largest = float(np.max(np.abs(apart), initial=0.0)) or 1.0
        return largest * float(np.sqrt(np.sum(p * (1 - p) * (apart / largest) ** 2)))

    @property
    def saved(self) -> np.ndarray:
        """What the positive decision is expected to save in each row."""
        negative, positive = self.expected_costs
        return np.asarray(negative - positive)

    @property
    def _known(self) -> np.ndarray:
        if self.probability is None:
            raise CostError(f"this model has no probabilities: {self.why_no_probability}")
        return self.probability


def decisions(pipeline: Any, X: Any, costs: RowCosts, *, told: bool) -> Decisions:
    """What a fitted pipeline says; its labels are 0 and 1. ``told``: it is told the costs, else it uses its own."""
    features, last = pipeline[:-1].transform(X), pipeline[-1]
    probability, why = _probability(last, features, costs, told=told)
    said = _answer(last, "predict", features, costs, told=told) == 1
    cut = last.thresholds(costs) if hasattr(last, "thresholds") else probability_thresholds(*costs.thresholds())
    if hasattr(last, "decision_function"):
        score = np.asarray(_answer(last, "decision_function", features, costs, told=told), dtype=float)
    else:
        score = _log_odds_above(probability, costs)
    score = np.where(said == (score > 0), score, np.where(said, np.nextafter(0.0, 1.0), 0.0))
    return Decisions(costs, said, score, probability, cut, why)


def can_move(pipeline: Any) -> bool:
    """Whether a fitted pipeline can decide at other costs than those of its fit."""
    last = pipeline[-1]
    if not takes_costs(last, "predict"):
        return False
    return bool(getattr(last, "moves", True)) and hasattr(last, "predict_proba")


def said_positive(pipeline: Any, X: Any, costs: RowCosts, *, told: bool) -> np.ndarray:
    """Where a fitted pipeline predicts positive."""
    return np.asarray(_answer(pipeline[-1], "predict", pipeline[:-1].transform(X), costs, told=told) == 1)


def _answer(last: Any, method: str, features: Any, costs: RowCosts, *, told: bool) -> Any:
    """What a method says; costs that are the same in all rows are passed as numbers."""
    if not (told and takes_costs(last, method)):
        return getattr(last, method)(features)
    if any(isinstance(cost, np.ndarray) for cost in four(costs).values()):
        return answer_with_costs(last, method, features, costs)
    return getattr(last, method)(features, **four(costs))


def _log_odds_above(probability: np.ndarray | None, costs: RowCosts) -> np.ndarray:
    """How far the log-odds of each row are on the positive side of its threshold."""
    alpha, sign = costs.thresholds()
    assert probability is not None
    cut = threshold_log_odds(alpha)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(sign * (logit(probability) - cut), nan=0.0, posinf=np.inf, neginf=-np.inf)


def _probability(last: Any, features: Any, costs: RowCosts, *, told: bool) -> tuple[np.ndarray | None, str]:
    try:
        return np.asarray(_answer(last, "predict_proba", features, costs, told=told))[:, 1], ""
    except (AttributeError, CostError) as error:  # the loss has none; rows whose costs the scores cannot give back
        return None, str(error).partition(": ")[2] or str(error)
