"""What may be fitted to several classes with a cost matrix, and what is decided without one: the likeliest class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from uneven.app.models.candidates import (
    ALWAYS,
    ENSEMBLE,
    LINEAR,
    MOVED,
    PLAIN,
    SVC,
    WEIGHTED,
    AskedLearner,
    Candidate,
)
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import UnevenError

if TYPE_CHECKING:
    from uneven.app.models.compare_candidates import Rows

#: Names of the usual alternatives, the simplest first.
CLASS_ALTERNATIVES = {
    "plain logistic regression": PLAIN,
    "logistic, cheapest decision": MOVED,
    "class-weighted": WEIGHTED,
}
#: What is added to the name of a model whose likeliest class is taken, whatever the costs.
LIKELIEST = ", likeliest class"
#: The least weight of a class, as a share of the largest: one that costs nothing must not vanish from a fit.
_LEAST_WEIGHT = 1e-3


def require_for_classes(asked: AskedLearner) -> None:
    """Raise if what was asked for knows two classes only."""
    for option, given in (
        ("--learner svc", asked.kind == SVC),
        ("--tune", asked.tune),
        ("--gamma", asked.gamma is not None),
        ("--monotone", bool(asked.monotone)),
    ):
        if given:
            raise UnevenError(f"{option} is for two classes; with --costs of several classes leave it out")
    if asked.loss not in (None, "logistic"):
        raise UnevenError(
            f"--loss {asked.loss} has no probabilities of several classes; with --costs the linear learner has the "
            "loss logistic"
        )


def actions_of_classes(matrix: CostMatrix) -> np.ndarray:
    """What one does who believes in a class: the action of its name, else the cheapest one in that class."""
    cheapest = (matrix.costs - matrix.costs.min(axis=1, keepdims=True)).argmin(axis=1)
    actions = list(matrix.actions)
    return np.array([actions.index(y) if y in actions else cheapest[k] for k, y in enumerate(matrix.classes)])


class LogisticClassRule(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's logistic regression of several classes, and what is done with its probabilities.

    Parameters
    ----------
    way : {"plain", "weighted", "moved"}
        "plain" takes the likeliest class, whatever the costs. "weighted" does so after a fit that weights each class by
        the mean cost of its mistakes. "moved" fits as "plain" and takes the action of the least expected cost.
    costs : CostMatrix

    Attributes
    ----------
    model_ : LogisticRegression
    costs_ : CostMatrix
        With its classes in the order of ``classes_``.
    classes_ : ndarray
    """

    is_linear = True

    def __init__(self, way: str = PLAIN, costs: CostMatrix | None = None) -> None:
        self.way = way
        self.costs = costs

    def fit(self, X: Any, y: Any) -> LogisticClassRule:
        """Fit.

        Parameters
        ----------
        X, y

        Returns
        -------
        LogisticClassRule
        """
        assert self.costs is not None
        self.costs_ = self.costs.for_classes(np.unique(y).tolist())
        weight = None  # not class_weight, which takes the texts "1" and "2" for numbers
        if self.way == WEIGHTED:
            weight = self._weights[self.costs_.number_classes("y", y)]
        self.model_ = LogisticRegression(max_iter=2000).fit(X, y, sample_weight=weight)
        self.classes_ = self.model_.classes_
        return self

    @property
    def _weights(self) -> np.ndarray:
        dear = (self.costs_.costs - self.costs_.costs.min(axis=1, keepdims=True)).mean(axis=1)
        return np.asarray(np.maximum(dear / dear.max(), _LEAST_WEIGHT))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes; the weights of "weighted" are taken out again.

        Parameters
        ----------
        X

        Returns
        -------
        ndarray of shape (n, classes)
        """
        check_is_fitted(self, "model_")
        found = np.asarray(self.model_.predict_proba(X))
        if self.way != WEIGHTED:
            return found
        found = found / self._weights
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    @property
    def moves(self) -> bool:
        """Whether it can decide at other costs than those of the fit."""
        return self.way == MOVED

    def predict(self, X: Any, *, costs: CostMatrix | None = None) -> np.ndarray:
        """The action of each row.

        Parameters
        ----------
        X
        costs : CostMatrix, optional
            In place of those of the fit; only "moved" uses it.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self, "model_")
        if self.moves:
            at = self.costs_ if costs is None else costs.for_classes(self.classes_.tolist())
            return np.asarray(at.decide(self.predict_proba(X)))
        likeliest = np.asarray(self.model_.predict_proba(X)).argmax(axis=1)
        return self.costs_.label_actions(actions_of_classes(self.costs_)[likeliest])


class AlwaysAction(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same action for every row.

    Parameters
    ----------
    action : label
    """

    def __init__(self, action: Any = None) -> None:
        self.action = action

    def fit(self, X: Any, y: Any) -> AlwaysAction:
        """Remember the classes.

        Parameters
        ----------
        X, y

        Returns
        -------
        AlwaysAction
        """
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The action.

        Parameters
        ----------
        X

        Returns
        -------
        ndarray
        """
        return np.full(len(X), self.action)


def class_candidates(asked: AskedLearner, matrix: CostMatrix, seconds: float | None = None) -> list[Candidate]:
    """Everything that is compared, the simplest first; ``seconds`` is the time limit of one fit of an ensemble."""

    def always(action: Any) -> Callable[[Any], BaseEstimator]:
        return lambda _: AlwaysAction(action)

    def logistic(way: str) -> Callable[[Any], BaseEstimator]:
        return lambda costs: LogisticClassRule(way, costs)

    found = [Candidate(f"{ALWAYS}{action}", always(action), whole=True) for action in matrix.actions]
    found += [Candidate(name, logistic(way)) for name, way in CLASS_ALTERNATIVES.items()]
    if asked.kind == LINEAR:
        found.append(Candidate("uneven linear", _linear))
    if asked.has_ensemble:
        found.append(Candidate(ENSEMBLE, _ensemble(asked, seconds), whole=True, makes_folds=True))
    return found


def _linear(costs: CostMatrix) -> BaseEstimator:
    from uneven.learners.multinomial import UnevenMultinomialClassifier

    return UnevenMultinomialClassifier(costs=costs)


def _ensemble(asked: AskedLearner, seconds: float | None) -> Callable[[Any], BaseEstimator]:
    def new(costs: CostMatrix) -> BaseEstimator:
        from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier

        members = list(asked.members) or "auto"
        return UnevenEnsembleClassifier(members=members, time_limit=seconds, random_state=0, costs=costs)

    return new


def class_decisions(candidate: Candidate, seen: Rows, unseen: Rows) -> dict[str, np.ndarray]:
    """The action of each unseen row by a candidate; for an ensemble also that of its likeliest class."""
    matrix = unseen.costs
    assert isinstance(matrix, CostMatrix)
    model = seen.fit(candidate, seen.costs)
    features, last = model[:-1].transform(unseen.X), model[-1]
    found = {candidate.name: matrix.number_actions("predictions", last.predict(features))}
    if candidate.name == ENSEMBLE:
        known = matrix.for_classes(np.asarray(last.classes_).tolist())
        likeliest = np.asarray(last.predict_proba(features)).argmax(axis=1)
        found[f"{ENSEMBLE}{LIKELIEST}"] = actions_of_classes(known)[likeliest]
    return found
