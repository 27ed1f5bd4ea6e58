"""A fitted classifier whose only column holds the log-odds of the positive class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin


class ScoredModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(classes_[1]) = expit(X[:, 0] + move); ``fit`` only looks at the labels."""

    def __init__(self, move: float = 0.0) -> None:
        self.move = move

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ScoredModel:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        probability = expit(np.asarray(X)[:, 0] + self.move)
        return np.stack([1 - probability, probability], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class MarginModel(ScoredModel):
    """The same without probabilities: three times the log-odds, plus 1, as decision values."""

    predict_proba = property()  # type: ignore[assignment]

    def decision_function(self, X: Any) -> np.ndarray:
        return 3 * (np.asarray(X)[:, 0] + self.move) + 1

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
