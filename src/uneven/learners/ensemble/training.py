"""Trains the members on folds: out-of-fold probabilities and their costs, a setting per member, weights, time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from uneven.errors import ParameterError, sentence
from uneven.inputs import warn_caller
from uneven.learners.background import Ending
from uneven.learners.ensemble.latency import Limits
from uneven.learners.ensemble.member_models import constrain
from uneven.learners.ensemble.members import Candidate
from uneven.learners.ensemble.mixture import Views
from uneven.learners.ensemble.monotone_columns import signs_of_columns
from uneven.learners.ensemble.pruning import CostOf, Pruning, prune
from uneven.learners.ensemble.weights import Weighting, log_losses
from uneven.learners.folds import Split
from uneven.learners.out_of_fold import (
    AllClasses,
    OutOfFold,
    OutOfFolds,
    out_of_fold,
)
from uneven.learners.worker_processes import SharedFolds, SharedRows, WorkerProcesses
from uneven.metrics.intervals import CostEstimate

_NOT_FINISHED = "not finished"

#: Seconds for each row after the members; how many times as long with a limit on the members; and how much longer on a
#: busy machine at most.
_SECONDS_AFTER, _LOOKS, _MOST_WAITING = 1.5e-5, 3, 4.0


@dataclass(frozen=True)
class Task:
    """What all members are trained on.

    Attributes
    ----------
    X : array, sparse matrix or DataFrame
    labels : ndarray
        As the members see them.
    positive : label or AllClasses
        The positive one of them, or all.
    is_positive : ndarray of bool
        With several classes the number of each row's class.
    weight : ndarray or None
        Sample weights.
    splits : sequence of pairs of row numbers
    n_jobs : int or None
    deadline : float or None
        A value of ``time.monotonic()``.
    views : Views or None
        None if the members take X as it is.
    monotone : mapping of str to int
        Columns of X with which the probability may only rise (1) or fall (-1).
    unable : mapping of str to str
        Members that cannot keep this, and why.
    groups : ndarray of int or None
        The group of each row, if rows of a group are not independent.
    processes : WorkerProcesses or None
        Where members are fitted; None: in threads.
    """

    X: Any
    labels: np.ndarray
    positive: Any
    is_positive: np.ndarray
    weight: np.ndarray | None
    splits: Sequence[Split]
    n_jobs: int | None
    deadline: float | None
    views: Views | None
    monotone: Mapping[str, int] = field(default_factory=dict)
    unable: Mapping[str, str] = field(default_factory=dict)
    groups: np.ndarray | None = None
    processes: WorkerProcesses | None = None

    def rows(self, view: str, fold: int | None) -> tuple[Any, Any]:
        """What a member learns from and is tested on; without a fold it learns from all rows."""
        if self.views is not None:
            encoded = self.views.of(view, fold)
            return encoded.train, encoded.test
        if fold is None:
            return self.X, None
        train, test = self.splits[fold]
        return _safe_indexing(self.X, train), _safe_indexing(self.X, test)

    def signs(self, view: str | None, fold: int | None = None) -> tuple[int, ...] | None:
        """For each column of a matrix whether the probability may only rise or fall with it; None: nothing is asked."""
        if not self.monotone or self.views is None:
            return None
        return signs_of_columns(self.views.encoder(str(view), fold), self.monotone)

    @property
    def growth(self) -> float:
        """How many rows there are for each one that a fold learns from."""
        return float(self.labels.size * len(self.splits) / max(1, sum(len(train) for train, _ in self.splits)))

    @property
    def several(self) -> bool:
        """Whether there may be more than two classes, of which all probabilities are asked."""
        return isinstance(self.positive, AllClasses)

    @property
    def weights(self) -> np.ndarray:
        """Sample weights; 1 if there are none."""
        return np.ones(self.is_positive.size) if self.weight is None else self.weight


@dataclass(frozen=True)
class Entry:
    """One estimator to try: which member it belongs to, the view it takes, and how long it takes."""

    member: str
    candidate: Candidate
    view: str | None = None
    effort: float = 1.0


@dataclass
class Choice:
    """The setting of a member that has the least log loss.

    Attributes
    ----------
    key : str
        The name of the entry among all that were tried.
    entry : Entry
    number : int
        Of the setting within the entry's candidate.
    probability : ndarray
        Out of fold.
    result : OutOfFold
    seconds : float
        Of all folds and settings of the member.
    """

    key: str
    entry: Entry
    number: int
    probability: np.ndarray
    result: OutOfFold
    seconds: float
    loss: float


@dataclass
class Trial:
    """What the folds gave.

    Attributes
    ----------
    choices : dict of str to Choice
        The best setting of each member.
    left_out : dict of str to str
        Members without a result, and why.
    ending : str
    folds : sequence of pairs of row numbers
    settings_tried : mapping of str to int
        How many settings of each member were tried, also of those that were left out.
    columns : dict of str to list of ndarray
        Out-of-fold probabilities of each member, a column for each setting.
    untried : tuple of str
        Members of which some settings were not finished.
    limits : Limits or None
        Of the members in use.
    of_folds : tuple of str
        Members in use without a model of all rows.
    """

    choices: dict[str, Choice]
    left_out: dict[str, str]
    ending: Ending
    folds: Sequence[Split] = field(default_factory=list)
    settings_tried: Mapping[str, int] = field(default_factory=dict)
    columns: dict[str, list[np.ndarray]] = field(default_factory=dict)
    untried: tuple[str, ...] = ()
    limits: Limits | None = None
    of_folds: tuple[str, ...] = ()

    def probabilities(self, is_positive: np.ndarray, weight: np.ndarray, known: np.ndarray) -> dict[str, np.ndarray]:
        """Out-of-fold probabilities of each member, at the setting of least log loss in the known rows.

        If there are none, it is the first setting.
        """
        found = {}
        for name in self.choices:
            columns = np.concatenate(self.columns[name], axis=1)
            best = 0
            if known.size and columns.shape[1] > 1:
                best = int(np.argmin(log_losses(columns[known], is_positive[known], weight[known])))
            found[name] = columns[:, best]
        return found


@dataclass(frozen=True)
class OutOfFoldCosts:
    """Expected costs out of fold; model files name this class by its module.

    Attributes
    ----------
    members : dict of str to float
    ensemble : CostEstimate
    constant : dict of str to CostEstimate
    said : ndarray of bool or None
        Where the ensemble says positive among the tested rows; None with actions between the two, or if forgotten.
    """

    members: dict[str, float]
    ensemble: CostEstimate
    constant: dict[str, CostEstimate]
    said: np.ndarray | None = None


def run_folds(task: Task, entries: Sequence[Entry], tell: Callable[[Entry], None]) -> Trial:
    """Fit every entry on every fold and choose the best setting of each member.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C came before any member was finished.
    """
    named = {f"{entry.member} {number}": entry for number, entry in enumerate(entries)}
    results = _out_of_fold(task, named, task.deadline, tell)
    if not any(result.finished for result in results.values()):
        if results.ending == "interrupted":
            raise KeyboardInterrupt
        if results.ending == "time limit":
            first = next(iter(named))
            warn_caller(
                f"no member was finished within time_limit; the cheapest one, {named[first].member!r}, is finished "
                "anyway and used alone"
            )
            results |= _out_of_fold(task, {first: named[first]}, None, tell)
    trial = Trial({}, {}, results.ending, task.splits)
    for key, entry in named.items():
        _judge(trial, key, entry, results[key], task)
    if not trial.choices:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in trial.left_out.items())
        raise ParameterError(f"every member failed, so there is no ensemble: {reasons}")
    late = {
        entry.member: None for key, entry in named.items() if results[key].error is None and not results[key].finished
    }
    trial.untried = tuple(name for name in late if name in trial.choices)
    trial.settings_tried = Counter(entry.member for entry in entries for _ in entry.candidate.settings)
    _warn_of_failures(trial, results, named)
    return trial


def _out_of_fold(
    task: Task, named: Mapping[str, Entry], deadline: float | None, tell: Callable[[Entry], None]
) -> OutOfFolds:
    lock = threading.Lock()
    uses = Counter((str(entry.view), fold) for entry in named.values() for fold in range(len(task.splits)))
    processes = None if deadline is None else task.processes

    def make(key: tuple[str, int]) -> tuple[Any, Any]:
        rows = task.rows(*key)
        if task.views is not None:
            task.views.forget(*key)  # they are in a file now
        return rows

    shared = SharedFolds(make, uses)

    def rows_of(name: str, fold: int) -> tuple[Any, Any] | SharedRows:
        view = str(named[name].view)
        if processes is not None and name not in processes.unsent:
            try:
                return shared.of((view, fold))
            except Exception as error:  # no room on the disk, or rows that cannot be pickled
                processes.unsent[name] = sentence(error)
        rows = task.rows(view, fold)
        with lock:
            uses[view, fold] -= 1
            if not uses[view, fold] and task.views is not None:  # no other entry will ask for it
                task.views.forget(view, fold)
        return rows

    def prepare(model: Any, name: str, fold: int) -> None:
        if (signs := task.signs(named[name].view, fold)) is not None:
            constrain(model, signs)

    return out_of_fold(
        {name: entry.candidate.estimator for name, entry in named.items()},
        task.X,
        task.labels,
        task.splits,
        positive=task.positive,
        sample_weight=task.weight,
        rows_of=rows_of,
        prepare=prepare,
        n_jobs=task.n_jobs,
        deadline=deadline,
        tell=lambda name, fold: tell(named[name]),
        processes=processes,
    )


def _judge(trial: Trial, key: str, entry: Entry, result: OutOfFold, task: Task) -> None:
    """Keep the entry's best setting if it is the member's best so far."""
    name = entry.member
    if not result.finished:
        if name not in trial.choices:
            trial.left_out.setdefault(name, result.error or f"{_NOT_FINISHED} ({trial.ending})")
        return
    trial.left_out.pop(name, None)
    count, classes = len(result.probability), len(task.positive.labels) if task.several else 0
    columns = result.probability.reshape((count, -1, classes) if classes else (count, -1))
    trial.columns.setdefault(name, []).append(columns)
    known = is_tested(columns)
    losses = log_losses(columns[known], task.is_positive[known], task.weights[known])
    best = int(np.argmin(losses))
    before = trial.choices.get(name)
    seconds = float(np.sum(result.seconds)) + (0.0 if before is None else before.seconds)
    if before is not None and before.loss <= losses[best]:
        before.seconds = seconds
        return
    trial.choices[name] = Choice(key, entry, best, columns[:, best], result, seconds, float(losses[best]))


def is_tested(probability: np.ndarray) -> np.ndarray:
    """Whether some fold tested each row."""
    return ~np.isnan(probability.reshape(len(probability), -1)[:, 0])


def tested_rows(trial: Trial) -> np.ndarray:
    """Numbers of the rows that some fold tested."""
    return np.flatnonzero(is_tested(next(iter(trial.choices.values())).probability))


def _warn_of_failures(trial: Trial, results: OutOfFolds, named: Mapping[str, Entry]) -> None:
    for key, result in results.items():
        if result.error is not None:
            member = named[key].member
            what = "a setting of member" if member in trial.choices else "member"
            warn_caller(f"{what} {member!r} failed and is left out: {result.error}")


def weigh(
    task: Task,
    probabilities: Mapping[str, np.ndarray],
    weighting: Weighting,
    limits: Limits | None,
    rows: np.ndarray,
    cost_of: CostOf,
) -> tuple[dict[str, float], Pruning | None]:
    """Weights of the members from their probabilities in some rows, and what limits on the members cost."""
    if limits is not None:
        return prune(probabilities, task.is_positive, task.weights, weighting, rows, cost_of, limits)
    table = np.stack([probability[rows] for probability in probabilities.values()], axis=1)
    found = weighting(table, task.is_positive[rows], task.weights[rows])
    return dict(zip(probabilities, found.tolist(), strict=True)), None


def mix(probabilities: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> np.ndarray:
    """Out-of-fold probabilities of the mixture; NaN where no fold tested the row."""
    return np.asarray(sum(weight * probabilities[name] for name, weight in weights.items() if weight > 0))


def cut_in_words(trial: Trial, ending: Ending, time_limit: Any) -> str | None:
    """What a time limit or Ctrl-C cut from the fit, as a sentence; None: nothing."""
    if trial.ending == "finished" and ending == "finished":
        return None
    late = [name for name, why in trial.left_out.items() if why.startswith(_NOT_FINISHED)]
    cut = [
        f"not finished and left out: {', '.join(late)}" if late else "",
        f"with fewer settings than planned: {', '.join(trial.untried)}" if trial.untried else "",
        f"as models of folds, not of all rows: {', '.join(trial.of_folds)}" if trial.of_folds else "",
    ]
    why = "Ctrl-C" if "interrupted" in (trial.ending, ending) else f"time_limit={time_limit} s"
    return f"The fit was cut by {why}; members {'; '.join(filter(None, cut))}."


def warn_of_threads(task: Task) -> None:
    """Say which members could not be sent to a process."""
    by_reason: dict[str, dict[str, None]] = {}
    for key, why in ({} if task.processes is None else task.processes.unsent).items():
        by_reason.setdefault(why, {})[key.rpartition(" ")[0]] = None
    for why, names in by_reason.items():
        warn_caller(
            f"{'member' if len(names) == 1 else 'members'} {', '.join(map(repr, names))} cannot be fitted in a process "
            f"of its own, only in a thread, which goes on when the time is over: {why}"
        )


class Started(NamedTuple):
    """When a fit began: by the clock, and by the processor time of its thread."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> Started:
        """The fit begins."""
        return cls(time.monotonic(), time.thread_time())

    def deadline(self, time_limit: Any, rows: int, *, pruned: bool) -> float | None:
        """When members must be finished, as a value of ``time.monotonic()``.

        Choosing weights and a shift, and what they cost out of fold, comes after the members, and takes longer on a
        machine that has let this thread wait so far.
        """
        if time_limit is None:
            return None
        clock, processor = time.monotonic() - self.clock, time.thread_time() - self.processor
        slow = min(_MOST_WAITING, max(1.0, clock / max(processor, 1e-3)))
        after = _SECONDS_AFTER * rows * (_LOOKS if pruned else 1) * slow
        return self.clock + float(time_limit) - min(float(time_limit) / 2, after)
