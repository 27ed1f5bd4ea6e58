r"""What a fit is given, checked: features, classes, weights and costs; and how much each row counts.

scikit-learn's checks take longer than a small fit. An array that they would return as it is does not go through them.

A row counts with its sample weight times the regret of its mistake. These products are divided by the mean regret of
the training rows,

.. math:: \bar r = \frac{\sum_i s_i r_i}{\sum_i s_i},

so that the unit of the costs does not matter and C means what it means without costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from uneven.calibration.calibrated_losses import only_alpha
from uneven.costs import Cost, GivenCosts, RowCosts, plain_numbers, read_costs
from uneven.errors import CostError
from uneven.inputs import to_float, warn_caller
from uneven.labels import Classes, positive_class, read_target, read_weights, require_weighted_classes, two_classes
from uneven.learners.constant_rules import constant_sums
from uneven.learners.contract import costs_of_fit
from uneven.losses import Loss
from uneven.solvers.running import require_finite


def read_features(learner: Any, X: Any, *, reset: bool, missing: bool = False) -> Any:
    """A finite float64 or float32 array or CSR matrix, not copied if possible; with ``missing`` it may hold NaN.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the learner if ``reset``, else compares with them.
    """
    X = read_matrix(learner, X, reset=reset)
    require_finite("X", X, missing=missing)
    return X


def read_matrix(learner: Any, X: Any, *, reset: bool) -> Any:
    """The same, whatever its numbers are."""
    if not _is_plain_matrix(X) or not _took_plain_matrix(learner, X.shape[1], reset):
        from sklearn.utils.validation import validate_data

        X = validate_data(
            learner,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            accept_large_sparse=True,
        )
    return X


def _is_plain_matrix(X: Any) -> bool:
    """Whether scikit-learn's checks would return the array itself."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in (np.float64, np.float32)


def _took_plain_matrix(learner: Any, columns: int, reset: bool) -> bool:
    """Set or compare the number of columns of an array without names; False if scikit-learn has to complain."""
    if reset:
        learner.__dict__.pop("feature_names_in_", None)
        learner.n_features_in_ = columns
        return True
    return learner.__dict__.get("n_features_in_") == columns and "feature_names_in_" not in learner.__dict__


@dataclass(frozen=True)
class Weighting:
    """Weights of the rows, as a factor for each class and one for each row.

    Attributes
    ----------
    y : ndarray of int8
        The class that each row is learnt as, 1 for positive: its own, or the other one where its mistake pays.
    class_factors : ndarray of shape (2,)
        For the negative and the positive class.
    row_factors : ndarray of float64
        Empty if all are 1.
    scale : float
        By what the costs were multiplied.
    """

    y: np.ndarray
    class_factors: np.ndarray
    row_factors: np.ndarray
    scale: float

    @property
    def factors(self) -> np.ndarray:
        """Both kinds of factor together, one for each row."""
        factors = self.class_factors[self.y]
        return factors * self.row_factors if self.row_factors.size else factors


def weighting(
    costs: Cost | RowCosts, y: np.ndarray, sample_weight: np.ndarray, classes: Classes, finished: Loss | None
) -> Weighting:
    """The weights for costs that are the same in all rows, or not.

    Parameters
    ----------
    costs : Cost or RowCosts
    y : ndarray of int8
        1 for positive rows, 0 for negative ones.
    sample_weight : ndarray
        Empty if all are 1.
    classes : Classes
        For messages.
    finished : Loss or None
        A loss that contains costs itself. None: the loss treats both classes alike.
    """
    if isinstance(costs, RowCosts):
        return _of_rows(costs, y, sample_weight, classes, None if finished is None else only_alpha(finished))
    if sample_weight.size:
        positives, negatives = float(sample_weight @ y), float(sample_weight @ (1 - y))
    else:
        positives = float(np.count_nonzero(y))
        negatives = y.size - positives
    return Weighting(y, *of_classes(costs, negatives, positives, finished, sample_weight))


def of_classes(
    costs: Cost, negatives: float, positives: float, finished: Loss | None, row_factors: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """The last three attributes of :class:`Weighting` for two costs; the classes have these sums of sample weights."""
    total = to_float(sum(costs.exact_costs, Fraction(0)))
    if finished is not None:
        return np.ones(2), row_factors, 1 / total
    alpha, rest = costs.alpha, to_float(1 - costs.exact_alpha)
    mean = (alpha * negatives + rest * positives) / (positives + negatives)  # of the regrets, in units of their sum
    return np.array([alpha / mean, rest / mean]), row_factors, 1 / mean / total


def _of_rows(
    costs: RowCosts, y: np.ndarray, sample_weight: np.ndarray, classes: Classes, inside: Fraction | None
) -> Weighting:
    y, regrets = learnt_labels(costs, y)
    largest = float(regrets.max()) or 1.0
    weights = regrets / largest
    if inside is not None:
        weights = weights / np.array([to_float(inside), to_float(1 - inside)])[y]
    if sample_weight.size:
        mean = float(sample_weight @ weights) / float(sample_weight.sum())
        weights = sample_weight * weights
    else:
        mean = float(weights.mean())
    require_both(y, weights, classes)
    return Weighting(y, np.ones(2), weights / mean, 1 / mean / largest)


def learnt_labels(costs: Cost | RowCosts, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class that each row is learnt as, and what its mistake costs more than the right decision.

    A row whose mistake pays is learnt as the other class; a warning says how many there are.
    """
    if isinstance(costs, Cost):
        return y, np.array([to_float(cost) for cost in costs.exact_costs])[y]
    regrets = costs.regrets(y == 1)
    turned = regrets < 0
    if turned.any():
        count = int(turned.sum())
        warn_caller(
            f"in {count} of {y.size} rows the mistake costs less than the right decision: "
            f"{'it is' if count == 1 else 'they are'} learnt with the other label"
        )
        y = np.where(turned, 1 - y, y).astype(np.int8)
    return y, np.abs(regrets)


def require_both(y: np.ndarray, weights: np.ndarray, classes: Classes) -> None:
    """Raise unless rows with a weight speak for both classes."""
    for label in (0, 1):
        if not weights[y == label].any():
            least, other = (classes.label(np.array([k]))[0].item() for k in (label, 1 - label))
            raise CostError(
                f"no row with a cost speaks for class {least!r}: predicting {other!r} always costs least, and there is "
                "nothing to learn"
            )


# What a fit is given, checked: features, classes, weights and costs of the rows.


@dataclass(frozen=True)
class TrainingSet:
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

    @property
    def weight_or_none(self) -> np.ndarray | None:
        """The sample weights as other libraries take them."""
        return self.sample_weight if self.sample_weight.size else None

    @property
    def masses(self) -> np.ndarray:
        """The sample weights, 1 by default."""
        return self.sample_weight if self.sample_weight.size else np.ones(self.y.size)

    def weighting(self, loss: Any) -> Weighting:
        """How much each row counts; ``loss`` is the learner's parameter."""
        finished = loss if isinstance(loss, Loss) else None
        return weighting(self.costs, self.y, self.sample_weight, self.classes, finished)


def require_target(learner: Any, y: Any) -> None:
    """Raise if no labels are given, in the words that scikit-learn's checks look for."""
    if y is None:
        raise CostError(f"This {type(learner).__name__} estimator requires y to be passed, but the target y is None.")


def read_training_set(learner: Any, X: Any, y: Any, sample_weight: Any, given: GivenCosts | None = None) -> TrainingSet:
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
    return TrainingSet(X, target, weight, classes, costs, plain_numbers(four), constant_sums(four, target, weight))
