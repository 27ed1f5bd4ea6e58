r"""The kernel SVM with an uneven hinge as a pair of problems, and the evidence for a solution.

With the score :math:`f_i = (K b)_i + b_0` and margins :math:`q_i` (1 for a positive, :math:`-1/\gamma` for a negative),

.. math:: \min_{b, b_0} \tfrac12 b^\top K b + \sum_i u_i (y_i (q_i - f_i))_+, \qquad
          \max_b q^\top b - \tfrac12 b^\top K b, \quad \textstyle\sum_i b_i = 0, \; 0 \le y_i b_i \le u_i,

where :math:`u_i` is C times weight times cost. With :math:`g = q - K b` and :math:`s_i = y_i (g_i - b_0)`, the first
minus the second is

.. math:: \sum_i \left[ u_i (s_i)_+ - |b_i| s_i \right] - b_0 \textstyle\sum_i b_i ,

a sum of nonnegative terms, each 0 where optimality holds. So nothing cancels, and the gap keeps its digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uneven.errors import SolverError
from uneven.solvers.kernel.kernel_matrix import Gram

#: Half the distance between 1 and the next double.
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Dual:
    """The problem: K, the margins q, the class as a sign, and the upper bounds u."""

    gram: Gram
    margins: np.ndarray
    signs: np.ndarray
    upper: np.ndarray

    @cached_property
    def low(self) -> np.ndarray:
        return np.where(self.signs < 0, -self.upper, 0.0)

    @cached_property
    def high(self) -> np.ndarray:
        return np.where(self.signs > 0, self.upper, 0.0)

    @cached_property
    def diagonal(self) -> np.ndarray:
        return self.gram.diagonal()

    @cached_property
    def value_at_zero(self) -> float:
        """The primal objective of the best constant score."""
        return float(min(self.high.sum(), -self.low.sum()) * (self.margins.max() - self.margins.min()))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Norms of the rows in the space of the kernel, the roots of the diagonal of K."""
        return np.sqrt(np.maximum(self.diagonal, 0.0))


@dataclass(frozen=True)
class KernelSolution:
    """Signed dual coefficients, the intercept, and the evidence for them.

    Attributes
    ----------
    b : ndarray
    intercept : float
        It minimises the primal objective for these coefficients.
    value : float
        The primal objective.
    duality_gap : float
        Upper bound of the primal objective minus the optimum; infinite if K is not positive semidefinite.
    rounding : float
        The part of the gap that allows for rounding errors; the rest can be closed by more steps.
    violation : float
        Violation of optimality by the worst pair, in units of the score.
    converged : bool
        Whether the stopping rule holds.
    iterations : int
    """

    b: np.ndarray
    intercept: float
    value: float
    duality_gap: float
    rounding: float
    violation: float
    converged: bool
    iterations: int

    @property
    def bounded(self) -> bool:
        """Whether there is a bound at all."""
        return math.isfinite(self.duality_gap)

    def within(self, tol: float) -> bool:
        """Whether the objective is proved to be at most (1 + tol) times its optimum; true if there is no bound."""
        return not self.bounded or self.duality_gap <= tol * (self.value - self.duality_gap)

    @property
    def distance(self) -> float:
        """How far the solution is from optimality: the gap, or the violation if there is no bound."""
        return self.duality_gap if self.bounded else self.violation


def check_solution(dual: Dual, found: KernelSolution, gap: float) -> KernelSolution:
    """The solution, if it can be one: the last defence against an error in a solver."""
    good = found.value >= 0 and found.duality_gap >= 0 and math.isfinite(found.intercept + float(np.abs(found.b).sum()))
    if found.converged and found.bounded:
        good = good and found.value <= (1 + 2 * min(gap, 1.0)) * dual.value_at_zero
    if not good:
        raise SolverError(
            f"the solver of the kernel SVM failed: objective {found.value:g} with a gap of {found.duality_gap:g}, "
            f"where a constant score has {dual.value_at_zero:g}; please report the data that did this"
        )
    return found


