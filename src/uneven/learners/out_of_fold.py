"""Folds in which both classes can be learnt, and what models say about rows that they did not learn from."""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit, softmax
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, StratifiedShuffleSplit, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from uneven.decisions.platt import Sigmoid
from uneven.errors import CostError, ParameterError, sentence
from uneven.inputs import brief, warn_caller
from uneven.learners.background import Ending, run_parts
from uneven.learners.folds import Split, time_and_group_splits
from uneven.learners.worker_processes import PartFailed, SharedRows, WorkerProcesses

#: Default number of folds.
_FOLDS = 5
#: Seed of the shuffle if none is given. A file in the order of time, class or branch must give the folds that its
#: shuffled copy gives, and the same ones each time.
SEED = 0


def splits(
    cv: Any,
    X: Any,
    labels: np.ndarray,
    classes: np.ndarray,
    groups: Any,
    random_state: Any = None,
    times: Any = None,
    share: float | None = None,
    *,
    every_class: bool = True,
) -> list[Split]:
    """Pairs of train and test rows.

    A number means shuffled stratified folds, by default always the same ones; with groups whole groups of rows, and
    with times blocks of later rows. A number of folds larger than the rarer class is reduced to its size, with a
    warning. Any other ``cv`` is used as it is, such as TimeSeriesSplit for rows in the order of time; it is rejected
    if a training part lacks a class. ``share`` of the rows is for one split in place of ``cv``.

    Without ``every_class`` a training part may lack some of many classes, and folds are not reduced for rare ones.
    """
    counts = [int((labels == label).sum()) for label in classes]
    rare, names = int(np.argmin(counts)), classes.tolist()
    if not every_class:
        return _splits_of_many(cv, X, labels, groups, SEED if random_state is None else random_state, times, share)
    if _is_number(cv):
        wanted = _FOLDS if cv is None else int(cv)
        if wanted < 2:
            raise CostError(f"cv must be at least 2 folds, a splitter or a list of splits, got {brief(cv)}")
        if counts[rare] < 2:
            raise CostError(
                f"cross-validation needs at least 2 examples of each class, got {counts[rare]} of class "
                f"{names[rare]!r}; more examples, or a fit without cross-validation, would work"
            )
        if counts[rare] < wanted:
            warn_caller(
                f"only {counts[rare]} examples of class {names[rare]!r} for {wanted} folds: using "
                f"{counts[rare]} stratified folds instead"
            )
            wanted = counts[rare]
        seed = SEED if random_state is None else random_state
        if times is not None or groups is not None:
            code = np.searchsorted(np.sort(classes), labels)
            called = [f"rows of class {name!r}" for name in np.sort(classes).tolist()]
            how = {"times": times, "groups": groups, "seed": seed, "share": share}
            return time_and_group_splits(code, wanted, names=called, **how)
        cv = StratifiedKFold(wanted, shuffle=True, random_state=seed)
        if share is not None:
            cv = StratifiedShuffleSplit(n_splits=1, test_size=share, random_state=seed)
    elif times is not None:
        raise CostError(f"times make the folds themselves; give cv as a number of folds, not {brief(cv)}")
    try:
        found = list(check_cv(cv, labels, classifier=True).split(X, labels, groups))
    except ValueError as error:
        raise CostError(f"cv={brief(cv)} cannot split these {labels.size} rows: {error}") from None
    for number, (train, _) in enumerate(found, 1):
        for label in names:
            if not (labels[train] == label).any():
                raise CostError(
                    f"split {number} of {len(found)} has no example of class {label!r} to learn from; "
                    "StratifiedKFold, or fewer folds, would work"
                )
    if not found:
        raise CostError(f"cv must yield at least one split, got none from {brief(cv)}")
    return found


def _is_number(cv: Any) -> bool:
    """Whether it is a number of folds, or None."""
    return cv is None or (isinstance(cv, numbers.Integral) and not isinstance(cv, bool))


