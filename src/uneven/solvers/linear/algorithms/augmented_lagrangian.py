"""Convex losses with kinks: an augmented Lagrangian, whose inner problems are solved by semismooth Newton steps.

It ends with a proved duality gap. Let the slopes s_i support the losses, so that every (w', b') costs at least
sum_i a_i (constant_i + s_i f'_i) + rho/2 ||w'||^2. If the weighted slopes sum to 0 (the intercept is free), the minimum
of that bound is sum_i a_i constant_i - ||X' (a s)||^2/(2 rho). Slopes of rows at a kink are moved to make the sum 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.newton_systems import MOST_COLUMNS
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import prove
from uneven.solvers.linear.solver import Settings, Solution, Solver, convex_loss_with_kink, squared_penalty
from uneven.solvers.linear.supporting_lines import bounds
from uneven.solvers.running import silent


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Width of the first parabolas that replace the kinks, in units of kink/jump, from 0. Wide ones make an easy first
    #: problem that is far from the real one.
    first_width: float = 4.0
    #: The same from a point near the solution, where the kinks of most rows are known.
    first_width_near: float = 0.1
    #: Each width is this share of the one before. A smaller share means fewer problems, but harder ones.
    shrink: float = 0.2
    #: Each problem is solved until it adds this share of what the gap may be, or of this share of the last gap.
    accuracy: float = 0.3
    #: Rows from which the solution on a sample is the starting point. With fewer, steps on all rows cost too little.
    rows_worth_sampling: int = 50_000
    #: Rows of the sample, or 40 for each column if that is more; but at most a share of all rows.
    sample_rows: int = 10_000
    sample_share: float = 0.05


LIMITS = Limits()


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise until the proved gap is below tol times the value; ``theta`` None: from a sample, or from 0."""
    if objective.penalty == 0:
        return _without_penalty(objective, theta, settings)
    large = objective.design.n >= LIMITS.rows_worth_sampling and objective.size <= MOST_COLUMNS
    if theta is None and large:
        theta = _solve_on_sample(objective, settings)
    width = LIMITS.first_width if theta is None else LIMITS.first_width_near
    tol, max_iter = settings.tol, settings.max_iter
    state = Lagrangian(objective, np.zeros(objective.size) if theta is None else theta, width)
    best_value, best_theta, lower = state.value(), state.theta, -np.inf
    gap, steps, outer = best_value, 0, 0
    multipliers: np.ndarray | None = None
    status = f"stopped after {max_iter} Newton steps"
    while steps < max_iter:
        outer += 1
        # The gap contains half the squared gradient, and the intercept's part must be moved to 0.
        enough = LIMITS.accuracy * max(tol * best_value, LIMITS.accuracy * gap)
        gradient, taken = state.descend(enough, min(50, max_iter - steps))  # usually fewer than ten
        steps += taken
        state.update()
        value, bound = bounds(state, gradient)
        if objective.pair.polygons:
            if bound > lower:
                lower, multipliers = bound, state.u.copy()
            if value < best_value:
                best_value, best_theta = value, state.theta
        elif value - bound < best_value - lower:  # the bound of curved pieces belongs to this very point
            lower, multipliers, best_value, best_theta = bound, state.u.copy(), value, state.theta
        gap = best_value - lower
        settings.progress(
            f"augmented lagrangian {outer}: objective {best_value:.10g}, gap {gap:.2e}, {steps} Newton steps"
        )
        if gap <= tol * best_value:
            status = "reached the tolerance by the duality gap"
            break
        if state.sigma <= 1e-10:  # narrower parabolas have slopes that rounding makes
            status = "reached the limit of rounding"
            break
        gap = min(gap, best_value)
        state.sigma *= LIMITS.shrink
    return Solution(
        theta=best_theta,
        value=best_value,
        converged=bool(gap <= tol * best_value),
        status=status,
        iterations=steps,
        multipliers=multipliers,
        stats={"outer": float(outer)},
    )


def _solve_on_sample(objective: Objective, settings: Settings) -> np.ndarray:
    """The minimum on a sample of the rows, to the accuracy that the sample has."""
    wanted = max(LIMITS.sample_rows, 40 * objective.size)
    chosen, factor = objective.sample(int(min(wanted, LIMITS.sample_share * objective.design.n)), settings.random)
    noise = objective.size / chosen.size  # solving more accurately would fit the noise of the sample
    rough = replace(settings, tol=max(1e-3, 0.2 * noise), progress=silent)
    return minimise(objective.on_rows(chosen, factor), None, rough).theta


def _without_penalty(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Solve with smaller and smaller penalties, until the gap of the objective without penalty is small."""
    rho, steps = 1e-4 * float(np.abs(objective.factors()).mean()), 0
    while True:
        part = minimise(
            replace(objective, penalty=rho),
            theta,
            replace(settings, tol=0.1 * settings.tol, max_iter=settings.max_iter - steps, progress=silent),
        )
        steps += part.iterations
        wanted = settings.tol * max(part.value, objective.floor)
        proof = prove(objective, part.theta, part.multipliers, wanted=wanted)
        theta = proof.theta
        settings.progress(f"penalty {rho:.1e}: objective {proof.value:.10g}, gap {proof.gap:.2e}")
        reached = proof.gap <= settings.tol * max(proof.value, objective.floor)
        if reached or steps >= settings.max_iter or rho < 1e-14:  # a smaller penalty is lost by rounding
            break
        rho *= 1e-2
    return replace(part, theta=theta, value=proof.value, converged=reached, iterations=steps)


SOLVER = Solver("lagrangian", (squared_penalty, convex_loss_with_kink), minimise, general=True)
