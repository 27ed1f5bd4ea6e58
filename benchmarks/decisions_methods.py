"""One fold of the study of decisions: fits every learner once, then lets every rule decide for every kind of costs.

Learners that do not know the costs are fitted once: out of fold on five inner folds and on all training rows. The rules
(cut at alpha, Platt's scaling of the log-odds, isotonic regression, scikit-learn's tuned threshold, ours) then work on
the same probabilities. Both threshold classifiers run as they are: :class:`Stored` plays a classifier whose predictions
are known. Learners that need the costs are fitted for each kind of costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from decisions_data import Problem
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

import uneven
from uneven.costs import COSTS, RowCosts
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.learners.ensemble.final_models import final_models
from uneven.learners.ensemble.member_models import has_settings
from uneven.learners.ensemble.members import FAMILIES, Candidate, Family, Size, choose_families
from uneven.learners.ensemble.mixture import Views
from uneven.learners.ensemble.training import Choice, Entry, Task, Trial, run_folds
from uneven.learners.ensemble.weights import WEIGHTINGS, log_losses

INNER_FOLDS = 5
FORESTS = {"RF": "forest", "ET": "extra_trees"}
BOOSTERS = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}
BASES = {"LR": "linear", **FORESTS, **BOOSTERS}
LIBRARIES = ("lightgbm", "xgboost", "catboost")


@dataclass
class Unit:
    """What one fold gave: predictions of the test rows, and processor seconds, by method and kind of costs."""

    said: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def say(self, kind: str, method: str, positive: np.ndarray) -> None:
        self.said.setdefault(kind, {})[method] = np.asarray(positive).astype(bool)

    @contextmanager
    def timed(self, method: str) -> Iterator[None]:
        """Add processor seconds; a method that fails is named."""
        started = time.process_time()
        try:
            yield
        except Exception as error:
            self.failed[method] = f"{type(error).__name__}: {str(error)[:120]}"
        self.seconds[method] = self.seconds.get(method, 0.0) + time.process_time() - started


class Stored(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are known: those of its fold where it is fitted on a part of the rows.

    X is a column of row numbers; rows from ``out_of_fold.size`` on are test rows.
    """

    def __init__(self, out_of_fold: np.ndarray | None = None, test: np.ndarray | None = None) -> None:
        self.out_of_fold = out_of_fold
        self.test = test

    def fit(self, X: np.ndarray, y: np.ndarray) -> Stored:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        known = np.concatenate([self.out_of_fold, self.test])
        positive = known[X[:, 0].astype(int)]
        return np.stack([1 - positive, positive], axis=1)


class KeptViews(Views):
    """Views that are made once for all families; the ensemble forgets them when no member needs them."""

    def forget(self, view: str, fold: int | None = None) -> None:
        """Keep it."""

    def forget_folds(self) -> None:
        """Keep them."""


@dataclass(frozen=True)
class Fitted:
    """A learner that does not know the costs: probabilities out of fold and of the test rows."""

    inner: np.ndarray
    test: np.ndarray


def run(problem: Problem, train: np.ndarray, test: np.ndarray, seed: int) -> Unit:
    """All methods on one outer fold."""
    unit = Unit()
    X, new_rows, y = problem.X.iloc[train].reset_index(drop=True), problem.X.iloc[test], problem.y[train]
    folds = list(StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed).split(X, y))
    views = KeptViews(X, y, folds)
    task = Task(X, y, 1, y == 1, None, folds, 1, None, views)
    sizes = {view: _size(views.of(view).train) for view in ("linear", "trees")}
    matrices = {view: (views.of(view).train, views.encoder(view).transform(new_rows)) for view in sizes}
    learnt, trial = _learn(unit, task, sizes, new_rows)
    adaboost = _adaboost(unit, matrices["trees"], y, folds)
    balanced = _balanced_forest(unit, matrices["trees"], y)
    for kind, costs in problem.costs.items():
        own, new = costs.take(train), costs.take(test)
        _constant(unit, kind, new)
        _bases(unit, kind, learnt, y, own, new, folds)
        if adaboost is not None:
            unit.say(kind, "AdaBoost, calibrated (AdaMEC)", _corrected(adaboost, y, own, new, "platt", 8))
        if balanced is not None:
            unit.say(kind, "BalancedRandomForest", balanced)
        _ensembles(unit, kind, task, learnt, own, new, sizes)
        _told(unit, kind, matrices, trial, y, own, new)
    return unit


