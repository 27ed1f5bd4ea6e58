"""What the out-of-fold rows say about costs: of each member, of the ensemble, and of the constant rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from uneven.costs import RowCosts
from uneven.learners.corrections.out_of_fold_rows import OutOfFoldRows
from uneven.learners.ensemble.training import Task, Trial, mixed
from uneven.metrics.cost_estimate import CostEstimate, estimates
from uneven.metrics.expected_cost import mean_cost


@dataclass(frozen=True)
class Evidence:
    """Expected costs out of fold.

    Attributes
    ----------
    members : dict of str to float
    ensemble : CostEstimate
    constant : dict of str to CostEstimate
    """

    members: dict[str, float]
    ensemble: CostEstimate
    constant: dict[str, CostEstimate]


def evidence(
    task: Task,
    trial: Trial,
    costs: RowCosts,
    rows: np.ndarray,
    weights_from: Callable[[np.ndarray], Mapping[str, float]],
    method: str,
    order: int,
) -> Evidence:
    """Costs of decisions about the tested rows.

    The decisions of the ensemble about a fold use the weights and the correction found on the other folds, so that its
    cost is not that of its own choices.
    """
    is_positive = task.is_positive[rows]
    weight = None if task.weight is None else task.weight[rows]
    decided = _decided(task, trial, costs, rows, weights_from, method, order)[rows]
    decisions = {
        "ensemble": decided,
        "all positive": np.ones(rows.size, dtype=bool),
        "all negative": np.zeros(rows.size, dtype=bool),
    }
    of_rows = costs.take(rows)
    ensemble, *constant = estimates(
        of_rows, is_positive, {name: said[None, :] for name, said in decisions.items()}, weight
    )
    share = np.ones(rows.size) if weight is None else weight
    members = {
        name: mean_cost(of_rows, is_positive, of_rows.prefers_positive(choice.probability[rows]), share)
        for name, choice in trial.choices.items()
    }
    return Evidence(members, ensemble, {one.name: one for one in constant})


def _decided(
    task: Task,
    trial: Trial,
    costs: RowCosts,
    rows: np.ndarray,
    weights_from: Callable[[np.ndarray], Mapping[str, float]],
    method: str,
    order: int,
) -> np.ndarray:
    """Where each row is said to be positive, by weights and correction from the other folds."""
    said = np.zeros(task.is_positive.size, dtype=bool)
    weight = np.ones(task.is_positive.size) if task.weight is None else task.weight
    for _, test in trial.folds:
        others = np.setdiff1d(rows, test)
        known = others if task.is_positive[others].any() and not task.is_positive[others].all() else rows
        weights = weights_from(known)
        probability = mixed(trial.choices, weights)
        found = OutOfFoldRows(probability[known], task.is_positive[known], weight[known])
        odds = found.corrected(costs.take(known), method, order)
        said[test] = odds.decision(probability[test], costs.take(test)) > 0
    return said
