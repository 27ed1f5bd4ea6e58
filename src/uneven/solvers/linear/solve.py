"""Minimise an objective with the solver that was asked for, or with the best one."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

import numpy as np

from uneven.errors import SolverError
from uneven.solvers.linear.newton_systems import MOST_COLUMNS
from uneven.solvers.linear.objective import Objective, Penalised
from uneven.solvers.linear.proof import Proof, careful_value, prove, stationarity
from uneven.solvers.linear.small import is_small
from uneven.solvers.linear.solver import AUTO, Settings, Solution, choose
from uneven.solvers.progress import silent
from uneven.solvers.threads import single_threaded_blas

P = TypeVar("P", bound=Penalised)


def minimise(
    objective: Objective,
    settings: Settings,
    *,
    theta: np.ndarray | None = None,
    convex: Objective | None = None,
    solver: str = AUTO,
) -> Solution:
    """Minimise an objective.

    Parameters
    ----------
    objective : Objective
    settings : Settings
    theta : ndarray, optional
        Starting point.
    convex : Objective, optional
        A convex objective whose minimum is a good starting point; used if the objective itself is not convex and there
        is no theta.
    solver : str
        A name of :func:`uneven.solvers.linear.solver.names`.

    Raises
    ------
    LossError
        If the solver does not accept the objective; the message says why and which solvers would.
    """
    record = choose(solver, objective)
    # BLAS would start its own threads for long vectors; idle, they would still block ours. Small data need none.
    with single_threaded_blas() if objective.size > MOST_COLUMNS or is_small(objective) else nullcontext():
        if objective.pair.convex:
            return minimise_to_gap(record.minimise, objective, theta, settings)
        if theta is None and convex is not None:
            start = replace(settings, tol=max(settings.tol, 1e-6), progress=silent)
            theta = minimise(convex, start).theta
        solution = record.minimise(objective, theta, settings)
        return replace(solution, duality_gap=None, stationarity=stationarity(objective, solution.theta))


@np.errstate(over="ignore", invalid="ignore")  # numbers near the end of the range: the proof says what came of them
def minimise_to_gap(
    solve: Callable[[P, np.ndarray | None, Settings], Solution],
    objective: P,
    theta: np.ndarray | None,
    settings: Settings,
) -> Solution:
    """Minimise a convex objective until its duality gap is within the tolerance.

    Each solver stops by a rule of its own. If the gap is then too large, it goes on from there with a stricter
    tolerance, until the gap is reached, the steps are used up, or rounding hides any gain.
    """
    start = objective.value_at_zero
    best = Proof(np.zeros(objective.size), start, 0.0, math.inf, 1.0, np.empty(0))
    if theta is not None:
        start = objective.value_and_gradient(theta)[0]
        best = replace(best, theta=theta, value=start, error=math.inf)  # unknown before the first proof
    inner, steps, proofs = settings.tol, 0, list[Proof]()
    while True:
        solution = solve(objective, theta, replace(settings, tol=inner, max_iter=settings.max_iter - steps))
        steps += solution.iterations
        wanted = inner * max(solution.value, objective.floor)  # stricter each time, as for the solver
        proof = solution.proof or _proof(objective, solution, wanted)
        proofs.append(proof)
        if proof.value - proof.error > solution.value:  # moving the intercept for the lines raised the objective
            unmoved = _value(objective, solution.theta, careful=proof.careful)
            if unmoved < proof.value:  # so its gap is smaller, too
                proof = replace(proof, theta=solution.theta, value=unmoved)
        better = proof.gap < 0.5 * best.gap
        if math.isinf(best.error):  # the value at the starting point is as rounded as that of the proof
            if proof.careful:
                start = _value(objective, best.theta, careful=True)
            best = replace(best, value=start, error=proof.error)
        if proof.value < best.value or (proof.value == best.value and proof.gap < best.gap):
            best = proof
        proved = (one.bound for one in proofs if objective.covers(one.theta[:-1], best.theta[:-1]))
        lower = max(proved, default=-math.inf)
        gap = min(best.gap, max(best.value - lower, 0.0) + best.error)
        settings.progress(f"objective {best.value:.10g}, proved gap {gap:.2e}")
        reached = gap <= settings.tol * max(best.value, objective.floor)
        if reached or not better or steps >= settings.max_iter or inner < 1e-15:
            break
        inner *= 1e-2
        theta = best.theta
    require_consistent(objective, best.value, gap, start)
    return replace(
        solution,
        theta=best.theta,
        value=best.value,
        converged=reached,
        iterations=steps,
        duality_gap=gap,
        stationarity=best.stationarity,
        multipliers=None,
        proof=None,
    )


def _value(objective: Penalised, theta: np.ndarray, *, careful: bool) -> float:
    if careful and isinstance(objective, Objective):
        return careful_value(objective, theta)
    return objective.value_and_gradient(theta)[0]


def _proof(objective: Penalised, solution: Solution, wanted: float) -> Proof:
    assert isinstance(objective, Objective)  # a solver of rows in parts proves its gap itself
    return prove(objective, solution.theta, solution.multipliers, wanted=wanted)


def require_consistent(objective: Penalised, value: float, gap: float, start: float) -> None:
    """Raise if a solution contradicts itself, which would be a mistake in a solver or in a phi's formula."""
    slack = 1e-9 * (abs(start) + abs(objective.lower_bound))
    problem = None
    if not value >= objective.lower_bound - slack:
        problem = f"the objective is {value:g}, but its losses are at least {objective.lower_bound:g}"
    elif not value <= start + slack:
        problem = f"the objective is {value:g}, larger than {start:g} at the start"
    elif not gap >= 0:
        problem = f"the duality gap is {gap:g}"
    if problem:
        raise SolverError(
            f"the fit of {objective.pair.names} contradicts itself: {problem}; the model is not returned. Another "
            "solver or a simpler formula of the loss may work, and a report of this case would help"
        )
