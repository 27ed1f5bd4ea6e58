"""What the out-of-fold rows say about costs: of each member, of the ensemble, and of the constant rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.costs import RowCosts
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.learners.ensemble.training import Task, Trial, mixed, weigh
from uneven.learners.ensemble.weights import Weighting
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
    task: Task, trial: Trial, costs: RowCosts, rows: np.ndarray, weighting: Weighting, method: str, order: int
) -> Evidence:
    """Costs of decisions about the tested rows.

    The decisions of the ensemble about a fold use what was known without it: settings, weights and correction from rows
    that its models learnt from and another fold tested. So its cost is not that of its own choices, and with
    TimeSeriesSplit nothing comes from later rows.
    """
    is_positive = task.is_positive[rows]
    weight = None if task.weight is None else task.weight[rows]
    decided = _decided(task, trial, costs, rows, weighting, method, order)[rows]
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
    task: Task, trial: Trial, costs: RowCosts, rows: np.ndarray, weighting: Weighting, method: str, order: int
) -> np.ndarray:
    """Where each row is said to be positive, by what was known without its fold."""
    said = np.zeros(task.is_positive.size, dtype=bool)
    for train, test in trial.folds:
        known = np.intersect1d(rows, train)
        if np.unique(task.is_positive[known]).size < 2:  # such as before the first part of TimeSeriesSplit
            alike = np.mean(list(trial.probabilities(task.is_positive, task.weights, known[:0]).values()), axis=0)
            said[test] = costs.take(test).prefers_positive(alike[test])
            continue
        probabilities = trial.probabilities(task.is_positive, task.weights, known)
        weights = weigh(probabilities, task.is_positive, task.weights, weighting, known)
        mixture = OutOfFoldRows(mixed(probabilities, weights), task.is_positive, task.weights)
        odds = mixture.take(known).find_correction(costs.take(known), method, order)
        said[test] = odds.decision(mixture.probability[test], costs.take(test)) > 0
    return said
