"""Fit a linear learner to rows in parts, whoever holds them: the workers of Dask, the executors of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from uneven.costs import Cost, RowCosts
from uneven.learners.base import Problem
from uneven.learners.costs_and_loss import plain_numbers
from uneven.learners.linear_penalty import penalty_weights
from uneven.learners.streaming import fitting
from uneven.learners.streaming.batch import Batch
from uneven.learners.streaming.marking import Marking
from uneven.losses import Loss
from uneven.metrics.labels import two_classes
from uneven.solvers.linear.parts.protocol import Parts
from uneven.solvers.linear.solution import Solution

if TYPE_CHECKING:
    from uneven.learners.linear import UnevenLinearClassifier


class MarkedParts(Parts, Protocol):
    """Parts that make their blocks by ``marking``, which is set before the first question and once more after it."""

    marking: Marking


def fit_parts(
    learner: UnevenLinearClassifier,
    parts: MarkedParts,
    some: Batch,
    *,
    costs: Cost | None,
    numbers: dict[str, Any],
    names: Sequence[str] | None = None,
    theta: np.ndarray | None = None,
    by_parts: bool = False,
    standardised: np.ndarray | None = None,
) -> tuple[Solution, bool]:
    """Fit a learner, and tell whether the classes are separated without a penalty.

    Parameters
    ----------
    learner : UnevenLinearClassifier
        Changed only if the fit succeeds.
    parts : MarkedParts
    some : Batch
        Some rows, and all labels that occur.
    costs : Cost or None
        None: the batches bring costs of their own.
    numbers : dict
        Those of the four costs that are numbers.
    names : sequence of str, optional
        Names of the columns.
    theta : ndarray, optional
        Where to start.
    by_parts : bool
        Without a theta, start from the minima of the parts themselves. It pays if most are large and have both classes.
    standardised : ndarray of bool, optional
        The columns to be standardised; by default none.
    """
    labels, _ = two_classes(np.asarray(some.y))
    positive = learner._positive_of(labels, costs)
    pos_label = labels.tolist()[positive]
    finished = learner.loss if isinstance(learner.loss, Loss) else None
    parts.marking = fitting.first_marking(np.asarray(some.y), pos_label, costs, numbers, finished)
    seen = fitting.look(parts, parts.marking, some, positive=lambda classes: positive, seed=0, sampled=False)
    parts.marking = seen.marking
    weighting = fitting.weighting_of(seen.survey, costs, finished)
    either: Any = costs or RowCosts(0, 0.0, 0.0)
    loss = learner._loss_for(either)
    solution, separated = fitting.solved(
        parts,
        seen,
        learner._pair(loss, weighting),
        penalty_weights(learner.penalty, learner.l1_ratio),
        bool(learner.fit_intercept),
        fitting.standardisation(seen.survey, standardised is not None, standardised),
        learner._settings(),
        theta,
        by_parts=by_parts,
    )
    learner._keep_classes(seen.classes)
    learner.n_features_in_ = some.X.shape[1]
    learner.__dict__.pop("feature_names_in_", None)
    if names is not None:
        learner.feature_names_in_ = np.array(names, dtype=object)
    kept = fitting.constant_sums(seen.survey, numbers)
    problem = Problem(None, weighting.y, weighting.row_factors, seen.classes, either, plain_numbers(numbers), kept)
    learner._remember(problem, weighting.scale, loss)
    learner._keep(solution, problem)
    return solution, separated
