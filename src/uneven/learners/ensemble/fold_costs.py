"""What the decisions of an ensemble cost out of fold: by settings, weights and corrections known without the fold."""

from __future__ import annotations

import numpy as np

from uneven.costs import RowCosts
from uneven.decisions.action_cuts import costs_of_breaks, count_breaks
from uneven.decisions.actions import Actions
from uneven.decisions.cost_pairs import CostPairs
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.learners.ensemble.pruning import cost_at_alpha
from uneven.learners.ensemble.training import OutOfFoldCosts, Task, Trial, mix, weigh
from uneven.learners.ensemble.weights import Weighting
from uneven.learners.several_actions import envelope_rules, estimate_actions, have_actions_between
from uneven.metrics.comparison import rows_learnt_from
from uneven.metrics.expected_cost import cost_of_decisions
from uneven.metrics.intervals import estimates


def out_of_fold_costs(
    task: Task,
    trial: Trial,
    costs: RowCosts,
    rows: np.ndarray,
    weighting: Weighting,
    method: str,
    order: int,
    correct_for: RowCosts | CostPairs,
    actions: Actions | None = None,
) -> OutOfFoldCosts:
    """Costs of decisions about the tested rows, with a correction for the same costs or for pairs of costs.

    With actions between the two that the costs are those of, the decisions are actions.

    The decisions of the ensemble about a fold use what was known without it: settings, weights and correction from rows
    that its models learnt from and another fold tested. So its cost is not that of its own choices, and with
    TimeSeriesSplit nothing comes from later rows.
    """
    is_positive = task.is_positive[rows]
    weight = None if task.weight is None else task.weight[rows]
    groups = None if task.groups is None else task.groups[rows]
    of_actions = actions if have_actions_between(actions) else None
    said = _decide_without_fold(task, trial, costs, rows, weighting, method, order, correct_for, of_actions)[rows]
    if of_actions is not None:
        taken = {"ensemble": said}
        rules = envelope_rules(of_actions)
        taken |= {name: np.full(rows.size, level) for name, level in rules.items()}
        taken |= {
            f"member {name}": np.searchsorted(of_actions.breaks, choice.probability[rows], side="left")
            for name, choice in trial.choices.items()
        }
        trained = rows_learnt_from([trial.folds])
        ensemble, *others = estimate_actions(
            of_actions, is_positive, taken, weight, trained, rules=rules, groups=groups
        )
        alone = {one.name.removeprefix("member "): one.cost for one in others if one.name.startswith("member ")}
        return OutOfFoldCosts(alone, ensemble, {one.name: one for one in others if one.name.startswith("all ")})
    decisions = {
        "ensemble": said,
        "all positive": np.ones(rows.size, dtype=bool),
        "all negative": np.zeros(rows.size, dtype=bool),
    }
    of_rows = costs.take(rows)
    repeated = {name: rule[None, :] for name, rule in decisions.items()}
    trained = rows_learnt_from([trial.folds])
    fixed = ("all positive", "all negative")
    ensemble, *constant = estimates(of_rows, is_positive, repeated, weight, trained=trained, rules=fixed, groups=groups)
    share = np.ones(rows.size) if weight is None else weight
    members = {
        name: cost_of_decisions(of_rows, is_positive, of_rows.prefers_positive(choice.probability[rows]), share)
        for name, choice in trial.choices.items()
    }
    return OutOfFoldCosts(members, ensemble, {one.name: one for one in constant}, said)


def _decide_without_fold(
    task: Task,
    trial: Trial,
    costs: RowCosts,
    rows: np.ndarray,
    weighting: Weighting,
    method: str,
    order: int,
    correct_for: RowCosts | CostPairs,
    actions: Actions | None,
) -> np.ndarray:
    """Where each row is said to be positive, or the number of its action, by what was known without its fold."""
    said = np.zeros(task.is_positive.size, dtype=bool if actions is None else np.intp)
    cost_of = cost_at_alpha(task.is_positive, task.weights, costs, actions)
    for train, test in trial.folds:
        known = np.intersect1d(rows, train)
        if np.unique(task.is_positive[known]).size < 2:  # such as before the first part of TimeSeriesSplit
            alike = np.mean(list(trial.probabilities(task.is_positive, task.weights, known[:0]).values()), axis=0)
            if actions is None:
                said[test] = costs.take(test).prefers_positive(alike[test])
            else:
                said[test] = np.searchsorted(actions.breaks, alike[test], side="left")
            continue
        probabilities = trial.probabilities(task.is_positive, task.weights, known)
        weights, _ = weigh(task, probabilities, weighting, trial.limits, known, cost_of)
        mixture = OutOfFoldRows(mix(probabilities, weights), task.is_positive, task.weights)
        if actions is not None:
            cuts = mixture.take(known).cuts(costs_of_breaks(actions), method, order)
            said[test] = count_breaks(cuts, mixture.probability[test])
            continue
        odds = mixture.take(known).find_correction(correct_for.take(known), method, order)
        said[test] = odds.decision(mixture.probability[test], costs.take(test)) > 0
    return said