def _size(matrix: Any) -> Size:
    from scipy import sparse

    return Size(matrix.shape[0], max(1, matrix.shape[1]), bool(sparse.issparse(matrix)))


# -- learners that do not know the costs ------------------------------------------------------------------------------


def _learn(unit: Unit, task: Task, sizes: dict[str, Size], new_rows: Any) -> tuple[dict[str, Fitted], Trial]:
    """Every family of the ensemble, and CatBoost with deeper trees as well, by the ensemble's own code."""
    families = [FAMILIES[family.name] for family in choose_families(sizes)]
    families += [FAMILIES[name] for name in ("xgboost", "histogram") if FAMILIES[name] not in families]
    learnt: dict[str, Fitted] = {}
    choices: dict[str, Choice] = {}
    for family in families:
        with unit.timed(family.name):
            found, fitted = _fit(task, family.name, family.candidates(sizes[family.view], 0), family, new_rows)
            choices |= found.choices
            learnt[family.name] = fitted
    deeper = FAMILIES["catboost"]
    with unit.timed("catboost, depth 6"):
        candidates = deeper.candidates(Size(10_000, 1), 0)  # the configuration for larger data
        found, fitted = _fit(task, "catboost6", candidates, deeper, new_rows)
        if found.choices["catboost6"].loss < choices["catboost"].loss:
            learnt["catboost, best depth"] = fitted
            choices["catboost, best depth"] = found.choices["catboost6"]
    if "catboost, best depth" not in learnt:
        learnt["catboost, best depth"] = learnt["catboost"]
        choices["catboost, best depth"] = choices["catboost"]
    return learnt, Trial(choices, {}, "finished", task.splits)


def _fit(task: Task, name: str, candidates: list[Candidate], family: Family, new_rows: Any) -> tuple[Trial, Fitted]:
    entries = [Entry(name, candidate, family.view) for candidate in candidates]
    trial = run_folds(task, entries, lambda entry: None)
    mixture, _ = final_models(task, trial, {name: 1.0}, lambda told: None)
    return trial, Fitted(trial.choices[name].probability, mixture.probability(new_rows))


def _adaboost(unit: Unit, matrix: Any, y: np.ndarray, folds: Any) -> Fitted | None:
    """AdaBoost of stumps out of fold and on all rows; Platt's scaling and a shifted threshold make AdaMEC of it."""
    known, new = (np.nan_to_num(_dense(part)) for part in matrix)
    with unit.timed("AdaBoost"):
        inner = np.empty(y.size)
        for rows, rest in folds:
            inner[rest] = (
                AdaBoostClassifier(n_estimators=50, random_state=0)
                .fit(known[rows], y[rows])
                .predict_proba(known[rest])[:, 1]
            )
        whole = AdaBoostClassifier(n_estimators=50, random_state=0).fit(known, y)
        return Fitted(inner, whole.predict_proba(new)[:, 1])
    return None


def _balanced_forest(unit: Unit, matrix: Any, y: np.ndarray) -> np.ndarray | None:
    """imbalanced-learn's forest of balanced bootstraps, as it decides."""
    from imblearn.ensemble import BalancedRandomForestClassifier

    known, new = (np.asarray(_dense(part)) for part in matrix)
    with unit.timed("BalancedRandomForest"):
        return BalancedRandomForestClassifier(150, random_state=0, n_jobs=1).fit(known, y).predict(new)
    return None


# -- rules that decide ------------------------------------------------------------------------------------------------


def _constant(unit: Unit, kind: str, new: RowCosts) -> None:
    unit.say(kind, "all positive", np.ones(new.count))
    unit.say(kind, "all negative", np.zeros(new.count))


def _bases(
    unit: Unit, kind: str, learnt: dict[str, Fitted], y: np.ndarray, own: RowCosts, new: RowCosts, folds: Any
) -> None:
    for base, family in BASES.items():
        fitted = learnt["catboost, best depth" if base == "CatBoost" else family]
        if base == "LR":
            unit.say(kind, "LR, plain (cut at 1/2)", fitted.test > 0.5)
        unit.say(kind, f"{base}, cut at alpha", new.prefers_positive(fitted.test))
        for method in ("platt", "isotonic") if base in BOOSTERS else ():
            unit.say(kind, f"{base}, {method}", _corrected(fitted, y, own, new, method, 8))
        if not own.per_row:
            unit.say(kind, f"{base}, TunedThresholdClassifierCV", _tuned(fitted, y, own, folds))
        unit.say(kind, f"{base}, UnevenThresholdClassifierCV", _ours(fitted, y, own, new, folds))
        for method in ("argmin", "affine", "cost"):
            unit.say(kind, f"{base}, ours, {method}", _corrected(fitted, y, own, new, method, 8))


