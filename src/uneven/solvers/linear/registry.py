"""The linear solvers: found as files in the folder ``algorithms``, or added at run time."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from pathlib import Path

from uneven.errors import LossError, ParameterError
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solver import Solver

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
    >>> from uneven.solvers.linear.registry import names
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
