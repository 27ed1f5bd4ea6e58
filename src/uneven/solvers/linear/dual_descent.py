"""Polyhedral losses on wide sparse data: coordinate descent in the dual, with a free intercept and a proved gap.

A free intercept asks the weighted slopes to sum to 0, which no single coordinate can keep. So b is held by a proximal
term around a centre that follows it: the coordinates are free, and the sum tends to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.solvers.compiled import dual_epoch
from uneven.solvers.linear.design import SparseRows
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Progress, Solution, silent

#: The gap is looked at after so many visits, then when it should be small enough.
_FIRST_CHECK = 8
#: Variance of the proximal term of the intercept, in units of the mean squared length of a row.
_WIDTH = 0.01
#: Share of the largest change of a margin by which a row must be away from its kinks to be left alone. Most rows change
#: far less; one that was left too early is found at the next look at the gap.
_CAREFUL = 0.03
#: Share of the rows that may be copied.
_FEW = 0.07


def fits(objective: Objective) -> bool:
    """Whether every phi is a convex polygon, the data are CSR and there is a penalty."""
    return (
        isinstance(objective.design, SparseRows)
        and objective.penalty > 0
        and all(phi.kinks for phi in objective.pair.phis)
        and objective.pair.polygons
    )


@dataclass
class _Rows:
    """Rows under work, with what the dual knows of each: all of them, or copies of a few."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    norms: np.ndarray
    slopes: np.ndarray
    #: Which rows of all these are; None: all.
    which: np.ndarray | None
    #: The first ``count`` of these are visited.
    active: np.ndarray
    count: int

    @classmethod
    def all(cls, objective: Objective) -> _Rows:
        X, n = objective.design.X, objective.design.n
        norms = np.empty(n)
        dual_epoch.squared_norms(X.data, X.indptr, norms)
        return cls(X, objective.y, objective.sample_weight, norms, np.zeros(n), None, np.arange(n), n)

    def some(self, chosen: np.ndarray) -> _Rows:
        """Copies of a few rows, which lie together in memory."""
        weight = self.weight[chosen] if self.weight.size else self.weight
        return _Rows(
            self.X[chosen], self.y[chosen], weight, self.norms[chosen], self.slopes[chosen], chosen,
            np.arange(chosen.size), chosen.size,
        )  # fmt: skip

    def visit(self, chosen: np.ndarray | None = None) -> None:
        """Visit these rows from now on; None: all."""
        self.active = np.arange(self.y.size) if chosen is None else chosen
        self.count = self.active.size


def coordinate_descent(
    objective: Objective, *, tol: float, max_iter: int, random: np.random.Generator, progress: Progress = silent
) -> Solution:
    """Minimise until the proved gap is below tol times the value; ``max_iter`` counts visits of all rows."""
    state = Lagrangian(objective, np.zeros(objective.size), 1.0)
    lowest = np.ascontiguousarray(state.lines[:, 1])
    rows = everything = _Rows.all(objective)
    width = _WIDTH * float(rows.norms.mean()) if objective.fit_intercept else 0.0
    w = np.zeros(objective.design.d)
    intercept, centre = np.zeros(1), 0.0
    margin = np.inf
    best_value, best_theta, lower = np.inf, state.theta, -np.inf
    check, checked, gap, value = _FIRST_CHECK, 0, np.inf, objective.value_at_zero
    status, iteration = f"stopped after {max_iter} visits of all rows", 0
    for iteration in range(1, max_iter + 1):
        order = random.permutation(-(-rows.count // dual_epoch.TOGETHER))
        rows.count, largest = dual_epoch.epoch(
            rows.X.data, rows.X.indices, rows.X.indptr, rows.norms, rows.y, rows.weight, *state.common[3:5], lowest,
            state.kinks, state.jumps, rows.slopes, w, intercept, width, objective.penalty, order, rows.active,
            rows.count, margin,
        )  # fmt: skip
        margin = _CAREFUL * largest
        # The centre moves to b; b moves on by what the slopes, unchanged, ask for.
        centre, intercept[0] = intercept[0], 2 * intercept[0] - centre
        if iteration < check and rows.count and iteration < max_iter:
            continue
        if not objective.fit_intercept:
            intercept[0] = 0.0
        if rows.which is not None:
            everything.slopes[rows.which] = rows.slopes
        state.theta = np.append(w, intercept)
        state.t = objective.design.scores(state.theta)
        awake = _awake(state, everything.slopes, lowest, margin)
        if objective.fit_intercept:
            state.centre_intercept(0.02 * max(tol * max(lower, 0.0), 0.1 * min(gap, value)))
        _spread(state, everything.slopes, lowest)
        value, bound = state.bounds(state.gradient_of_multipliers())
        if value < best_value:
            best_value, best_theta = value, state.theta
        lower = max(lower, bound)
        before, gap = gap, best_value - lower
        progress(f"dual {iteration}: objective {best_value:.10g}, gap {gap:.2e}, {awake.size} rows active")
        if gap <= tol * best_value:
            status = "reached the tolerance by the duality gap"
            break
        checked, check = iteration, iteration + _until(tol * best_value, gap, before, iteration - checked, iteration)
        if not awake.size or gap > 0.9 * before:  # look at every row again
            rows, margin = everything, np.inf
            rows.visit()
        elif awake.size <= _FEW * objective.design.n:
            rows = everything
            rows.visit(awake[:0])  # neither the list nor the copies of before are needed
            rows = everything.some(awake)
        else:
            rows = everything
            rows.visit(awake)
    return Solution(
        theta=best_theta,
        value=best_value,
        converged=gap <= tol * best_value,
        status=status,
        iterations=iteration,
        suboptimality=gap,
        duality_gap=gap,
    )


def _until(wanted: float, gap: float, before: float, visits: int, total: int) -> int:
    """After how many more visits to look at the gap again: when it should be small enough, if it falls as it did."""
    rate = np.log(before / gap) / visits if 0 < gap < before < np.inf else 0.0
    needed = 1.05 * np.log(gap / wanted) / rate if rate > 0 and wanted > 0 else np.inf
    return int(np.ceil(np.clip(needed, 0.1 * total, 0.5 * total))) + 1


def _awake(state: Lagrangian, slopes: np.ndarray, lowest: np.ndarray, margin: float) -> np.ndarray:
    """Rows that are not safely at the right end of their staircase."""
    scales, highest = state.objective.pair.scales, lowest + state.jumps.sum(axis=1)

    def found(k: int, lo: int, hi: int) -> np.ndarray:
        y, slope = state.objective.y[lo:hi], slopes[lo:hi]
        m = scales[y] * state.t[lo:hi]
        asleep = (slope == lowest[y]) & (m < state.kinks[y, 0] - margin)
        asleep |= (slope == highest[y]) & (m > state.kinks[y, -1] + margin)
        return lo + np.flatnonzero(~asleep)

    return np.concatenate(state.over_rows(found))


def _spread(state: Lagrangian, slopes: np.ndarray, lowest: np.ndarray) -> None:
    """A slope as multipliers of its kinks, from the left."""

    def spread(k: int, lo: int, hi: int) -> None:
        y = state.objective.y[lo:hi]
        rest = slopes[lo:hi] - lowest[y]
        for j, row in enumerate(state.u):
            np.clip(rest, 0.0, state.jumps[y, j], out=row[lo:hi], casting="same_kind")
            rest -= row[lo:hi]

    state.over_rows(spread)
