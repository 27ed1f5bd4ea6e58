"""One fold of the study of several classes: every learner is fitted once, then every rule decides for every matrix.

Learners that do not know the costs (the members of UnevenEnsembleClassifier, and the resamples of MetaCost) are fitted
once: out of fold on five inner folds, and on all training rows. :class:`Stored` plays a classifier whose predictions
are known, so UnevenThresholdClassifierCV and CalibratedClassifierCV run as they are. Learners that need the costs are
fitted for each matrix.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold

import uneven
from uneven.decisions.class_shifts import ClassRows, calibrate, find_shifts
from uneven.learners.ensemble.final_models import final_models
from uneven.learners.ensemble.member_models import has_settings
from uneven.learners.ensemble.members import FAMILIES, Size, choose_families
from uneven.learners.ensemble.mixture import Views
from uneven.learners.ensemble.training import Choice, Entry, Task, Trial, run_folds
from uneven.learners.ensemble.weights import WEIGHTINGS, log_losses
from uneven.learners.out_of_fold import AllClasses

INNER_FOLDS = 5
ENSEMBLE = "UnevenEnsembleClassifier"
#: Single learners by the family of the ensemble that holds their settings.
BASES = {"LR": "linear", "LightGBM": "lightgbm", "CatBoost": "catboost"}
CALIBRATIONS = ("sigmoid", "isotonic", "temperature")
#: Resamples of MetaCost. Its author used 50; ten for the time.
RESAMPLES = 10
#: Values of C that UnevenMultinomialClassifier chooses from by cost: those of the ensemble's linear member for softmax,
#: and for a phi, whose scores are fitted to costs and not to probabilities, ten times as large.
SOFTMAX_CS = (0.001, 0.01, 0.1, 1.0)
PHI_CS = (0.01, 0.1, 1.0, 10.0)
PHIS = {"squared_hinge": "squared_hinge", "phi logistic": uneven.phi("logistic")}


@dataclass
class Unit:
    """What one fold gave: the cost of the test rows by kind of matrix and method, and processor seconds."""

    paid: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def timed(self, method: str) -> Iterator[None]:
        """Add processor seconds; a method that fails is named."""
        started = time.process_time()
        try:
            yield
        except Exception as error:
            self.failed[method] = f"{type(error).__name__}: {str(error)[:120]}"
        self.seconds[method] = self.seconds.get(method, 0.0) + time.process_time() - started


@dataclass(frozen=True)
class Fitted:
    """A learner that does not know the costs: probabilities of all classes, out of fold and of the test rows."""

    inner: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Fold:
    """Training rows and test rows, as everything here sees them."""

    y: np.ndarray
    truth: np.ndarray
    splits: Sequence[tuple[np.ndarray, np.ndarray]]
    views: Views
    new: dict[str, np.ndarray]

    @property
    def classes(self) -> np.ndarray:
        return np.unique(self.y)

    def known(self, view: str) -> np.ndarray:
        """The training rows in a view of the ensemble."""
        return dense(self.views.of(view).train)


class Stored(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are known: those out of fold, and from ``len(out_of_fold)`` on test rows.

    X is a column of row numbers.
    """

    def __init__(self, out_of_fold: np.ndarray | None = None, test: np.ndarray | None = None) -> None:
        self.out_of_fold = out_of_fold
        self.test = test

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stored:
        self.classes_ = np.arange(self.out_of_fold.shape[1])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.concatenate([self.out_of_fold, self.test])[np.asarray(X)[:, 0].astype(int)]


class OrConstant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that may be given rows of one class only, or none: then it says this class, or 0, of every row."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> OrConstant:
        self.classes_ = np.unique(y)
        if self.classes_.size > 1:
            self.fitted_ = clone(self.classifier).fit(X, y, sample_weight=sample_weight)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        if self.classes_.size < 2:
            return np.full(len(X), self.classes_[0] if self.classes_.size else 0)
        return np.asarray(self.fitted_.predict(X)).reshape(-1)


class KeptViews(Views):
    """Views that are made once for all families; the ensemble forgets them when no member needs them."""

    def forget(self, view: str, fold: int | None = None) -> None:
        """Keep it."""

    def forget_folds(self) -> None:
        """Keep them."""


