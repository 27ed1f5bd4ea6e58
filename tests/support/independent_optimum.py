"""The optimum of the linear learner's objective, by a method that shares nothing with the package's solvers.

Every kink is replaced by a steep ramp of the slope, and a damped Newton method runs in extended precision while the
ramps get steeper. At each stage the slopes give a dual point, hence a lower bound of the optimum by weak duality: the
answer carries its own proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from extended_phi import Extended, extended_phi
from mean_regret import mean_regret
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Optimum:
    """The best value found, a lower bound of all values, and where the best value is (coefficients, intercept)."""

    value: float
    bound: float
    theta: np.ndarray

    @property
    def uncertainty(self) -> float:
        return float(self.value - self.bound)


@dataclass(frozen=True)
class Term:
    """Some rows with one loss: weight * phi(scale * (row . theta))."""

    phi: str
    rows: np.ndarray
    weight: np.ndarray
    scale: float


@dataclass(frozen=True)
class LinearProblem:
    r"""ridge/2 ||w||^2 + l1 ||w||_1 + sum of weighted losses; theta = (w, b), and b is not penalised."""

    terms: tuple[Term, ...]
    ridge: np.ndarray  # of each coefficient, 0 for the intercept

    @cached_property
    def rows(self) -> np.ndarray:
        return np.vstack([term.rows for term in self.terms])

    @cached_property
    def norms(self) -> np.ndarray:
        """Largest number of each column, or 1."""
        largest = np.abs(self.rows).max(axis=0)
        return np.where(largest > 0, largest, 1)

    @classmethod
    def of(
        cls,
        phi: str,
        X: Any,
        y: np.ndarray,
        *,
        C: float = 1.0,
        fp_cost: float = 1.0,
        fn_cost: float = 1.0,
        gamma: float = 1.0,
        sample_weight: np.ndarray | None = None,
        ridge: float = 1.0,
        l1: float = 0.0,
        fit_intercept: bool = True,
        precision: Any = Extended,
    ) -> LinearProblem:
        """What ``UnevenLinearClassifier`` says that it minimises; y is 0/1, 1 positive; phi is a formula."""
        dense = (X if isinstance(X, np.ndarray) else X.toarray()).astype(precision)
        n, d = dense.shape
        rows = np.hstack([dense, np.full((n, 1), int(fit_intercept), dtype=precision)])
        weight = np.ones(n) if sample_weight is None else sample_weight
        mean = mean_regret(y, fp_cost=fp_cost, fn_cost=fn_cost, sample_weight=weight)
        factor = (precision(C) * weight.astype(precision) / precision(mean)).astype(precision)
        positive, negative = (y == 1) & (factor > 0), (y != 1) & (factor > 0)
        terms = [
            Term(phi, rows[positive], factor[positive] * precision(fn_cost), 1.0),
            Term(phi, rows[negative], factor[negative] * precision(fp_cost) / precision(gamma), -float(gamma)),
        ]
        if l1:
            # In units of the scores: l1 |w_j| = (l1 / size_j) |size_j w_j|.
            sizes = np.abs(dense).max(axis=0)
            sizes = np.where(sizes > 0, sizes, 1).astype(precision)
            terms.append(Term("abs(t)", np.diag(sizes) @ np.eye(d, d + 1, dtype=precision), l1 / sizes, 1.0))
        return cls(tuple(terms), np.append(np.full(d, ridge), 0.0).astype(precision))

    @cached_property
    def rounding(self) -> float:
        """Errors of this size in values and bounds are beyond the precision."""
        at_zero = sum(float(np.sum(t.weight) * extended_phi(t.phi).jet(np.zeros(1)).value[0]) for t in self.terms)
        return 500 * float(np.finfo(self.ridge.dtype).eps) * at_zero

    def value(self, theta: np.ndarray) -> Any:
        """The objective in the precision of the rows."""
        theta = theta.astype(self.ridge.dtype)
        losses = (
            term.weight @ extended_phi(term.phi).jet(term.scale * (term.rows @ theta)).value for term in self.terms
        )
        return sum(losses) + (self.ridge @ theta**2) / 2

    def in_span_of_rows(self) -> tuple[LinearProblem, np.ndarray]:
        """The same problem in coordinates z with w = basis @ z; for a ridge the best w is a combination of rows."""
        basis, inner = _orthonormal(self.rows[:, :-1].T)
        first, terms = 0, []
        for t in self.terms:
            count = t.weight.size
            terms.append(Term(t.phi, np.hstack([inner[first : first + count], t.rows[:, -1:]]), t.weight, t.scale))
            first += count
        return LinearProblem(tuple(terms), np.append(self.ridge[: basis.shape[1]], self.ridge[-1:])), basis


class _Stage:
    """The problem with ramps of one width, at one theta."""

    def __init__(self, problem: LinearProblem, theta: np.ndarray, width: float) -> None:
        self.problem, self.theta = problem, theta
        rounded = [extended_phi(t.phi).rounded(t.scale * (t.rows @ theta), width) for t in problem.terms]
        parts = list(zip(problem.terms, rounded, strict=True))

        def joined(part: Any) -> np.ndarray:
            return np.concatenate([part(term, curve) for term, curve in parts])

        kind = theta.dtype
        # Losses as functions of the row's score: their slopes, where they are slopes, and the range of slopes there.
        self.slope = joined(lambda t, c: t.weight * t.scale * c.slope)
        ends = [joined(lambda t, c, end=end: t.weight * t.scale * getattr(c, end)) for end in ("lowest", "highest")]
        self.lowest, self.highest = np.minimum(*ends), np.maximum(*ends)
        self.point = joined(lambda t, c: c.point / t.scale)
        self.value = joined(lambda t, c: t.weight * c.value)
        self.curvature = joined(lambda t, c: t.weight * t.scale**2 * c.curvature).astype(kind)
        self.on_ramp = joined(lambda t, c: c.on_ramp)
        self.gradient = problem.ridge * theta + problem.rows.T @ self.slope.astype(kind)

    def bound(self, slope: np.ndarray | None = None) -> Any:
        """A lower bound of the objective, by the slope of one line below each loss.

        It holds for all theta whose unpenalised part is not much larger than this one's.
        """
        problem = self.problem
        slope = self.slope if slope is None else np.clip(slope, self.lowest, self.highest)
        pull = problem.rows.T @ slope
        free = problem.ridge == 0
        held = -0.5 * np.sum(pull[~free] ** 2 / problem.ridge[~free])
        reach = 10 * np.abs(self.theta) + 10 / problem.norms
        return np.sum(self.value - slope * self.point) + held - np.sum(np.abs(pull[free]) * reach[free])

    def direction(self) -> np.ndarray:
        """Newton's step. Rows on a ramp have huge curvatures, so they keep their own unknowns (how slopes change)."""
        # A little damping, in proportion to the gradient, bounds the step where the objective is flat.
        damping = np.max(np.abs(self.gradient) / self.problem.norms) * 1e-3 + 1e-300
        return self._step(-self.gradient, np.zeros_like(self.curvature), 1 / self.curvature[self.on_ramp], damping)[0]

    def settled(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows on a ramp go exactly to their kinks, the others take Newton's step; theta, and slopes of all losses."""
        problem, hard = self.problem, self.on_ramp
        scores = problem.rows @ self.theta
        apart = problem.rows[hard].T @ self.slope[hard].astype(self.theta.dtype)
        tiny = np.finfo(self.theta.dtype).eps / self.curvature[hard]
        step, slopes = self._step(apart - self.gradient, self.point - scores, tiny, 1e-300)
        slope = self.slope.copy()
        slope[hard] = slopes
        slope[~hard] += (self.curvature * (problem.rows @ step))[~hard]
        return self.theta + step, slope

    def _step(
        self, down: np.ndarray, move: np.ndarray, give: np.ndarray, damping: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        problem, hard = self.problem, self.on_ramp
        norms, kind = problem.norms, self.theta.dtype
        scaled = problem.rows / norms
        soft = scaled[~hard]
        upper = (soft.T * self.curvature[~hard]) @ soft + np.diag(problem.ridge / norms**2 + damping)
        system = np.block([[upper, scaled[hard].T], [scaled[hard], -np.diag(give)]]).astype(kind)
        solution = _solved(system, np.concatenate([down / norms, move[hard]]).astype(kind))
        return solution[: norms.size] / norms, solution[norms.size :]


def _orthonormal(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An orthonormal basis of what the columns span, and the columns in that basis, as rows.

    In doubles by Cholesky's factor of the Gram matrix; in extended precision by Gram and Schmidt, twice.
    """
    if columns.dtype == np.float64:
        factor = np.linalg.cholesky(columns.T @ columns)
        return np.linalg.solve(factor, columns.T).T, factor
    found = columns.copy()
    for _ in range(2):
        for k in range(found.shape[1]):
            length = np.sqrt(found[:, k] @ found[:, k])
            found[:, k] = found[:, k] / length if length > 0 else 0
            found[:, k + 1 :] -= np.outer(found[:, k], found[:, k] @ found[:, k + 1 :])
    return found, columns.T @ found


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A linear system: LAPACK in doubles, Gaussian elimination with pivots in extended precision."""
    if matrix.dtype == np.float64:
        return np.linalg.solve(matrix, right)
    size = right.size
    scale = np.sqrt(np.abs(matrix).max(axis=1))
    scale = np.where(scale > 0, scale, 1)
    work = np.hstack([matrix / scale[:, None] / scale, (right / scale)[:, None]])
    for k in range(size):
        best = k + int(np.argmax(np.abs(work[k:, k])))
        if work[best, k] == 0:
            work[k, k] = 1e-300
            continue
        if best != k:
            work[[k, best]] = work[[best, k]]
        below = np.flatnonzero(work[k + 1 :, k]) + k + 1
        if below.size:
            work[below, k + 1 :] -= np.outer(work[below, k] / work[k, k], work[k, k + 1 :])
    solution = np.zeros(size, dtype=matrix.dtype)
    for k in reversed(range(size)):
        solution[k] = (work[k, -1] - work[k, k + 1 : -1] @ solution[k + 1 :]) / work[k, k]
    return solution / scale


def _searched(stage: _Stage, direction: np.ndarray, width: float) -> _Stage:
    """A point along a direction at which the slope along it is small, by bisection."""
    problem, theta = stage.problem, stage.theta
    start = float(stage.gradient @ direction)
    low, high, share = (0.0, start), None, 1.0
    found = before = stage
    for _ in range(40):
        found = _Stage(problem, theta + theta.dtype.type(share) * direction, width)
        slope = float(found.gradient @ direction)
        if abs(slope) <= 0.5 * abs(start):
            return found
        if slope > 0:
            high = (share, slope)
        else:
            low, before = (share, slope), found
        if high is None:
            share *= 4
            continue
        # Between the middle and the point where the line through both slopes vanishes.
        secant = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        share = (secant + (low[0] + high[0]) / 2) / 2
    return before


def _least_squares(problem: LinearProblem) -> np.ndarray:
    """A starting point: the optimum for the loss (1 - t)^2."""
    terms = tuple(replace(term, phi="(1 - t)**2") for term in problem.terms)
    zero = np.zeros_like(problem.ridge)
    return _Stage(replace(problem, terms=terms), zero, 0.0).direction()


@threadpool_limits.wrap(limits=1)
def optimum(problem: LinearProblem, *, accuracy: float = 2e-11, steps: int = 60) -> Optimum:
    """Minimise, until the value is proved to be within a relative accuracy, or nothing improves any more."""
    size, span = problem.ridge.size, sum(term.rows.shape[0] for term in problem.terms)
    if span < size - 1 and (problem.ridge[:-1] > 0).all():
        inner, basis = problem.in_span_of_rows()
        found = optimum(inner, accuracy=accuracy, steps=steps)
        theta = np.append(basis @ found.theta[:-1], found.theta[-1:])
        return Optimum(problem.value(theta), found.bound, theta)
    theta = min(np.zeros(size, dtype=problem.ridge.dtype), _least_squares(problem), key=problem.value)
    value, bound, best = problem.value(theta), -np.inf, theta
    smallest = np.finfo(problem.ridge.dtype).eps ** 1.3
    kinked = any(extended_phi(term.phi).kinks.size for term in problem.terms)
    for width in [10.0**-k for k in range(14)] if kinked else [0.0] * 5:
        stage = _Stage(problem, theta, width)
        for _ in range(steps):
            direction = stage.direction()
            decrease = -float(stage.gradient @ direction)
            if not decrease > smallest * float(value):
                break
            stage = _searched(stage, direction, width)
            theta = stage.theta
            if not kinked and decrease < 1e-6 * value and problem.value(theta) - stage.bound() <= accuracy * abs(value):
                break
        settled, slopes = stage.settled()
        for candidate in (theta, settled):
            reached = problem.value(candidate)
            if reached < value:
                value, best = reached, candidate
        bound = max(bound, stage.bound(), stage.bound(slopes))
        if value - bound <= max(accuracy * abs(value), problem.rounding):
            break
    return Optimum(value, bound, best)
