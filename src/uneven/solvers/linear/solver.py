"""What a linear solver is, which there are, and what each returns.

A solver is a file in the folder ``algorithms``, or is added at run time."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from uneven.errors import LossError, ParameterError
from uneven.solvers.linear.design import SparseRows
from uneven.solvers.linear.objective import Objective
from uneven.solvers.running import Progress, silent

if TYPE_CHECKING:
    from uneven.solvers.linear.proof import Proof


@dataclass(frozen=True)
class Solution:
    """A minimiser and the evidence for it.

    Attributes
    ----------
    theta : ndarray
        Coefficients, then the intercept.
    value : float
        The objective there.
    converged : bool
        From a solver: whether its own stopping rule holds. From :func:`~uneven.solvers.linear.proof.minimise`: whether
        the gap is within the tolerance; for a loss that is not convex, what the solver says.
    status : str
        Why the solver stopped, as the end of a sentence.
    iterations : int
    multipliers : ndarray of shape (kinks, rows), optional
        Slopes at the kinks of the losses: without them, a small gap cannot be proved for a loss with kinks.
    duality_gap : float or None
        At least the value minus the optimum; only :func:`~uneven.solvers.linear.proof.minimise` sets it.
    stationarity : float or None
        See :class:`~uneven.solvers.linear.proof.Proof`; set with the gap, and for losses that are not convex.
    proof : Proof, optional
        A solver may have proved its gap at theta; otherwise :func:`~uneven.solvers.linear.proof.minimise` does.
    stats : dict
        Counts, such as the number of passes over X.
    """

    theta: np.ndarray
    value: float
    converged: bool
    status: str
    iterations: int
    multipliers: np.ndarray | None = None
    duality_gap: float | None = None
    stationarity: float | None = None
    proof: Proof | None = None
    stats: dict[str, float] = field(default_factory=dict)


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
    if objective.l1 > 0:
        return None
    return f"an l1 penalty, but there is none (the loss {objective.pair.names} would fit)"


def l2_penalty_alone(objective: Objective) -> str | None:
    """A penalty that is the squared norm, and nothing else."""
    if objective.penalty > 0 and objective.l1 == 0:
        return None
    return f"an l2 penalty alone (the loss {objective.pair.names} would fit)"


def some_penalty(objective: Objective) -> str | None:
    """A penalty of any size."""
    if objective.penalty > 0:
        return None
    return f"a penalty, but there is none (the loss {objective.pair.names} would fit)"


def sparse_matrix(objective: Objective) -> str | None:
    """A CSR matrix."""
    if isinstance(objective.design, SparseRows):
        return None
    return f"a CSR matrix, but X is dense (the loss {objective.pair.names} would fit)"


def at_most_rows(most: int) -> Need:
    """So few rows that two matrices of all pairs of them fit into memory."""

    def need(objective: Objective) -> str | None:
        n, names = objective.design.n, objective.pair.names
        if n <= most:
            return None
        return f"at most {most} rows, but for {names} on this X it would keep two matrices of {n} by {n} numbers"

    return need


def at_most_columns(most: int) -> Need:
    """So few columns that a matrix of all pairs of them fits into memory."""

    def need(objective: Objective) -> str | None:
        size, names = objective.size, objective.pair.names
        if size <= most:
            return None
        return f"at most {most} columns, but for {names} on this X it would keep a matrix of {size} by {size} numbers"

    return need


def has_more_columns_than_rows(objective: Objective) -> bool:
    """Whether X is wider than tall."""
    return objective.design.n < objective.design.d


# -- which there are ------------------------------------------------------------------------------------------------

#: The value of ``solver`` that lets the library choose.
AUTO = "auto"

_added: dict[str, Solver] = {}


@lru_cache(maxsize=1)
def _from_files() -> dict[str, Solver]:
    folder = Path(__file__).parent / "algorithms"
    names = [module.name for module in pkgutil.iter_modules([str(folder)])]
    found: list[Solver] = [importlib.import_module(f"{__package__}.algorithms.{name}").SOLVER for name in names]
    return {solver.name: solver for solver in sorted(found, key=lambda solver: solver.name)}


def solvers() -> dict[str, Solver]:
    """Every solver by its name, in alphabetical order."""
    return dict(sorted({**_from_files(), **_added}.items())) if _added else _from_files()


def names() -> tuple[str, ...]:
    """What the parameter ``solver`` of a linear learner may be.

    Examples
    --------
    >>> from uneven.solvers.linear.solver import names
    >>> {"auto", "dual", "lagrangian", "lbfgs", "newton"} <= set(names())
    True
    """
    return (AUTO, *solvers())


def register(solver: Solver) -> None:
    """Add a solver for this process."""
    if solver.name in names():
        raise ParameterError(f"the solver name {solver.name!r} is taken; choose another")
    _added[solver.name] = solver


def unregister(name: str) -> None:
    """Remove a solver that was added at run time."""
    if name not in _added:
        raise ParameterError(f"no solver named {name!r} was registered at run time")
    del _added[name]


def choose(name: str, objective: Objective) -> Solver:
    """The solver of a name, or the one that ``"auto"`` takes.

    "auto" takes the first that says it is the fastest for the objective: those added at run time are asked first, then
    all in alphabetical order. If none does, it takes a general one that can minimise the objective, or else any.
    """
    known = solvers()
    if name == AUTO:
        for solver in (*_added.values(), *known.values()):
            if solver.is_fastest(objective):
                return solver
        for solver in sorted(known.values(), key=lambda one: not one.general):
            if solver.lacks(objective) is None:
                return solver
        reasons = filter(None, (solver.lacks(objective) for solver in known.values()))
        raise LossError(f"no solver accepts this objective: {'; '.join(reasons)}")
    if name not in known:
        raise ParameterError(f"solver must be one of {', '.join(names())}, got {name!r}")
    reason = known[name].lacks(objective)
    if reason is None:
        return known[name]
    others = (key for key, solver in known.items() if solver.lacks(objective) is None)
    raise LossError(f"{reason}; solver={' or '.join(map(repr, (AUTO, *others)))} would work")
