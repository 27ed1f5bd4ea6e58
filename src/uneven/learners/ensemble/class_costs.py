"""Several classes in an ensemble: the members that can, and what out-of-fold decisions cost by a cost matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uneven.decisions.class_rules import FoldRules
from uneven.decisions.class_shifts import ClassRows, cheapest
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import ParameterError
from uneven.learners.ensemble.members import FAMILIES, Family
from uneven.learners.ensemble.pruning import CostOf
from uneven.learners.ensemble.training import Task, Trial, mix, tested_rows, weigh
from uneven.learners.ensemble.weights import Weighting
from uneven.learners.out_of_fold import folds_learnt_from, only_fold


def keep_several(families: Sequence[Family]) -> tuple[list[Family], dict[str, str]]:
    """The families that learn more than two classes, and why the others are left out."""
    able = [family for family in families if family.several]
    if not able:
        possible = ", ".join(name for name, family in FAMILIES.items() if family.several)
        raise ParameterError(
            f"none of the members {', '.join(family.name for family in families)} learns several classes; {possible} do"
        )
    return able, {family.name: "knows two classes only" for family in families if not family.several}


def act_without_folds(
    task: Task, trial: Trial, matrix: CostMatrix, weighting: Weighting, method: str, order: int
) -> np.ndarray:
    """The action of each row by settings, weights, calibration and shifts that were known without its fold.

    Rows that are tested before any others were known, such as the first part of TimeSeriesSplit, get the cheapest
    action at the mean of the members.
    """
    rows = tested_rows(trial)
    fold = only_fold(task.splits, task.is_positive.size)
    learnt = folds_learnt_from(task.splits, fold)
    taken = np.zeros(task.is_positive.size, dtype=np.intp)
    cost_of = cost_of_cheapest(task, matrix)
    for train, test in trial.folds:
        known = np.intersect1d(rows, train)
        costs = matrix.take(test).costs
        if np.unique(task.is_positive[known]).size < 2:
            alike = np.mean(list(trial.probabilities(task.is_positive, task.weights, known[:0]).values()), axis=0)
            taken[test] = cheapest(alike[test], costs)
            continue
        probabilities = trial.probabilities(task.is_positive, task.weights, known)
        weights, _ = weigh(task, probabilities, weighting, trial.limits, known, cost_of)
        mixture = mix(probabilities, weights)
        seen = ClassRows(mixture[known], task.is_positive[known], task.weights[known], matrix.take(known).costs)
        rule = FoldRules(seen, fold[known], learnt, method, order).rule
        taken[test] = rule.act(mixture[test], costs)
    return taken


def cost_of_cheapest(task: Task, matrix: CostMatrix) -> CostOf:
    """What the cheapest actions at given probabilities cost, without a correction."""

    def cost(probability: np.ndarray, rows: np.ndarray) -> float:
        costs = matrix.take(rows).costs
        seen = ClassRows(probability, task.is_positive[rows], task.weights[rows], costs)
        return float(np.average(seen.paid(cheapest(probability, costs)), weights=seen.weight))

    return cost


def member_matrix_costs(task: Task, trial: Trial, matrix: CostMatrix) -> dict[str, float]:
    """Expected cost of each member alone, out of fold, without a correction."""
    rows, cost_of = tested_rows(trial), cost_of_cheapest(task, matrix)
    return {name: cost_of(choice.probability[rows], rows) for name, choice in trial.choices.items()}
