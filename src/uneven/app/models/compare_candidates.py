"""All candidates fitted and tested on the same folds: what each costs, also if a miss costs half or double."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit

from uneven.app.models.apply_model import predict_positive
from uneven.app.models.candidates import (
    ALWAYS,
    CONSTANT_RULES,
    ENSEMBLE,
    EVERYONE,
    NO_ONE,
    Candidate,
    is_rule,
)
from uneven.app.models.class_candidates import class_decisions
from uneven.app.models.written_costs import scale_misses
from uneven.app.report.sentences import (
    WhatIf,
    is_ensemble,
    knows_classes,
    ratio_in_words,
)
from uneven.costs import RowCosts
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import CostError, UnevenError
from uneven.learners.folds import MOST_FITS, Split, time_and_group_splits
from uneven.metrics import CostEstimate
from uneven.metrics.comparison import decide_on_folds, rows_learnt_from, stratified_folds
from uneven.metrics.intervals import estimates
from uneven.metrics.matrix_estimates import matrix_estimates
from uneven.metrics.passing_costs import fit_with_costs
from uneven.solvers.running import Listener, listening

#: Factors of the cost of a miss: the given one and what if it is wrong.
AS_GIVEN = "as given"
FACTORS = {"half": 0.5, AS_GIVEN: 1.0, "double": 2.0}
_TESTED = 0.25  # of the rows, if there is one split only
#: What a learner says if times or groups allow fewer folds than it wants; the command says how many it used.
_FEWER_FOLDS = "times has .* different values|only .* groups have"


class Progress(Protocol):
    """Told a sentence and the share that is done; ``detail`` marks what comes often."""

    def __call__(self, message: str, share: float, *, detail: bool = False) -> None: ...


@dataclass(frozen=True)
class FoldColumns:
    """Columns that say which rows a fold may test: later ones than it learnt from, or those of other groups.

    Attributes
    ----------
    time, group : str or None
        Their names; at least one of them.
    times, groups : ndarray of int or None
        The place of each row's time among all times, and the number of its group.
    """

    time: str | None = None
    group: str | None = None
    times: np.ndarray | None = None
    groups: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> FoldColumns:
        """Those of some of the rows."""
        times, groups = (None if part is None else part[rows] for part in (self.times, self.groups))
        return replace(self, times=times, groups=groups)

    def splits(self, truth: np.ndarray, folds: int, seed: int = 0, classes: Sequence[Any] | None = None) -> list[Split]:
        """Train and test rows; one fold means one split. ``classes`` are the names of several classes."""
        called = {} if classes is None else {"names": [f"rows of the class {label!r}" for label in classes]}
        share = _TESTED if folds == 1 else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer folds: the comparison says how many there are
            try:
                return time_and_group_splits(
                    truth, max(2, folds), times=self.times, groups=self.groups, seed=seed, share=share, **called
                )
            except CostError as error:
                words = str(error).replace("times has", f"column {self.time!r} has")
                raise CostError(words.replace("groups has", f"column {self.group!r} has")) from None

    def fits(self, folds: int) -> int:
        """How many fits so many folds are at most."""
        return MOST_FITS if self.time is not None and self.group is not None and folds > 1 else folds

    def given_to_fit(self, truth: np.ndarray, classes: Sequence[Any] | None = None) -> dict[str, np.ndarray]:
        """What an ensemble or a search is given, for folds of its own; nothing if these rows do not suffice for them.

        Such as rows of one month, from which the first of several folds learns.
        """
        try:
            self.splits(truth, 2, classes=classes)
        except UnevenError:
            return {}
        known = {"times": self.times, "groups": self.groups}
        return {name: values for name, values in known.items() if values is not None}

    def how(self, folds: int, tested: int) -> str:
        """How the rows were split, in words."""
        if self.time is None:
            if folds == 1:
                return f"on {tested:,} rows kept out of the fits, whole groups of {self.group!r}"
            return f"cross-validated, {folds} folds of whole groups of {self.group!r}"
        where = f"out of time: {tested:,} rows, each with models of earlier rows (column {self.time!r})"
        return where if self.group is None else f"{where} and of other groups (column {self.group!r})"

    @property
    def in_words(self) -> str:
        """What is tested, for a sentence with a cost."""
        later, others = "out of time", f"for new groups (column {self.group!r})"
        if self.time is None:
            return others
        return later if self.group is None else f"{later} and {others}"


@dataclass(frozen=True)
class Rows:
    """Rows with labels and costs.

    Attributes
    ----------
    X : DataFrame or matrix
        Typed columns, or what the preprocessing made of them.
    truth : ndarray of bool, or of int
        Whether each row is positive, or the number of its class in the cost matrix.
    costs : RowCosts or CostMatrix
    per_row : bool
        Whether costs are passed to ``fit`` and ``predict`` for each row.
    by : FoldColumns or None
        What folds look at; None: they are shuffled.
    """

    X: Any
    truth: np.ndarray
    costs: RowCosts | CostMatrix
    per_row: bool
    by: FoldColumns | None = None

    def take(self, rows: np.ndarray) -> Rows:
        """Some of the rows."""
        by = None if self.by is None else self.by.take(rows)
        return Rows(self.X.iloc[rows], self.truth[rows], self.costs.take(rows), self.per_row, by)

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The names of several classes; None with two."""
        return self.costs.classes if isinstance(self.costs, CostMatrix) else None

    @property
    def labels(self) -> np.ndarray:
        """What a classifier learns: 0 and 1, or the names of several classes."""
        return self.truth.astype(int) if self.classes is None else np.array(self.classes)[self.truth]

    def decide(self, pipeline: Any) -> np.ndarray:
        """Where a fitted pipeline predicts positive, or the number of each row's action."""
        if isinstance(self.costs, RowCosts):
            return predict_positive(pipeline, self.X, self.costs, told=self.per_row)
        return self.costs.number_actions("predictions", pipeline.predict(self.X))

    def fit(self, candidate: Candidate, costs: RowCosts | CostMatrix, preprocessing: Any = "passthrough") -> Any:
        """A pipeline that is made for ``costs`` and fitted to these rows, whose mistakes that pay are known already."""
        y = self.labels
        pipeline = candidate.pipeline(self.costs if candidate.learns_means else costs, preprocessing)
        given = {} if self.by is None or not candidate.makes_folds else self.by.given_to_fit(self.truth, self.classes)
        more = {f"classifier__{name}": values for name, values in given.items()}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_FEWER_FOLDS, category=UserWarning)
            warnings.filterwarnings("ignore", message="in .* rows the mistake costs less", category=UserWarning)
            if self.per_row and not candidate.learns_means:
                assert isinstance(self.costs, RowCosts)
                return fit_with_costs(pipeline, self.X, y, self.costs, **more)
            return pipeline.fit(self.X, y, **more)