def dense(matrix: Any) -> np.ndarray:
    """A matrix as an array."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def cheapest(probability: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The action of least expected cost."""
    return np.asarray((probability @ costs).argmin(axis=1))


def run(X: Any, y: np.ndarray, matrices: dict[str, np.ndarray], train: np.ndarray, test: np.ndarray, seed: int) -> Unit:
    """All methods on one outer fold. Matrices have a row for each class and a column for each action."""
    unit = Unit()
    rows, own = X.iloc[train].reset_index(drop=True), y[train]
    splits = list(StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed).split(rows, own))
    views = KeptViews(rows, own, splits)
    task = Task(rows, own, AllClasses(np.unique(own)), own, None, splits, 1, None, views)
    sizes = {}
    for view in ("linear", "trees"):
        matrix = views.of(view).train
        sizes[view] = [Size(matrix.shape[0], max(1, matrix.shape[1]), hasattr(matrix, "toarray"))]
    new = {view: dense(views.encoder(view).transform(X.iloc[test])) for view in sizes}
    fold = Fold(own, y[test], splits, views, new)
    learnt, trials = _learn(unit, task, sizes, X.iloc[test])
    bagged = {base: _bag(unit, fold, base, trials[BASES[base]]) for base in ("LR", "LightGBM")}
    for kind, costs in matrices.items():
        said: dict[str, np.ndarray] = {}
        _blind(unit, said, fold, learnt, costs)
        _ours(unit, said, fold, learnt, trials["linear"], costs)
        _told(unit, said, fold, trials, costs)
        for base, probability in bagged.items():
            with unit.timed(f"{base}, MetaCost"):
                said[f"{base}, MetaCost"] = _metacost(fold, base, trials[BASES[base]], probability, costs)
        unit.paid[kind] = {method: float(costs[fold.truth, it].sum()) for method, it in said.items()}
    return unit


# -- learners that do not know the costs ------------------------------------------------------------------------------


def _learn(
    unit: Unit, task: Task, sizes: dict[str, list[Size]], new_rows: Any
) -> tuple[dict[str, Fitted], dict[str, Trial]]:
    """Every member that the ensemble has by default, by the ensemble's own code."""
    learnt, trials = {}, {}
    for family in choose_families(sizes):
        if not family.several:
            continue
        with unit.timed(family.name):
            candidates = FAMILIES[family.name].candidates(sizes[family.view][0], 0)
            entries = [Entry(family.name, candidate, family.view) for candidate in candidates]
            trial = run_folds(task, entries, lambda entry: None)
            mixture, _ = final_models(task, trial, {family.name: 1.0}, lambda told: None)
            learnt[family.name] = Fitted(trial.choices[family.name].probability, mixture.probability(new_rows))
            trials[family.name] = trial
    return learnt, trials


def _model(base: str, trial: Trial) -> tuple[Any, str]:
    """The unfitted learner at its chosen setting, and its view."""
    choice: Choice = trial.choices[BASES[base]]
    if base == "LR":
        C = choice.entry.candidate.settings[choice.number]["C"]
        return LogisticRegression(C=C, max_iter=1000), "linear"
    estimator = choice.entry.candidate.estimator
    return estimator.unfitted_at(choice.number) if has_settings(estimator) else clone(estimator), "trees"


def _bag(unit: Unit, fold: Fold, base: str, trial: Trial) -> np.ndarray:
    """MetaCost's first half: each training row's probabilities, the mean over the resamples that it is not in."""
    with unit.timed(f"{base}, MetaCost"):
        model, view = _model(base, trial)
        X, y = fold.known(view), fold.y
        random = np.random.default_rng(0)
        sums = np.zeros((2, y.size, fold.classes.size))
        for _ in range(RESAMPLES):
            drawn = random.integers(y.size, size=y.size)
            fitted = clone(model).fit(X[drawn], y[drawn])
            outside = np.setdiff1d(np.arange(y.size), drawn)
            said = np.zeros((y.size, fold.classes.size))
            said[:, np.asarray(fitted.classes_).astype(int)] = fitted.predict_proba(X)
            sums[0, outside] += said[outside]
            sums[1] += said
        found = np.where(sums[0].sum(axis=1, keepdims=True) > 0, sums[0], sums[1])
        return np.asarray(found / found.sum(axis=1, keepdims=True))
    return np.empty(0)


