"""Training sets for the tests of the linear learner."""

from __future__ import annotations

import numpy as np


def binary(n: int = 600, d: int = 6, *, seed: int = 3, share: float = 0.3, noise: float = 1.0) -> tuple:
    """Rows of correlated columns and labels 0/1 with a given share of ones."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1))
    score = X @ (random.normal(size=d) * 2 / np.sqrt(d)) + noise * random.logistic(size=n)
    return X, (score > np.quantile(score, 1 - share)).astype(int)


def objective(model: object, X: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0) -> float:
    """What the learner documents that it minimises, written out with NumPy values of the loss; y is 1 for positives."""
    total = model.fp_cost + model.fn_cost
    loss = total * model.loss_(2 * y - 1, X @ model.coef_[0] + model.intercept_[0])
    penalty = 0.5 * float(model.coef_[0] @ model.coef_[0]) if model.penalty == "l2" else 0.0
    return penalty + model.C * float((weight * loss).sum())


def gradient(model: object, X: np.ndarray, y: np.ndarray, weight: np.ndarray | float = 1.0) -> np.ndarray:
    """Its gradient in (w, b)."""
    total = model.fp_cost + model.fn_cost
    slope = model.C * total * weight * model.loss_.slope(2 * y - 1, X @ model.coef_[0] + model.intercept_[0])
    return np.append(model.coef_[0] + X.T @ slope, slope.sum())