@dataclass(frozen=True)
class Outcome:
    """What every candidate decided for the rows that were tested.

    Attributes
    ----------
    truth : ndarray of bool, or of int
        Whether each row is positive, or the number of its class.
    costs : dict of RowCosts or CostMatrix
        By the label of the factor of a miss; a cost matrix is as given only.
    decisions : dict of dict of ndarray of bool or int, shape (repeats, rows)
        By that label and the name of the candidate, the simplest candidate first.
    how : str
        How the rows were split, in words.
    trained : float
        Rows that the models of a fold learnt from.
    tested : ndarray of int
        Which rows these are.
    groups : ndarray of int or None
        The group of each of them, if rows of a group are not independent.
    """

    truth: np.ndarray
    costs: dict[str, RowCosts] | dict[str, CostMatrix]
    decisions: dict[str, dict[str, np.ndarray]]
    how: str
    trained: float
    tested: np.ndarray
    groups: np.ndarray | None = None

    def cheapest(self, names: list[str]) -> str:
        """The cheapest of some candidates at the given costs; the simplest of those that cost the same."""
        return min(names, key=lambda name: self._cost(AS_GIVEN, name))

    def rows(self, first: str, label: str = AS_GIVEN) -> list[Any]:
        """Costs with intervals: the named candidate, then the others and their paired differences, by cost.

        Of the rules that take one of several actions for every row, only the cheapest.
        """
        others = sorted((n for n in self.decisions[label] if n != first), key=lambda name: self._cost(label, name))
        if isinstance(self.costs[label], CostMatrix):
            dearer = [name for name in others if is_rule(name)][1:]
            others = [name for name in others if name not in dearer]
        said = {name: self.decisions[label][name] for name in (first, *others)}
        return cost_estimates(self.costs[label], self.truth, said, trained=self.trained, groups=self.groups)

    def what_ifs(self, first: str) -> list[WhatIf]:
        """The same at other costs of a miss; nothing with several classes, which have no such single cost."""
        given = self.costs[AS_GIVEN]
        if isinstance(given, CostMatrix):
            return []
        return what_ifs(given, self.rows(first), lambda label, _: self.rows(first, label))

    def _cost(self, label: str, name: str) -> float:
        return float(paid(self.costs[label], self.truth, self.decisions[label][name]).mean())


