"""What early stopping looks at: the cost of the decisions, or the loss itself, on raw scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.adapters.trees.objective import labels_and_weights, row_losses
from uneven.learners.costs_and_loss import loss_for, read_cost
from uneven.learners.parameters import require_choice
from uneven.solvers.second_order.row_losses import RowLosses

#: The values of ``eval_metric``.
COST, SURROGATE = METRICS = ("cost", "surrogate")


def weighted_sum(kind: str, losses: RowLosses, y: np.ndarray, score: np.ndarray, weight: np.ndarray) -> float:
    """The sum of weighted mistakes (score 0 is a negative decision) or losses; an empty weight means 1."""
    if kind == SURROGATE:
        return losses.total(np.ascontiguousarray(score), y, weight)
    wrong = (score > 0) != (y > 0)
    return float(weight[wrong].sum(dtype=np.float64)) if weight.size else float(np.count_nonzero(wrong))


class TreeMetric:
    """A metric of raw scores for tree libraries; smaller is better. It can be pickled.

    Made by ``metric`` of :mod:`uneven.adapters.xgboost`, :mod:`uneven.adapters.lightgbm` and
    :mod:`uneven.adapters.catboost`.

    Parameters
    ----------
    kind : {"cost", "surrogate"}
        "cost": the average cost of a row, in the unit of the costs. "surrogate": the average loss.
    loss : str, Phi or Loss
    fp_cost, fn_cost : number
    margin_gamma : positive number
    """

    def __init__(
        self, kind: str = COST, loss: Any = "logistic", *, fp_cost: Any = 1, fn_cost: Any = 1, margin_gamma: Any = 1
    ) -> None:
        require_choice("kind", kind, METRICS)
        self.kind = self.__name__ = kind
        costs = read_cost(fp_cost, fn_cost)
        self.costs = np.array([to_float(cost) for cost in costs.exact_costs])
        self.loss = loss_for(loss, costs, margin_gamma)

    def sums(self, y: Any, score: Any, weight: Any) -> tuple[float, float]:
        """The weighted sum over the rows, and the sum of the weights."""
        labels, weights = labels_and_weights(y, weight)
        if self.kind == COST:
            rows = self.costs[(labels > 0).astype(np.intp)]
            paid = rows * weights if weights.size else rows
        else:
            paid = weights
        total = weighted_sum(self.kind, row_losses(self.loss, weighted=True), labels, np.asarray(score), paid)
        return total, float(weights.sum(dtype=np.float64)) if weights.size else float(labels.size)

    def value(self, y: Any, score: Any, weight: Any = None) -> float:
        """The weighted mean over the rows.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Above 0 for the positive class.
        score : array-like of shape (n_samples,)
            Raw scores.
        weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        total, mass = self.sums(y, score, weight)
        return total / mass

    def __repr__(self) -> str:
        return f"<metric {self.kind} of {self.loss!r}>"
