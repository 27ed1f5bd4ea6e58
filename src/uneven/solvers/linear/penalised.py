"""What every penalised sum of losses knows about itself, whoever holds its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from uneven.solvers.linear.pair_of_losses import PairOfLosses

#: Share of the objective at theta = 0 below which an unpenalised objective counts as 0.
_COUNTS_AS_ZERO = 1e-6
#: How much larger the coefficients may be that an unpenalised objective is compared with.
TIMES_LARGER = 10.0


class Penalised(ABC):
    """A penalised sum of losses over theta = (w, b).

    Attributes
    ----------
    pair : PairOfLosses
    penalty : float
        rho, 0 for none.
    fit_intercept : bool
        If not, b stays 0.
    l1 : float
        lambda, 0 for none.
    """

    pair: PairOfLosses
    penalty: float
    fit_intercept: bool
    l1: float

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of theta."""

    @property
    @abstractmethod
    def lower_bound(self) -> float:
        """What the objective is at least, from the infima of its losses alone."""

    @property
    @abstractmethod
    def value_at_zero(self) -> float:
        """The objective at theta = 0."""

    @property
    @abstractmethod
    def spread(self) -> np.ndarray:
        """Root of the weighted mean square of each column."""

    @abstractmethod
    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient in theta (without that of the l1 penalty)."""

    @abstractmethod
    def mean_row(self, label: int) -> tuple[float, np.ndarray]:
        """The sum of the factors of some rows of a class, and their weighted mean."""

    @property
    def why_not_squared(self) -> str | None:
        """None, or what is in the penalty besides the squared norm."""
        return f"{self.pair.names} is to be fitted with an l1 penalty" if self.l1 > 0 else None

    def penalty_of(self, w: np.ndarray) -> float:
        """What coefficients cost by themselves."""
        total = 0.5 * self.penalty * float(w @ w)
        return total + self.l1 * float(np.abs(w).sum()) if self.l1 else total

    def promised_gap(
        self, theta: np.ndarray, gradient: np.ndarray, curvature: float, coupling: np.ndarray | None = None
    ) -> float:
        """About the duality gap at a point of a smooth objective, from its gradient.

        ``curvature`` is the second derivative in the intercept, ``coupling`` are the mixed ones with the coefficients:
        where they are known, what moving the intercept to its best value changes is taken into account. What it gains
        is estimated; :func:`uneven.solvers.linear.proof.prove` does it.
        """
        g, b = gradient[:-1], float(gradient[-1])
        if coupling is not None and curvature > 0:
            g = g - (b / curvature) * coupling
        intercept = 0.5 * b * b / curvature if b and curvature > 0 else abs(b)
        if self.penalty > 0:
            return 0.5 * float(g @ g) / self.penalty + intercept
        return float(np.abs(g) @ (np.abs(theta[:-1]) + self.reach(theta[:-1]))) + intercept

    def reach(self, w: np.ndarray) -> np.ndarray:
        """Largest coefficients that an objective without penalty is compared with, one for each column.

        No column may move the scores by more than :data:`TIMES_LARGER` times what the one does that moves them most.
        """
        most = TIMES_LARGER * max(float((np.abs(w) * self.spread).max(initial=0.0)), 1.0)
        return np.divide(most, self.spread, out=np.zeros_like(self.spread), where=self.spread > 0)

    @property
    def floor(self) -> float:
        """Any objective below this counts as 0. Without a penalty, separable data have infimum 0, at infinity."""
        return _COUNTS_AS_ZERO * self.value_at_zero if self.penalty == self.l1 == 0 else 0.0

    def completed(self, hessian: np.ndarray) -> np.ndarray:
        """Add the penalty to the second derivatives of the losses.

        If the intercept is not fitted, its row and column become those of the identity.
        """
        np.einsum("ii->i", hessian)[:-1] += self.penalty  # a view of the diagonal
        if not self.fit_intercept:
            hessian[-1, :] = hessian[:, -1] = 0.0
            hessian[-1, -1] = 1.0
        return hessian
