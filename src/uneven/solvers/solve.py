"""Which algorithm minimises which objective."""

from __future__ import annotations

import numpy as np

from uneven.solvers.kinked import augmented_lagrangian
from uneven.solvers.newton import newton
from uneven.solvers.objective import Objective
from uneven.solvers.smooth import preconditioned, prefers_newton
from uneven.solvers.solution import Progress, Solution, silent

SOLVERS = ("auto", "lbfgs", "newton", "lagrangian")


def minimise(
    objective: Objective,
    *,
    theta: np.ndarray | None = None,
    solver: str = "auto",
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> Solution:
    """Minimise an objective, from theta if it is given."""
    if any(phi.kinks for phi in objective.pair.phis):
        return augmented_lagrangian(objective, theta, tol=tol, max_iter=max_iter, random=random, progress=progress)
    if solver == "newton" or (solver == "auto" and prefers_newton(objective)):
        start = np.zeros(objective.size) if theta is None else theta
        return newton(objective, start, tol=tol, max_iter=max_iter, progress=progress)
    return preconditioned(objective, theta, tol=tol, max_iter=max_iter, random=random, progress=progress)
