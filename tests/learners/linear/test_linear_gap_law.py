"""The law of the linear learner: the true gap is never above the reported one, nor above ``tol`` without a warning.

The truth comes from ``independent_optimum``, which works in extended precision and shares nothing with the solvers.
Training sets are drawn from seeds (``gap_law.drawn``): duplicated and constant columns, one example of a class,
separable classes, weights, columns of scales from 1e-3 to 1e5, dense in both orders, CSR, float32.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from gap_law import CONVEX, HARD_KINKS, Training, audit, drawn, require_promise
from linear_data import binary
from mean_regret import mean_regret

LOSSES = [*CONVEX, *HARD_KINKS]
CS = [1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6]


def seed_of(loss: str, k: int) -> int:
    """Different training sets for each loss and each k."""
    return 100 * LOSSES.index(loss) + k


def require(training: Training) -> None:
    try:
        require_promise(audit(training), training.parameters["tol"])
    except AssertionError as error:
        raise AssertionError(f"{error}\n{training.words}\n{training.parameters}") from None


@pytest.mark.parametrize("loss", LOSSES)
def test_more_rows_than_columns(loss: str) -> None:
    for k, C in enumerate(CS):
        require(drawn(seed_of(loss, k), loss, C=C))


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_more_columns_than_rows(loss: str) -> None:
    for k, C in enumerate(CS):
        require(drawn(seed_of(loss, k), loss, C=C, wide=True))


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("penalty", "wide", "C"),
    [("l1", False, 1e3), ("l1", True, 1.0), ("elasticnet", False, 1.0), ("elasticnet", True, 1e3)],
)
def test_sparse_models(loss: str, penalty: str, wide: bool, C: float) -> None:
    ratio = {"l1_ratio": 0.4} if penalty == "elasticnet" else {}
    require(drawn(seed_of(loss, int(wide)), loss, C=C, wide=wide, penalty=penalty, **ratio))


@pytest.mark.parametrize("loss", LOSSES)
def test_solvers_asked_for_by_name(loss: str) -> None:
    """Those that accept the loss, with few steps, so that some of them have to admit it."""
    from uneven.errors import LossError
    from uneven.solvers.linear.solver import AUTO, names

    tried = 0
    for k, solver in enumerate(name for name in names() if name != AUTO):
        try:
            require(drawn(seed_of(loss, k), loss, C=1.0, solver=solver, max_iter=3 + 20 * k))
        except LossError:
            continue
        tried += 1
    assert tried


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_ordinary_data_need_no_warning(loss: str, wide: bool) -> None:
    n, d = (30, 60) if wide else (60, 4)
    for k, C in enumerate([1e-2, 1.0, 1e2]):
        X, y = binary(n, d, seed=seed_of(loss, k), noise=0.5)
        data = sp.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X)) if k == 1 else X
        parameters = {
            "loss": loss,
            "C": C * mean_regret(y, fn_cost=4.0),
            "fn_cost": 4.0,
            "margin_gamma": 2.0,
            "tol": 1e-6,
        }
        training = Training(data, y, None, parameters)
        found = audit(training)
        assert not found.warned
        require_promise(found, 1e-6)


# -- no penalty -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_no_penalty(loss: str) -> None:
    """The bound is about coefficients with which no column moves the scores ten times as much as any does now."""
    for k, scale in enumerate([np.ones(3), np.array([1e-3, 1.0, 1e5]), np.array([1e5, 1e4, 1e5])]):
        X, y = binary(50, 3, seed=seed_of(loss, k), noise=3.0)
        weight = np.random.default_rng(k).uniform(0.1, 5, size=50) if k else None
        parameters = {"loss": loss, "C": 10.0 ** (2 * k - 2), "fn_cost": 3.0, "penalty": None, "tol": 1e-6}
        training = Training(X * scale, y, weight, {**parameters, "margin_gamma": [1.0, 2.0, 0.5][k]}, ["no penalty"])
        found = audit(training)
        sizes = np.abs(X * scale).max(axis=0)
        moved = np.abs(found.model.coef_[0]) * sizes
        assert (np.abs(found.best.theta[:-1]) * sizes <= 10 * moved.max()).all()
        require_promise(found, 1e-6)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "relu(1/3 - t)"])
def test_separable_data_without_a_penalty_warn(loss: str) -> None:
    X = np.linspace(-2, 2, 21)[:, None]
    training = Training(X, (X[:, 0] > 0.1).astype(int), None, {"loss": loss, "penalty": None})
    model, warned = training.fit()
    assert warned
    assert model.score(X, training.y) == 0  # no mistake costs anything
