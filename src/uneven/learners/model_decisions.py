"""``decide`` of every estimator with probabilities: what a model says about rows, handed to ``decisions.decide``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.costs import GivenCosts, RowCosts
from uneven.decisions.actions import Actions
from uneven.decisions.decide import DecisionRows, Limits, costs_of_past, decide_rows
from uneven.decisions.decision_table import Decisions
from uneven.decisions.held_out import read_held_out
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief
from uneven.labels import read_labels, require_same_length

if TYPE_CHECKING:
    from uneven.learners.contract import EstimatorContract


def decide_with(
    learner: EstimatorContract, X: Any, actions: Actions | None, given: GivenCosts, limits: Limits, held_out: Any
) -> Decisions:
    """Decisions of a fitted learner; a text in ``limits.per`` is a column of X."""
    X, limits = take_groups(learner, X, limits)
    rows = _rows_of(learner, X, actions, given)
    known = None
    if held_out is not None:
        past, labels, costs = read_held_out(held_out, "rows and labels")
        if costs is None and rows.actions.rows is not None:
            raise CostError(
                "costs differ from row to row, so held_out needs those of its rows, too, as a third entry: actions, or "
                "a dictionary of costs"
            )
        read = _rows_of(learner, past, *costs_of_past(costs, actions, given))
        known = read, _is_positive(learner, labels, read.probability)
    return decide_rows(rows, limits, known, getattr(X, "index", None) if hasattr(X, "iloc") else None)


def _rows_of(learner: EstimatorContract, X: Any, actions: Actions | None, given: GivenCosts) -> DecisionRows:
    """What the learner says about rows. Two actions are two costs: the decisions are those of ``predict``."""
    if actions is None and not given.known:
        actions = learner._actions_of_fit
    if actions is not None and not isinstance(actions, Actions):
        raise CostError(f"actions must be uneven.Actions(...), got {brief(actions)}")
    if actions is not None and not _are_two_costs(actions):
        probability, said = learner._action_probability(X, actions, given)
        return DecisionRows(_in_doubles(probability), _for_rows(actions, len(probability)), actions.names, said)
    classes = learner._classes
    labels: tuple[Any, ...] = (classes.neg_label, classes.pos_label)
    if actions is not None:
        if given.known:
            raise CostError(f"give actions or {' and '.join(given.known)}, not both: actions have costs of their own")
        (fn_cost, tn_cost), (tp_cost, fp_cost) = actions.costs.values()
        given, labels = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost), actions.names
    probability, said = learner._decision_probability(X, given)
    costs = RowCosts.read(probability.size, **learner._costs_to_decide(given))
    four = {name: getattr(costs, name) for name in ("fp_cost", "fn_cost", "tp_cost", "tn_cost")}
    return DecisionRows(_in_doubles(probability), Actions.binary(**four, names=("negative", "positive")), labels, said)


def _are_two_costs(actions: Actions) -> bool:
    """Whether the actions are the two decisions of a classifier, first the one for negatives."""
    return len(actions.names) == 2 and (actions.rows is not None or actions.envelope == actions.names)


def _for_rows(actions: Actions, count: int) -> Actions:
    if actions.rows not in (None, count):
        raise CostError(f"the actions have costs of {actions.rows} rows, and there are {count} rows")
    return actions


def _in_doubles(probability: np.ndarray) -> np.ndarray:
    return np.asarray(probability, dtype=np.float64)


def take_groups(learner: Any, X: Any, limits: Limits) -> tuple[Any, Limits]:
    """The groups of a column of X; the learner does not see the column if it did not learn from it."""
    if not isinstance(limits.per, str):
        return X, limits
    if limits.per not in getattr(X, "columns", ()):
        raise ParameterError(
            f"per={limits.per!r} must be a column of the data frame X, or give the group of each row, got {brief(X)}"
        )
    groups, learnt = np.asarray(X[limits.per]), getattr(learner, "feature_names_in_", None)
    if learnt is not None and limits.per not in learnt:
        X = X[[name for name in X.columns if name != limits.per]]
    return X, Limits(**{**vars(limits), "per": groups})


def _is_positive(learner: EstimatorContract, labels: Any, probability: np.ndarray) -> np.ndarray:
    """Whether held-out rows are positive."""
    y, classes = read_labels("labels of held_out", labels), learner._classes
    require_same_length(**{"labels of held_out": y, "its rows": probability})
    unknown = [label for label in np.unique(y).tolist() if label not in classes.labels.tolist()]
    if unknown:
        raise CostError(f"labels of held_out must be {classes.neg_label} or {classes.pos_label}, got {unknown[0]!r}")
    return np.asarray(y == classes.pos_label)
