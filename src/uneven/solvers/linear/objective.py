r"""What a linear learner minimises.

.. math:: \frac{\rho}{2} \|w\|^2 + \lambda \|w\|_1 + \sum_i s_i c_{y_i} \varphi_{y_i}(k_{y_i} (w^\top x_i + b))

with a weight c and a scale k for each class. The margin asymmetry gamma is one of the scales, so it costs no time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.design import Design
from uneven.solvers.linear.newton_systems import sum_squares
from uneven.solvers.linear.pair_of_losses import MOST_ROWS, FewRows, PairOfLosses
from uneven.solvers.running import in_threads, row_ranges

#: How many times as far a column may move the scores, without a penalty, as the one that moves them most now. The gap
#: of such an objective is about coefficients of this size, because an optimum may lie at infinity.
TIMES_LARGER = 10.0
#: Proofs reach this many times as far as they say, so that one at a point also holds for points of nearly its size.
_ROOM = 1.01


class Penalised(ABC):
    """A penalised sum of losses over theta = (w, b), whoever holds its rows.

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
        most = _ROOM * TIMES_LARGER * self.most_moved(w)
        return np.divide(most, self.spread, out=np.zeros_like(self.spread), where=self.spread > 0)

    def most_moved(self, w: np.ndarray) -> float:
        """By how much the column that moves the scores most does so, at least 1."""
        return max(float((np.abs(w) * self.spread).max(initial=0.0)), 1.0)

    def covers(self, proved_at: np.ndarray, w: np.ndarray) -> bool:
        """Whether what is proved at some coefficients is a lower bound for all that others are compared with, too.

        With a penalty every proof is about all coefficients. Without one, a proof at small coefficients says nothing
        about those that large ones are compared with.
        """
        return self.penalty > 0 or self.l1 > 0 or self.most_moved(w) <= _ROOM * self.most_moved(proved_at)

    @property
    def floor(self) -> float:
        """Any objective below this counts as 0. Without a penalty, separable data have infimum 0, at infinity."""
        return 1e-6 * self.value_at_zero if self.penalty == self.l1 == 0 else 0.0

    def add_penalty(self, hessian: np.ndarray) -> np.ndarray:
        """Add the penalty to the second derivatives of the losses.

        If the intercept is not fitted, its row and column become those of the identity.
        """
        np.einsum("ii->i", hessian)[:-1] += self.penalty  # a view of the diagonal
        if not self.fit_intercept:
            hessian[-1, :] = hessian[:, -1] = 0.0
            hessian[-1, -1] = 1.0
        return hessian


