"""A learner of this package that learns with mean costs and decides each row by its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from uneven.cli.decisions.given_costs import reference_costs
from uneven.costs import RowCosts


class DecidedByRow(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner of this package, fitted with the mean costs of the rows; each row is decided by its own costs.

    Parameters
    ----------
    learner : learner whose loss identifies probabilities
        Its labels are 0 and 1.

    Attributes
    ----------
    learner_ : learner
    classes_ : ndarray
    """

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, y: Any, *, fp_cost: Any, fn_cost: Any, tp_cost: Any = 0.0, tn_cost: Any = 0.0) -> Any:
        """Fit with the means of what mistakes cost more than right decisions.

        Parameters
        ----------
        X, y
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,)

        Returns
        -------
        DecidedByRow
        """
        costs = RowCosts.read(len(y), fp_cost=fp_cost, fn_cost=fn_cost, tp_cost=tp_cost, tn_cost=tn_cost)
        self.learner_ = clone(self.learner).set_params(**reference_costs(costs)).fit(X, y)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X: Any, *, fp_cost: Any, fn_cost: Any, tp_cost: Any = 0.0, tn_cost: Any = 0.0) -> np.ndarray:
        """The cheaper class of each row at its costs.

        Parameters
        ----------
        X, fp_cost, fn_cost, tp_cost, tn_cost
            As in :meth:`fit`.

        Returns
        -------
        ndarray
        """
        costs = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        return np.asarray(self.learner_.predict(X, **costs))

    def decision_function(
        self, X: Any, *, fp_cost: Any, fn_cost: Any, tp_cost: Any = 0.0, tn_cost: Any = 0.0
    ) -> np.ndarray:
        """Scores whose threshold is 0 at the costs of each row.

        Parameters
        ----------
        X, fp_cost, fn_cost, tp_cost, tn_cost
            As in :meth:`fit`.

        Returns
        -------
        ndarray
        """
        costs = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        return np.asarray(self.learner_.decision_function(X, **costs))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of both classes.

        Parameters
        ----------
        X

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return np.asarray(self.learner_.predict_proba(X))
