"""Classifiers compared by expected cost on the same folds, with bootstrap confidence intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from uneven._inputs import Exact
from uneven.costs import Cost, RowCosts
from uneven.errors import CostError
from uneven.metrics.labels import read_labels, where_positive

_DRAWS = 2000
_MOST_NUMBERS = 2_000_000  # held in memory at once by the bootstrap


@dataclass(frozen=True)
class CostEstimate:
    """Expected cost of one classifier, with a 95 % bootstrap interval over the examples.

    Attributes
    ----------
    name : str
    cost : float
        Mean cost per example.
    low, high : float
        Ends of the interval.
    false_positives, false_negatives : float
        Number of mistakes of each kind, averaged over the repeats of a cross-validation.
    """

    name: str
    cost: float
    low: float
    high: float
    false_positives: float
    false_negatives: float

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    fp_cost: Exact = 1.0,
    fn_cost: Exact = 1.0,
    pos_label: Any = None,
    folds: int = 5,
    repeats: int = 2,
    progress: Callable[[str, float], None] | None = None,
) -> list[CostEstimate]:
    """Cross-validated expected cost of several classifiers, all on the same repeated stratified folds.

    Parameters
    ----------
    models : mapping of str to estimator
        Classifiers by name; each is cloned for every fold.
    X : array-like of shape (n, features)
        Anything scikit-learn can index: array, sparse matrix, data frame.
    y : array-like of shape (n,)
        Labels of two classes.
    fp_cost, fn_cost, pos_label
        As in :func:`expected_cost`.
    folds, repeats : int
        The number of folds is lowered to the number of examples of the rarer class.
    progress : callable, optional
        Called before each fold with a message and the share of the work that is done.

    Returns
    -------
    list of CostEstimate
        In the order of ``models``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from uneven.metrics import compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {k: DummyClassifier(strategy="constant", constant=v) for k, v in {"malignant": 0, "benign": 1}.items()}
    >>> for row in compare(models, X, y, fp_cost=1, fn_cost=20, pos_label=0):
    ...     print(f"{row.name:10s} {row.cost:.2f} ({row.low:.2f} to {row.high:.2f})")
    malignant  0.63 (0.59 to 0.67)
    benign     7.45 (6.68 to 8.22)
    """
    from sklearn.model_selection import StratifiedKFold

    cost = Cost(fp_cost=fp_cost, fn_cost=fn_cost)  # type: ignore[arg-type]
    labels = read_labels("y", y)
    (is_positive,) = where_positive(pos_label, labels)
    fewest = int(min(is_positive.sum(), (~is_positive).sum()))
    if fewest < 2:
        raise CostError(f"cross-validation needs two examples of each class, got {fewest} of one")
    folds = min(folds, fewest)
    positive = labels[is_positive][0]
    tallies = {name: _Tally(cost, is_positive) for name in models}
    for repeat in range(repeats):
        split = StratifiedKFold(folds, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(split.split(np.zeros(labels.size), is_positive)):
            if progress is not None:
                share = (repeat * folds + fold) / (repeats * folds)
                progress(f"repeat {repeat + 1} of {repeats}, fold {fold + 1} of {folds}", share)
            for name, model in models.items():
                predicted = _predicted(model, X, labels, train, test)
                tallies[name].add(test, predicted == positive)
    return [tally.estimate(name, repeats) for name, tally in tallies.items()]


def constant_costs(is_positive: np.ndarray, cost: Cost) -> list[CostEstimate]:
    """What it costs to predict everyone negative, and everyone positive."""
    everyone = np.ones(is_positive.size, dtype=bool)
    rules = {"never positive": ~everyone, "always positive": everyone}
    return [estimated_cost(name, cost, is_positive, said) for name, said in rules.items()]


def estimated_cost(name: str, cost: Cost, is_positive: np.ndarray, said_positive: np.ndarray) -> CostEstimate:
    """The estimate from one decision per example."""
    tally = _Tally(cost, is_positive)
    tally.add(np.arange(is_positive.size), said_positive)
    return tally.estimate(name, repeats=1)


class _Tally:
    """Costs of each example and numbers of mistakes, summed over repeats."""

    def __init__(self, cost: Cost, is_positive: np.ndarray) -> None:
        self.cost, self.is_positive = cost, is_positive
        self.costs = np.zeros(is_positive.size)
        self.false_positives = self.false_negatives = 0

    def add(self, rows: np.ndarray, said_positive: np.ndarray) -> None:
        truth = self.is_positive[rows]
        self.costs[rows] += RowCosts.of(self.cost, rows.size).paid(truth, said_positive)
        self.false_positives += int((~truth & said_positive).sum())
        self.false_negatives += int((truth & ~said_positive).sum())

    def estimate(self, name: str, repeats: int) -> CostEstimate:
        costs = self.costs / repeats
        low, high = bootstrap_interval(costs)
        mistakes = (self.false_positives / repeats, self.false_negatives / repeats)
        return CostEstimate(name, float(costs.mean()), low, high, *mistakes)


def bootstrap_interval(values: np.ndarray) -> tuple[float, float]:
    """A 95 % interval for the mean: quantiles of the means of 2000 resamples.

    How often each distinct value occurs in a resample is multinomial. There are few distinct costs, so this needs
    little memory however many examples there are.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.metrics.comparison import bootstrap_interval
    >>> low, high = bootstrap_interval(np.repeat([0.0, 1.0], 5000))
    >>> bool(abs(low - 0.4902) < 0.001 and abs(high - 0.5098) < 0.001)
    True
    """
    random = np.random.default_rng(0)
    distinct, counts = np.unique(values, return_counts=True)
    at_once = max(1, _MOST_NUMBERS // distinct.size)
    means = np.concatenate(
        [
            random.multinomial(values.size, counts / values.size, size=min(at_once, _DRAWS - start)) @ distinct
            for start in range(0, _DRAWS, at_once)
        ]
    )
    low, high = np.quantile(means / values.size, [0.025, 0.975])
    return float(low), float(high)


def _predicted(model: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import _safe_indexing

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(model).fit(_safe_indexing(X, train), y[train])
        return np.asarray(fitted.predict(_safe_indexing(X, test)))