def best_intercept(dual: Dual, g: np.ndarray) -> float:
    """The intercept that minimises the primal objective for coefficients with the gradient g.

    The objective is piecewise linear in the intercept. Its slope is the weight of the negative rows with a smaller g
    minus the weight of the positive rows with a larger g, so the minimum is a quantile of g. If it is an interval, take
    the middle.
    """
    order = np.argsort(g)
    weight = dual.upper[order]
    positive = dual.signs[order] > 0
    below = np.cumsum(np.where(positive, 0.0, weight))
    above = np.where(positive, weight, 0.0)
    above[:-1], above[-1] = np.cumsum(above[:0:-1])[::-1], 0.0
    # Differences that rounding could make count as 0; both sums are small where the optimum is.
    slope, blur = below - above, 4 * _UNIT * g.size * (below + above)
    first, last = int(np.argmax(slope >= -blur)), int(np.argmax(slope > blur))
    return 0.5 * (float(g[order[first]]) + float(g[order[last]]))


def solution_from(
    dual: Dual,
    b: np.ndarray,
    g: np.ndarray,
    *,
    iterations: int,
    errors: np.ndarray | float = 0.0,
    semidefinite: bool = True,
) -> KernelSolution:
    """The solution with its intercept, objective and gap, from coefficients b and the gradient g = q - K b.

    The gap is an upper bound in spite of rounding, if each g_i was computed by one sum in double precision, or is off
    by no more than ``errors`` besides.
    """
    rising, falling = g[b < dual.high], g[b > dual.low]
    most = float(rising.max()) if rising.size else -math.inf
    least = float(falling.min()) if falling.size else math.inf
    intercept = best_intercept(dual, g)
    size = np.abs(b)
    short = dual.signs * (g - intercept)
    quadratic = float(b @ (dual.margins - g))
    losses = dual.upper * np.maximum(short, 0.0)
    value = 0.5 * max(quadratic, 0.0) + float(losses.sum())
    gap = rounding = math.inf
    if semidefinite:
        gap, rounding = _safe_gap(dual, b, size, g, short, intercept, quadratic, value, errors)
    return KernelSolution(
        b=b,
        intercept=intercept,
        value=value,
        duality_gap=gap,
        rounding=rounding,
        violation=max(most - least, 0.0),
        converged=False,
        iterations=iterations,
    )


def _safe_gap(
    dual: Dual,
    b: np.ndarray,
    size: np.ndarray,
    g: np.ndarray,
    short: np.ndarray,
    intercept: float,
    quadratic: float,
    value: float,
    known: np.ndarray | float,
) -> tuple[float, float]:
    """An upper bound of the objective minus the optimum, and how much of it is for rounding."""
    count = int(np.count_nonzero(b))
    weight = float(size @ dual.lengths)
    # |K_ij| is at most the product of the lengths. The sums are taken four rows at a time, so that each number is the
    # result of n/4 + 6 roundings at most.
    errors = known + dual.lengths * (weight * ((0.25 * count + 8) * _UNIT + dual.gram.rounding))
    # The coefficients sum to 0 but for rounding; centred rows count on it.
    excess = abs(math.fsum(b))
    off = excess * dual.gram.centre
    errors += 4 * _UNIT * (np.abs(g) + abs(intercept)) + off * dual.lengths
    blur = float(size @ errors)
    if not dual.gram.semidefinite or quadratic < -blur:
        return math.inf, math.inf
    rest = dual.upper - size
    plain = float(np.maximum(rest * short, -size * short).sum())
    terms = np.maximum(rest * (short + errors), size * (errors - short))
    # An optimal intercept is between two of the numbers q - K b.
    imbalance = excess * (
        abs(intercept) + float(np.abs(dual.margins).max()) + math.sqrt(2 * value) * float(dual.lengths.max())
    )
    # What the objective itself may be off.
    sums = 4 * _UNIT * b.size
    near = short > -errors
    length = math.sqrt(max(quadratic, 0.0))
    blur += float(dual.upper[near] @ errors[near]) + sums * (value + weight * length) + off * (length + off)
    # The intercept for rows that were not centred is rounded as well.
    blur += float(dual.upper.sum()) * dual.gram.centre * weight * ((count + 8) * _UNIT + dual.gram.rounding)
    gap = (float(terms.sum()) + imbalance) * (1 + sums) + blur
    return gap, gap - plain
