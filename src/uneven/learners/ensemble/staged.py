"""Estimators whose one fit serves several settings: rounds of boosting, and values of C.

Each has, beside ``fit``:

- ``staged_probability(X, positive)``: one column of P(positive) for each setting,
- ``at(number)``: the fitted model of one setting,
- ``chosen(number)``: the estimator to fit for one setting alone.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import make_pipeline

from uneven.costs import GivenCosts
from uneven.learners.linear import UnevenLinearClassifier, fits_along
from uneven.solvers.linear.path import Follower


class BoostingRounds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A booster fitted once with the most rounds; fewer rounds are a part of it.

    Parameters
    ----------
    booster : classifier of CatBoost, LightGBM or XGBoost, or HistGradientBoostingClassifier
    rounds : tuple of int
        In rising order.
    """

    def __init__(self, booster: Any, rounds: tuple[int, ...]) -> None:
        self.booster = booster
        self.rounds = rounds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoostingRounds:
        """Fit the booster with the most rounds."""
        self.booster_ = self.chosen(len(self.rounds) - 1).fit(X, y, sample_weight=sample_weight)
        self.classes_ = np.asarray(self.booster_.classes_)
        return self

    def staged_probability(self, X: Any, positive: Any) -> np.ndarray:
        """One column for each number of rounds."""
        index = self.classes_.tolist().index(positive)
        return np.stack([_after(self.booster_, X, rounds)[:, index] for rounds in self.rounds], axis=1)

    def at(self, number: int) -> FirstRounds:
        """The fitted booster, stopped after one of the numbers of rounds."""
        return FirstRounds(self.booster_, self.rounds[number])

    def chosen(self, number: int) -> Any:
        """The booster with one of the numbers of rounds."""
        return clone(self.booster).set_params(**{_rounds_parameter(self.booster): self.rounds[number]})


class FirstRounds:
    """A fitted booster of which only the first rounds are used."""

    def __init__(self, booster: Any, rounds: int) -> None:
        self.booster = booster
        self.rounds = rounds

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the booster."""
        return np.asarray(self.booster.classes_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities after the first rounds."""
        return _after(self.booster, X, self.rounds)


def _library(booster: Any) -> str:
    return type(booster).__module__.partition(".")[0]


def _rounds_parameter(booster: Any) -> str:
    return {"catboost": "iterations", "sklearn": "max_iter"}.get(_library(booster), "n_estimators")


def _after(booster: Any, X: Any, rounds: int) -> np.ndarray:
    """predict_proba after the first rounds."""
    if rounds == booster.get_params()[_rounds_parameter(booster)]:
        return np.asarray(booster.predict_proba(X))
    match _library(booster):
        case "catboost":
            return np.asarray(booster.predict_proba(X, ntree_end=rounds))
        case "lightgbm":
            return np.asarray(booster.predict_proba(X, num_iteration=rounds))
        case "xgboost":
            return np.asarray(booster.predict_proba(X, iteration_range=(0, rounds)))
        case _:
            return np.asarray(next(islice(booster.staged_predict_proba(X), rounds - 1, None)))


class LinearPath(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression for several C, each fit started from the one before, after a transformer or none.

    Parameters
    ----------
    Cs : tuple of float
        In rising order.
    transformer : transformer, optional
        Fitted once, before all.
    tol : float
        Of the learner. Out-of-fold probabilities need no exact solutions.
    """

    def __init__(self, Cs: tuple[float, ...], transformer: Any = None, tol: float = 1e-4) -> None:
        self.Cs = Cs
        self.transformer = transformer
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearPath:
        """Fit all C."""
        self.transformer_ = None
        if self.transformer is not None:
            self.transformer_ = clone(self.transformer).fit(X)
            X = self.transformer_.transform(X)
        learner = UnevenLinearClassifier(tol=self.tol)
        params = [{"C": C} for C in self.Cs]
        self.models_ = list(
            fits_along(learner, X, y, sample_weight, GivenCosts(), params, Follower(), by="C", proved=False)
        )
        self.classes_ = self.models_[0].classes_
        return self

    def staged_probability(self, X: Any, positive: Any) -> np.ndarray:
        """One column for each C."""
        if self.transformer_ is not None:
            X = self.transformer_.transform(X)
        sign = 1.0 if self.classes_.tolist()[1] == positive else -1.0
        return np.stack([expit(sign * model.decision_function(X)) for model in self.models_], axis=1)

    def at(self, number: int) -> Any:
        """The fitted learner of one C, after the transformer if there is one."""
        model = self.models_[number]
        return model if self.transformer_ is None else make_pipeline(self.transformer_, model)

    def chosen(self, number: int) -> Any:
        """The learner with one C, after the transformer if there is one."""
        learner = UnevenLinearClassifier(C=self.Cs[number], tol=self.tol)
        return learner if self.transformer is None else make_pipeline(clone(self.transformer), learner)


def is_staged(estimator: Any) -> bool:
    """Whether one fit serves several settings."""
    return isinstance(estimator, BoostingRounds | LinearPath)
