r"""What a linear learner minimises.

.. math:: \frac{\rho}{2} \|w\|^2 + \sum_i s_i c_{y_i} \varphi_{y_i}(k_{y_i} (w^\top x_i + b))

with a pair (weight c, scale k) for each class, so that the margin asymmetry gamma costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.errors import LossError
from uneven.expression import derivative
from uneven.expression.tree import ZERO
from uneven.losses import Loss, Phi
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import CompiledPhi, compiled
from uneven.solvers.linear.design import Design
from uneven.solvers.linear.squares import summed_squares
from uneven.solvers.threads import each, pieces

_INFIMUM = 1e-6


@dataclass(frozen=True)
class PairOfLosses:
    """Compiled losses of the negative and the positive class: weight * phi(scale * score)."""

    phis: tuple[Phi, Phi]
    kernels: tuple[CompiledPhi, CompiledPhi]
    weights: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, loss: Loss, factor: Fraction = Fraction(1)) -> PairOfLosses:
        """The two partial losses of a loss, times a number."""
        positive, negative = loss.partials
        phis = []
        for partial in (negative, positive):
            if not isinstance(partial.function, Phi):
                raise LossError(
                    f"a learner needs the loss as expressions, but {loss!r} was given as Python functions; written in "
                    "the little language, such as uneven.Loss('exp(-t)', 'exp(t)'), it would work"
                )
            phis.append(partial.function)
        kernels = [compiled(phi.tree, smooth_switches(phi.tree)) for phi in phis]
        return cls(
            phis=(phis[0], phis[1]),
            kernels=(kernels[0], kernels[1]),
            weights=np.array([to_float(partial.weight * factor) for partial in (negative, positive)]),
            scales=np.array([to_float(partial.inner) for partial in (negative, positive)]),
        )

    @cached_property
    def polygons(self) -> bool:
        """Whether both phis are made of straight pieces."""
        return all(derivative(derivative(phi.tree)) == ZERO for phi in self.phis)

    @cached_property
    def addresses(self) -> np.ndarray:
        return np.array([kernel.first_address for kernel in self.kernels], dtype=np.int64)


@dataclass(frozen=True)
class Objective:
    """A penalised sum of losses over theta = (w, b).

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
    """

    design: Design
    y: np.ndarray
    pair: PairOfLosses
    sample_weight: np.ndarray
    penalty: float
    fit_intercept: bool

    @property
    def size(self) -> int:
        """Length of theta."""
        return self.design.d + 1

    @cached_property
    def _pieces(self) -> list[tuple[int, int]]:
        return pieces(self.design.n, self.design.numbers)

    @cached_property
    def _gradients(self) -> np.ndarray:
        """Room for the gradient of each piece; new memory for every pass would take half as long as the pass."""
        return np.empty((len(self._pieces), self.size))

    @cached_property
    def _common(self) -> tuple[Any, ...]:
        return self.pair.addresses, self.y, self.sample_weight, self.pair.weights, self.pair.scales

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """One pass over X."""
        w, b = np.ascontiguousarray(theta[:-1]), float(theta[-1])
        gradients = self._gradients
        gradients.fill(0.0)
        values = each(
            lambda k, lo, hi: self.design.passed(self._common, w, b, lo, hi, gradients[k]),
            self._pieces,
        )
        gradient = gradients.sum(axis=0)
        gradient[:-1] += self.penalty * w
        if not self.fit_intercept:
            gradient[-1] = 0.0
        return float(sum(values)) + 0.5 * self.penalty * float(w @ w), gradient

    @cached_property
    def value_at_zero(self) -> float:
        """The objective at theta = 0, without a pass."""
        at_zero = np.array([kernel.first(np.zeros(1))[0][0] for kernel in self.pair.kernels]) * self.pair.weights
        weight = self.sample_weight
        ones = float(weight[self.y == 1].sum() if weight.size else self.y.sum())
        total = float(weight.sum() if weight.size else self.y.size)
        return float(at_zero[1] * ones + at_zero[0] * (total - ones))

    @property
    def floor(self) -> float:
        """Below this the optimum counts as 0, if there is no penalty: that of separable data is, at infinity."""
        return _INFIMUM * self.value_at_zero if self.penalty == 0 else 0.0

    def factors(self, chosen: Any = slice(None)) -> np.ndarray:
        """What the loss of each row is multiplied by."""
        factors = self.pair.weights[self.y[chosen]]
        return factors * self.sample_weight[chosen] if self.sample_weight.size else factors

    def separates(self, theta: np.ndarray) -> bool:
        """Whether every row is on its side of 0 and pays less the farther away it is."""
        if any(np.isinf(phi.limits[1]) for phi in self.pair.phis):
            return False
        margins = self.pair.scales[self.y] * self.design.scores(theta)
        return bool((margins[self.factors() > 0] > 0).all())

    def curvatures(self, scores: np.ndarray, chosen: Any = slice(None)) -> np.ndarray:
        """Second derivative of each row's loss in its score; what is negative, by rounding or not, is cut to 0."""
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
        """Matrix of second derivatives, from some rows (each times ``factor``) if they are given, in blocks."""
        count = self.design.n if chosen is None else chosen.size

        def block(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
            part: Any = slice(lo, hi) if chosen is None else chosen[lo:hi]
            rows = self.design.rows(part)
            curvature = self.curvatures(rows @ theta[:-1] + theta[-1], part)
            return rows, curvature if np.ndim(factor) == 0 else curvature * factor[lo:hi]

        return self.completed(summed_squares(block, count, self.size, self.design.rows_per_block))

    def completed(self, hessian: np.ndarray) -> np.ndarray:
        """Second derivatives of the losses, with those of the penalty; an intercept that is not fitted has its own."""
        hessian[np.diag_indices(self.size - 1)] += self.penalty
        if not self.fit_intercept:
            hessian[-1, :] = hessian[:, -1] = 0.0
            hessian[-1, -1] = 1.0
        return hessian

    def diagonal(self, theta: np.ndarray) -> np.ndarray:
        """Diagonal of the matrix of second derivatives: one more pass."""
        curvature = self.design.scores(theta)

        def replace_scores(k: int, lo: int, hi: int) -> None:
            curvature[lo:hi] = self.curvatures(curvature[lo:hi], slice(lo, hi))

        each(replace_scores, self._pieces)
        diagonal = np.append(self.design.squared_transposed_product(curvature), curvature.sum())
        diagonal[:-1] += self.penalty
        return diagonal

    def on_rows(self, chosen: np.ndarray, factor: np.ndarray) -> Objective:
        """The same objective on a sample of rows, each of which stands for ``factor`` rows."""
        weight = factor * self.sample_weight[chosen] if self.sample_weight.size else factor
        return replace(self, design=self.design.some(chosen), y=self.y[chosen], sample_weight=weight)

    def sample(self, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows of both classes in their proportion (but some of each), and how many rows each stands for."""
        chosen, factors = [], []
        total = self.y.size
        for label in (0, 1):
            members = np.flatnonzero(self.y == label)
            if not members.size:
                continue
            wanted = min(members.size, max(count * members.size // total, min(count // 4, members.size)))
            # One row at random from each of as many equal stretches: sorted, without repetition.
            at = ((np.arange(wanted) + random.random(wanted)) * (members.size / wanted)).astype(np.int64)
            chosen.append(members[np.minimum(at, members.size - 1)])
            factors.append(np.full(wanted, members.size / wanted))
        order = np.argsort(np.concatenate(chosen))
        return np.concatenate(chosen)[order], np.concatenate(factors)[order]
