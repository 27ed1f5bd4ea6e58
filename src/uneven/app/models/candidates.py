"""Logistic regression as it is commonly used when costs are unequal: as it is, with class weights, or cut elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from uneven.app.models.asked_learner import AUTO, ENSEMBLE, LINEAR, SVC, AskedLearner, new_ensemble
from uneven.app.models.written_costs import GivenCosts, mean_regrets
from uneven.costs import RowCosts
from uneven.decisions.alpha import probability_thresholds, threshold_log_odds
from uneven.learners.contract import EstimatorContract

PLAIN, WEIGHTED, MOVED = "plain", "weighted", "moved"


class LogisticRule(EstimatorContract, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's logistic regression of the labels 0 and 1, and where its probabilities are cut.

    Parameters
    ----------
    way : {"plain", "weighted", "moved"}
        "plain" ignores the costs. "weighted" weights the positives by fn_cost/fp_cost. "moved" fits as "plain" and
        flags a row where its probability is above fp_cost/(fp_cost + fn_cost).
    fp_cost, fn_cost : float
        What a false positive and a false negative cost more than the right decision.

    Attributes
    ----------
    model_ : LogisticRegression
    used_ : ndarray or None
        Columns of a sparse matrix with a number in a training row; the others would have the coefficient 0.
    classes_ : ndarray
    """

    _positive = 1

    def __init__(self, way: str = PLAIN, fp_cost: float = 1.0, fn_cost: float = 1.0) -> None:
        self.way = way
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost

    def fit(self, X: Any, y: Any) -> LogisticRule:
        """Fit.

        Parameters
        ----------
        X, y

        Returns
        -------
        LogisticRule
        """
        weight = {0: 1.0, 1: self.fn_cost / self.fp_cost} if self.way == WEIGHTED else None
        self.used_ = np.flatnonzero(X.getnnz(axis=0)) if issparse(X) else None
        self.model_ = LogisticRegression(max_iter=2000, class_weight=weight).fit(self._used(X), y)
        self.classes_ = self.model_.classes_
        return self

    def _used(self, X: Any) -> Any:
        return X if self.used_ is None else X[:, self.used_]

    @property
    def moves(self) -> bool:
        """Whether it can decide at other costs than those of the fit."""
        return self.way == MOVED

    def thresholds(self, costs: RowCosts) -> np.ndarray:
        """The probability above which each row is flagged; NaN where it is flagged below.

        Parameters
        ----------
        costs : RowCosts

        Returns
        -------
        ndarray
        """
        if self.way == MOVED:
            return probability_thresholds(*costs.thresholds())
        return np.full(costs.count, 0.5 if self.way == PLAIN else self.fp_cost / (self.fp_cost + self.fn_cost))

    def _positive_scores(self, X: Any, given: dict[str, Any], method: str) -> np.ndarray:
        """Scores whose threshold is 0; only "moved" uses the costs of the rows, by default those of the constructor."""
        check_is_fitted(self, "model_")
        score = np.asarray(self.model_.decision_function(self._used(X)))
        if self.way != MOVED:
            return score
        own = {"fp_cost": self.fp_cost, "fn_cost": self.fn_cost, "tp_cost": 0.0, "tn_cost": 0.0}
        four = own | {name: value for name, value in given.items() if value is not None}
        alpha, sign = RowCosts.read(score.size, **four).thresholds()
        return np.asarray(sign * (score - threshold_log_odds(alpha)))

    def _positive_probability(self, X: Any, given: dict[str, Any]) -> np.ndarray:
        """The weights of "weighted" are taken out again; costs change nothing."""
        check_is_fitted(self, "model_")
        score = self.model_.decision_function(self._used(X))
        if self.way == WEIGHTED:
            score = score - np.log(self.fn_cost / self.fp_cost)
        return np.asarray(expit(score))


# What is compared by cost: what was asked for, what is commonly used when costs are unequal, and constant rules.

#: Names of the constant rules in tables.
EVERYONE, NO_ONE = "flag everyone", "flag no one"
CONSTANT_RULES = (NO_ONE, EVERYONE)
#: Names of the usual alternatives, the simplest first.
ALTERNATIVES = {"plain logistic regression": PLAIN, "threshold-moved": MOVED, "class-weighted": WEIGHTED}


@dataclass(frozen=True)
class Candidate:
    """A classifier that may be fitted.

    Attributes
    ----------
    name : str
    new : callable
        From costs to an estimator of the labels 0 and 1 that is not fitted.
    whole : bool
        Whether it takes the typed columns of a table as they are, without preprocessing.
    moves : bool
        Whether it decides at other costs without a new fit.
    """

    name: str
    new: Callable[[RowCosts], BaseEstimator]
    whole: bool = False
    moves: bool = False

    def pipeline(self, costs: RowCosts, preprocessing: Any) -> Pipeline:
        """From typed columns to decisions; not fitted. ``preprocessing`` may be "passthrough"."""
        first = "passthrough" if self.whole else preprocessing
        return Pipeline([("columns", first), ("classifier", self.new(costs))])


def candidates(wish: AskedLearner, given: GivenCosts, costs: RowCosts, seconds: float | None = None) -> list[Candidate]:
    """Everything that is compared, the simplest first; ``seconds`` is the time limit of one fit of an ensemble."""
    found = [
        Candidate(NO_ONE, _constant(0), whole=True, moves=True),
        Candidate(EVERYONE, _constant(1), whole=True, moves=True),
        *(Candidate(name, _logistic(way), moves=way != WEIGHTED) for name, way in ALTERNATIVES.items()),
    ]
    if wish.kind in (LINEAR, SVC) or wish.tune:
        found.append(Candidate(_learner_name(wish), _learner(wish, given, costs)))
    if wish.has_ensemble:
        new = _ensemble(wish, given, seconds)
        found.append(Candidate(ENSEMBLE, new, whole=True, moves=True))
    return found


def savable(wish: AskedLearner, found: list[Candidate]) -> list[Candidate]:
    """The candidates that may be saved: with "auto" all that look at a row, else the one that was asked for."""
    return [c for c in found if c.name not in CONSTANT_RULES] if wish.kind == AUTO else found[-1:]


def _constant(label: int) -> Callable[[RowCosts], BaseEstimator]:
    return lambda _: DummyClassifier(strategy="constant", constant=label)


def _logistic(way: str) -> Callable[[RowCosts], BaseEstimator]:
    def new(costs: RowCosts) -> BaseEstimator:
        fp, fn = mean_regrets(costs)
        return LogisticRule(way, fp, fn)

    return new


def _learner(wish: AskedLearner, given: GivenCosts, own: RowCosts) -> Callable[[RowCosts], BaseEstimator]:
    def new(costs: RowCosts) -> BaseEstimator:
        exact = given.numbers() if costs is own and not given.per_row else None
        return wish.learner(costs, per_row=given.per_row, numbers=exact)

    return new


def _learner_name(wish: AskedLearner) -> str:
    name = "uneven SVM" if wish.kind == SVC else "uneven linear"
    return f"{name} (tuned)" if wish.tune else name


def _ensemble(wish: AskedLearner, given: GivenCosts, seconds: float | None) -> Callable[[RowCosts], BaseEstimator]:
    return lambda costs: new_ensemble(costs, per_row=given.per_row, members=wish.members, seconds=seconds)
