"""Risks and regrets on a finite distribution, without sampling error: theorem 1 in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from uneven import _inputs
from uneven._inputs import Exact
from uneven.calibration.risk.conditional import ConditionalRisk
from uneven.calibration.risk.probabilities import Probabilities
from uneven.errors import ParameterError
from uneven.losses import Loss


@dataclass(frozen=True)
class FiniteDistribution:
    """Finitely many points x_1, ..., x_m with their probabilities and P(Y = 1 | x_i).

    Parameters
    ----------
    weights : array-like
        Probabilities of the points; nonnegative, scaled to sum to 1.
    etas : array-like in [0, 1]
        P(Y = 1 | x_i) for each point.

    Examples
    --------
    >>> import uneven
    >>> from uneven.calibration import FiniteDistribution
    >>> world = FiniteDistribution([0.5, 0.5], [0.0, 1.0])
    >>> loss = uneven.UnevenMarginLoss("hinge", gamma=2, alpha=0.25)
    >>> world.cost_regret([1e-12, 0.0], alpha=0.25), round(world.surrogate_regret(loss, [1e-12, 0.0]), 9)
    (0.5, 0.4375)
    """

    weights: np.ndarray
    etas: np.ndarray

    def __init__(self, weights: Any, etas: Any) -> None:
        mass, _ = _inputs.float_array("weights", weights)
        probability, _ = _inputs.probabilities("etas", etas)
        if mass.ndim != 1 or mass.shape != probability.shape or mass.size == 0:
            raise ParameterError(
                f"weights and etas must be lists of the same length, got {mass.shape} and {probability.shape}"
            )
        if (mass < 0).any() or not 0 < mass.sum() < np.inf:
            raise ParameterError("weights must be nonnegative with a positive finite sum")
        object.__setattr__(self, "weights", mass / mass.sum())
        object.__setattr__(self, "etas", probability)

    def _decisions(self, decisions: Any) -> np.ndarray:
        f, _ = _inputs.float_array("decisions", decisions)
        if f.shape != self.etas.shape:
            raise ParameterError(f"decisions must be {self.etas.size} numbers, got shape {f.shape}")
        return f

    def _mean(self, values: np.ndarray) -> float:
        with np.errstate(invalid="ignore"):
            return float(np.where(self.weights > 0, self.weights * values, 0.0).sum())

    def surrogate_risk(self, loss: Loss, decisions: Any) -> float:
        """R_L(f): the expected loss of the decision values f(x_i)."""
        return self._mean(loss.conditional_risk(self.etas, self._decisions(decisions)))

    def optimal_surrogate_risk(self, loss: Loss) -> float:
        """R_L^*: the smallest possible expected loss."""
        sides = ConditionalRisk(loss).sides(Probabilities(Fraction(0), self.etas))
        return self._mean(np.minimum(sides.positive, sides.negative))

    def surrogate_regret(self, loss: Loss, decisions: Any) -> float:
        """R_L(f) - R_L^*: the expected loss minus the smallest possible one."""
        return max(0.0, self.surrogate_risk(loss, decisions) - self.optimal_surrogate_risk(loss))

    def cost_risk(self, decisions: Any, *, alpha: Exact) -> float:
        """R_alpha(f), the expected cost; f(x) = 0 is a negative decision."""
        weight = float(_inputs.between_0_and_1("alpha", alpha))
        positive = self._decisions(decisions) > 0
        return self._mean(np.where(positive, weight * (1 - self.etas), (1 - weight) * self.etas))

    def optimal_cost_risk(self, *, alpha: Exact) -> float:
        """R_alpha^*: the smallest possible expected cost."""
        weight = float(_inputs.between_0_and_1("alpha", alpha))
        return self._mean(np.minimum(weight * (1 - self.etas), (1 - weight) * self.etas))

    def cost_regret(self, decisions: Any, *, alpha: Exact) -> float:
        """``R_alpha(f) - R_alpha*``: the weighted sum of ``|eta - alpha|`` where f decides wrongly."""
        exact = _inputs.between_0_and_1("alpha", alpha)
        distance = Probabilities(Fraction(0), self.etas).minus(exact)
        wrong = (self._decisions(decisions) > 0) != (distance > 0)
        return self._mean(np.where(wrong, np.abs(distance), 0.0))