@dataclass(frozen=True)
class Objective(Penalised):
    """A penalised sum of the losses of rows in memory.

    Attributes
    ----------
    design : Design
    y : ndarray of int8
        0 for the negative, 1 for the positive class.
    pair : PairOfLosses
    sample_weight : ndarray of float64
        Empty: 1 for all.
    penalty : float
        rho, 0 for none.
    fit_intercept : bool
        If not, b stays 0.
    l1 : float
        lambda, 0 for none.
    """

    design: Design
    y: np.ndarray
    pair: PairOfLosses
    sample_weight: np.ndarray
    penalty: float
    fit_intercept: bool
    l1: float = 0.0

    @property
    def size(self) -> int:
        """Length of theta."""
        return self.design.d + 1

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(self.design.n, self.design.numbers, self.size)

    @cached_property
    def _gradients(self) -> np.ndarray:
        """Reused memory for the gradient of each range of rows: allocating it takes half as long as a pass."""
        return np.empty((len(self._ranges), self.size))

    @cached_property
    def common(self) -> tuple[Any, ...]:
        """What every compiled pass takes."""
        return self.pair.addresses, self.y, self.sample_weight, self.pair.weights, self.pair.scales

    @property
    def derivatives(self) -> tuple[Any, ...]:
        """What compiled steps take that need second derivatives too."""
        return self.pair.addresses, self.pair.second_addresses, *self.common[1:]

    @cached_property
    def losses_along(self) -> Callable[..., tuple[float, float, float]]:
        """A function of scores t, a direction q, a step, and arrays for slopes and curvatures of the rows.

        It returns the sum of the losses at t + step * q, and its first and second derivative in the step.
        """
        if self.design.n <= MOST_ROWS:
            return FewRows(self.pair, self.y, self.factors()).along
        return partial(loops.passes.losses_along, self.derivatives)

    @cached_property
    def lower_bound(self) -> float:
        """What the objective is at least, from the infima of its losses alone."""
        least = np.array(self.pair.infima)
        if not np.isfinite(least).all():
            return -np.inf
        return float(self.factors() @ least[self.y]) if least.any() else 0.0

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient in theta (without that of the l1 penalty), by one pass over X."""
        w, b = np.ascontiguousarray(theta[:-1]), float(theta[-1])
        gradients = self._gradients
        gradients.fill(0.0)
        values = in_threads(
            lambda k, lo, hi: self.design.add_gradient(self.common, w, b, lo, hi, gradients[k]),
            self._ranges,
        )
        gradient = gradients.sum(axis=0)
        gradient[:-1] += self.penalty * w
        if not self.fit_intercept:
            gradient[-1] = 0.0
        return float(sum(values)) + self.penalty_of(w), gradient

    @cached_property
    def value_at_zero(self) -> float:
        """The objective at theta = 0, without a pass over X."""
        at_zero = self.pair.at_zero
        weight = self.sample_weight
        ones = float(weight[self.y == 1].sum() if weight.size else self.y.sum())
        total = float(weight.sum() if weight.size else self.y.size)
        return float(at_zero[1] * ones + at_zero[0] * (total - ones))

    def mean_row(self, label: int) -> tuple[float, np.ndarray]:
        """The sum of the factors of some rows of a class, and their weighted mean."""
        total, mean = self._mean_rows[label]
        return float(self.pair.weights[label]) * total, mean

    @cached_property
    def _mean_rows(self) -> tuple[tuple[float, np.ndarray], tuple[float, np.ndarray]]:
        negative, positive = (self._mean_of(label) for label in (0, 1))
        return negative, positive

    def _mean_of(self, label: int) -> tuple[float, np.ndarray]:
        members = np.flatnonzero(self.y == label)
        members = members[:: max(1, members.size // 64)]  # at least 64 rows, or all
        weight = self.sample_weight[members] if self.sample_weight.size else np.ones(members.size)
        total = float(weight.sum())
        return total, self.design.combine(members, weight / total) if total > 0 else np.zeros(self.design.d)

    def with_losses(self, pair: PairOfLosses) -> Objective:
        """The same rows and penalty with other losses; what was computed from the rows alone is kept."""
        other = replace(self, pair=pair)
        for name in ("_ranges", "_gradients", "_mean_rows"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @cached_property
    def spread(self) -> np.ndarray:
        """Root of the weighted mean square of each column."""
        weight = self.factors()
        return np.sqrt(self.design.squared_transposed_product(weight) / max(float(weight.sum()), 1e-300))

    def factors(self, chosen: Any = slice(None)) -> np.ndarray:
        """The factor of each row's loss: the weight of its class times its sample weight."""
        factors = self.pair.weights[self.y[chosen]]
        return factors * self.sample_weight[chosen] if self.sample_weight.size else factors

    def separates(self, theta: np.ndarray) -> bool:
        """Whether every row is on its side of 0 and its loss falls as it moves away from 0."""
        if any(np.isinf(phi.limits[1]) for phi in self.pair.phis):
            return False
        margins = self.pair.scales[self.y] * self.design.scores(theta)
        return bool((margins[self.factors() > 0] > 0).all())

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Each row's loss at its score, times its factor."""
        return self._weighted(scores, 0)

    def slopes(self, scores: np.ndarray) -> np.ndarray:
        """Slope of each row's loss in its score."""
        return self._weighted(scores, 1) * self.pair.scales[self.y]

    def _weighted(self, scores: np.ndarray, order: int) -> np.ndarray:
        """Values or slopes of phi at the margins, times the factors of the rows."""
        margins = self.pair.scales[self.y] * scores
        negative, positive = self.pair.kernels
        found = positive.first(margins)[order]
        if negative is not positive:
            found = np.where(self.y == 1, found, negative.first(margins)[order])
        return np.where(self.factors() > 0, found, 0.0) * self.factors()

    def curvatures(self, scores: np.ndarray, chosen: Any = slice(None)) -> np.ndarray:
        """Second derivative of each row's loss in its score; negative ones are replaced by 0."""
        y = self.y[chosen]
        scale = self.pair.scales[y]
        margins = scale * scores
        negative, positive = self.pair.kernels
        curvature = positive.second(margins)
        if negative is not positive:
            curvature = np.where(y == 1, curvature, negative.second(margins))
        curvature *= self.factors(chosen) * scale * scale
        return np.clip(np.nan_to_num(curvature, nan=0.0, posinf=1e300), 0.0, 1e300)

    def hessian(self, theta: np.ndarray, chosen: np.ndarray | None = None, factor: Any = 1.0) -> np.ndarray:
        """Matrix of second derivatives, from all rows, or from chosen rows that count ``factor`` times each."""
        count = self.design.n if chosen is None else chosen.size

        def block(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
            part: Any = slice(lo, hi) if chosen is None else chosen[lo:hi]
            rows = self.design.rows(part)
            curvature = self.curvatures(rows @ theta[:-1] + theta[-1], part)
            return rows, curvature if np.ndim(factor) == 0 else curvature * factor[lo:hi]

        return self.add_penalty(sum_squares(block, count, self.size, self.design.rows_per_block))

    def diagonal(self, theta: np.ndarray) -> np.ndarray:
        """Diagonal of the matrix of second derivatives, by one pass over X."""
        curvature = self.design.scores(theta)

        def replace_scores(k: int, lo: int, hi: int) -> None:
            curvature[lo:hi] = self.curvatures(curvature[lo:hi], slice(lo, hi))

        in_threads(replace_scores, self._ranges)
        diagonal = np.append(self.design.squared_transposed_product(curvature), curvature.sum())
        diagonal[:-1] += self.penalty
        return diagonal

    def on_rows(self, chosen: np.ndarray, factor: np.ndarray) -> Objective:
        """The same objective on a sample of rows, each of which counts ``factor`` times."""
        weight = factor * self.sample_weight[chosen] if self.sample_weight.size else factor
        return replace(self, design=self.design.some(chosen), y=self.y[chosen], sample_weight=weight)

    def sample(self, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Random rows, and how many rows each stands for. Classes keep their shares, but a rare one gets more."""
        chosen, factors = [], np.ones(2)
        total = self.y.size
        for label in (0, 1):
            members = np.flatnonzero(self.y == label)
            if not members.size:
                continue
            wanted = min(members.size, max(count * members.size // total, min(count // 4, members.size)))
            # One random row from each of many equal ranges: they come sorted, and seldom twice.
            at = ((np.arange(wanted) + random.random(wanted)) * (members.size / wanted)).astype(np.int64)
            chosen.append(members[np.minimum(at, members.size - 1)])
            factors[label] = members.size / wanted
        rows = np.sort(np.concatenate(chosen), kind="stable")  # of two sorted parts
        return rows, factors[self.y[rows]]
