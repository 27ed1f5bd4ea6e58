"""Cross-validation of candidates that differ in gamma, C and loss. Work that candidates share is done once per split.

Preprocessing is fitted once. All gammas of a hinge at one effective C are one fit whose decision threshold moves. The
kernel matrix is computed once if it fits into memory. Other linear learners start from their neighbours along gamma,
and with an l1 penalty along C. Their smooth fits are not proved, unless a scorer could look at the proof: a search
needs only their decisions.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.decisions.alpha import DECIDE, LEARN
from uneven.errors import CostError
from uneven.inputs import Exact
from uneven.learners.base import (
    UnevenClassifier,
    as_fitted_with,
    classes_of,
    decision_scores,
    positive_scores,
    read_rows,
)
from uneven.learners.linear import UnevenLinearClassifier, fits_along
from uneven.learners.svc import UnevenSVC, fits_along_c
from uneven.metrics.cost_scorer import CostScorer
from uneven.metrics.expected_cost import cost_of_decisions
from uneven.solvers.hinge_identity import HingeIdentity, is_hinge
from uneven.solvers.kernel.kernel_matrix import Buffer
from uneven.solvers.linear.gram import SharedGrams
from uneven.solvers.linear.path import Follower


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: parameters of the learner, and its path, along which only gamma changes.

    ``row_costs`` is how costs of each row are used; None if all rows have the same. ``others`` are those of the
    parameters that only the learner knows.
    """

    params: dict[str, Any]
    margin_gamma: Any
    C: Any
    loss: Any
    path: int
    row_costs: str | None
    others: dict[str, Any] = field(default_factory=dict)


def candidates(
    learner: Any,
    losses: list[Any],
    Cs: list[Any],
    gammas: np.ndarray,
    uses: Sequence[str | None],
    points: Sequence[dict[str, Any]] = ({},),
) -> list[Candidate]:
    """The grid. For a hinge, C is the effective one, so that each path is one fit; None means the learner's own C.

    ``points`` are values of parameters that only the learner knows.
    """
    found: list[Candidate] = []
    path = 0
    named = len(losses) > 1 or "loss" in learner.get_params(deep=False)
    for others, use, loss in itertools.product(points, uses, losses):
        one_fit = is_one_fit(clone(learner).set_params(**others) if others else learner, loss)
        for C in Cs:
            for gamma in gammas.tolist():
                effective = learner.C if C is None and hasattr(learner, "C") else C
                params: dict[str, Any] = {"margin_gamma": gamma}
                if effective is not None and one_fit:
                    params["C"] = own_c(effective, gamma)
                elif C is not None:
                    params["C"] = C
                if named:
                    params["loss"] = loss
                params |= others
                found.append(Candidate(params, gamma, effective, loss, path, use, others))
            path += 1
    return found


@dataclass(frozen=True)
class Task:
    """What is the same in all splits. ``steps`` is the preprocessing, if any; ``scorer`` is None for expected cost."""

    learner: Any
    steps: Any
    candidates: list[Candidate]
    costs: RowCosts
    pos_label: Any
    scorer: Callable[..., float] | None

    def given(self, rows: np.ndarray, row_costs: str | None) -> GivenCosts:
        """The costs that ``fit`` is given for some rows: none, unless it learns with costs of each row."""
        if row_costs != LEARN:
            return GivenCosts()
        costs = self.costs.take(rows)
        return GivenCosts(*(getattr(costs, name) for name in COSTS))


@dataclass
class Column:
    """Results of one split, one entry per candidate; NaN if there is none yet."""

    scores: np.ndarray
    fit_times: np.ndarray
    score_times: np.ndarray

    @classmethod
    def empty(cls, count: int) -> Column:
        return cls(*(np.full(count, np.nan) for _ in range(3)))


@dataclass(frozen=True)
class Reusable:
    """What one split leaves for the next one: solutions along linear paths, the Gram matrix, memory for a kernel's."""

    followers: dict[int, Follower] = field(default_factory=dict)
    grams: SharedGrams = field(default_factory=SharedGrams)
    buffer: Buffer = field(default_factory=Buffer)


