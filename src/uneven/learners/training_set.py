"""What a fit is given, checked: features, classes, weights and costs of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from uneven.costs import Cost, GivenCosts, RowCosts
from uneven.errors import CostError
from uneven.learners.classes import Classes
from uneven.learners.contract import constant_sums, costs_of_fit
from uneven.learners.costs_and_loss import plain_numbers, read_costs
from uneven.learners.weighting import Weighting, weighting
from uneven.losses import Loss
from uneven.metrics.labels import positive_class, read_target, read_weights, require_weighted_classes, two_classes


@dataclass(frozen=True)
class Problem:
    """A validated training set.

    Attributes
    ----------
    X : ndarray or CSR matrix
        Not copied if possible.
    y : ndarray of int8
        1 for the positive class, 0 for the negative one.
    sample_weight : ndarray of float64
        Empty if all are 1.
    classes : Classes
    costs : Cost or RowCosts
    numbers : dict
        Those of the four costs that are numbers.
    constant_sums : dict, optional
        What is kept for ``constant_costs_``; None for rows in parts.
    """

    X: Any
    y: np.ndarray
    sample_weight: np.ndarray
    classes: Classes
    costs: Cost | RowCosts
    numbers: dict[str, Any]
    constant_sums: dict[str, Any] | None = None

    def weighting(self, loss: Any) -> Weighting:
        """How much each row counts; ``loss`` is the learner's parameter."""
        finished = loss if isinstance(loss, Loss) else None
        return weighting(self.costs, self.y, self.sample_weight, self.classes, finished)


def require_target(learner: Any, y: Any) -> None:
    """Raise if no labels are given, in the words that scikit-learn's checks look for."""
    if y is None:
        raise CostError(f"This {type(learner).__name__} estimator requires y to be passed, but the target y is None.")


def read_training_set(learner: Any, X: Any, y: Any, sample_weight: Any, given: GivenCosts | None = None) -> Problem:
    """Labels, weights and costs for features that have been read, checked together.

    The learner has the four costs, ``pos_label``, ``neg_label``, and ``_symmetric(costs)``, which says whether it makes
    no difference which class is the positive one.
    """
    count = _num_samples(X)
    labels = read_target(y, count)
    if not count:
        raise CostError("X must have at least one row, got none")
    weight = read_weights(sample_weight, count)
    both, index = two_classes(labels)
    require_weighted_classes(weight, index, both)
    four = costs_of_fit(learner, given)
    costs = read_costs(count, four)
    symmetric = learner._symmetric(costs)
    classes = Classes(both, positive_class(both, learner.pos_label, symmetric=symmetric, neg_label=learner.neg_label))
    target = (index == classes.positive).astype(np.int8)
    return Problem(X, target, weight, classes, costs, plain_numbers(four), constant_sums(four, target, weight))
