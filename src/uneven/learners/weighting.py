r"""How much each row counts in what a learner minimises.

A row counts with its sample weight times the regret of its mistake. These products are divided by the mean regret of
the training rows,

.. math:: \bar r = \frac{\sum_i s_i r_i}{\sum_i s_i},

so that the unit of the costs does not matter and C means what it means without costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from uneven._caller import warn_caller
from uneven._inputs import to_float
from uneven.costs import Cost, RowCosts
from uneven.errors import CostError
from uneven.learners.classes import Classes
from uneven.learners.costs_and_loss import own_alpha
from uneven.losses import Loss


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
        return _of_rows(costs, y, sample_weight, classes, None if finished is None else own_alpha(finished))
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
