"""Expected costs of several classifiers on the same folds, with confidence intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from uneven.errors import UnevenError

_DRAWS = 2000


@dataclass(frozen=True)
class Measured:
    """The cost per example of one classifier: its mean, and a 95 % interval from a bootstrap over examples."""

    name: str
    cost: float
    low: float
    high: float
    false_positives: float
    false_negatives: float

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


def measured(name: str, per_example: np.ndarray, fp: float, fn: float) -> Measured:
    """From the cost of each example, averaged over repeats."""
    random = np.random.default_rng(0)
    draws = random.integers(0, per_example.size, size=(_DRAWS, per_example.size))
    means = per_example[draws].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Measured(name, float(per_example.mean()), float(low), float(high), fp, fn)


def costs_of(y: np.ndarray, guess: np.ndarray, fp_cost: float, fn_cost: float) -> np.ndarray:
    """What each example costs."""
    return np.where(guess > y, fp_cost, 0.0) + np.where(guess < y, fn_cost, 0.0)


def compare(
    models: dict[str, BaseEstimator],
    X: Any,
    y: np.ndarray,
    *,
    fp_cost: float,
    fn_cost: float,
    repeats: int = 2,
    folds: int = 5,
    progress: Callable[[str, float], None] = lambda *_: None,
) -> list[Measured]:
    """Cross-validated cost per example of each model, all on the same repeated stratified folds."""
    fewest = int(min(y.sum(), (1 - y).sum()))
    if fewest < 2:
        raise UnevenError(f"cross-validation needs two examples of each class, got {fewest} of one")
    folds = min(folds, fewest)
    found = {name: np.zeros(y.size) for name in models}
    errors = {name: [0, 0] for name in models}
    for repeat in range(repeats):
        split = StratifiedKFold(folds, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(split.split(np.zeros(y.size), y)):
            share = (repeat * folds + fold) / (repeats * folds)
            progress(f"repeat {repeat + 1} of {repeats}, fold {fold + 1} of {folds}", share)
            for name, model in models.items():
                guess = _guessed(model, X, y, train, test)
                found[name][test] += costs_of(y[test], guess, fp_cost, fn_cost) / repeats
                errors[name][0] += int((guess > y[test]).sum())
                errors[name][1] += int((guess < y[test]).sum())
    return [measured(name, found[name], *(count / repeats for count in errors[name])) for name in models]


def _guessed(model: BaseEstimator, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    taken = X.iloc if hasattr(X, "iloc") else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(clone(model).fit(taken[train], y[train]).predict(taken[test])).astype(int)


def constant_rules(y: np.ndarray, fp_cost: float, fn_cost: float) -> list[Measured]:
    """What it costs to say the same of everyone."""
    rules = {"never positive": np.zeros_like(y), "always positive": np.ones_like(y)}
    return [
        measured(name, costs_of(y, guess, fp_cost, fn_cost), float((guess > y).sum()), float((guess < y).sum()))
        for name, guess in rules.items()
    ]
