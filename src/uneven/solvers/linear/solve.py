"""Minimise an objective with the solver that was asked for, or with the best one."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from uneven.solvers.linear.metric import MOST_COLUMNS
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.registry import AUTO, chosen
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import Settings
from uneven.solvers.progress import silent
from uneven.solvers.threads import single_threaded_blas

#: Tolerance of the convex problem whose solution is the starting point of a loss that is not convex.
_TOL_OF_START = 1e-6


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
        A name of :func:`uneven.solvers.linear.registry.names`.

    Raises
    ------
    LossError
        If the solver does not accept the objective; the message says why and which solvers would.
    """
    record = chosen(solver, objective)
    # BLAS would start its own threads for long vectors; idle, they would still block ours.
    with single_threaded_blas() if objective.size > MOST_COLUMNS else nullcontext():
        if theta is None and convex is not None and not objective.pair.convex:
            start = replace(settings, tol=max(settings.tol, _TOL_OF_START), progress=silent)
            theta = minimise(convex, start).theta
        return record.minimise(objective, theta, settings)
