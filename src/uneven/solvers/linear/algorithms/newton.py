"""Newton's method for smooth convex losses and few columns: it factors the full matrix of second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.design import Dense
from uneven.solvers.linear.lbfgs import Iterate, evaluate_at, search_beyond_rounding
from uneven.solvers.linear.newton_systems import MOST_COLUMNS, cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solver import (
    Settings,
    Solution,
    Solver,
    at_most_columns,
    smooth_convex_loss,
    squared_penalty,
)
from uneven.solvers.running import single_threaded_blas


def costs_little(objective: Objective) -> bool:
    """Whether the matrices of all steps cost little, in multiplications: rows times columns squared.

    Beyond that a sample of the rows gives a matrix that is nearly as good. If a column has fewer than ten rows, a
    sample says little, and ten times the work is worth it.
    """
    n, size = objective.design.n, objective.size
    most = LIMITS.most_work if n >= 10 * size else 10 * LIMITS.most_work
    return size <= MOST_COLUMNS and n * size**2 <= most


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta (None: from 0) until the gap that the gradient promises is below tol times the value."""
    if is_small(objective):
        return minimise_small(objective, theta, settings)
    tol, max_iter = settings.tol, settings.max_iter
    now = evaluate_at(objective.value_and_gradient, np.zeros(objective.size) if theta is None else theta)
    passes, reached, status = 1.0, False, f"stopped after {max_iter} Newton steps"
    iteration = 0
    for iteration in range(1, max_iter + 1):
        hessian = objective.hessian(now.theta)
        curvature = float(hessian[-1, -1])
        direction = -cholesky_metric(hessian)(now.gradient)
        passes += 1
        gain = -0.5 * float(now.gradient @ direction)
        settings.progress(f"newton {iteration}: objective {now.value:.10g}, a step may gain {gain:.2e}")

        def gap(at: Iterate, curvature: float = curvature) -> float:
            return objective.promised_gap(at.theta, at.gradient, curvature)

        following, trials = search_beyond_rounding(objective.value_and_gradient, now, direction, gap)
        passes += trials
        if following is None:
            status = "reached the limit of rounding"
            break
        now = following
        if gap(now) <= 0.5 * tol * max(now.value, objective.floor):
            reached, status = True, "reached the tolerance"
            break
    return Solution(
        theta=now.theta,
        value=now.value,
        converged=reached,
        status=status,
        iterations=iteration,
        stats={"passes": passes},
    )


SOLVER = Solver(
    "newton", (squared_penalty, smooth_convex_loss, at_most_columns(20_000)), minimise, fastest=(costs_little,)
)


# Small smooth problems: Newton steps with few calls, because calls from Python cost more than the arithmetic.
#
# X is multiplied by BLAS on one thread. Only the losses are compiled, and not even those of few rows, so that a first
# fit needs no compiler. The scores of all rows are kept: the length of a step is found from them alone.
#
# Who fits many such problems and needs no proof (tuning) calls one compiled loop instead. It is 2 to 10 times as fast
# up to 5,000 rows, but waits for the compiler the first time.


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Multiplications of one matrix of second derivatives (rows times columns squared) up to which a problem is small.
    #: Beyond it, compiled loops in threads gain more than their calls cost.
    most_work: float = 5e6
    #: A step is too short where the slope is still steeper than this share of the slope at its start.
    flat: float = 0.5


LIMITS = Limits()
#: Relative change of the objective below which rounding hides it.
_ROUNDING = 1e-13


def is_small(objective: Objective) -> bool:
    """Whether an objective with a squared penalty is small enough for what is here."""
    design = objective.design
    # With more than a million numbers, the copy with a column of ones costs too much.
    few = design.numbers <= 1 << 20 and design.n * objective.size**2 <= LIMITS.most_work
    return few and isinstance(design, Dense) and objective.penalty > 0 and objective.l1 == 0


def newton_direction(
    objective: Objective, rows: np.ndarray, h: np.ndarray, g: np.ndarray, ridge: float = 0.0
) -> np.ndarray:
    """The Newton step where h are the curvatures of rows (with a last entry 1) in their scores and g is the gradient.

    The second derivative in the intercept is at least ``ridge``. The matrix is scaled to unit diagonal before it is
    factored.
    """
    from scipy.linalg.lapack import dposv

    matrix = objective.add_penalty((rows * h[:, None]).T @ rows)
    matrix[-1, -1] = max(matrix[-1, -1], ridge)
    diagonal = matrix.diagonal()
    if diagonal.min() > 0:
        scale = 1 / np.sqrt(diagonal)
        factor, found, failed = dposv(matrix * scale * scale[:, None], scale * g)
        if not failed and factor.diagonal().min() > 1e-7:  # else the matrix counts as singular
            return -scale * found
    return -cholesky_metric(matrix)(g)