def _splits_of_many(
    cv: Any, X: Any, labels: np.ndarray, groups: Any, seed: Any, times: Any, share: float | None
) -> list[Split]:
    """The same for more than two classes: every training part must have two of them."""
    if times is not None and not _is_number(cv):
        raise CostError(f"times make the folds themselves; give cv as a number of folds, not {brief(cv)}")
    if _is_number(cv):
        wanted = _FOLDS if cv is None else int(cv)
        if wanted < 2 or wanted > labels.size:
            raise CostError(f"cv must be 2 to {labels.size} folds, a splitter or a list of splits, got {brief(cv)}")
        if times is not None or groups is not None:  # not stratified: classes may be rare
            alike = np.zeros(labels.size, dtype=np.intp)
            how = {"times": times, "groups": groups, "seed": seed, "share": share}
            return time_and_group_splits(alike, wanted, names=["rows"], **how)
        most = int(np.unique(labels, return_counts=True)[1].max())
        cv = (KFold if most < wanted else StratifiedKFold)(wanted, shuffle=True, random_state=seed)
        if share is not None:
            cv = StratifiedShuffleSplit(n_splits=1, test_size=share, random_state=seed)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class in y", UserWarning)
            found = list(check_cv(cv, labels, classifier=True).split(X, labels, groups))
    except ValueError as error:
        raise CostError(f"cv={brief(cv)} cannot split these {labels.size} rows: {error}") from None
    for number, (train, _) in enumerate(found, 1):
        if np.unique(labels[train]).size < 2:
            raise CostError(
                f"split {number} of {len(found)} has examples of one class only to learn from; fewer folds, or folds "
                "of shuffled rows, would work"
            )
    if not found:
        raise CostError(f"cv must yield at least one split, got none from {brief(cv)}")
    return found


