"""What a linear solver is: a record of what it needs of an objective, and of how it minimises it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solution import Solution
from uneven.solvers.progress import Progress, silent


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


#: Takes an objective; None if the need is met, else a clause that says what is needed and what there is instead.
Need = Callable[[Objective], str | None]
#: Takes an objective, a starting point (None: the solver chooses one) and settings.
Minimise = Callable[[Objective, np.ndarray | None, Settings], Solution]


@dataclass(frozen=True)
class Solver:
    """One solver. A file in ``algorithms/`` ends in such a record, named ``SOLVER``.

    Attributes
    ----------
    name : str
        The learner's parameter ``solver`` selects it by this name.
    needs : tuple of callables
        What it needs of an objective, the cheapest question first. Needs that several solvers have are below.
    minimise : callable
        Takes an objective that meets the needs, a starting point (None: the solver chooses one) and
        :class:`Settings`.
    fastest : tuple of callables
        Questions about such an objective. Where all are answered by True, ``solver="auto"`` takes this solver; without
        any, it never does so.
    general : bool
        Whether ``solver="auto"`` takes it where no solver is the fastest.
    """

    name: str
    needs: tuple[Need, ...]
    minimise: Minimise
    fastest: tuple[Callable[[Objective], bool], ...] = ()
    general: bool = False

    def lacks(self, objective: Objective) -> str | None:
        """None if the solver can minimise an objective; else a clause that names the solver and what it needs."""
        for need in self.needs:
            clause = need(objective)
            if clause:
                return f"solver={self.name!r} needs {clause}"
        return None

    def is_fastest(self, objective: Objective) -> bool:
        """Whether it can minimise an objective, and should."""
        return bool(self.fastest) and self.lacks(objective) is None and all(ask(objective) for ask in self.fastest)


def squared_penalty(objective: Objective) -> str | None:
    """No l1 norm in the penalty."""
    reason = objective.why_not_squared
    return f"a squared penalty or none, but {reason}" if reason else None


def convex_loss(objective: Objective) -> str | None:
    """A convex loss."""
    reason = objective.pair.why_not_convex
    return f"a convex loss, but {reason}" if reason else None


def smooth_convex_loss(objective: Objective) -> str | None:
    """A convex loss without kinks."""
    reason = objective.pair.why_not_convex or objective.pair.why_not_smooth
    return f"a smooth convex loss, but {reason}" if reason else None


def straight_pieces(objective: Objective) -> str | None:
    """A convex loss made of straight pieces."""
    reason = objective.pair.why_not_convex or objective.pair.why_not_straight
    return f"a convex loss made of straight pieces with kinks, but {reason}" if reason else None


def convex_loss_with_kink(objective: Objective) -> str | None:
    """A convex loss with a kink."""
    pair = objective.pair
    reason = pair.why_not_convex or (None if pair.kinked else f"{pair.names} is smooth")
    return f"a convex loss with a kink, but {reason}" if reason else None


def smooth_or_nonconvex_loss(objective: Objective) -> str | None:
    """A loss that is smooth, or not convex."""
    reason = objective.pair.why_not_smooth if objective.pair.convex else None
    return f"a smooth loss, or one that is not convex, but {reason}" if reason else None


def l1_penalty(objective: Objective) -> str | None:
    """An l1 norm in the penalty."""
    missing = f"an l1 penalty, but there is none (the loss {objective.pair.names} would fit)"
    return None if objective.l1 > 0 else missing


def l2_penalty_alone(objective: Objective) -> str | None:
    """A penalty that is the squared norm, and nothing else."""
    missing = f"an l2 penalty alone (the loss {objective.pair.names} would fit)"
    return None if objective.penalty > 0 and objective.l1 == 0 else missing


def has_more_columns_than_rows(objective: Objective) -> bool:
    """Whether X is wider than tall."""
    return objective.design.n < objective.design.d
