"""Losses made of straight pieces on wide sparse data: coordinate descent in the dual, with a proved duality gap.

The intercept is free, so the weighted slopes must sum to 0, which a step in one coordinate cannot preserve. Therefore a
proximal term ties b to a centre, and the centre follows b: each coordinate may move alone, and the sum tends to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.newton_systems import MOST_COLUMNS
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solver import (
    Settings,
    Solution,
    Solver,
    some_penalty,
    sparse_matrix,
    squared_penalty,
    straight_pieces,
)
from uneven.solvers.linear.supporting_lines import bounds


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Visits of all rows before the gap is computed for the first time. It costs about as much as two visits.
    first_check: int = 8
    #: Variance of the proximal term that ties the intercept to its centre, in units of the mean squared length of a
    #: row. A weak tie lets single rows push the intercept back and forth, a strong one makes it slow.
    width: float = 0.01
    #: Share of the rows up to which those that do not rest are copied, so that they lie together in memory.
    copy_share: float = 0.07


LIMITS = Limits()


def has_many_columns(objective: Objective) -> bool:
    """Whether there are too many columns to factor a matrix."""
    return objective.size > MOST_COLUMNS


@dataclass
class _Rows:
    """The rows that are visited, with their dual variables: all rows, or copies of a few."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    norms: np.ndarray
    slopes: np.ndarray
    #: Their positions among all rows; None: these are all rows.
    which: np.ndarray | None
    #: The first ``count`` of these positions are visited.
    active: np.ndarray
    count: int

    @classmethod
    def all(cls, objective: Objective) -> _Rows:
        X, n = objective.design.X, objective.design.n
        norms = np.empty(n)
        loops.coordinate_descent.squared_norms(X.data, X.indptr, norms)
        return cls(X, objective.y, objective.sample_weight, norms, np.zeros(n), None, np.arange(n), n)

    def some(self, chosen: np.ndarray) -> _Rows:
        """Copies of a few rows, so that they lie together in memory."""
        weight = self.weight[chosen] if self.weight.size else self.weight
        return _Rows(
            self.X[chosen], self.y[chosen], weight, self.norms[chosen], self.slopes[chosen], chosen,
            np.arange(chosen.size), chosen.size,
        )  # fmt: skip

    def visit(self, chosen: np.ndarray | None = None) -> None:
        """Visit only these rows from now on; None: all."""
        self.active = np.arange(self.y.size) if chosen is None else chosen
        self.count = self.active.size


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise until the proved gap is below tol times the value; ``max_iter`` counts visits of all rows.

    It always starts from 0: a starting point theta says little about the dual variables.
    """
    tol, max_iter = settings.tol, settings.max_iter
    state = Lagrangian(objective, np.zeros(objective.size), 1.0)
    lowest = np.ascontiguousarray(state.lines[:, 1])
    rows = everything = _Rows.all(objective)
    width = LIMITS.width * float(rows.norms.mean()) if objective.fit_intercept else 0.0
    w = np.zeros(objective.design.d)
    intercept, centre = np.zeros(1), 0.0
    margin = np.inf
    multipliers: np.ndarray | None = None
    best_value, best_theta, lower = np.inf, state.theta, -np.inf
    check, checked, gap, value = LIMITS.first_check, 0, np.inf, objective.value_at_zero
    status, iteration = f"stopped after {max_iter} visits of all rows", 0
    for iteration in range(1, max_iter + 1):
        order = settings.random.permutation(-(-rows.count // loops.coordinate_descent.TOGETHER))
        rows.count, largest = loops.coordinate_descent.epoch(
            rows.X.data, rows.X.indices, rows.X.indptr, rows.norms, rows.y, rows.weight, *state.common[3:5], lowest,
            state.kinks, state.jumps, rows.slopes, w, intercept, width, objective.penalty, order, rows.active,
            rows.count, margin,
        )  # fmt: skip
        # A row rests while its margin is farther than this from its kinks. Most rows change far less than the one that
        # changes most; one that rests too early is found when the gap is computed next.
        margin = 0.03 * largest
        # The centre moves to b. With unchanged slopes, b then moves on by the same distance.
        centre, intercept[0] = intercept[0], 2 * intercept[0] - centre
        if iteration < check and rows.count and iteration < max_iter:
            continue
        if not objective.fit_intercept:
            intercept[0] = 0.0
        if rows.which is not None:
            everything.slopes[rows.which] = rows.slopes
        state.theta = np.append(w, intercept)
        state.t = objective.design.scores(state.theta)
        awake = _find_awake(state, everything.slopes, lowest, margin)
        if objective.fit_intercept:
            _centre_intercept(state, 0.02 * max(tol * max(lower, 0.0), 0.1 * min(gap, value)))
        _spread_slopes(state, everything.slopes, lowest)
        value, bound = bounds(state, state.gradient_of_multipliers())
        if value < best_value:
            best_value, best_theta = value, state.theta
        if bound > lower:
            lower, multipliers = bound, state.u.copy()
        before, gap = gap, best_value - lower
        settings.progress(f"dual {iteration}: objective {best_value:.10g}, gap {gap:.2e}, {awake.size} rows active")
        if gap <= tol * best_value:
            status = "reached the tolerance by the duality gap"
            break
        checked, check = iteration, _next_check(tol * best_value, gap, before, checked, iteration)
        if not awake.size or gap > 0.9 * before:  # visit every row again
            rows, margin = everything, np.inf
            rows.visit()
        elif awake.size <= LIMITS.copy_share * objective.design.n:
            rows = everything
            rows.visit(awake[:0])  # frees the long list of rows and the earlier copies
            rows = everything.some(awake)
        else:
            rows = everything
            rows.visit(awake)
    return Solution(
        theta=best_theta,
        value=best_value,
        converged=bool(gap <= tol * best_value),
        status=status,
        iterations=iteration,
        multipliers=multipliers,
    )


def _next_check(wanted: float, gap: float, before: float, checked: int, now: int) -> int:
    """When to compute the gap again: when it should be small enough if it keeps falling as it did since ``checked``."""
    rate = np.log(before / gap) / (now - checked) if 0 < gap < before < np.inf else 0.0
    needed = 1.05 * np.log(gap / wanted) / rate if rate > 0 and wanted > 0 else np.inf
    return now + int(np.ceil(np.clip(needed, 0.1 * now, 0.5 * now))) + 1


def _centre_intercept(state: Lagrangian, enough: float) -> None:
    """Move b to its best value for this w, until the objective can fall by at most ``enough``.

    The multipliers have no influence.
    """
    sigma, state.sigma = state.sigma, 1e-13 * state.sigma
    low, high, reach, at = -np.inf, np.inf, 1e-3, 0.0
    for _ in range(50):
        slope, _ = state.along(None, at)
        low, high = (low, at) if slope > 0 else (at, high)
        if abs(slope) * (high - low) <= enough:
            break
        reach *= 4
        at = 0.5 * (low + high) if np.isfinite(high - low) else (high - reach if slope > 0 else low + reach)
    state.sigma = sigma
    state.move_scores(None, at)
    state.theta = state.theta.copy()
    state.theta[-1] += at


def _find_awake(state: Lagrangian, slopes: np.ndarray, lowest: np.ndarray, margin: float) -> np.ndarray:
    """Rows that are not safely beyond all their kinks with the slope that belongs there."""
    scales, highest = state.objective.pair.scales, lowest + state.jumps.sum(axis=1)

    def find(k: int, lo: int, hi: int) -> np.ndarray:
        y, slope = state.objective.y[lo:hi], slopes[lo:hi]
        m = scales[y] * state.t[lo:hi]
        resting = (slope == lowest[y]) & (m < state.kinks[y, 0] - margin)
        resting |= (slope == highest[y]) & (m > state.kinks[y, -1] + margin)
        return lo + np.flatnonzero(~resting)

    return np.concatenate(state.over_rows(find))


def _spread_slopes(state: Lagrangian, slopes: np.ndarray, lowest: np.ndarray) -> None:
    """Turn the slope of each row into multipliers of its kinks, filled from the left."""

    def spread(k: int, lo: int, hi: int) -> None:
        y = state.objective.y[lo:hi]
        rest = slopes[lo:hi] - lowest[y]
        for j, row in enumerate(state.u):
            np.clip(rest, 0.0, state.jumps[y, j], out=row[lo:hi], casting="same_kind")
            rest -= row[lo:hi]

    state.over_rows(spread)


SOLVER = Solver(
    "dual", (squared_penalty, straight_pieces, sparse_matrix, some_penalty), minimise, fastest=(has_many_columns,)
)