def paid(costs: RowCosts | CostMatrix, truth: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """What decisions cost in each row, as :class:`Rows` has them."""
    if isinstance(costs, CostMatrix):
        return np.asarray(costs.costs[truth, decisions])
    return costs.paid(truth, decisions)


def cost_estimates(
    costs: RowCosts | CostMatrix,
    truth: np.ndarray,
    said: Mapping[str, np.ndarray],
    *,
    trained: float | None = None,
    groups: np.ndarray | None = None,
) -> Any:
    """Costs of decisions with intervals, the first as a reference of the others."""
    if isinstance(costs, CostMatrix):
        rules = [name for name in said if is_rule(name)]
        return matrix_estimates(costs.costs, truth, said, trained=trained, rules=rules, groups=groups)
    return estimates(costs, truth, said, trained=trained, rules=CONSTANT_RULES, groups=groups)


def compare_on_folds(
    rows: Rows,
    found: list[Candidate],
    preprocessing: BaseEstimator,
    progress: Progress,
    *,
    folds: int,
    repeats: int,
    limit: float | None = None,
) -> Outcome:
    """Fit and test all candidates; one fold means one split. ``limit``: the seconds that the candidates keep to."""
    splits = _splits(rows, folds, repeats)
    factors = FACTORS if rows.classes is None else {AS_GIVEN: 1.0}
    return compare_on_splits(rows, splits, found, preprocessing, progress, factors, limit=limit)


def compare_on_splits(
    rows: Rows,
    splits: list[list[Split]],
    found: list[Candidate],
    preprocessing: BaseEstimator,
    progress: Progress,
    factors: Mapping[str, float],
    doing: str = "",
    limit: float | None = None,
) -> Outcome:
    repeats = len(splits)
    clock = Clock(len(splits) * len(splits[0]), limit)

    def decide_fold(repeat: int, fold: int) -> dict[tuple[str, str], np.ndarray]:
        where = doing + _where(repeat, repeats, fold, len(splits[repeat]))
        progress(f"{where}{clock.left}", clock.share)
        seen, unseen = (rows.take(part) for part in splits[repeat][fold])
        encoder = clone(preprocessing).fit(seen.X)
        encoded = replace(seen, X=encoder.transform(seen.X)), replace(unseen, X=encoder.transform(unseen.X))
        said: dict[tuple[str, str], np.ndarray] = {}
        for candidate in found:
            with warnings.catch_warnings(), listening(listener(progress, where, clock)):
                warnings.simplefilter("ignore", ConvergenceWarning)  # the fit to all rows tells
                said |= _decisions(candidate, rows.costs, *((seen, unseen) if candidate.whole else encoded), factors)
        clock.advance()
        return said

    tested, said = decide_on_folds(splits, decide_fold)
    decisions = {label: {name: part for (at, name), part in said.items() if at == label} for label in factors}
    costs: Any = {AS_GIVEN: rows.costs}
    if isinstance(rows.costs, RowCosts):
        costs = {label: scale_misses(rows.costs.take(tested), factor) for label, factor in factors.items()}
    how = _how(len(splits[0]), repeats, tested.size) if rows.by is None else rows.by.how(len(splits[0]), tested.size)
    groups = None if rows.by is None or rows.by.groups is None else rows.by.groups[tested]
    return Outcome(rows.truth[tested], costs, decisions, how, rows_learnt_from(splits), tested, groups)


def out_of_fold_rows(pipeline: Any) -> list[Any]:
    """What a fitted ensemble and constant rules cost out of its own folds, ours first; nothing of another learner."""
    if not is_ensemble(pipeline[-1]):
        return []
    if knows_classes(pipeline[-1]):
        return class_rows_out_of_fold(pipeline[-1], ENSEMBLE, pipeline[-1].costs.classes)
    names = {"all negative": NO_ONE, "all positive": EVERYONE}
    others = [replace(one, name=names[name]) for name, one in pipeline[-1].constant_costs_.items()]
    return [replace(pipeline[-1].out_of_fold_cost_, name=ENSEMBLE), *others]


def class_rows_out_of_fold(learner: Any, name: str, classes: Sequence[Any]) -> list[Any]:
    """What a learner of several classes costs out of fold, and the cheapest decision that is the same for all rows.

    ``classes`` say in which order rows are counted.
    Their difference is not paired: its ends are those of both intervals, which no correlation can make too narrow.
    """
    ours, (rule, one) = learner.out_of_fold_cost_, min(learner.constant_costs_.items(), key=lambda item: item[1].cost)
    apart = {
        "difference": one.cost - ours.cost,
        "difference_low": one.low - ours.high,
        "difference_high": one.high - ours.low,
        "difference_rough": one.rough or ours.rough,
    }
    places = [np.asarray(learner.classes_).tolist().index(label) for label in classes]
    ours, one = (replace(found, counts=found.counts[places]) for found in (ours, one))
    ours = replace(ours, name=name, difference=None, difference_low=None, difference_high=None, difference_rough=False)
    return [ours, replace(one, name=f"{ALWAYS}{rule.removeprefix('all ')}", **apart)]


def _decisions(
    candidate: Candidate, costs: RowCosts | CostMatrix, seen: Rows, unseen: Rows, factors: Mapping[str, float]
) -> dict[tuple[str, str], np.ndarray]:
    """Decisions of a candidate that is fitted to the rows that were seen, at each cost of a miss."""
    if isinstance(costs, CostMatrix):
        return {(AS_GIVEN, name): said for name, said in class_decisions(candidate, seen, unseen).items()}
    assert isinstance(seen.costs, RowCosts)
    assert isinstance(unseen.costs, RowCosts)
    found: dict[tuple[str, str], np.ndarray] = {}
    model = None
    for label, factor in sorted(factors.items(), key=lambda item: item[0] != AS_GIVEN):
        given = label == AS_GIVEN
        at = costs if given else scale_misses(costs, factor)
        if model is None or not candidate.moves:
            model = replace(seen, costs=scale_misses(seen.costs, factor)).fit(candidate, at)
        decided_at = scale_misses(unseen.costs, factor)
        told = unseen.per_row or (candidate.moves and not given)
        found[label, candidate.name] = predict_positive(model, unseen.X, decided_at, told=told)
    return found


def _splits(rows: Rows, folds: int, repeats: int) -> list[list[Split]]:
    truth, classes = rows.truth, rows.classes
    counts = np.bincount(truth.astype(np.intp), minlength=2 if classes is None else len(classes))
    fewest = int(counts.min())
    if fewest < 2:
        one = "one" if classes is None else f"{classes[counts.argmin()]!r}"
        raise CostError(f"a comparison needs two rows of each class, got {fewest} of {one}; --quick skips it")
    if rows.by is not None:
        seeds = range(repeats if rows.by.times is None and folds > 1 else 1)
        return [rows.by.splits(truth, folds, seed, classes) for seed in seeds]
    if folds > 1:
        return stratified_folds(truth, folds, repeats)
    splitter = StratifiedShuffleSplit(1, test_size=_TESTED, random_state=0)
    return [list(splitter.split(np.zeros(truth.size), truth))]


def _where(repeat: int, repeats: int, fold: int, folds: int) -> str:
    place = f"fold {fold + 1} of {folds}" if folds > 1 else "comparing on rows kept out"
    return f"repeat {repeat + 1} of {repeats}, {place}" if repeats > 1 else place


def listener(progress: Progress, where: str, clock: Clock) -> Listener:
    """Tells how far a learner is that takes long."""

    def hear(name: str, words: str, share: float) -> None:
        unknown = clock.left == ""
        clock.hear(share)
        first = unknown and clock.left != ""  # the time is told as soon as it is known
        progress(f"{where}: {words}{clock.left}", clock.share, detail=not first)

    return hear


def _how(folds: int, repeats: int, tested: int) -> str:
    if folds == 1:
        return f"on {tested:,} rows kept out of the fits"
    return f"cross-validated, {folds} folds{' twice' if repeats == 2 else ''}"


def what_ifs(
    costs: RowCosts, given: list[CostEstimate], compared_at: Callable[[str, RowCosts], list[CostEstimate]]
) -> list[WhatIf]:
    """The comparisons at half, the given and double costs of a miss; ``compared_at`` compares at other costs."""
    found = []
    for label, factor in FACTORS.items():
        other = scale_misses(costs, factor)
        rows = given if label == AS_GIVEN else compared_at(label, other)
        found.append(WhatIf(label, ratio_in_words(other), costs.per_row, rows))
    return found


#: The time left is judged by at least this share of the work and so many seconds of it, from the first fit on.
_ENOUGH_WORK, _ENOUGH_SECONDS = 0.03, 1.0


class Clock:
    """Time left, from the time that the first parts took; the fit to all rows, or the only work, counts as one more.

    It runs from the end of the first fit: before, packages are imported and loops compiled. With a ``limit`` in seconds
    no more is told than is left of it.
    """

    def __init__(self, parts: int, limit: float | None = None) -> None:
        self.parts, self.done, self.within = parts + 1, 0, 0.0
        self.end = None if limit is None else time.monotonic() + limit
        self.first: tuple[float, float] | None = None

    def advance(self) -> None:
        """One more part is done."""
        self.hear(1.0)
        self.done, self.within = self.done + 1, 0.0

    def hear(self, within: float) -> None:
        """So much of the present part is done."""
        self.within = within
        if self.first is None:
            self.first = self.share, time.monotonic()

    @property
    def share(self) -> float:
        """Of the work that is done; ``within`` is that of the present part."""
        return (self.done + self.within) / self.parts

    @property
    def left(self) -> str:
        """The time left, in words after a comma; "" while it is too early to tell."""
        if self.first is None:
            return ""
        work, seconds = self.share - self.first[0], time.monotonic() - self.first[1]
        if work < _ENOUGH_WORK or seconds < _ENOUGH_SECONDS:
            return ""
        seconds *= (1 - self.share) / work
        if self.end is not None:
            seconds = min(seconds, max(0.0, self.end - time.monotonic()))
        return f", about {seconds:.0f} s left" if seconds < 90 else f", about {seconds / 60:.0f} min left"
