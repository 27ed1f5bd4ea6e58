"""Fit a linear learner to rows that are in parts, wherever the parts are.

Who holds the parts reads labels and costs, and hands out blocks; this is the rest of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from uneven.costs import Cost, RowCosts
from uneven.learners.base import Problem
from uneven.learners.classes import Classes
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.linear_penalty import penalty_weights
from uneven.learners.reading import no_weight
from uneven.learners.weighting import Weighting, class_weighting, require_spoken_for, warn_of_turned
from uneven.losses import Loss
from uneven.solvers.linear.parts.minimise import minimise
from uneven.solvers.linear.parts.protocol import Parts
from uneven.solvers.linear.parts.summed_objective import Standardisation, SummedObjective
from uneven.solvers.linear.parts.survey import Survey, SurveyRows
from uneven.solvers.linear.solution import Solution


@dataclass(frozen=True)
class RowsInParts:
    """A training set whose rows are elsewhere.

    Attributes
    ----------
    parts : Parts
        Their blocks hold 1 for rows learnt as positive, and weights: the sample weights, times the rows' own regrets
        over ``largest`` if there are costs of each row.
    classes : Classes
    about : ndarray
        A point near the rows, such as one of them.
    costs : Cost, optional
        None: each row has its own.
    largest : float
        The largest regret of a row.
    numbers : dict
        Those of the four costs that are numbers.
    """

    parts: Parts
    classes: Classes
    about: np.ndarray
    costs: Cost | None
    largest: float = 1.0
    numbers: dict[str, Any] = field(default_factory=dict)

    def weighting(self, survey: Survey, loss: Any) -> Weighting:
        """How much the rows of each class count; ``loss`` is the learner's parameter."""
        finished = loss if isinstance(loss, Loss) else None
        spoken = (survey.weights > 0).tolist()
        if self.costs is None:
            require_spoken_for(spoken, self.classes)
            mean = float(survey.weights.sum()) / survey.given_weight
            factors, scale = np.full(2, 1 / mean), 1 / mean / self.largest
        else:
            for label, weight in zip(self.classes.in_order(0, 1), spoken, strict=True):
                if not weight:
                    raise no_weight(self.classes.labels[label])
            negatives, positives = map(float, survey.weights)
            factors, scale = class_weighting(self.costs, negatives, positives, finished)
        return Weighting(np.empty(0, dtype=np.int8), factors, np.empty(0), scale)


def fit_in_parts(learner: UnevenLinearClassifier, rows: RowsInParts, theta: np.ndarray | None = None) -> Solution:
    """Fit a learner, from a first theta or from 0."""
    problem = Problem(
        X=None,
        y=np.empty(0, dtype=np.int8),
        sample_weight=np.empty(0),
        classes=rows.classes,
        costs=RowCosts(0, 0.0, 0.0) if rows.costs is None else rows.costs,
        numbers=rows.numbers,
    )
    loss = learner._loss_for(problem.costs)
    survey = rows.parts.ask(SurveyRows(rows.about))
    if survey.turned:
        warn_of_turned(survey.turned, survey.count, stacklevel=4)
    weighting = rows.weighting(survey, learner.loss)
    l1, squared = penalty_weights(learner.penalty, learner.l1_ratio)
    objective = SummedObjective(
        parts=rows.parts,
        survey=survey,
        pair=learner._pair(loss, weighting),
        penalty=squared,
        fit_intercept=bool(learner.fit_intercept),
        columns=Standardisation.none(rows.about.size),
        l1=l1,
    )
    solution = minimise(objective, learner._settings(), theta=theta)
    learner._keep_classes(rows.classes)
    learner.n_features_in_ = rows.about.size
    learner._remember(problem, weighting.scale, loss)
    learner._keep(solution, problem)
    learner._warn(solution, separable=learner.penalty is None and solution.value <= objective.floor)
    return solution
