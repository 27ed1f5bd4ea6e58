"""Which algorithm minimises which objective."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from uneven.errors import LossError
from uneven.solvers.linear.augmented_lagrangian import augmented_lagrangian
from uneven.solvers.linear.dual_descent import coordinate_descent, fits
from uneven.solvers.linear.lagrangian import MOST_COLUMNS
from uneven.solvers.linear.newton import newton
from uneven.solvers.linear.nonconvex import descend
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.preconditioned import preconditioned, prefers_newton
from uneven.solvers.linear.solution import Progress, Solution, silent
from uneven.solvers.threads import single_threaded_blas

MOST_COLUMNS_OF_NEWTON = 20_000
SOLVERS = ("auto", "lbfgs", "newton", "lagrangian", "dual")


def minimise(
    objective: Objective,
    *,
    theta: np.ndarray | None = None,
    convex: Objective | None = None,
    solver: str = "auto",
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> Solution:
    """Minimise an objective, from theta if it is given.

    An objective that is not convex is minimised from the minimum of ``convex``.
    """
    # Of very long vectors BLAS would do even a product in threads, which then wait, and take the place of ours.
    with single_threaded_blas() if objective.size > MOST_COLUMNS else nullcontext():
        return _minimise(objective, theta, convex, solver, tol, max_iter, random, progress)


def _minimise(
    objective: Objective,
    theta: np.ndarray | None,
    convex: Objective | None,
    solver: str,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress,
) -> Solution:
    kinked = any(phi.kinks for phi in objective.pair.phis)
    if not all(phi.convex for phi in objective.pair.phis):
        _require(solver, ("auto", "lbfgs"), "is not convex")
        if theta is None and convex is not None:
            theta = minimise(convex, tol=max(tol, 1e-6), max_iter=max_iter, random=random).theta
        start = np.zeros(objective.size) if theta is None else theta
        return descend(objective, start, tol=tol, max_iter=max_iter, random=random, progress=progress)
    if kinked:
        _require(solver, ("auto", "lagrangian", "dual"), "has a kink")
        wide = objective.size > MOST_COLUMNS
        if solver == "dual" and not fits(objective):
            raise LossError(
                "solver='dual' needs a loss of straight pieces, a CSR matrix and a penalty; 'auto' or 'lagrangian' "
                "would work"
            )
        if solver == "dual" or (solver == "auto" and wide and fits(objective)):
            return coordinate_descent(objective, tol=tol, max_iter=max_iter, random=random, progress=progress)
        return augmented_lagrangian(objective, theta, tol=tol, max_iter=max_iter, random=random, progress=progress)
    _require(solver, ("auto", "lbfgs", "newton"), "is smooth")
    if solver == "newton" or (solver == "auto" and prefers_newton(objective)):
        if objective.size > MOST_COLUMNS_OF_NEWTON:
            raise LossError(
                f"solver='newton' keeps a matrix of {objective.size} by {objective.size} numbers; with more than "
                f"{MOST_COLUMNS_OF_NEWTON} columns 'auto' or 'lbfgs' would work"
            )
        start = np.zeros(objective.size) if theta is None else theta
        return newton(objective, start, tol=tol, max_iter=max_iter, progress=progress)
    return preconditioned(objective, theta, tol=tol, max_iter=max_iter, random=random, progress=progress)


def _require(solver: str, fitting: tuple[str, ...], why: str) -> None:
    if solver not in fitting:
        raise LossError(
            f"solver={solver!r} does not fit this loss, which {why}; {' or '.join(map(repr, fitting))} would"
        )
