"""Polyhedral losses on wide sparse data: coordinate descent in the dual, with a free intercept and a proved gap.

A free intercept asks the weighted slopes to sum to 0, which no single coordinate can keep. So b is held by a proximal
term around a centre that follows it: the coordinates are free, and the sum tends to 0.
"""

from __future__ import annotations

import numpy as np

from uneven.solvers import _dual
from uneven.solvers.design import SparseRows
from uneven.solvers.lagrangian import Lagrangian
from uneven.solvers.objective import Objective
from uneven.solvers.solution import Progress, Solution, silent

_CHECK_EVERY = 3
#: Variance of the proximal term of the intercept, in units of the mean squared length of a row.
_WIDTH = 0.01


def fits(objective: Objective) -> bool:
    """Whether every phi is a convex polygon, the data are CSR and there is a penalty."""
    return (
        isinstance(objective.design, SparseRows)
        and objective.penalty > 0
        and all(phi.kinks for phi in objective.pair.phis)
        and not any(np.any(kernel.second(np.linspace(-50, 50, 2001))) for kernel in objective.pair.kernels)
    )


def coordinate_descent(
    objective: Objective, *, tol: float, max_iter: int, random: np.random.Generator, progress: Progress = silent
) -> Solution:
    """Minimise until the proved gap is below tol times the value; ``max_iter`` counts visits of all rows."""
    X, n = objective.design.X, objective.design.n
    state = Lagrangian(objective, np.zeros(objective.size), 1.0)
    far = 2 * float(np.abs(state.kinks).max()) + 1
    lowest = np.array([kernel.first(np.array([-far]))[1][0] for kernel in objective.pair.kernels])
    norms = np.empty(n)
    _dual.squared_norms(X.data, X.indptr, norms)
    width = _WIDTH * float(norms.mean()) if objective.fit_intercept else 0.0
    slopes, w = np.zeros(n), np.zeros(objective.design.d)
    intercept, centre = np.zeros(1), 0.0
    active, count = np.arange(n, dtype=np.int64), n
    margin = np.inf
    best_value, best_theta, lower = np.inf, state.theta, -np.inf
    status, iteration = f"stopped after {max_iter} visits of all rows", 0
    for iteration in range(1, max_iter + 1):
        order = random.permutation(-(-count // _dual.TOGETHER))
        count, largest = _dual.epoch(
            X.data, X.indices, X.indptr, norms, *state.common[1:5], lowest, state.kinks, state.jumps,
            slopes, w, intercept, width, objective.penalty, order, active, count, margin,
        )  # fmt: skip
        margin = largest
        # The centre moves to b; b moves on by what the slopes, unchanged, ask for.
        centre, intercept[0] = intercept[0], 2 * intercept[0] - centre
        if iteration % _CHECK_EVERY and count:
            continue
        if not objective.fit_intercept:
            intercept[0] = 0.0
        state.theta = np.append(w, intercept)
        state.t = objective.design.scores(state.theta)
        if objective.fit_intercept:
            state.centre_intercept()
        _spread(state, slopes, lowest)
        value, bound = state.bounds(state.gradient_of_multipliers())
        if value < best_value:
            best_value, best_theta = value, state.theta
        lower = max(lower, bound)
        gap = best_value - lower
        progress(f"dual {iteration}: objective {best_value:.10g}, gap {gap:.2e}, {count} rows active")
        if gap <= tol * best_value:
            status = "reached the tolerance by the duality gap"
            break
        if count == 0 or iteration % (10 * _CHECK_EVERY) == 0:  # look at every row again
            active, count, margin = np.arange(n, dtype=np.int64), n, np.inf
    gap = best_value - lower
    return Solution(
        theta=best_theta,
        value=best_value,
        converged=gap <= tol * best_value,
        status=status,
        iterations=iteration,
        suboptimality=gap,
        duality_gap=gap,
    )


def _spread(state: Lagrangian, slopes: np.ndarray, lowest: np.ndarray) -> None:
    """A slope as multipliers of its kinks, from the left."""
    rest = slopes - lowest[state.objective.y]
    for j, row in enumerate(state.u):
        jump = state.jumps[state.objective.y, j]
        np.clip(rest, 0.0, jump, out=row, casting="same_kind")
        rest -= row