def _rows(fitted: Fitted, y: np.ndarray) -> tuple[Stored, np.ndarray, np.ndarray]:
    count = y.size
    numbers = np.arange(count + fitted.test.size, dtype=float)[:, None]
    return Stored(fitted.inner, fitted.test), numbers[:count], numbers[count:]


def _tuned(fitted: Fitted, y: np.ndarray, own: RowCosts, folds: Any) -> np.ndarray:
    stored, known, rows = _rows(fitted, y)
    fp, fn = float(own.fp_regret), float(own.fn_regret)
    cost = make_scorer(lambda truth, said: -float(np.mean(np.where(said == 1, fp * (truth == 0), fn * (truth == 1)))))
    model = TunedThresholdClassifierCV(stored, scoring=cost, cv=folds, response_method="predict_proba").fit(known, y)
    return np.asarray(model.predict(rows) == 1)


def _ours(fitted: Fitted, y: np.ndarray, own: RowCosts, new: RowCosts, folds: Any) -> np.ndarray:
    stored, known, rows = _rows(fitted, y)
    model = uneven.UnevenThresholdClassifierCV(stored, cv=folds).fit(known, y, **as_arguments(own))
    return np.asarray(model.predict(rows, **as_arguments(new)) == 1)


def as_arguments(costs: RowCosts) -> dict[str, Any]:
    """The costs as arguments of ``fit``."""
    return {name: getattr(costs, name) for name in COSTS}


def _corrected(fitted: Fitted, y: np.ndarray, own: RowCosts, new: RowCosts, method: str, order: int) -> np.ndarray:
    rows = OutOfFoldRows(fitted.inner, y == 1, np.ones(y.size))
    return rows.find_correction(own, method, order).decision(fitted.test, new) > 0


# -- our ensemble and its parts ---------------------------------------------------------------------------------------


def _ensembles(
    unit: Unit,
    kind: str,
    task: Task,
    learnt: dict[str, Fitted],
    own: RowCosts,
    new: RowCosts,
    sizes: dict[str, Size],
) -> None:
    auto = [family.name for family in choose_families(sizes)]
    without = [name for name in (*auto, "histogram") if name not in LIBRARIES]
    y = task.labels
    recipes = {
        "UnevenEnsembleClassifier": (auto, "half_greedy", "gibbs", 4),
        "UnevenEnsembleClassifier, no boosting libraries": (without, "half_greedy", "gibbs", 4),
        "ensemble, best member only": ([_best(auto, learnt, y)], "equal", "gibbs", 4),
        "ensemble, greedy weights": (auto, "greedy", "gibbs", 4),
        "ensemble, equal weights": (auto, "equal", "gibbs", 4),
        "ensemble, softmax weights": (auto, "softmax", "gibbs", 4),
        "ensemble, with XGBoost": ([*auto, "xgboost"], "half_greedy", "gibbs", 4),
        "ensemble, LR + RF": (["linear", "forest"], "equal", "gibbs", 4),
        "ensemble, no shift": (auto, "half_greedy", "none", 4),
        "ensemble, shift by cost": (auto, "half_greedy", "cost", 4),
        "ensemble, slope and shift": (auto, "half_greedy", "affine", 4),
        "ensemble, argmin": (auto, "half_greedy", "argmin", 4),
        **{f"ensemble, order {order}": (auto, "half_greedy", "gibbs", order) for order in (1, 2, 8, 16, 64)},
    }
    for name, (members, weighting, method, order) in recipes.items():
        table = np.stack([learnt[member].inner for member in members], axis=1)
        weights = WEIGHTINGS[weighting](table, y == 1, np.ones(y.size))
        tests = np.stack([learnt[member].test for member in members], axis=1)
        mixed = Fitted(_mean(table, weights), _mean(tests, weights))
        unit.say(kind, name, _corrected(mixed, y, own, new, method, order))


