"""A new linear solver is one record; "auto" chooses among the records that accept the objective."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary
from problems import LOSSES, linear_objective
from scipy.optimize import minimize

import uneven
from uneven.errors import LossError, ParameterError
from uneven.solvers.linear import algorithms
from uneven.solvers.linear import solver as registry
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.solver import Settings, Solution, Solver

X, Y = binary(120, 4)
SPARSE = sp.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
WIDE = sp.random(40, 2500, density=0.02, format="csr", random_state=np.random.default_rng(0))


def by_nelder_mead(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """A slow solver that needs neither slopes nor convexity."""
    start = np.zeros(objective.size) if theta is None else theta
    found = minimize(lambda point: objective.value_and_gradient(point)[0], start, method="Nelder-Mead")
    return Solution(found.x, float(found.fun), True, "done", int(found.nit))


def few_columns(objective: Objective) -> str | None:
    if objective.size > 6:
        return f"at most 5 columns, but {objective.pair.names} is fitted to {objective.size - 1}"
    return None


@pytest.fixture
def throw_away() -> Iterator[str]:
    registry.register(Solver("throw_away", (few_columns,), by_nelder_mead))
    yield "throw_away"
    registry.unregister("throw_away")


def test_a_new_solver_is_reached_through_the_learner(throw_away: str) -> None:
    ours = uneven.UnevenLinearClassifier(fn_cost=3, solver=throw_away).fit(X[:, :2], Y)
    assert ours.objective_ == pytest.approx(
        uneven.UnevenLinearClassifier(fn_cost=3).fit(X[:, :2], Y).objective_, rel=1e-6
    )
    assert throw_away in registry.names()
    with pytest.raises(ParameterError, match=r"solver must be one of auto, .*, throw_away, got 'saga'"):
        uneven.UnevenLinearClassifier(solver="saga").fit(X, Y)


def test_its_reason_and_what_would_work_reach_the_user(throw_away: str) -> None:
    wide = np.hstack([X, X**2])
    complaint = (
        "solver='throw_away' needs at most 5 columns, but 'hinge' is fitted to 8; solver='auto' or .*'lagrangian'"
    )
    with pytest.raises(LossError, match=complaint):
        uneven.UnevenLinearClassifier("hinge", solver=throw_away).fit(wide, Y)
    with pytest.raises(LossError, match=r"solver='auto' or .*'lbfgs' or .*'newton' or .*'throw_away' would work"):
        uneven.UnevenLinearClassifier(solver="lagrangian").fit(X, Y)


def test_auto_takes_it_only_if_it_is_preferred(throw_away: str) -> None:
    assert registry.choose("auto", linear_objective("logistic", X, Y)).name == "newton"
    registry.unregister(throw_away)
    registry.register(Solver(throw_away, (few_columns,), by_nelder_mead, fastest=(lambda objective: True,)))
    assert registry.choose("auto", linear_objective("logistic", X, Y)).name == throw_away


def test_a_taken_name_is_refused(throw_away: str) -> None:
    for name in ("auto", "newton", throw_away):
        with pytest.raises(ParameterError, match="is taken"):
            registry.register(Solver(name, (few_columns,), by_nelder_mead))
    with pytest.raises(ParameterError, match="no solver named 'newton' was registered at run time"):
        registry.unregister("newton")


def test_every_file_in_the_folder_is_a_solver() -> None:
    files = [path.stem for path in Path(algorithms.__path__[0]).glob("*.py") if path.stem != "__init__"]
    assert len(registry.solvers()) == len(files)
    for name, solver in registry.solvers().items():
        assert solver.name == name


@pytest.mark.parametrize("name", LOSSES)
def test_auto_finds_a_general_solver_for_every_loss(name: str) -> None:
    """One of them is not specialised, so that a preference never leads to a solver for special cases."""
    for matrix in (X, SPARSE):
        objective = linear_objective(name, matrix, Y)
        fitting = [solver for solver in registry.solvers().values() if solver.lacks(objective) is None]
        assert any(solver.general for solver in fitting)
        assert registry.choose("auto", objective).lacks(objective) is None


@pytest.mark.parametrize(
    ("loss", "matrix", "expected"),
    [
        ("logistic", X, "newton"),
        ("logistic", np.tile(X, (40, 30)), "lbfgs"),
        ("logistic", WIDE, "gram"),
        ("logistic", sp.csr_matrix((10_001, 20_000)), "lbfgs"),
        ("sigmoid", X, "lbfgs"),
        ("ramp", X, "lbfgs"),
        ("hinge", X, "lagrangian"),
        ("hinge", SPARSE, "lagrangian"),
        ("hinge", WIDE, "dual"),
        ("hinge", WIDE.toarray(), "gram"),
        ("relu(1 - t)**2 + relu(1 - t)", WIDE, "gram"),
        ("relu(1 - t)**2 + relu(1 - t)", sp.csr_matrix((10_001, 20_000)), "lagrangian"),
    ],
)
def test_what_auto_chooses(loss: str, matrix: object, expected: str) -> None:
    labels = np.resize(Y, matrix.shape[0])
    assert registry.choose("auto", linear_objective(loss, matrix, labels)).name == expected


@pytest.mark.parametrize(
    ("solver", "loss", "changes", "reason"),
    [
        ("newton", "hinge", {}, "solver='newton' needs a smooth convex loss, but 'hinge' has a kink at t = 1"),
        (
            "newton",
            "sigmoid",
            {},
            "solver='newton' needs a smooth convex loss, but 'sigmoid' is not known to be convex",
        ),
        ("lbfgs", "hinge", {}, "solver='lbfgs' needs a smooth loss, or one that is not convex, but 'hinge' has a kink"),
        ("lagrangian", "logistic", {}, "solver='lagrangian' needs a convex loss with a kink, but 'logistic' is smooth"),
        (
            "lagrangian",
            "ramp",
            {},
            "solver='lagrangian' needs a convex loss with a kink, but 'ramp' is not known to be",
        ),
        (
            "dual",
            "logistic",
            {},
            "solver='dual' needs a convex loss made of straight pieces .* 'logistic' has a curved",
        ),
        ("dual", "hinge", {"X": X}, r"solver='dual' needs a CSR matrix, but X is dense \(the loss 'hinge' would fit\)"),
        ("dual", "hinge", {"penalty": 0.0}, r"solver='dual' needs a penalty, but there is none"),
        ("gram", "sigmoid", {}, "solver='gram' needs a convex loss, but 'sigmoid' is not known to be convex"),
        ("gram", "logistic", {"penalty": 0.0}, r"solver='gram' needs an l2 penalty alone \(the loss 'logistic' would"),
        (
            "newton",
            "logistic",
            {"X": sp.csr_matrix((120, 20_000))},
            "at most 20000 columns, but for 'logistic' on this X",
        ),
    ],
)
def test_reasons_name_the_solver_the_loss_and_the_need(solver: str, loss: str, changes: dict, reason: str) -> None:
    objective = linear_objective(loss, changes.get("X", SPARSE), Y, penalty=changes.get("penalty", 1.0))
    with pytest.raises(LossError, match=reason + ".*; solver='auto' or .* would work"):
        registry.choose(solver, objective)


def test_two_formulas_are_named_where_they_matter() -> None:
    loss = uneven.Loss("exp(-t)", "relu(1 + t)")
    reason = registry.solvers()["newton"].lacks(linear_objective(loss, X, Y))
    assert reason == "solver='newton' needs a smooth convex loss, but 'relu(1 + t)' has a kink at t = -1"


def test_no_solver_for_an_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        registry, "_from_files", lambda: {"never": Solver("never", (lambda o: "a miracle",), by_nelder_mead)}
    )
    with pytest.raises(LossError, match="no solver accepts this objective: solver='never' needs a miracle"):
        registry.choose("auto", linear_objective("logistic", X, Y))