def minimise_small(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise a smooth objective from theta (None: from 0).

    It ends where the gradient promises a duality gap of at most half of tol times the value.
    """
    with single_threaded_blas(), np.errstate(all="ignore"):
        return _minimise(objective, np.zeros(objective.size) if theta is None else theta, settings)


def is_quick(objective: Objective) -> bool:
    """Whether :func:`minimise_quickly` is for an objective."""
    smooth = objective.pair.convex and not objective.pair.kinked
    return smooth and objective.design.n >= objective.design.d and is_small(objective)


def minimise_quickly(objective: Objective, theta: np.ndarray | None, settings: Settings) -> np.ndarray | None:
    """A minimiser that is not proved, for those who need nothing else: one compiled call.

    The gradient there promises a gap of a tenth of tol times the value; that much accuracy costs little. None if 50
    steps from theta (None: from 0) do not get there.
    """
    X = np.ascontiguousarray(objective.design.X, dtype=np.float64)
    found = np.zeros(objective.size) if theta is None else theta.copy()
    tol, most = 0.1 * settings.tol, min(50, settings.max_iter)
    penalty = float(objective.penalty)
    reached = loops.newton_steps.steps(X, objective.derivatives, found, penalty, objective.fit_intercept, tol, most)
    return found if reached else None


def rows_with_ones(objective: Objective) -> np.ndarray:
    """X with a last column of ones."""
    design: Any = objective.design
    rows: np.ndarray = design.with_ones
    return rows


def _minimise(objective: Objective, theta: np.ndarray, settings: Settings) -> Solution:
    losses_along, penalty = objective.losses_along, objective.penalty
    rows = rows_with_ones(objective)
    t = rows @ theta
    r, h = np.empty((2, t.size))
    value = losses_along(t, t, 0.0, r, h)[0] + objective.penalty_of(theta[:-1])
    last, hidden, before = np.inf, False, theta
    status, steps = f"stopped after {settings.max_iter} Newton steps", 0
    while True:
        w = theta[:-1]
        g = r @ rows
        g[:-1] += penalty * w
        if not objective.fit_intercept:
            g[-1] = 0.0
        gap = objective.promised_gap(theta, g, float(h.sum()))
        undone = hidden and not gap < 0.5 * last  # the last step did not help, as far as rounding lets one see
        if undone:
            theta, gap, status = before, last, "reached the limit of rounding"
        # One step is always taken: a caller comes back with a stricter tolerance if the gap could not be proved.
        reached = bool(gap <= 0.5 * settings.tol * value) and steps > 0
        if reached or undone or steps >= settings.max_iter:
            status = "reached the tolerance" if reached else status
            break
        direction = newton_direction(objective, rows, h, g)
        promised = float(g @ direction)
        q = rows @ direction
        found = None
        if promised < 0:
            penalties = (
                objective.penalty_of(w),
                penalty * float(w @ direction[:-1]),
                objective.penalty_of(direction[:-1]),
            )
            found = _length(losses_along, t, q, value, promised, penalties, r, h)
        if found is None:
            status = "reached the limit of rounding"
            break
        step, lower = found
        steps += 1
        last, hidden, before = gap, not lower < value, theta
        theta, value = theta + step * direction, lower
        t += step * q
    settings.progress(f"newton {steps}: objective {value:.10g}")
    return Solution(
        theta=theta, value=value, converged=status == "reached the tolerance", status=status, iterations=steps
    )


def _length(
    losses_along: Callable[..., tuple[float, float, float]],
    t: np.ndarray,
    q: np.ndarray,
    value: float,
    promised: float,
    penalties: tuple[float, float, float],
    r: np.ndarray,
    h: np.ndarray,
) -> tuple[float, float] | None:
    """The length of a step along the scores q, and the objective there; r and h become the derivatives there.

    ``promised`` is the slope at the start; the penalty is a parabola with these coefficients. None if the objective
    does not fall, and not because rounding hides it.
    """
    low, high, step, reached = 0.0, np.inf, 1.0, value
    for _ in range(60):
        loss, slope, curvature = losses_along(t, q, step, r, h)
        reached = loss + penalties[0] + step * (penalties[1] + step * penalties[2])
        slope += penalties[1] + 2 * step * penalties[2]
        enough = reached <= value + 1e-4 * step * promised  # a share of the decrease that the slope promises
        if not enough and abs(reached - value) <= _ROUNDING * abs(value):
            enough = abs(slope) <= -promised
        if enough and slope >= LIMITS.flat * promised:
            break
        low, high = (step, high) if enough else (low, step)
        curvature += 2 * penalties[2]
        guess = step - slope / curvature if curvature > 0 else np.inf
        between = 0.5 * (low + high) if high < np.inf else 4 * step
        # Too long a step is at least halved: where exp dominates, Newton's guess would shorten it by little each time.
        step = guess if low < guess < (min(high, 10 * step) if enough else between) else between
    falls = reached < value or abs(reached - value) <= _ROUNDING * abs(value)
    return (step, reached) if falls else None


@np.errstate(all="ignore")
def balance_slopes(
    objective: Objective, theta: np.ndarray, enough: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | None:
    """Move the intercept until the slopes of smooth losses sum to at most ``enough``.

    Returns the point, the scores, the slopes and the sum of the losses; None if Newton steps do not get there.
    """
    with single_threaded_blas():
        t = rows_with_ones(objective) @ theta
    ones = np.ones(t.size)
    r, h = np.empty((2, t.size))
    loss, slope, bend = objective.losses_along(t, ones, 0.0, r, h)
    moved = 0.0
    while objective.fit_intercept and not abs(slope) <= enough:
        step, before = -slope / bend if bend > 0 else np.inf, slope
        if not np.isfinite(step):  # no row is curved
            return None
        loss, slope, bend = objective.losses_along(t, ones, step, r, h)
        if not abs(slope) <= 0.5 * abs(before):
            return None
        t += step
        moved += step
    theta = theta.astype(np.float64)
    theta[-1] += moved
    return theta, t, r, loss
