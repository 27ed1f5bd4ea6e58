"""Decisions by corrected log-odds: what classifiers share that find probabilities first and decide by costs after."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from uneven._inputs import brief
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.learners.classes import Classes
from uneven.learners.contract import EstimatorContract
from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.out_of_fold_rows import CorrectedOdds, OutOfFoldRows
from uneven.learners.corrections.posterior import ShiftPosterior
from uneven.learners.corrections.shift_curve import ShiftCurve, shift_curve
from uneven.learners.costs_and_loss import COSTS, read_costs
from uneven.learners.guaranteed_shift import GuaranteedShift

#: Corrections for costs given to ``predict`` that a model keeps.
_MOST_KEPT = 16


class CorrectedDecisions(EstimatorContract, GuaranteedShift, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of classifiers that decide by corrected log-odds.

    A subclass has the parameters ``method`` and ``order`` and the four costs. Its ``fit`` calls ``_keep_decisions``
    with out-of-fold probabilities; its ``_probability`` gives the probabilities of the positive class, before the
    correction.
    """

    fp_cost: Any
    fn_cost: Any
    tp_cost: Any
    tn_cost: Any
    method: Any
    order: Any
    classes_: np.ndarray
    _positive: int
    _odds: CorrectedOdds
    _rows: OutOfFoldRows
    _row_costs: RowCosts

    @abstractmethod
    def _probability(self, X: Any) -> np.ndarray:
        """P(positive), before the correction."""

    # -- fitting ----------------------------------------------------------------------------------------------------

    def _given_costs(self, count: int, given: dict[str, Any]) -> RowCosts:
        """The costs of the rows of a fit: those given to ``fit``, and the constructor's for the others."""
        own = {name: getattr(self, name) for name in COSTS}
        for name, value in own.items():
            if np.ndim(value):
                raise CostError(
                    f"{name} of the learner itself must be a number, got {brief(value)}; costs of each row go to fit "
                    "and predict"
                )
        four = {name: own[name] if given[name] is None else given[name] for name in COSTS}
        read_costs(count, four)  # numbers must be positive
        costs = RowCosts.read(count, **four)
        self._costs_by_row = [name for name in COSTS if isinstance(getattr(costs, name), np.ndarray)]
        self._costs_of_fit = {name: getattr(costs, name) for name in COSTS if name not in self._costs_by_row}
        return costs

    def _keep_decisions(self, rows: OutOfFoldRows, costs: RowCosts) -> None:
        """Find the correction from out-of-fold probabilities, and keep these for other costs."""
        self._rows, self._row_costs = rows, costs
        self._odds = rows.corrected(costs, self.method, int(self.order))
        self._kept: dict[tuple[float, float], CorrectedOdds] = {}
        self.__dict__.pop("_guarantee", None)

    def __getstate__(self) -> dict[str, Any]:
        """Without the corrections for other costs and the guarantee, which can be found again."""
        state: dict[str, Any] = super().__getstate__()
        return {name: {} if name == "_kept" else value for name, value in state.items() if name != "_guarantee"}

    # -- what was found ---------------------------------------------------------------------------------------------

    @property
    def correction_(self) -> Correction:
        """The map of log-odds that was found."""
        check_is_fitted(self, "_odds")
        return self._odds.correction

    @property
    def shift_(self) -> float:
        """By how much the log-odds are lowered; NaN if the correction is no shift."""
        return float(self.correction_.shift)

    @property
    def posterior_(self) -> ShiftPosterior | None:
        """The posterior of the shift; None for methods without one."""
        return self.correction_.posterior

    @property
    def slope_(self) -> float:
        """By what the log-odds are multiplied before they are shifted; NaN if the correction is no straight line."""
        return float(self.correction_.slope)

    @property
    def threshold_(self) -> float | None:
        """The probability before the correction above which positive is predicted.

        None after a fit with costs of each row: each row has a threshold of its own.
        """
        check_is_fitted(self, "_odds")
        return self._odds.threshold(self._row_costs)

    @property
    def out_of_fold_rows_(self) -> OutOfFoldRows:
        """Probabilities, before the correction, of rows that the models did not learn from, with their labels."""
        check_is_fitted(self, "_odds")
        return self._rows

    @property
    def curve_(self) -> ShiftCurve:
        """Cost of the out-of-fold decisions against the shift."""
        check_is_fitted(self, "_odds")
        return shift_curve(self._rows.scored(self._row_costs), self.correction_, int(self.order))

    def plot(self, ax: Any = None) -> Any:
        """Draw cost and posterior against the shift; needs the extra ``plot``.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        return self.curve_.plot(ax)

    @property
    def _classes(self) -> Classes:  # type: ignore[override]
        return Classes(self.classes_, self._positive)

    # -- deciding ---------------------------------------------------------------------------------------------------

    def _costs_of_rows(self, count: int, given: dict[str, Any], method: str) -> RowCosts:
        """The costs of rows to predict: those given, and the numbers of the fit for the others."""
        fit = self._row_costs
        if not fit.per_row and all(value is None for value in given.values()):
            return RowCosts(count, fit.fp_regret, fit.fn_regret)
        self._require_costs(given, method)
        four = {name: self._costs_of_fit[name] if given[name] is None else given[name] for name in COSTS}
        return RowCosts.read(count, **four)

    def _require_costs(self, given: dict[str, Any], method: str) -> None:
        """Raise if a cost is not given of which the fit had one for each row."""
        missing = [name for name in self._costs_by_row if given[name] is None]
        if missing:
            raise CostError(
                f"the fit had {' and '.join(missing)} of each row, so {method} needs "
                f"{'it' if len(missing) == 1 else 'them'} for these rows, too: a number, or one for each row"
            )

    def _odds_for(self, costs: RowCosts, given: dict[str, Any]) -> CorrectedOdds:
        """The fit's correction; for other numbers one found for them.

        Arrays always have the fit's, also if their entries are equal: the decision on a row must not depend on others.
        """
        if costs.per_row or any(np.ndim(value) for value in given.values()):
            return self._odds
        key, fit = (float(costs.fp_regret), float(costs.fn_regret)), self._row_costs
        if not fit.per_row and key == (fit.fp_regret, fit.fn_regret):
            return self._odds
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._rows.corrected(
                RowCosts(self._rows.is_positive.size, *key), self.method, int(self.order)
            )
        return self._kept[key]

    def _decision(self, X: Any, given: dict[str, Any], method: str) -> np.ndarray:
        check_is_fitted(self, "_odds")
        probability = self._probability(X)
        costs = self._costs_of_rows(probability.size, given, method)
        return self._odds_for(costs, given).decision(probability, costs)

    def decision_function(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """Corrected log-odds minus those of alpha: the decision threshold is 0.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for ``classes_[1]``. Infinite where one decision is the cheaper one at every probability.
        """
        given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        return np.asarray(self._classes_checked().turned(self._decision(X, given, "decision_function")))

    def predict(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """The cheaper class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows; those not given are the numbers of the fit. For other numbers the correction is found
            again from the out-of-fold probabilities, which takes no new fit. With costs of each row, each row is
            decided by its own, with the correction of the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        return self._classes_checked().label(self._decision(X, given, "predict") > 0)

    def predict_proba(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """Corrected probabilities: ``predict`` says positive where the positive class has more than alpha.

        The correction makes them right near alpha, not everywhere.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`predict`; not needed after a fit with costs of each row.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "_odds")
        given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        before = self._probability(X)
        if self._row_costs.per_row and all(value is None for value in given.values()):
            positive = self._odds.probability(before)
        else:
            costs = self._costs_of_rows(before.size, given, "predict_proba")
            positive = self._odds_for(costs, given).probability(before, costs)
        return np.stack(self._classes.in_order(1 - positive, positive), axis=1)

    def predict_log_proba(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """Logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, fp_cost=fp_cost, fn_cost=fn_cost, tp_cost=tp_cost, tn_cost=tn_cost))

    def _classes_checked(self) -> Classes:
        check_is_fitted(self, "_odds")
        return self._classes
