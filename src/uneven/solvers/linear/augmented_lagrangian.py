"""Convex losses with kinks: an augmented Lagrangian whose inner problems are solved by semismooth Newton steps.

Ends with a proved duality gap. For slopes s_i that support the losses, every (w', b') costs at least
sum_i a_i (constant_i + s_i f'_i) + rho/2 ||w'||^2; if the weighted slopes sum to 0 (the intercept is free), the
minimum of that is sum_i a_i constant_i - ||X' (a s)||^2/(2 rho). Slopes inside kinks are moved to make the sum 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uneven.solvers.linear.lagrangian import MOST_COLUMNS, Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Progress, Solution, silent

#: Width of the first parabola that stands for a kink, in units of kink/jump.
_FROM_ZERO, _FROM_NEAR = 4.0, 0.1
_SHRINK = 0.3
_LEAST_SIGMA = 1e-10
_MOST_INNER = 50
_WORTH_SAMPLING = 50_000
_SAMPLE_ROWS = 10_000
_SAMPLE_SHARE = 0.05


def augmented_lagrangian(
    objective: Objective,
    theta: np.ndarray | None,
    *,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> Solution:
    """Minimise until the proved gap is below tol times the value; ``theta`` None: from a sample, or from 0."""
    if objective.penalty == 0:
        return _unpenalised(objective, theta, tol=tol, max_iter=max_iter, random=random, progress=progress)
    start = _FROM_ZERO if theta is None else _FROM_NEAR
    if theta is None and objective.design.n >= _WORTH_SAMPLING and objective.size <= MOST_COLUMNS:
        wanted = max(_SAMPLE_ROWS, 40 * objective.size)
        chosen, factor = objective.sample(int(min(wanted, _SAMPLE_SHARE * objective.design.n)), random)
        sampled = objective.on_rows(chosen, factor)
        noise = objective.size / chosen.size  # of the sample; going further would fit it
        theta = augmented_lagrangian(sampled, None, tol=max(1e-3, 0.2 * noise), max_iter=max_iter, random=random).theta
        start = _FROM_NEAR
    state = Lagrangian(objective, np.zeros(objective.size) if theta is None else theta, start)
    best_value, best_theta, lower = state.value(), state.theta, -np.inf
    gap, steps, outer = best_value, 0, 0
    status = f"stopped after {max_iter} Newton steps"
    while steps < max_iter:
        outer += 1
        for _ in range(_MOST_INNER):
            gradient = state.gradient()
            # The gap contains half the squared gradient, and the intercept's has to be moved to 0: an inner problem is
            # solved until that is no obstacle.
            obstacle = 0.5 * float(gradient[:-1] @ gradient[:-1]) / objective.penalty
            obstacle += abs(gradient[-1]) * (1 + abs(state.theta[-1]))
            if obstacle <= 0.1 * max(tol * best_value, 0.1 * gap) or steps >= max_iter:
                break
            steps += 1
            if not state.step(gradient, state.direction(gradient)):
                break  # rounding
        else:
            gradient = state.gradient()
        state.update()
        value, bound = state.bounds(gradient)
        lower = max(lower, bound)
        if value < best_value:
            best_value, best_theta = value, state.theta
        gap = best_value - lower
        progress(f"augmented lagrangian {outer}: objective {best_value:.10g}, gap {gap:.2e}, {steps} Newton steps")
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
        converged=gap <= tol * best_value,
        status=status,
        iterations=steps,
        suboptimality=gap,
        duality_gap=gap,
        stats={"outer": float(outer)},
    )


def _unpenalised(
    objective: Objective,
    theta: np.ndarray | None,
    *,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress,
) -> Solution:
    """No penalty: ever smaller ones, until what the penalty adds is below the tolerance.

    With rho/2 ||w||^2 added, a solution is above the unpenalised optimum by at most its gap plus rho/2 ||w*||^2, and
    the norm of the solutions tends to that of the shortest optimal w*.
    """
    rho, steps = 1e-4 * float(np.abs(objective.factors()).mean()), 0
    while True:
        part = augmented_lagrangian(
            replace(objective, penalty=rho), theta, tol=0.3 * tol, max_iter=max_iter - steps, random=random
        )
        theta, steps = part.theta, steps + part.iterations
        added = 0.5 * rho * float(theta[:-1] @ theta[:-1])
        value, above = part.value - added, part.suboptimality + added
        progress(f"penalty {rho:.1e}: objective {value:.10g}, above the optimum by about {above:.2e}")
        reached = above <= tol * max(value, objective.floor)
        if reached or steps >= max_iter or rho < 1e-14:
            break
        rho *= 1e-2
    return replace(part, value=value, converged=reached, suboptimality=above, iterations=steps)
