"""What is compared by cost: what was asked for, what is commonly used when costs are unequal, and constant rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from uneven.cli.decisions.ensembles import new_ensemble
from uneven.cli.decisions.given_costs import GivenCosts, mean_regrets
from uneven.cli.decisions.logistic_rules import MOVED, PLAIN, WEIGHTED, LogisticRule
from uneven.cli.decisions.wish import AUTO, ENSEMBLE, LINEAR, SVC, Wish
from uneven.costs import RowCosts

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


def candidates(wish: Wish, given: GivenCosts, costs: RowCosts, seconds: float | None = None) -> list[Candidate]:
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


def wished(wish: Wish, found: list[Candidate]) -> list[Candidate]:
    """The candidates that may be saved: with "auto" all that look at a row, else the one that was asked for."""
    return [c for c in found if c.name not in CONSTANT_RULES] if wish.kind == AUTO else found[-1:]


def _constant(label: int) -> Callable[[RowCosts], BaseEstimator]:
    return lambda _: DummyClassifier(strategy="constant", constant=label)


def _logistic(way: str) -> Callable[[RowCosts], BaseEstimator]:
    def new(costs: RowCosts) -> BaseEstimator:
        fp, fn = mean_regrets(costs)
        return LogisticRule(way, fp, fn)

    return new


def _learner(wish: Wish, given: GivenCosts, own: RowCosts) -> Callable[[RowCosts], BaseEstimator]:
    def new(costs: RowCosts) -> BaseEstimator:
        exact = given.numbers() if costs is own and not given.per_row else None
        return wish.learner(costs, per_row=given.per_row, numbers=exact)

    return new


def _learner_name(wish: Wish) -> str:
    name = "uneven SVM" if wish.kind == SVC else "uneven linear"
    return f"{name} (tuned)" if wish.tune else name


def _ensemble(wish: Wish, given: GivenCosts, seconds: float | None) -> Callable[[RowCosts], BaseEstimator]:
    return lambda costs: new_ensemble(costs, per_row=given.per_row, members=wish.members, seconds=seconds)