def run_split(
    task: Task,
    X: Any,
    y: Any,
    sample_weight: Any,
    train: np.ndarray,
    test: np.ndarray,
    column: Column | None = None,
    reusable: Reusable | None = None,
) -> Column:
    """Fit and score every candidate in one split; results appear in ``column`` one by one."""
    reusable = reusable or Reusable()
    column = Column.empty(len(task.candidates)) if column is None else column
    if type(X) is np.ndarray and type(task.learner) is UnevenLinearClassifier:  # for small data faster than below
        known, y_known, new, y_new = X[train], y[train], X[test], y[test]
    else:
        known, y_known = _safe_split(task.learner, X, y, train)
        new, y_new = _safe_split(task.learner, X, y, test, train)
    weight = None if sample_weight is None else _safe_indexing(sample_weight, train)
    if task.steps is not None:
        steps = clone(task.steps)
        known = steps.fit_transform(known, y_known)
        new = steps.transform(new)
    reader = _Decisions(task, new, task.costs.take(test))
    truth = np.asarray(y_new) == task.pos_label
    test_weight = np.ones(truth.size) if sample_weight is None else np.asarray(_safe_indexing(sample_weight, test))
    if not test_weight.any():
        raise CostError("sample_weight is 0 for every row that one split tests; shuffle the splits, or drop those rows")
    test_weight = test_weight / test_weight.sum()
    told = {}
    if isinstance(task.scorer, CostScorer) and task.candidates[0].row_costs is not None:
        told = {name: reader.costs.of_each_row(name) for name in COSTS}
    with reusable.grams.part(X if task.steps is None else None, train):
        for index, model, shares, seconds in _fits(task, known, y_known, weight, train, reusable):
            candidate = task.candidates[index]
            started = time.perf_counter()
            if task.scorer is None:
                if shares:
                    said = reader.decide_by_identity(model, candidate.margin_gamma)
                else:
                    said = reader.decide(model, candidate.row_costs)
                column.scores[index] = -cost_of_decisions(reader.costs, truth, said, test_weight)
            else:
                own = move_gamma(model, candidate.margin_gamma, candidate.params["C"]) if shares else model
                column.scores[index] = float(task.scorer(own, new, y_new, **told))
            column.fit_times[index] = seconds
            column.score_times[index] = time.perf_counter() - started
    return column


class _Decisions:
    """Decisions of models on the test rows, which are read once; True means positive."""

    def __init__(self, task: Task, X: Any, costs: RowCosts) -> None:
        self.X, self.pos_label, self.costs = X, task.pos_label, costs
        self.read: Any = None
        self.base: Any = None
        self.scores = np.empty(0)

    def _rows(self, model: UnevenClassifier) -> Any:
        if self.read is None:
            self.read = read_rows(model, self.X)
        return self.read

    def decide_by_identity(self, base: UnevenClassifier, margin_gamma: Any) -> np.ndarray:
        """Decisions at another gamma, from the fit ``base`` at gamma = 1 that it shares."""
        if base is not self.base:
            self.base, self.scores = base, positive_scores(base, self._rows(base))
        return np.asarray(HingeIdentity.of(margin_gamma).score(self.scores) > 0)

    def decide(self, model: Any, row_costs: str | None) -> np.ndarray:
        """Decisions of a model of its own."""
        if row_costs == DECIDE:
            return np.asarray(decision_scores(model, self._rows(model), self.costs) > 0)
        if isinstance(model, UnevenClassifier):
            return np.asarray(positive_scores(model, self._rows(model)) > 0)
        return np.asarray(model.predict(self.X) == self.pos_label)


def _fits(
    task: Task, X: Any, y: Any, sample_weight: Any, train: np.ndarray, reusable: Reusable
) -> Iterator[tuple[int, Any, bool, float]]:
    """For every candidate: its index, its fit, whether that is the fit at gamma = 1 of its path, and its seconds."""
    for _, group in itertools.groupby(enumerate(task.candidates), key=lambda item: id(item[1].others)):
        indices, some = zip(*group, strict=True)
        learner = clone(task.learner).set_params(**some[0].others) if some[0].others else task.learner
        part = replace(task, learner=learner, candidates=list(some))
        for index, *rest in _fits_at_one_point(part, X, y, sample_weight, train, reusable):
            yield indices[index], *rest


