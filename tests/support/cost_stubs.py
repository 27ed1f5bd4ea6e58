"""Classifiers that take the costs of rows, as small as possible: the first feature is the probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from uneven.costs import RowCosts


class Plain(ClassifierMixin, BaseEstimator):
    """Takes no costs. Predicts positive above ``threshold``."""

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Plain:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[(np.asarray(X)[:, 0] > self.threshold).astype(int)]

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.stack([1 - np.asarray(X)[:, 0], np.asarray(X)[:, 0]], axis=1)


class ByCosts(Plain):
    """Takes costs in ``fit`` (and keeps them as ``fitted_``) and in ``predict`` (and decides by them)."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> ByCosts:
        self.fitted_ = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        super().fit(X, y)
        return self

    def predict(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        if fp_cost is None:
            return super().predict(X)
        costs = RowCosts.read(len(X), fp_cost=fp_cost, fn_cost=fn_cost, tp_cost=tp_cost, tn_cost=tn_cost)
        return self.classes_[costs.prefers_positive(np.asarray(X)[:, 0]).astype(int)]


class ByTwoCosts(Plain):
    """``predict`` takes only the costs of the two mistakes."""

    def predict(self, X: Any, fp_cost: Any = None, fn_cost: Any = None) -> np.ndarray:
        costs = RowCosts.read(len(X), fp_cost=fp_cost, fn_cost=fn_cost)
        return self.classes_[costs.prefers_positive(np.asarray(X)[:, 0]).astype(int)]
