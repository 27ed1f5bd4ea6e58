"""What classifiers share that find probabilities first, and a threshold for the costs after."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from uneven.costs import COSTS, Cost, GivenCosts, RowCosts
from uneven.decisions.action_guarantee import ActionsGuarantee
from uneven.decisions.actions import Actions
from uneven.decisions.alpha import probability_thresholds, threshold_log_odds
from uneven.decisions.class_guarantee import ClassGuarantee
from uneven.decisions.correction import AS_IT_IS, CorrectedOdds, Correction
from uneven.decisions.correction_methods import METHODS
from uneven.decisions.cost_pairs import CostPairs
from uneven.decisions.guarantee import ShiftGuarantee, shift_guarantee
from uneven.decisions.out_of_fold_rows import OutOfFoldRows, ShiftCurve, shift_curve
from uneven.decisions.posterior import ShiftPosterior
from uneven.decisions.scored_rows import MOST_ROWS, compress
from uneven.errors import ParameterError
from uneven.inputs import Exact, brief, require_choice, require_integer
from uneven.learners.constant_rules import sums_of_classes
from uneven.learners.contract import EstimatorContract, costs_of_fit, costs_to_score
from uneven.learners.cost_range import spread_prior, treats_alike, warn_outside
from uneven.learners.several_actions import read_learner_actions
from uneven.tables.names_as_text import with_names, with_text

#: Scores that may be rounding errors, relative to the log-odds: a forest often says the threshold itself.
_TIE = 1e-13
#: The largest order of the window loss.
_MOST_ORDER = 64
#: Corrections for costs given to ``predict`` that a model keeps.
_MOST_KEPT = 16


class CorrectedDecisions(EstimatorContract, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of classifiers that decide by corrected log-odds.

    A subclass has the parameters ``method``, ``order``, ``keep_training_rows`` and the four costs. Its ``fit`` calls
    ``_keep_decisions`` with out-of-fold probabilities; its ``_raw_probability`` gives what the models say.

    Two maps of the log-odds are found on the out-of-fold rows, and neither knows of the other. The *calibration* makes
    what the models say a probability, for every row and without the costs: ``predict_proba``. The *correction* finds
    where to cut for the costs: it looks at rows near alpha only, and ends in one number, ``threshold_``.
    """

    fp_cost: Any
    fn_cost: Any
    tp_cost: Any
    tn_cost: Any
    method: Any
    order: Any
    keep_training_rows: Any
    cost_range: Any = None
    actions: Any = None
    _odds: CorrectedOdds
    _calibrated: CorrectedOdds
    _rows: OutOfFoldRows
    _row_costs: RowCosts
    _range_of_fit: Any = None
    _pairs: CostPairs | None = None  # of costs that are known as a range only
    _fold: np.ndarray  # that tested each of the out-of-fold rows; -1 if several did
    _group: np.ndarray | None = None  # of the same rows, if they are not independent

    @abstractmethod
    def _raw_probability(self, X: Any) -> np.ndarray:
        """P(positive) as the models say it, before the calibration."""

    @property
    @abstractmethod
    def _is_refitted(self) -> bool:
        """Whether the model in use was fitted again to all rows."""

    # -- fitting ----------------------------------------------------------------------------------------------------

    def _require_correction(self) -> None:
        """Raise unless ``method`` and ``order`` name a correction."""
        require_choice("method", self.method, tuple(METHODS))
        wanted = f"an integer from 1 to {_MOST_ORDER}"
        require_integer("order", self.order, wanted=wanted)
        if self.order > _MOST_ORDER:
            raise ParameterError(f"order must be {wanted}, got {brief(self.order)}")

    def _given_costs(self, count: int, given: GivenCosts) -> RowCosts:
        """The costs of the rows of a fit: those given to ``fit``, and the constructor's for the others."""
        costs = RowCosts.read(count, **costs_of_fit(self, given))
        for name in ("_in_use", "_of_fit"):  # of a changed model that is fitted again
            self.__dict__.pop(name, None)
        self._actions_of_fit = read_learner_actions(self)
        four = {name: getattr(costs, name) for name in COSTS}
        self._costs_of_fit = {name: value for name, value in four.items() if not isinstance(value, np.ndarray)}
        prior = spread_prior(self)
        self._range_of_fit = None if prior is None else self.cost_range
        self._pairs = None if prior is None else CostPairs.of(prior, order=int(self.order))
        return costs

    def _correct_for(self, costs: RowCosts) -> RowCosts | CostPairs:
        """What the correction of the fit is for: the costs, or all pairs of a range."""
        return costs if self._pairs is None else self._pairs

    def _symmetric(self, costs: Cost | RowCosts) -> bool:
        """Whether it makes no difference which class is the positive one."""
        equal = isinstance(costs, Cost) and costs.fp_cost == costs.fn_cost
        return equal and self.actions is None and treats_alike(self)

    def _keep_decisions(self, rows: OutOfFoldRows, costs: RowCosts) -> None:
        """Find calibration and correction from out-of-fold probabilities, and keep these for other costs."""
        self._rows, self._row_costs = rows, costs
        self._calibrated = AS_IT_IS if self.method == "none" else rows.find_calibration()
        self._odds = rows.find_correction(self._correct_for(costs), self.method, int(self.order))
        self._kept: dict[Any, Any] = {}  # corrections for two costs, cuts for several actions
        self._has_rows = True
        self.__dict__.pop("_guarantee", None)

    def _forget_rows(self) -> None:
        """Keep few groups of the out-of-fold rows in place of many rows, unless they are asked for."""
        if self.keep_training_rows or self._rows.probability.size <= MOST_ROWS:
            return
        if self._why_no_guarantee() is None:
            self._guarantee = self.guarantee()  # needs the rows
        self._rows, self._has_rows = self._rows.group_rows(), False
        self._fold = np.empty(0, dtype=np.intp)
        self._group = None if self._group is None else np.empty(0, dtype=np.intp)
        costs, count = self._row_costs, self._rows.is_positive.size
        self._row_costs = (
            costs.take(np.arange(1))
            if costs.per_row
            else RowCosts(count, costs.fp_regret, costs.fn_regret, by_row=costs.by_row)
        )

    def _require_odds(self) -> None:
        """Raise unless this is fitted, to two classes."""
        check_is_fitted(self, "_odds")

    def _require_rows(self, what: str, error: type[Exception] = AttributeError) -> None:
        """Raise an error, which names what needs them, if the out-of-fold rows were not kept one by one."""
        if not self._has_rows:
            raise error(
                f"{what} needs the out-of-fold rows one by one, and of more than {MOST_ROWS:,} only groups are kept; "
                "fit with keep_training_rows=True"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Without the corrections for other costs, and without the guarantee if it can be found again."""
        state: dict[str, Any] = with_text(super().__getstate__())
        lost = {"_guarantee"} if state.get("_has_rows") else set()
        return {name: {} if name == "_kept" else value for name, value in state.items() if name not in lost}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(with_names(state))

    # -- what was found ---------------------------------------------------------------------------------------------

    @property
    def correction_(self) -> Correction:
        """The map of log-odds that was found."""
        self._require_odds()
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
    def calibration_(self) -> Correction:
        """The map of the models' log-odds to those of ``predict_proba``; costs play no part in it."""
        self._require_odds()
        return self._calibrated.correction

    @property
    def threshold_(self) -> float | None:
        """``predict`` says positive exactly where ``predict_proba`` of the positive class is above this number.

        None after a fit with costs of each row: each row has a threshold of its own.
        """
        self._require_odds()
        costs = self._row_costs
        if costs.per_row:
            return None
        return float(self._thresholds(RowCosts(1, costs.fp_regret, costs.fn_regret), self._odds)[0])

    @property
    def out_of_fold_rows_(self) -> OutOfFoldRows:
        """Probabilities, as of ``predict_proba``, of rows that the models did not learn from, with their labels."""
        self._require_odds()
        self._require_rows("out_of_fold_rows_")
        return self._judged_rows()

    def _judged_rows(self) -> OutOfFoldRows:
        """The same; of many rows groups with the weights of all."""
        rows = self._rows
        return OutOfFoldRows(self._calibrated.probability(rows.probability), rows.is_positive, rows.weight)

    @property
    def curve_(self) -> ShiftCurve:
        """Cost of the out-of-fold decisions against the shift; with ``cost_range``, the mean over the range."""
        self._require_odds()
        if self._row_costs.per_row:
            self._require_rows("curve_ of costs of each row")
        rows = self._rows.with_costs(self._correct_for(self._row_costs))
        return shift_curve(rows, self.correction_, int(self.order))

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

    # -- what is guaranteed -----------------------------------------------------------------------------------------

    @property
    def guarantee_(self) -> ShiftGuarantee | ActionsGuarantee | ClassGuarantee:
        """:meth:`guarantee` with its defaults, computed once; there is no such attribute if nothing is guaranteed."""
        check_is_fitted(self, "classes_")
        if "_guarantee" not in self.__dict__:
            try:
                self._guarantee = self.guarantee()
            except ParameterError as error:
                raise AttributeError(str(error)) from None
        return self._guarantee

    def guarantee(
        self,
        confidence: Exact = 0.95,
        *,
        largest_fp_regret: Exact | None = None,
        largest_fn_regret: Exact | None = None,
    ) -> ShiftGuarantee | ActionsGuarantee | ClassGuarantee:
        """Bounds of what the shift costs on new rows, against the best shift; docs/guarantee.md proves them.

        Parameters
        ----------
        confidence : number in (0, 1)
            All bounds hold together with at least this probability, over the draw of the rows.
        largest_fp_regret, largest_fn_regret : positive number, optional
            Only for costs that were given for each row: no mistake can cost more than this. By default the largest ones
            of the rows.

        Returns
        -------
        ShiftGuarantee, or ActionsGuarantee after a fit with more than two actions
            ``print(model.guarantee().in_words())`` says what is guaranteed and what is assumed. With folds it is for
            the fold models, not for the one that is fitted to all rows.
        """
        check_is_fitted(self, "classes_")
        reason = self._why_no_guarantee()
        if reason is not None:
            raise ParameterError(f"there is no guarantee for this fit: {reason}")
        self._require_rows(f"a guarantee at {confidence!r} other than guarantee_", ParameterError)
        return self._find_guarantee(confidence, (largest_fp_regret, largest_fn_regret))

    def _find_guarantee(
        self, confidence: Exact, largest: tuple[Exact | None, Exact | None]
    ) -> ShiftGuarantee | ActionsGuarantee:
        correction = self._odds.correction
        return self._shift_guarantee(self._row_costs, correction.shift, correction.posterior, confidence, largest)

    def _shift_guarantee(
        self,
        costs: RowCosts,
        shift: float,
        posterior: ShiftPosterior | None,
        confidence: Exact,
        largest: tuple[Exact | None, Exact | None] = (None, None),
    ) -> ShiftGuarantee:
        rows = self._rows.with_costs(costs)
        return shift_guarantee(
            [rows.take(self._fold == number) for number in np.unique(self._fold)],
            posterior,
            order=int(self.order),
            shift=shift,
            confidence=confidence,
            largest_fp_regret=largest[0],
            largest_fn_regret=largest[1],
            refitted=self._is_refitted,
            choices=self._models_to_choose_from(),
            prevalence=None if self._in_use is None else self._in_use.use,
        )

    def _why_no_guarantee(self) -> str | None:
        """None if the theorem covers the fit."""
        if self._pairs is not None:
            return "the theorem is for two costs, not for cost_range; fp_cost and fn_cost would work"
        if not self._only_shifts:
            return (
                f"method={self.method!r} does more than to shift the log-odds; 'gibbs', 'argmin' or 'cost' would work"
            )
        if self._group is not None:
            return "rows of one group are not independent; a fit to one row of each group would have one"
        if (self._fold < 0).any():
            return "some rows were tested by several folds; cv=5 would work"
        return None

    @property
    def _only_shifts(self) -> bool:
        """Whether every correction in use is a shift."""
        return self._odds.correction.slope == 1

    def _models_to_choose_from(self) -> int:
        """From how many models the one in use was chosen with the out-of-fold rows."""
        return 1

    # -- other costs without a new fit ------------------------------------------------------------------------------

    def _share_of_fit(self) -> float:
        weight = np.bincount(self._rows.is_positive, self._rows.weight, 2)
        return float(weight[1] / weight.sum())

    def _set_costs(self, numbers: dict[str, float], actions: Actions | None) -> None:
        """The correction is found again from the out-of-fold rows; that of the fit is kept for its own costs."""
        use, names = self._in_use, ("_row_costs", "_odds", "_calibrated", "_guarantee", "_out_of_fold_cost")
        assert use is not None
        if "_of_fit" not in self.__dict__:
            self._of_fit = {name: self.__dict__[name] for name in names if name in self.__dict__}
            if self._has_rows:
                self._of_fit.pop("_guarantee", None)  # can be found again
            self._of_fit["_actions_of_fit"] = self._actions_of_fit
        rows, fit = self._rows, self._of_fit
        if "_constant_sums" not in self.__dict__:
            weights = np.bincount(rows.is_positive, rows.weight, 2)
            squares = np.bincount(rows.is_positive, rows.weight**2, 2) if self._has_rows else weights
            self._constant_sums = sums_of_classes(numbers, weights, weights, squares)
        super()._set_costs(numbers, actions)
        for name in ("_guarantee", "_out_of_fold_cost"):
            self.__dict__.pop(name, None)
        self._kept = {}
        self._calibrated = fit["_calibrated"] if use.use is None else fit["_calibrated"].shifted(use.log_odds_shift)
        costs = use.on_rows_of_fit(RowCosts.read(rows.is_positive.size, **numbers))
        if _are_same(costs, fit["_row_costs"]):
            self._odds = fit["_odds"]
            if use.use is None and actions == fit["_actions_of_fit"]:
                self.__dict__.update({name: fit[name] for name in names if name in fit})
        else:
            self._odds = self._odds_for(costs, GivenCosts())
        self._row_costs = costs

    def _say_what_holds(self, before: EstimatorContract) -> list[str]:
        reason = self._why_no_guarantee()
        if self._pairs is not None:
            return ["The correction stays that of cost_range, which has no guarantee."]
        if reason is not None:
            return [f"The correction is found for these costs; there is no guarantee, because {reason}."]
        if self._has_rows:
            return [
                f"The correction and guarantee_ are found again for these costs, from the {self._fold.size:,} "
                "out-of-fold rows; the guarantee holds for costs that nobody chose by looking at these rows."
            ]
        if "_guarantee" in self.__dict__:
            return ["The costs on rows of the fit are those of the fit: correction and guarantee_ stay."]
        return [
            "The correction is found again for these costs, from groups of out-of-fold rows; the guarantee was for the "
            "costs of the fit and is gone: a fit with keep_training_rows=True would find it again."
        ]

    # -- deciding ---------------------------------------------------------------------------------------------------

    def _costs_of_rows(self, count: int, given: GivenCosts, method: str) -> RowCosts:
        """The costs of rows to predict: those given, and the numbers of the fit for the others."""
        fit = self._row_costs
        if not fit.per_row and not given.known:
            return RowCosts(count, fit.fp_regret, fit.fn_regret)
        costs = RowCosts.read(count, **costs_to_score(self._costs_of_fit, given, method))
        warn_outside(self._range_of_fit, costs)
        return self._on_rows_of_fit(costs)

    def _odds_for(self, costs: RowCosts, given: GivenCosts) -> CorrectedOdds:
        """The fit's correction; for other numbers one found for them, unless the fit was for all costs of a range.

        Arrays always have the fit's, also if their entries are equal: the decision on a row must not depend on others.
        """
        if costs.per_row or given.per_row or self._pairs is not None:
            return self._odds
        key, fit = (float(costs.fp_regret), float(costs.fn_regret)), self._row_costs
        if not fit.per_row and key == (fit.fp_regret, fit.fn_regret):
            return self._odds
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._rows.find_correction(
                RowCosts(self._rows.is_positive.size, *key), self.method, int(self.order)
            )
        kept: CorrectedOdds = self._kept[key]
        return kept

    def _thresholds(self, costs: RowCosts, odds: CorrectedOdds) -> np.ndarray:
        """For each row the number with which its probability is compared; infinite if that does not matter."""
        cut = odds.thresholds(costs)
        kept = compress(np.where(np.isfinite(cut), cut, 0.0), self._calibrated.limits)
        return np.where(np.isfinite(cut), expit(self._calibrated.correction.log_odds(kept)), cut)

    def thresholds(self, costs: RowCosts) -> np.ndarray:
        """The probability above which each row is predicted positive.

        Parameters
        ----------
        costs : RowCosts

        Returns
        -------
        ndarray
            0 where positive is always cheaper, 1 where it never is. NaN where both mistakes pay: there a row is
            positive below its threshold.
        """
        self._require_odds()
        costs = self._on_rows_of_fit(costs)
        cut, sign = self._thresholds(costs, self._odds_for(costs, GivenCosts())), costs.thresholds()[1]
        return probability_thresholds(cut, sign)

    def _positive_scores(self, X: Any, given: GivenCosts, method: str) -> np.ndarray:
        """Scores with the threshold 0, positive exactly where the probability is beyond the row's threshold."""
        self._require_odds()
        raw = self._raw_probability(X)
        costs = self._costs_of_rows(raw.size, given, method)
        threshold = self._thresholds(costs, self._odds_for(costs, given))
        log_odds, said = self._calibrated.log_odds(raw), self._is_beyond(raw, threshold, costs)
        score = costs.thresholds()[1] * (log_odds - threshold_log_odds(threshold))
        score = np.where(np.abs(score) <= _TIE * (1 + np.abs(log_odds)), 0.0, score)
        return np.where(said, np.maximum(score, np.finfo(np.float64).tiny), np.minimum(score, 0.0))

    def _evidence(self, X: Any) -> np.ndarray:
        """Log-odds of ``predict_proba``."""
        self._require_odds()
        return self._calibrated.log_odds(self._raw_probability(X))

    def _cut(self, count: int, given: GivenCosts) -> tuple[np.ndarray, np.ndarray]:
        costs = self._costs_of_rows(count, given, "explain")
        return threshold_log_odds(self._thresholds(costs, self._odds_for(costs, given))), costs.thresholds()[1]

    def _probability_of_evidence(self, evidence: np.ndarray, given: GivenCosts) -> np.ndarray:
        return np.asarray(expit(evidence))

    def _is_beyond(self, raw: np.ndarray, threshold: np.ndarray, costs: RowCosts) -> np.ndarray:
        """Whether each row is predicted positive."""
        probability, sign = self._calibrated.probability(raw), costs.thresholds()[1]
        return np.where(sign > 0, probability > threshold, probability < threshold)

    def _decision_probability(self, X: Any, given: GivenCosts) -> tuple[np.ndarray, np.ndarray]:
        """P(positive), which does not depend on the costs, and whether it is above the threshold in use."""
        self._require_odds()
        raw = self._raw_probability(X)
        costs = self._costs_of_rows(raw.size, given, "decide")
        threshold = self._thresholds(costs, self._odds_for(costs, given))
        return self._calibrated.probability(raw), self._is_beyond(raw, threshold, costs)

    def _positive_probability(self, X: Any, given: GivenCosts) -> np.ndarray:
        self._require_odds()
        positive = self._calibrated.probability(self._raw_probability(X))
        if given.known:  # an error for costs that are none
            self._costs_of_rows(positive.size, given, "predict_proba")
        return positive


def _are_same(costs: RowCosts, fit: RowCosts) -> bool:
    """Whether two costs of all rows decide alike, so that one correction is right for both."""
    same = (costs.fp_regret, costs.fn_regret) == (fit.fp_regret, fit.fn_regret) if not fit.per_row else False
    return same and not fit.by_row
