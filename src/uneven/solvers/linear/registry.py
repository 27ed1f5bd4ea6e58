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


def chosen(name: str, objective: Objective) -> Solver:
    """The solver of a name, or the one that ``"auto"`` prefers among those that accept the objective.

    Of two that are preferred equally, the first in alphabetical order is taken.
    """
    known = solvers()
    if name != AUTO and name not in known:
        raise ParameterError(f"solver must be one of {', '.join(names())}, got {name!r}")
    reasons = {key: solver.accepts(objective) for key, solver in known.items()}
    fitting = [key for key, reason in reasons.items() if reason is None]
    if name == AUTO and fitting:
        return known[max(fitting, key=lambda key: known[key].preference(objective))]
    if name == AUTO:
        raise LossError(f"no solver accepts this objective: {'; '.join(filter(None, reasons.values()))}")
    if reasons[name] is None:
        return known[name]
    others = " or ".join(repr(key) for key in (AUTO, *fitting))
    raise LossError(f"{reasons[name]}; solver={others} would work")