def _mean(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """As the ensemble adds: member by member, those without a weight left out."""
    return np.asarray(
        sum(weight * column for weight, column in zip(weights.tolist(), table.T, strict=True) if weight > 0)
    )


def _best(members: list[str], learnt: dict[str, Fitted], y: np.ndarray) -> str:
    table = np.stack([learnt[member].inner for member in members], axis=1)
    return members[int(np.argmin(log_losses(table, y == 1, np.ones(y.size))))]


# -- learners that are told the costs ---------------------------------------------------------------------------------


def _told(
    unit: Unit,
    kind: str,
    matrices: dict[str, tuple[Any, Any]],
    trial: Trial,
    y: np.ndarray,
    own: RowCosts,
    new: RowCosts,
) -> None:
    dense = {view: tuple(_dense(part) for part in pair) for view, pair in matrices.items()}
    known, rows = dense["linear"]
    regrets = own.regrets(y == 1)
    label = np.where(regrets < 0, 1 - y, y)  # a mistake that pays: the other label is the cheaper one
    weight = np.abs(regrets) / np.abs(regrets).mean()

    methods: dict[str, Callable[[], np.ndarray]] = {
        "LR, weighted by costs": lambda: _weighted_logistic(known, label, weight).predict(rows)
    }
    trees_known, trees_rows = dense["trees"]
    for base, family in {**BOOSTERS, "RF": "forest"}.items():
        choice = trial.choices["catboost, best depth" if base == "CatBoost" else family]

        def weighted_trees(choice: Choice = choice) -> np.ndarray:
            estimator = choice.entry.candidate.estimator
            model = estimator.unfitted_at(choice.number) if has_settings(estimator) else estimator
            return model.fit(trees_known, label, sample_weight=weight).predict_proba(trees_rows)[:, 1] > 0.5

        methods[f"{base}, weighted by costs"] = weighted_trees
    methods |= _empulse(known, y, rows, own, new)
    methods |= _with_gamma(known, y, rows, own, new)
    for name, decide in methods.items():
        with unit.timed(name):
            unit.say(kind, name, decide())


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def _weighted_logistic(known: np.ndarray, label: np.ndarray, weight: np.ndarray) -> LogisticRegression:
    """Logistic regression with the costs as weights; C has the least cost on inner folds."""
    folds = list(StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0).split(known, label))

    def cost(C: float) -> float:
        total = 0.0
        for rows, rest in folds:
            model = LogisticRegression(C=C, max_iter=1000).fit(known[rows], label[rows], sample_weight=weight[rows])
            total += float(weight[rest] @ (model.predict(known[rest]) != label[rest]))
        return total

    best = min((0.01, 0.1, 1.0), key=cost)
    return LogisticRegression(C=best, max_iter=1000).fit(known, label, sample_weight=weight)


def _empulse(
    known: np.ndarray, y: np.ndarray, rows: np.ndarray, own: RowCosts, new: RowCosts
) -> dict[str, Callable[[], np.ndarray]]:
    from empulse.models import CSBoostClassifier, CSLogitClassifier, CSThresholdClassifier

    given, later = as_arguments(own), as_arguments(new)

    def threshold() -> np.ndarray:
        model = CSThresholdClassifier(LogisticRegression(max_iter=1000), random_state=0).fit(known, y, **given)
        return model.predict(rows, **later)

    return {
        "empulse CSLogit": lambda: CSLogitClassifier().fit(known, y, **given).predict(rows),
        "empulse CSBoost": lambda: CSBoostClassifier().fit(known, y, **given).predict(rows),
        "empulse CSThreshold (LR)": threshold,
    }


def _with_gamma(
    known: np.ndarray, y: np.ndarray, rows: np.ndarray, own: RowCosts, new: RowCosts
) -> dict[str, Callable[[], np.ndarray]]:
    def search(learner: str, Cs: list[float]) -> Callable[[], np.ndarray]:
        return lambda: search_margins(
            known, rows, y, as_arguments(own), as_arguments(new) if own.per_row else {}, learner, Cs
        )

    return {
        "UnevenClassifierCV, linear": search("linear", [0.01, 0.1, 1.0]),
        "UnevenClassifierCV, svc": search("svc", [1.0, 10.0]),
    }


def search_margins(
    known: Any,
    rows: Any,
    y: np.ndarray,
    own: dict[str, Any],
    new: dict[str, Any] | None = None,
    learner: str = "linear",
    Cs: Sequence[float] = (0.01, 0.1, 1.0),
) -> np.ndarray:
    """What UnevenClassifierCV says of new rows."""
    model = uneven.UnevenClassifierCV(
        learner, Cs=list(Cs), margin_gammas=[0.25, 0.5, 1, 2, 4], cv=INNER_FOLDS, verbose=False
    )
    return np.asarray(model.fit(known, y, **own).predict(rows, **(new or {})))
