"""Small problems for the tests of the solvers, built without a learner."""

from __future__ import annotations

from typing import Any

import numpy as np

import uneven
from uneven.losses import Loss
from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.solver import Settings

#: Every registered phi that is calibrated for some costs.
LOSSES = [name for name in uneven.losses.names() if name != "perceptron"]


def linear_objective(
    loss: str | Loss,
    X: Any,
    y: np.ndarray,
    *,
    gamma: float = 2.0,
    alpha: float = 0.25,
    penalty: float = 1.0,
    fit_intercept: bool = True,
    sample_weight: np.ndarray | None = None,
    factor: int = 3,
) -> Objective:
    """The objective of a linear score; a loss given by name is uneven and weighted."""
    made = loss if isinstance(loss, Loss) else uneven.UnevenMarginLoss(loss, gamma=gamma, alpha=alpha)
    return Objective(
        design=design(X),
        y=y.astype(np.int8),
        pair=PairOfLosses.of(made).times(np.full(2, float(factor))),
        sample_weight=np.empty(0) if sample_weight is None else sample_weight,
        penalty=penalty,
        fit_intercept=fit_intercept,
    )


def settings(tol: float = 1e-8, max_iter: int = 1000, seed: int = 0) -> Settings:
    """Settings with a fixed generator."""
    return Settings(tol=tol, max_iter=max_iter, random=np.random.default_rng(seed))


def reference_value(
    loss: Loss,
    X: np.ndarray,
    y: np.ndarray,
    theta: np.ndarray,
    *,
    penalty: float = 1.0,
    sample_weight: np.ndarray | float = 1.0,
    factor: float = 3.0,
) -> float:
    """The same objective, written out with the NumPy values of the loss."""
    losses = loss(2 * y - 1, X @ theta[:-1] + theta[-1])
    return 0.5 * penalty * float(theta[:-1] @ theta[:-1]) + factor * float((sample_weight * losses).sum())


def numerical_gradient(function: Any, theta: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a function of a vector."""
    moves = step * np.eye(theta.size)
    return np.array([(function(theta + move) - function(theta - move)) / (2 * step) for move in moves])


def minimum_of_two(function: Any, reach: float = 20.0) -> float:
    """The minimum of a convex function of two numbers, by nested line searches; the function may have kinks."""
    from scipy.optimize import minimize_scalar

    def along_second(first: float) -> float:
        found = minimize_scalar(
            lambda second: function(np.array([first, second])),
            bounds=(-reach, reach),
            method="bounded",
            options={"xatol": 1e-11, "maxiter": 200},
        )
        return float(found.fun)

    options = {"xatol": 1e-11, "maxiter": 200}
    return float(minimize_scalar(along_second, bounds=(-reach, reach), method="bounded", options=options).fun)
