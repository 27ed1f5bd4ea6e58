"""What a model says of rows: log-odds, distance from the threshold, decisions and costs; from it or from a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.decisions.alpha import probability_thresholds
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief, probabilities
from uneven.labels import Classes, positive_class, read_labels
from uneven.learners.contract import EstimatorContract, costs_to_score
from uneven.learners.several_actions import have_actions_between
from uneven.metrics.intervals import CostEstimate, estimates
from uneven.monitor.prevalence import ScoredReference, finite_log_odds

#: A row whose label is not known.
UNKNOWN = -1


@dataclass(frozen=True)
class SaidRows:
    """Rows with what was said of them.

    Attributes
    ----------
    log_odds : ndarray
        Of the model's probabilities.
    margin : ndarray
        Log-odds minus those of the row's threshold; 0 where the costs alone decide.
    flagged : ndarray of bool
    costs : RowCosts
    """

    log_odds: np.ndarray
    margin: np.ndarray
    flagged: np.ndarray
    costs: RowCosts

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.flagged.size)


class WatchedModel:
    """A fitted classifier with probabilities, and what its mistakes cost.

    Parameters
    ----------
    model : estimator
        Of this library, or any classifier of scikit-learn; a pipeline of either.
    costs : GivenCosts
        By default those of the model's fit.
    pos_label : label, optional
    """

    def __init__(self, model: Any, costs: GivenCosts, pos_label: Any = None) -> None:
        self.model = model
        last = model[-1] if isinstance(model, Pipeline) else model
        if not hasattr(model, "predict_proba"):
            raise ParameterError(
                f"a monitor needs a fitted classifier with predict_proba, got {brief(last)}; "
                "UnevenThresholdClassifierCV gives one to any classifier"
            )
        check_is_fitted(last)
        self.last, self._given = last, costs
        self._ours = isinstance(last, EstimatorContract)
        if self._ours:
            if have_actions_between(last._actions_of_fit):
                raise ParameterError("a monitor watches two decisions; this model was fitted with further actions")
            self.classes = last._classes
            self._costs = costs.filled(last._costs_of_fit)
        else:
            labels = np.asarray(last.classes_)
            if labels.size != 2:
                raise ParameterError(f"a monitor watches two classes, got {labels.size}")
            self.classes = Classes(labels, positive_class(labels, pos_label, symmetric=False))
            self._costs = costs.filled({"tp_cost": 0.0, "tn_cost": 0.0})
            lacking = [name for name in ("fp_cost", "fn_cost") if self._costs[name] is None]
            if lacking:
                raise CostError(f"{type(last).__name__} knows no costs; give {' and '.join(lacking)} to the monitor")

    @property
    def name(self) -> str:
        """The type of the classifier."""
        return type(self.last).__name__

    def read_costs(self, count: int, given: GivenCosts) -> RowCosts:
        """The costs of rows: those given, and the numbers known for the others."""
        return RowCosts.read(count, **costs_to_score(self._costs, given, "update"))

    def say(self, X: Any, given: GivenCosts) -> SaidRows:
        """What the model says of rows."""
        told = given.filled(self._given) if self._ours else GivenCosts()
        probability = np.asarray(self.model.predict_proba(X, **_numbers(told)), dtype=np.float64)
        flagged = np.asarray(self.model.predict(X, **_numbers(told))) == self.classes.pos_label
        costs = self.read_costs(flagged.size, given)
        return self._rows(probability[:, self.classes.positive], flagged, costs, None)

    def logged(self, probability: Any, flagged: Any, costs: RowCosts, threshold: Any = None) -> SaidRows:
        """The same from what was logged."""
        p, _ = probabilities("probability", probability)
        said = np.asarray(flagged)
        if p.shape != (costs.count,) or said.shape != (costs.count,) or said.dtype.kind != "b":
            raise ParameterError(
                f"probability and flagged must each have one entry for each of {costs.count} rows, flagged True or "
                f"False, got {brief(probability)} and {brief(flagged)}"
            )
        return self._rows(p.astype(np.float64), said, costs, threshold)

    def _rows(self, probability: np.ndarray, flagged: np.ndarray, costs: RowCosts, threshold: Any) -> SaidRows:
        if threshold is None:
            if hasattr(self.last, "thresholds"):
                threshold = self.last.thresholds(costs)
            else:
                threshold = probability_thresholds(*costs.thresholds())
        log_odds = finite_log_odds(probability)
        cut = np.asarray(threshold, dtype=np.float64)
        decided = np.isnan(cut) | (cut <= 0) | (cut >= 1)  # by the costs alone
        margin = np.where(decided, 0.0, log_odds - finite_log_odds(np.where(decided, 0.5, cut)))
        return SaidRows(log_odds, margin, flagged, costs)

    def read_labels(self, y: Any, count: int) -> np.ndarray:
        """1 for positive, 0 for negative, -1 where the label is not known (None or NaN)."""
        if y is None:
            return np.full(count, UNKNOWN, dtype=np.int8)
        labels = np.asarray(y, dtype=object).ravel() if np.ndim(y) == 1 else None
        if labels is None or labels.size != count:
            raise CostError(f"y must hold one label for each of {count:,} rows (None where it is not known)")
        known = np.array([not _is_unknown(label) for label in labels], dtype=bool)
        found = np.full(count, UNKNOWN, dtype=np.int8)
        negative, positive = self.classes.neg_label, self.classes.pos_label
        found[known] = [1 if label == positive else 0 if label == negative else 2 for label in labels[known]]
        if (found == 2).any():
            raise CostError(
                f"y must hold the labels {negative!r} and {positive!r}, got {labels[int(np.argmax(found == 2))]!r}"
            )
        return found

    def out_of_fold(self) -> tuple[ScoredReference, np.ndarray]:
        """The rows that the model's own folds judged, and how far each is from the threshold."""
        rows = self.last._judged_rows() if hasattr(self.last, "_judged_rows") else None
        threshold = getattr(self.last, "threshold_", None) if rows is not None else None
        if rows is None or threshold is None or not self._ours:
            raise ParameterError(
                f"this {self.name} keeps no rows that it did not learn from, with costs that are the same for all; "
                "give reference=(X, y), labelled rows that it did not learn from"
            )
        log_odds = finite_log_odds(np.asarray(rows.probability, dtype=np.float64))
        cut = float(finite_log_odds(np.array([threshold]))[0])
        return ScoredReference(log_odds, rows.is_positive, rows.probability > threshold, rows.weight), log_odds - cut

    def read_reference(self, reference: Any) -> tuple[ScoredReference, np.ndarray, RowCosts, CostEstimate]:
        """Labelled rows, how far they are from the threshold, their costs and what they cost.

        By default those that the model's own folds judged.
        """
        if reference is None:
            scored, margin = self.out_of_fold()
            costs = self.read_costs(scored.is_positive.size, GivenCosts())
            found = getattr(self.last, "out_of_fold_cost_", None)
            if found is None:
                found = _cost_of(costs, scored)
            return scored, margin, costs, found
        parts = reference if isinstance(reference, tuple | list) and len(reference) in (2, 3) else None
        if parts is None:
            raise ParameterError(f"reference must be (X, y) or (X, y, costs), got {brief(reference)}")
        given = GivenCosts(**(parts[2] if len(parts) == 3 else {}))
        said = self.say(parts[0], given)
        read_labels("y of reference", parts[1])
        label = self.read_labels(parts[1], said.count)
        if (label == UNKNOWN).any() or not {0, 1} <= set(label.tolist()):
            raise CostError("reference needs the labels of all its rows, and rows of both classes")
        scored = ScoredReference(said.log_odds, label == 1, said.flagged, np.ones(said.count))
        return scored, said.margin, said.costs, _cost_of(said.costs, scored)

    def with_prevalence(self, prevalence: float) -> Any:
        """The model for another share of positives."""
        if not self._ours:
            raise ParameterError(
                f"{self.name} has no with_costs; wrap it in UnevenThresholdClassifierCV, or decide at "
                "uneven.Cost(...).for_prevalence(...)"
            )
        changed = self.last.with_costs(prevalence=prevalence)
        if not isinstance(self.model, Pipeline):
            return changed
        return Pipeline([*self.model.steps[:-1], (self.model.steps[-1][0], changed)])

    def identity(self) -> dict[str, Any]:
        """What a saved state keeps of the model, to notice that another one is given."""
        known = {name: value for name, value in self._costs.items() if value is not None and not np.ndim(value)}
        labels = [str(label) for label in self.classes.labels.tolist()]
        return {
            "type": self.name,
            "labels": labels,
            "positive": self.classes.positive,
            "costs": {name: float(known[name]) for name in COSTS if name in known},
        }


def _numbers(given: GivenCosts) -> dict[str, Any]:
    """Only the costs that were given: a pipeline hands them to its last step."""
    return dict(given.known)


def _is_unknown(label: Any) -> bool:
    """Whether it is None, NaN, or a missing value of pandas."""
    return label is None or str(label) in {"nan", "NaT", "<NA>"}


def _cost_of(costs: RowCosts, scored: ScoredReference) -> CostEstimate:
    """What the decisions about a reference cost."""
    weight = None if (scored.weight == scored.weight[0]).all() else scored.weight
    return estimates(costs, scored.is_positive, {"reference": scored.flagged[None]}, weight)[0]