def _metacost(fold: Fold, base: str, trial: Trial, probability: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """MetaCost's second half: the learner is fitted to the cheapest action of each training row."""
    model, view = _model(base, trial)
    relabelled = cheapest(probability, costs)
    return OrConstant(model).fit(fold.known(view), relabelled).predict(fold.new[view])


# -- rules that decide from probabilities ------------------------------------------------------------------------------


def _as_rows(fitted: Fitted) -> tuple[Stored, np.ndarray, np.ndarray]:
    count = len(fitted.inner)
    numbers = np.arange(count + len(fitted.test), dtype=float)[:, None]
    return Stored(fitted.inner, fitted.test), numbers[:count], numbers[count:]


def _blind(unit: Unit, said: dict[str, np.ndarray], fold: Fold, learnt: dict[str, Fitted], costs: np.ndarray) -> None:
    for base, family in BASES.items():
        fitted = learnt[family]
        said[f"{base}, argmax"] = fitted.test.argmax(axis=1)
        said[f"{base}, argmin"] = cheapest(fitted.test, costs)
        stored, known, new = _as_rows(fitted)
        for method in CALIBRATIONS:
            with unit.timed(f"{base}, {method}"):
                model = CalibratedClassifierCV(stored, method=method, cv=fold.splits, ensemble=False)
                said[f"{base}, {method}, argmin"] = cheapest(model.fit(known, fold.y).predict_proba(new), costs)
        with unit.timed(f"{base}, rule"):
            said[f"{base}, UnevenThresholdClassifierCV"] = corrected(fitted, fold.y, fold.splits, costs, 8)


def corrected(fitted: Fitted, y: np.ndarray, splits: Any, costs: np.ndarray, order: int) -> np.ndarray:
    """What UnevenThresholdClassifierCV says of the test rows."""
    stored, known, new = _as_rows(fitted)
    matrix = uneven.CostMatrix(costs, list(range(len(costs))), list(range(costs.shape[1])))
    model = uneven.UnevenThresholdClassifierCV(stored, costs=matrix, cv=splits, order=order)
    return np.asarray(model.fit(known, y).predict(new)).astype(int)


def _ours(
    unit: Unit, said: dict[str, np.ndarray], fold: Fold, learnt: dict[str, Fitted], path: Trial, costs: np.ndarray
) -> None:
    table = np.stack([fitted.inner for fitted in learnt.values()], axis=1)
    weights = WEIGHTINGS["half_greedy"](table, fold.y, np.ones(fold.y.size))
    tests = np.stack([fitted.test for fitted in learnt.values()], axis=1)
    mixed = Fitted(np.einsum("nmk,m->nk", table, weights), np.einsum("nmk,m->nk", tests, weights))
    with unit.timed("ensemble, rule"):
        said[ENSEMBLE] = corrected(mixed, fold.y, fold.splits, costs, 4)
    rows = ClassRows(mixed.inner, fold.y, np.ones(fold.y.size), costs)
    rule = calibrate(rows)
    said["ensemble, no calibration"] = cheapest(mixed.test, costs)
    said["ensemble, no shifts"] = rule.act(mixed.test, costs)
    said["ensemble, shifts always"] = rule.with_shifts(find_shifts(rows, rule, "gibbs", 4)).act(mixed.test, costs)
    best = learnt[_best(learnt, table, fold.y)]
    alone = calibrate(ClassRows(best.inner, fold.y, np.ones(fold.y.size), costs))
    said["ensemble, best member, no shifts"] = alone.act(best.test, costs)
    with unit.timed("UnevenMultinomialClassifier"):
        said["UnevenMultinomialClassifier"] = _softmax(fold, path, costs)
    for name, loss in PHIS.items():
        with unit.timed(f"UnevenMultinomialClassifier, {name}"):
            said[f"UnevenMultinomialClassifier, {name}"] = _surrogate(fold, loss, costs)


def _best(learnt: dict[str, Fitted], table: np.ndarray, y: np.ndarray) -> str:
    return list(learnt)[int(np.argmin(log_losses(table, y, np.ones(y.size))))]


def _softmax(fold: Fold, path: Trial, costs: np.ndarray) -> np.ndarray:
    """Multinomial logistic regression, C by the cost out of fold: the fits of the ensemble's linear member serve."""
    columns = np.concatenate(path.columns["linear"], axis=1)
    paid = [costs[fold.y, cheapest(columns[:, k], costs)].sum() for k in range(columns.shape[1])]
    model = uneven.UnevenMultinomialClassifier(C=SOFTMAX_CS[int(np.argmin(paid))]).fit(fold.known("linear"), fold.y)
    return cheapest(model.predict_proba(fold.new["linear"]), costs)


def _surrogate(fold: Fold, loss: Any, costs: np.ndarray) -> np.ndarray:
    """A convex phi times the costs, C by the cost out of fold."""
    classes, actions = list(range(len(costs))), list(range(costs.shape[1]))
    matrix = uneven.CostMatrix(costs, classes, actions)

    def fitted(C: float, X: np.ndarray, y: np.ndarray) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return uneven.UnevenMultinomialClassifier(loss, costs=matrix, C=C, tol=1e-3, max_iter=300).fit(X, y)

    paid = np.zeros(len(PHI_CS))
    for number, (train, test) in enumerate(fold.splits):
        encoded = fold.views.of("linear", number)
        for k, C in enumerate(PHI_CS):
            taken = fitted(C, dense(encoded.train), fold.y[train]).predict(dense(encoded.test)).astype(int)
            paid[k] += costs[fold.y[test], taken].sum()
    model = fitted(PHI_CS[int(np.argmin(paid))], fold.known("linear"), fold.y)
    return np.asarray(model.predict(fold.new["linear"])).astype(int)


# -- learners that are told the costs ---------------------------------------------------------------------------------


def _told(unit: Unit, said: dict[str, np.ndarray], fold: Fold, trials: dict[str, Trial], costs: np.ndarray) -> None:
    methods: dict[str, Callable[[], np.ndarray]] = {}
    worth = costs.sum(axis=1)[fold.y]
    weight = worth / worth.mean()
    for base, family in BASES.items():
        model, view = _model(base, trials[family])

        def weighted(model: Any = model, view: str = view) -> np.ndarray:
            fitted = model.fit(fold.known(view), fold.y, sample_weight=weight)
            return np.asarray(fitted.predict(fold.new[view])).reshape(-1).astype(int)

        methods[f"{base}, class weights"] = weighted
    methods |= _costsensitive(fold, trials, costs)
    for name, decide in methods.items():
        with unit.timed(name):
            said[name] = decide()


def _costsensitive(fold: Fold, trials: dict[str, Trial], costs: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """Reductions of the package costsensitive, over LR at its chosen C, ridge regression and LightGBM."""
    from costsensitive import FilterTree, RegressionOneVsRest, WeightedAllPairs, WeightedOneVsRest
    from lightgbm import LGBMClassifier, LGBMRegressor

    paid = np.ascontiguousarray(costs[fold.y])
    linear, _ = _model("LR", trials["linear"])
    leaves = {"n_estimators": 50, "num_leaves": 7, "min_child_samples": 10, "n_jobs": 1, "verbosity": -1}

    def reduced(reduction: Any, view: str) -> Callable[[], np.ndarray]:
        def decide() -> np.ndarray:
            return np.asarray(reduction.fit(fold.known(view), paid).predict(fold.new[view])).astype(int)

        return decide

    logistic, trees = OrConstant(linear), OrConstant(LGBMClassifier(**leaves))
    return {
        "costsensitive WeightedAllPairs (LR)": reduced(WeightedAllPairs(logistic, njobs=1), "linear"),
        "costsensitive WeightedOneVsRest (LR)": reduced(WeightedOneVsRest(logistic, njobs=1), "linear"),
        "costsensitive FilterTree (LR)": reduced(FilterTree(logistic, njobs=1), "linear"),
        "costsensitive RegressionOneVsRest (ridge)": reduced(RegressionOneVsRest(Ridge(), njobs=1), "linear"),
        "costsensitive WeightedAllPairs (LightGBM)": reduced(WeightedAllPairs(trees, njobs=1), "trees"),
        "costsensitive RegressionOneVsRest (LightGBM)": reduced(
            RegressionOneVsRest(LGBMRegressor(**leaves), njobs=1), "trees"
        ),
    }