def _fits_at_one_point(
    task: Task, X: Any, y: Any, sample_weight: Any, train: np.ndarray, reusable: Reusable
) -> Iterator[tuple[int, Any, bool, float]]:
    """The same for candidates that share the parameters that only the learner knows."""
    by_path: dict[int, list[int]] = {}
    for index, candidate in enumerate(task.candidates):
        by_path.setdefault(candidate.path, []).append(index)
    one_fit = [path for path in by_path.values() if is_one_fit(task.learner, task.candidates[path[0]].loss)]
    learnt = task.given(train, LEARN if any(candidate.row_costs for candidate in task.candidates) else None)
    for path, model, seconds in _one_fit_paths(task, one_fit, X, y, sample_weight, learnt, reusable.buffer):
        for index in path:
            yield index, model, True, seconds / len(path)
    l1 = getattr(task.learner, "penalty", None) in ("l1", "elasticnet")
    neighbours: dict[str, Follower] = {}  # of each loss, with the next smaller C
    paths = list(by_path.items())
    if l1:
        paths.sort(key=lambda item: float(task.candidates[item[1][0]].C))
    for number, path in paths:
        if path in one_fit:
            continue
        loss = f"{task.candidates[path[0]].loss!r} {task.candidates[path[0]].row_costs}"
        before = reusable.followers.get(number) or (neighbours.get(loss) if l1 else None)
        follower = reusable.followers[number] = neighbours[loss] = Follower(before)
        rising = sorted(path, key=lambda index: float(task.candidates[index].margin_gamma))
        started = time.perf_counter()
        costs = task.given(train, task.candidates[path[0]].row_costs)
        for index, model in zip(rising, _plain_fits(task, rising, X, y, sample_weight, costs, follower), strict=True):
            yield index, model, False, time.perf_counter() - started
            started = time.perf_counter()


def _plain_fits(
    task: Task, path: list[int], X: Any, y: Any, sample_weight: Any, costs: GivenCosts, follower: Follower
) -> Iterator[Any]:
    params = [task.candidates[index].params for index in path]
    if type(task.learner) is UnevenLinearClassifier:
        proved = task.scorer is not None  # a scorer may look at anything that a model has
        yield from fits_along(task.learner, X, y, sample_weight, costs, params, follower, proved=proved)
        return
    if hasattr(task.learner, "shared_fits"):  # boosted trees, which share their bins
        yield from task.learner.shared_fits(X, y, sample_weight, costs, params)
        return
    given = {name: value for name, value in {"sample_weight": sample_weight, **costs}.items() if value is not None}
    for one in params:
        yield clone(task.learner).set_params(**one).fit(X, y, **given)


def _one_fit_paths(
    task: Task,
    paths: list[list[int]],
    X: Any,
    y: Any,
    sample_weight: Any,
    costs: GivenCosts,
    buffer: Buffer,
) -> Iterator[tuple[list[int], Any, float]]:
    """The fit at gamma = 1 that each path of a hinge shares, in rising order of C."""
    if not paths:
        return
    paths = sorted(paths, key=lambda path: float(task.candidates[path[0]].C))
    started = time.perf_counter()
    if isinstance(task.learner, UnevenSVC):
        Cs = [task.candidates[path[0]].C for path in paths]
        models: Iterator[Any] = fits_along_c(clone(task.learner), X, y, sample_weight, costs, Cs, buffer)
    else:
        models = _linear_fits(task, paths, X, y, sample_weight, costs)
    for path, model in zip(paths, models, strict=True):
        yield path, model, time.perf_counter() - started
        started = time.perf_counter()


def _linear_fits(
    task: Task, paths: list[list[int]], X: Any, y: Any, sample_weight: Any, costs: GivenCosts
) -> Iterator[Any]:
    for path in paths:
        first = task.candidates[path[0]]
        model = clone(task.learner).set_params(margin_gamma=1.0, C=first.C, loss=first.loss)
        yield model.fit(X, y, sample_weight, **costs)


# -- all gammas of a hinge at one effective C are one fit, by uneven.solvers.hinge_identity ----------------------------


def is_one_fit(learner: Any, loss: Any) -> bool:
    """Whether all gammas of a learner at one effective C share one fit."""
    if type(learner) is UnevenSVC:
        return True
    return (
        type(learner) is UnevenLinearClassifier
        and learner.penalty == "l2"
        and bool(learner.fit_intercept)
        and is_hinge(loss)
    )


def own_c(effective: Exact, margin_gamma: Exact) -> float:
    """C of the learner with this gamma whose effective C is given."""
    return HingeIdentity.of(margin_gamma).own_c(effective)


def move_gamma(model: Any, margin_gamma: Exact, C: float) -> Any:
    """The learner fitted at another gamma and the same effective C, from the one fitted at gamma = 1."""
    identity = HingeIdentity.of(margin_gamma)
    other = as_fitted_with(model, margin_gamma=margin_gamma, C=C)
    name = "dual_coef_" if isinstance(model, UnevenSVC) else "coef_"
    setattr(other, name, identity.a * getattr(model, name))
    other.intercept_ = identity.a * model.intercept_ + classes_of(model).turned(identity.c)
    other.objective_ = identity.a * identity.a * model.objective_
    if model.duality_gap_ is not None:
        other.duality_gap_ = identity.a * identity.a * model.duality_gap_
    return other
