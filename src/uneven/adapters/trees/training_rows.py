"""The rows of a training or evaluation set as a tree library sees them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from uneven._inputs import to_float
from uneven.adapters.trees.metric import COST
from uneven.costs import Cost, RowCosts
from uneven.learners.costs_and_loss import own_alpha
from uneven.learners.training_set import Problem
from uneven.learners.weighting import learnt_labels
from uneven.losses import Loss


@dataclass(frozen=True)
class TreeRows:
    """Features, the class that each row is learnt as, and its weight.

    Attributes
    ----------
    X : matrix or data frame
    y : ndarray of float32
        1 for rows that are learnt as positive, else 0.
    weight : ndarray of float64
        What each row counts; 1 on average. Empty if all are 1.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray

    @property
    def weight_or_none(self) -> np.ndarray | None:
        """The weights as libraries take them."""
        return self.weight if self.weight.size else None

    def that_count(self) -> TreeRows:
        """The rows whose weight is not 0."""
        if not self.weight.size or (self.weight > 0).all():
            return self
        rows = np.flatnonzero(self.weight > 0)
        return TreeRows(_safe_indexing(self.X, rows), self.y[rows], self.weight[rows])


def training_rows(problem: Problem, loss: Any) -> tuple[TreeRows, float]:
    """The rows of a training set, and by what the costs were multiplied; ``loss`` is the learner's parameter."""
    weighting = problem.weighting(loss)
    weight = weighting.factors
    if not weighting.row_factors.size and (weight == 1).all():
        weight = np.empty(0)
    return TreeRows(problem.X, weighting.y.astype(np.float32), weight), weighting.scale


def evaluation_rows(
    X: Any, y: np.ndarray, sample_weight: np.ndarray, costs: Cost | RowCosts, loss: Any, kind: str
) -> TreeRows:
    """The rows of an evaluation set, weighted so that the metric is a plain sum, per row and in the unit of the costs.

    Parameters
    ----------
    X : matrix or data frame
    y : ndarray of int8
        1 for positive rows, 0 for negative ones.
    sample_weight : ndarray
        Empty if all are 1.
    costs : Cost or RowCosts
    loss : str, Phi or Loss
        The learner's parameter.
    kind : {"cost", "surrogate"}
    """
    labels, weight = learnt_labels(costs, y)
    if kind != COST and isinstance(loss, Loss):  # this loss contains costs itself
        if isinstance(costs, Cost):
            weight = np.full(y.size, to_float(sum(costs.exact_costs, Fraction(0))))
        else:
            inside = own_alpha(loss)
            weight = weight / np.array([to_float(inside), to_float(1 - inside)])[labels]
    mass = float(sample_weight.sum()) if sample_weight.size else float(y.size)
    weight = (sample_weight * weight if sample_weight.size else weight) / mass
    return TreeRows(X, labels.astype(np.float32), weight)
