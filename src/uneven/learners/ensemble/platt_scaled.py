"""Scores as probabilities, found inside one fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from uneven.decisions.platt import Sigmoid
from uneven.learners.out_of_fold import out_of_fold, positive_probability, weight_parameters
from uneven.learners.tuning.folds import splits


class PlattScaled(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of 0 and 1 with Platt's scaling of its scores, from three folds within its training rows.

    The probabilities then depend on training rows alone, as those of any other member do.

    Parameters
    ----------
    estimator : classifier with ``decision_function``
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PlattScaled:
        """Fit the folds, the sigmoid, and the classifier on all rows."""
        y = np.asarray(y)
        self.classes_ = np.unique(y)
        folds = min(3, int(np.bincount(y).min()))
        own = {} if sample_weight is None else weight_parameters(self.estimator, sample_weight)
        self.estimator_ = clone(self.estimator).fit(X, y, **own)
        if folds < 2:
            self.sigmoid_ = Sigmoid.fit(np.zeros(y.size), y == 1, sample_weight)
            return self
        parts = splits(folds, X, y, self.classes_, None)
        found = out_of_fold({"": self.estimator}, X, y, parts, positive=1, sample_weight=sample_weight)
        if found.ending == "interrupted":
            raise KeyboardInterrupt
        if found[""].sigmoid is None:
            raise ValueError(found[""].error or "the classifier has probabilities already")
        self.sigmoid_ = found[""].sigmoid
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes."""
        positive = positive_probability(self.estimator_, X, 1, self.sigmoid_)
        return np.stack([1 - positive, positive], axis=1)
