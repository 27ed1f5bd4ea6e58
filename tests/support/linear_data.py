"""Training sets for the tests of the linear learner."""

from __future__ import annotations

import numpy as np
from mean_regret import mean_regret


def binary(n: int = 600, d: int = 6, *, seed: int = 3, share: float = 0.3, noise: float = 1.0) -> tuple:
    """Rows of correlated columns and labels 0/1 with a given share of ones."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1))
    score = X @ (random.normal(size=d) * 2 / np.sqrt(d)) + noise * random.logistic(size=n)
    return X, (score > np.quantile(score, 1 - share)).astype(int)


def objective(model: object, X: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0) -> float:
    """What the linear learner minimises, written out with the NumPy values of the loss; y is 0/1, 1 positive."""
    loss = _unit(model, y, weight) * model.loss_(2 * y - 1, X @ model.coef_[0] + model.intercept_[0])
    penalty = 0.5 * float(model.coef_[0] @ model.coef_[0]) if model.penalty == "l2" else 0.0
    return penalty + model.C * float((weight * loss).sum())


def gradient(model: object, X: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0) -> np.ndarray:
    """Its gradient in (w, b)."""
    slope = (
        model.C
        * _unit(model, y, weight)
        * weight
        * model.loss_.slope(2 * y - 1, X @ model.coef_[0] + model.intercept_[0])
    )
    return np.append(model.coef_[0] + X.T @ slope, slope.sum())


def _unit(model: object, y: np.ndarray, weight: np.ndarray | float) -> float:
    """What loss_, whose weights sum to 1, is multiplied by: the costs' sum over the mean regret."""
    costs = {"fp_cost": model.fp_cost, "fn_cost": model.fn_cost}
    return sum(costs.values()) / mean_regret(y, sample_weight=np.broadcast_to(weight, y.shape), **costs)
