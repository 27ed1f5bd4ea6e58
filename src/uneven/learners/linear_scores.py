"""What learners with a linear score share: coefficients, and how they become scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.learners.base import UnevenClassifier


class LinearScores(UnevenClassifier):
    """A learner with ``coef_`` and ``intercept_``; positive values favour ``classes_[1]``, as in scikit-learn."""

    coef_: np.ndarray
    intercept_: np.ndarray

    def _keep_theta(self, theta: np.ndarray) -> None:
        """Keep the weights of the positive class, the intercept last."""
        turned = self._classes.turned(theta)
        self.coef_ = turned[:-1].reshape(1, -1).copy()
        self.intercept_ = turned[-1:].copy()

    def _theta(self) -> np.ndarray:
        """The weights of the positive class, the intercept last."""
        return np.asarray(self._classes.turned(np.append(self.coef_.ravel(), self.intercept_)))

    def _score(self, X: Any) -> np.ndarray:
        """Scores in the precision of X: with mixed ones, all of X would be converted."""
        coef, intercept = self.coef_[0].astype(X.dtype, copy=False), self.intercept_.astype(X.dtype, copy=False)[0]
        return np.asarray(self._classes.turned(np.asarray(X @ coef).ravel() + intercept))
