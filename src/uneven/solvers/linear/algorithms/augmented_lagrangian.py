"""Convex losses with kinks: an augmented Lagrangian, whose inner problems are solved by semismooth Newton steps.

It ends with a proved duality gap. Let the slopes s_i support the losses, so that every (w', b') costs at least
sum_i a_i (constant_i + s_i f'_i) + rho/2 ||w'||^2. If the weighted slopes sum to 0 (the intercept is free), the minimum
of that bound is sum_i a_i constant_i - ||X' (a s)||^2/(2 rho). Slopes of rows at a kink are moved to make the sum 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.metric import MOST_COLUMNS
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import prove
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import GENERAL, Settings, Solver
from uneven.solvers.progress import silent

_NAME = "lagrangian"
#: Width of the first parabola that replaces a kink, in units of kink/jump: from 0, and from a point near the solution.
_FROM_ZERO, _FROM_NEAR = 4.0, 0.1
_SHRINK = 0.2
#: An inner problem is solved to this share of the gap that is wanted, or of this share of the last one.
_INNER = 0.3
_LEAST_SIGMA = 1e-10
_LEAST_PENALTY = 1e-14
_MOST_INNER = 50
_WORTH_SAMPLING = 50_000
_SAMPLE_ROWS = 10_000
_SAMPLE_SHARE = 0.05


def accepts(objective: Objective) -> str | None:
    """Convex losses with kinks."""
    if objective.why_not_squared:
        return f"solver={_NAME!r} needs a squared penalty or none, but {objective.why_not_squared}"
    pair = objective.pair
    reason = pair.why_not_convex or (None if pair.kinked else f"{pair.names} is smooth")
    return f"solver={_NAME!r} needs a convex loss with a kink, but {reason}" if reason else None


def preference(objective: Objective) -> int:
    return GENERAL


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise until the proved gap is below tol times the value; ``theta`` None: from a sample, or from 0."""
    if objective.penalty == 0:
        return _without_penalty(objective, theta, settings)
    start = _FROM_ZERO if theta is None else _FROM_NEAR
    if theta is None and objective.design.n >= _WORTH_SAMPLING and objective.size <= MOST_COLUMNS:
        theta = _solution_on_sample(objective, settings)
        start = _FROM_NEAR
    tol, max_iter = settings.tol, settings.max_iter
    state = Lagrangian(objective, np.zeros(objective.size) if theta is None else theta, start)
    best_value, best_theta, lower = state.value(), state.theta, -np.inf
    gap, steps, outer = best_value, 0, 0
    multipliers: np.ndarray | None = None
    status = f"stopped after {max_iter} Newton steps"
    while steps < max_iter:
        outer += 1
        # The gap contains half the squared gradient, and the intercept's part must be moved to 0.
        enough = _INNER * max(tol * best_value, _INNER * gap)
        gradient, taken = state.descend(enough, min(_MOST_INNER, max_iter - steps))
        steps += taken
        state.update()
        value, bound = state.bounds(gradient)
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
        if state.sigma <= _LEAST_SIGMA:
            status = "reached the limit of rounding"
            break
        gap = min(gap, best_value)
        state.sigma *= _SHRINK
    return Solution(
        theta=best_theta,
        value=best_value,
        converged=bool(gap <= tol * best_value),
        status=status,
        iterations=steps,
        multipliers=multipliers,
        stats={"outer": float(outer)},
    )


def _solution_on_sample(objective: Objective, settings: Settings) -> np.ndarray:
    """The minimum on a sample of the rows, to the accuracy that the sample has."""
    wanted = max(_SAMPLE_ROWS, 40 * objective.size)
    chosen, factor = objective.sample(int(min(wanted, _SAMPLE_SHARE * objective.design.n)), settings.random)
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
        if reached or steps >= settings.max_iter or rho < _LEAST_PENALTY:
            break
        rho *= 1e-2
    return replace(part, theta=theta, value=proof.value, converged=reached, iterations=steps)


SOLVER = Solver(_NAME, accepts, minimise, preference)
