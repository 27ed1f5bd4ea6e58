"""What linear learners share: coefficients, how they become scores, and the penalty."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven.errors import ParameterError
from uneven.inputs import brief
from uneven.learners.base import UnevenClassifier
from uneven.learners.training_set import read_matrix
from uneven.solvers.threads import require_finite


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


# The penalty of a linear learner, from its parameters ``penalty`` and ``l1_ratio``.

PENALTIES = ("l2", "l1", "elasticnet", None)


def penalty_weights(penalty: Any, l1_ratio: Any) -> tuple[float, float]:
    """The weights of the l1 norm of w, and of half its squared norm.

    Examples
    --------
    >>> from uneven.learners.linear_base import penalty_weights
    >>> penalty_weights("l2", None), penalty_weights("elasticnet", 0.25)
    ((0.0, 1.0), (0.25, 0.75))
    """
    if not (penalty is None or (isinstance(penalty, str) and penalty in PENALTIES)):
        raise ParameterError(f"penalty must be 'l2', 'l1', 'elasticnet' or None, got {brief(penalty)}")
    if penalty != "elasticnet":
        if l1_ratio is not None:
            raise ParameterError(
                f"l1_ratio is for penalty='elasticnet' only, got l1_ratio={brief(l1_ratio)} with penalty={penalty!r}; "
                "leave it out"
            )
        return {"l2": (0.0, 1.0), "l1": (1.0, 0.0), None: (0.0, 0.0)}[penalty]
    if isinstance(l1_ratio, bool) or not isinstance(l1_ratio, Real) or not 0 <= float(l1_ratio) <= 1:
        raise ParameterError(f"penalty='elasticnet' needs l1_ratio, a number from 0 to 1, got {brief(l1_ratio)}")
    return float(l1_ratio), 1.0 - float(l1_ratio)
