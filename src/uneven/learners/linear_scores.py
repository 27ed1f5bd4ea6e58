"""What learners with a linear score share: coefficients, and how they become scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven.learners.base import UnevenClassifier
from uneven.learners.reading import read_matrix, require_finite


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
        theta = self._theta().astype(X.dtype, copy=False)
        score = np.asarray(X @ theta[:-1]).ravel()
        score += theta[-1]
        return score

    def _checked_score(self, X: Any) -> np.ndarray:
        """Scores of rows that must be finite. X is read once: a NaN or infinity in a row is one in its score, too."""
        check_is_fitted(self, "classes_")
        rows = read_matrix(self, X, reset=False)
        with np.errstate(all="ignore"):
            score = self._score(rows)
            sound = np.isfinite(score.sum()) and bool(self.coef_.all())  # BLAS may skip a coefficient that is 0
        if not sound:
            require_finite("X", rows)
        return score
