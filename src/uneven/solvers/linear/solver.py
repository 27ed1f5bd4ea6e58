"""What a linear solver is: a record that says which objectives it accepts, and how it minimises them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Solution
from uneven.solvers.progress import Progress, silent

#: How much ``solver="auto"`` prefers a solver: only if no other accepts; good for everything it accepts; faster than
#: the general solvers for this objective.
LAST_RESORT, GENERAL, FASTEST = 0, 1, 2


@dataclass(frozen=True)
class Settings:
    """What a caller asks of a solver.

    Attributes
    ----------
    tol : float
        The value must be within this fraction of the optimum.
    max_iter : int
        Largest number of steps.
    random : Generator
        Draws the rows of a sample, or the order in which rows are visited.
    progress : callable
        Gets one line per step.
    """

    tol: float
    max_iter: int
    random: np.random.Generator
    progress: Progress = silent


#: Takes an objective, a starting point (None: the solver chooses one) and settings.
Minimise = Callable[[Objective, np.ndarray | None, Settings], Solution]


def _last_resort(objective: Objective) -> int:
    return LAST_RESORT


@dataclass(frozen=True)
class Solver:
    """One solver. A file in ``algorithms/`` ends in such a record, named ``SOLVER``.

    Attributes
    ----------
    name : str
        The learner's parameter ``solver`` selects it by this name.
    accepts : callable
        Takes an objective; None if the solver can minimise it, else a clause that names the solver, the loss and what
        the solver needs.
    minimise : callable
        Takes an objective it accepts, a starting point (None: the solver chooses one) and :class:`Settings`.
    preference : callable
        Takes an objective it accepts; ``LAST_RESORT``, ``GENERAL`` or ``FASTEST``. ``solver="auto"`` takes the largest.
    """

    name: str
    accepts: Callable[[Objective], str | None]
    minimise: Minimise
    preference: Callable[[Objective], int] = _last_resort