@dataclass(frozen=True)
class AllClasses:
    """Asks classifiers for the probabilities of several classes, where otherwise a positive class is named.

    Attributes
    ----------
    labels : ndarray
        The columns of the answer; a class that a classifier does not know has the probability 0.
    """

    labels: np.ndarray

    def columns(self, known: Any, values: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, from those of the known ones; classes are the last axis."""
        names, known = self.labels.tolist(), np.asarray(known).tolist()
        found = np.zeros((*values.shape[:-1], len(names)))
        for column, label in enumerate(known):
            if label in names:
                found[..., names.index(label)] = values[..., column]
        return found


def pick_classes(asked: Any, known: Any, values: np.ndarray) -> np.ndarray:
    """Of probabilities of the known classes the column of the positive one, or those of all classes asked for."""
    if isinstance(asked, AllClasses):
        return asked.columns(known, values)
    return np.asarray(values[..., np.asarray(known).tolist().index(asked)])


@dataclass
class OutOfFold:
    """One estimator's models and what they say about the rows they did not see.

    Attributes
    ----------
    name : str
    models : list
        One fitted model per fold, None where unfinished.
    probability : ndarray of shape (n,) or (n, settings), with AllClasses (n, classes) or (n, settings, classes)
        P(positive); NaN where no finished fold tested the row. A row that several folds tested has the mean. Models
        with several settings (a method ``probability_by_setting``) have one column for each.
    seconds : list of float
        Per fold; NaN where unfinished.
    error : str or None
        Why it failed. Then no further folds are tried.
    sigmoid : Sigmoid or None
        Of models without ``predict_proba``: Platt's scaling of their scores, found on the out-of-fold scores.
    """

    name: str
    models: list[Any]
    probability: np.ndarray
    seconds: list[float]
    error: str | None = None
    sigmoid: Sigmoid | None = None

    @property
    def finished(self) -> bool:
        """Whether every fold has its model."""
        return self.error is None and all(model is not None for model in self.models)


class OutOfFolds(dict[str, OutOfFold]):
    """Results by name, and how the work ended: "finished", "time limit" or "interrupted"."""

    ending: Ending = "finished"


@dataclass(frozen=True)
class _Part:
    """What one fold gives: a model and the scores of its test rows, or an error."""

    seconds: float
    model: Any = None
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))
    are_probabilities: bool = True
    error: str | None = None


def out_of_fold(
    estimators: Mapping[str, Any],
    X: Any,
    labels: np.ndarray,
    splits: Sequence[Split],
    *,
    positive: Any,
    fit_params: Callable[[np.ndarray], dict[str, Any]] | None = None,
    sample_weight: np.ndarray | None = None,
    rows_of: Callable[[str, int], tuple[Any, Any] | SharedRows] | None = None,
    prepare: Callable[[Any, str, int], None] | None = None,
    n_jobs: int | None = None,
    deadline: float | None = None,
    tell: Callable[[str, int], None] | None = None,
    processes: WorkerProcesses | None = None,
) -> OutOfFolds:
    """Fit every estimator on every fold, in parallel threads, and predict the rows left out.

    Ctrl-C and the deadline end the work early; what is finished is kept. An estimator that raises an error keeps the
    sentence and is not tried on further folds.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Classifiers, in the order in which they are tried. Each fold fits a clone.
    X : array-like, sparse matrix or DataFrame
    labels : ndarray of shape (n,)
        As the estimators see them.
    splits : sequence of pairs of row numbers
        Train and test rows of each fold.
    positive : label or AllClasses
        The positive class, or all classes that are asked for.
    fit_params : callable, optional
        From row numbers to further arguments of ``fit``.
    sample_weight : ndarray of shape (n,), optional
        Passed to the estimators that take it, and used in Platt's scaling.
    rows_of : callable, optional
        From the name of an estimator and the number of a fold to the train and test rows of X; by default rows of X as
        it is. SharedRows are learnt from in ``processes``.
    prepare : callable, optional
        Called with each clone, the name of its estimator and the number of its fold, before it is fitted.
    n_jobs : int or None
        Number of threads, as in scikit-learn: None is 1, -1 is all cores.
    deadline : float, optional
        A value of ``time.monotonic()`` after which the call returns with what is finished.
    tell : callable, optional
        Called with name and fold after each fit, for progress.
    processes : WorkerProcesses, optional
        They are closed if the work is not finished.

    Returns
    -------
    OutOfFolds
        By name, in the order of the estimators; ``ending`` says how the work ended.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from uneven.learners.out_of_fold import out_of_fold
    >>> X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 1, 0, 1, 1])
    >>> halves = [(np.arange(0, 8, 2), np.arange(1, 8, 2)), (np.arange(1, 8, 2), np.arange(0, 8, 2))]
    >>> found = out_of_fold({"bayes": GaussianNB()}, X, y, halves, positive=1)
    >>> found.ending, found["bayes"].finished, found["bayes"].probability.shape
    ('finished', True, (8,))
    """
    folds = len(splits)
    results = OutOfFolds(
        (name, OutOfFold(name, [None] * folds, np.full(labels.size, np.nan), [np.nan] * folds)) for name in estimators
    )
    parts = [(name, fold) for name in estimators for fold in range(folds)]
    finished: dict[str, dict[int, _Part]] = {name: {} for name in estimators}

    def work(name: str, fold: int) -> _Part | None:
        if results[name].error is not None:
            return None
        started = time.perf_counter()
        train, test = splits[fold]
        try:
            given: Any = rows_of(name, fold) if rows_of else (_safe_indexing(X, train), _safe_indexing(X, test))
            params = {} if fit_params is None else fit_params(train)
            if sample_weight is not None:
                params = params | weight_parameters(estimators[name], sample_weight[train])
            model = clone(estimators[name])
            if prepare is not None:
                prepare(model, name, fold)
            if isinstance(given, SharedRows) and processes is not None:
                done = processes.call(name, _fit_and_score, given, model, labels[train], params, positive)
            else:
                done = _fit_and_score(given[0], given[1], model, labels[train], params, positive)
            model, scores, are_probabilities = done
        except PartFailed as error:
            return _Part(time.perf_counter() - started, error=str(error))
        except Exception as error:  # a member may raise anything; the others go on
            return _Part(time.perf_counter() - started, error=sentence(error))
        return _Part(time.perf_counter() - started, model, scores, are_probabilities)

    def receive(number: int, part: _Part | None) -> None:
        name, fold = parts[number]
        if part is not None:
            result = results[name]
            result.seconds[fold] = part.seconds
            result.models[fold] = part.model
            result.error = result.error or part.error
            if part.error is None:
                finished[name][fold] = part
        if tell is not None:
            tell(name, fold)

    tasks = [lambda name=name, fold=fold: work(name, fold) for name, fold in parts]
    workers = min(effective_n_jobs(n_jobs), len(parts))
    end = None if processes is None else processes.close
    results.ending = run_parts(tasks, receive, workers=workers, deadline=deadline, end=end)
    is_positive = np.zeros(labels.size, bool) if isinstance(positive, AllClasses) else np.asarray(labels == positive)
    for name, folds_done in finished.items():
        if folds_done:
            _gather(results[name], folds_done, splits, is_positive, sample_weight)
    return results


def _fit_and_score(
    train: Any, test: Any, model: Any, labels: np.ndarray, params: dict[str, Any], positive: Any
) -> tuple[Any, np.ndarray, bool]:
    """The fitted model, what it says about the test rows, and whether these are probabilities."""
    model.fit(train, labels, **params)
    return model, *positive_scores(model, test, positive)


def _gather(
    result: OutOfFold,
    parts: dict[int, _Part],
    splits: Sequence[Split],
    is_positive: np.ndarray,
    weight: np.ndarray | None,
) -> None:
    """Put the scores of the folds into one column, and make them probabilities if they are none."""
    some = next(iter(parts.values()))
    total = np.zeros((is_positive.size, *some.scores.shape[1:]))
    count = np.zeros(is_positive.size)
    for fold, part in parts.items():
        np.add.at(total, splits[fold][1], part.scores)
        np.add.at(count, splits[fold][1], 1)
    tested = count > 0
    total[~tested] = np.nan
    total[tested] = (total[tested].T / count[tested]).T
    if not some.are_probabilities:
        result.sigmoid = Sigmoid.fit(total[tested], is_positive[tested], None if weight is None else weight[tested])
        total[tested] = result.sigmoid.probability(total[tested])
    result.probability = total


def positive_scores(model: Any, X: Any, positive: Any) -> tuple[np.ndarray, bool]:
    """What a fitted classifier says for the positive class, and whether these are probabilities.

    With AllClasses it is the probabilities of them all; decision values are taken as their logarithms.
    """
    if hasattr(model, "probability_by_setting"):
        scores, are_probabilities = np.asarray(model.probability_by_setting(X, positive), dtype=np.float64), True
    elif hasattr(model, "predict_proba"):
        said = np.asarray(model.predict_proba(X), dtype=np.float64)
        scores, are_probabilities = pick_classes(positive, model.classes_, said), True
    elif hasattr(model, "decision_function") and isinstance(positive, AllClasses):
        said = np.asarray(model.decision_function(X), dtype=np.float64)
        said = np.stack([expit(-said), expit(said)], axis=1) if said.ndim == 1 else softmax(said, axis=1)
        scores, are_probabilities = positive.columns(model.classes_, said), True
    elif hasattr(model, "decision_function"):
        sign = 1.0 if np.asarray(model.classes_).tolist()[1] == positive else -1.0
        scores, are_probabilities = sign * np.asarray(model.decision_function(X), dtype=np.float64), False
    else:
        raise ParameterError(f"{type(model).__name__} has neither predict_proba nor decision_function")
    if not np.isfinite(scores).all():
        raise ParameterError(
            f"{type(model).__name__} gave NaN or infinite {'probabilities' if are_probabilities else 'scores'}"
        )
    return scores, are_probabilities


def positive_probability(model: Any, X: Any, positive: Any, sigmoid: Sigmoid | None = None) -> np.ndarray:
    """P(positive) of a fitted classifier; scores that are no probabilities need the sigmoid that scales them."""
    scores, are_probabilities = positive_scores(model, X, positive)
    if are_probabilities:
        return scores
    if sigmoid is None:
        raise ParameterError(
            f"{type(model).__name__} has no predict_proba, and no Platt scaling of its scores is known; "
            "CalibratedClassifierCV around it would work"
        )
    return sigmoid.probability(scores)


def weight_parameters(estimator: Any, weight: np.ndarray) -> dict[str, np.ndarray]:
    """The arguments of ``fit`` that carry sample weights to an estimator; none if it takes no weights.

    A pipeline hands them to its last step. With scikit-learn's metadata routing, pipelines and other estimators that
    pass metadata on get weights if they request them.
    """
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        if isinstance(routing, MetadataRouter):
            return {"sample_weight": weight} if routing.consumes("fit", ["sample_weight"]) else {}
        if routing.fit.requests.get("sample_weight") not in (None, True):  # not wanted, or under another name
            return {}
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": weight}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in weight_parameters(last, weight).items()}
    return {}


def only_fold(splits: Sequence[Split], count: int) -> np.ndarray:
    """The number of the fold that tested each row; -1 for none and for several."""
    fold, times = np.full(count, -1, dtype=np.intp), np.zeros(count, dtype=np.intp)
    for number, (_, test) in enumerate(splits):
        fold[test] = number
        np.add.at(times, test, 1)
    return np.where(times == 1, fold, -1)


def folds_learnt_from(splits: Sequence[Split], fold: np.ndarray) -> np.ndarray:
    """For each fold (row), whether its model learnt from all rows that another fold (column) tested.

    With the usual folds these are all others, with TimeSeriesSplit the earlier ones. ``fold`` is that of
    :func:`only_fold`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from uneven.learners.out_of_fold import folds_learnt_from, only_fold
    >>> parts = list(TimeSeriesSplit(3).split(np.zeros(8)))
    >>> folds_learnt_from(parts, only_fold(parts, 8)).astype(int).tolist()
    [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    """
    learnt = np.zeros((len(splits), len(splits)), dtype=bool)
    tested = np.bincount(fold[fold >= 0], minlength=len(splits))
    for number, (train, _) in enumerate(splits):
        seen = fold[train]
        learnt[number] = (np.bincount(seen[seen >= 0], minlength=len(splits)) == tested) & (tested > 0)
    return learnt
