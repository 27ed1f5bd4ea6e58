"""All candidates fitted and tested on the same folds: what each costs, also if a miss costs half or double."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit

from uneven.app.models.apply_model import predict_positive
from uneven.app.models.candidates import CONSTANT_RULES, Candidate
from uneven.app.models.written_costs import scale_misses
from uneven.app.report.sentences import WhatIf, ratio_in_words
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics import CostEstimate
from uneven.metrics.comparison import Split, decide_on_folds, rows_learnt_from, stratified_folds
from uneven.metrics.intervals import estimates
from uneven.metrics.passing_costs import fit_with_costs
from uneven.solvers.progress import Listener, listening

#: Factors of the cost of a miss: the given one and what if it is wrong.
AS_GIVEN = "as given"
FACTORS = {"half": 0.5, AS_GIVEN: 1.0, "double": 2.0}
_TESTED = 0.25  # of the rows, if there is one split only


class Progress(Protocol):
    """Told a sentence and the share that is done; ``detail`` marks what comes often."""

    def __call__(self, message: str, share: float, *, detail: bool = False) -> None: ...


@dataclass(frozen=True)
class Rows:
    """Rows with labels and costs.

    Attributes
    ----------
    X : DataFrame or matrix
        Typed columns, or what the preprocessing made of them.
    is_positive : ndarray of bool
    costs : RowCosts
    per_row : bool
        Whether costs are passed to ``fit`` and ``predict`` for each row.
    """

    X: Any
    is_positive: np.ndarray
    costs: RowCosts
    per_row: bool

    def take(self, rows: np.ndarray) -> Rows:
        """Some of the rows."""
        return Rows(self.X.iloc[rows], self.is_positive[rows], self.costs.take(rows), self.per_row)

    def fit(self, candidate: Candidate, costs: RowCosts, preprocessing: Any = "passthrough") -> Any:
        """A pipeline that is made for ``costs`` and fitted to these rows, whose mistakes that pay are known already."""
        y = self.is_positive.astype(int)
        pipeline = candidate.pipeline(self.costs if candidate.learns_means else costs, preprocessing)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="in .* rows the mistake costs less", category=UserWarning)
            if self.per_row and not candidate.learns_means:
                return fit_with_costs(pipeline, self.X, y, self.costs)
            return pipeline.fit(self.X, y)


@dataclass(frozen=True)
class Outcome:
    """What every candidate decided for the rows that were tested.

    Attributes
    ----------
    is_positive : ndarray of bool
    costs : dict of RowCosts
        By the label of the factor of a miss.
    decisions : dict of dict of ndarray of bool, shape (repeats, rows)
        By that label and the name of the candidate, the simplest candidate first.
    how : str
        How the rows were split, in words.
    trained : float
        Rows that the models of a fold learnt from.
    """

    is_positive: np.ndarray
    costs: dict[str, RowCosts]
    decisions: dict[str, dict[str, np.ndarray]]
    how: str
    trained: float

    def cheapest(self, names: list[str]) -> str:
        """The cheapest of some candidates at the given costs; the simplest of those that cost the same."""
        return min(names, key=lambda name: self._cost(AS_GIVEN, name))

    def rows(self, first: str, label: str = AS_GIVEN) -> list[CostEstimate]:
        """Costs with intervals: the named candidate, then the others and their paired differences, by cost."""
        others = sorted((n for n in self.decisions[label] if n != first), key=lambda name: self._cost(label, name))
        said = {name: self.decisions[label][name] for name in (first, *others)}
        return estimates(self.costs[label], self.is_positive, said, trained=self.trained, rules=CONSTANT_RULES)

    def what_ifs(self, first: str) -> list[WhatIf]:
        """The same at other costs of a miss."""
        return what_ifs(self.costs[AS_GIVEN], self.rows(first), lambda label, _: self.rows(first, label))

    def _cost(self, label: str, name: str) -> float:
        return float(self.costs[label].paid(self.is_positive, self.decisions[label][name]).mean())


def compare_on_folds(
    rows: Rows, found: list[Candidate], preprocessing: BaseEstimator, progress: Progress, *, folds: int, repeats: int
) -> Outcome:
    """Fit and test all candidates; one fold means one split."""
    splits = _splits(rows.is_positive, folds, repeats)
    clock = _Clock(len(splits) * len(splits[0]))

    def decide_fold(repeat: int, fold: int) -> dict[tuple[str, str], np.ndarray]:
        where = _where(repeat, repeats, fold, len(splits[repeat]))
        progress(f"{where}{clock.left}", clock.share)
        seen, unseen = (rows.take(part) for part in splits[repeat][fold])
        encoder = clone(preprocessing).fit(seen.X)
        encoded = replace(seen, X=encoder.transform(seen.X)), replace(unseen, X=encoder.transform(unseen.X))
        said: dict[tuple[str, str], np.ndarray] = {}
        for candidate in found:
            with warnings.catch_warnings(), listening(_listener(progress, where, clock)):
                warnings.simplefilter("ignore", ConvergenceWarning)  # the fit to all rows tells
                at_costs = _decisions(candidate, rows.costs, *((seen, unseen) if candidate.whole else encoded))
            said |= {(label, candidate.name): part for label, part in at_costs.items()}
        clock.advance()
        return said

    tested, said = decide_on_folds(splits, decide_fold)
    decisions = {label: {c.name: said[label, c.name] for c in found} for label in FACTORS}
    costs = {label: scale_misses(rows.costs.take(tested), factor) for label, factor in FACTORS.items()}
    how = _how(len(splits[0]), repeats, tested.size)
    return Outcome(rows.is_positive[tested], costs, decisions, how, rows_learnt_from(splits))


def _decisions(candidate: Candidate, costs: RowCosts, seen: Rows, unseen: Rows) -> dict[str, np.ndarray]:
    """Decisions of a candidate that is fitted to the rows that were seen, at each cost of a miss."""
    found: dict[str, np.ndarray] = {}
    model = None
    for label, factor in sorted(FACTORS.items(), key=lambda item: item[0] != AS_GIVEN):
        given = label == AS_GIVEN
        at = costs if given else scale_misses(costs, factor)
        if model is None or not candidate.moves:
            model = replace(seen, costs=scale_misses(seen.costs, factor)).fit(candidate, at)
        decided_at = scale_misses(unseen.costs, factor)
        told = unseen.per_row or (candidate.moves and not given)
        found[label] = predict_positive(model, unseen.X, decided_at, told=told)
    return found


def _splits(is_positive: np.ndarray, folds: int, repeats: int) -> list[list[Split]]:
    fewest = int(min(is_positive.sum(), (~is_positive).sum()))
    if fewest < 2:
        raise CostError(f"a comparison needs two rows of each class, got {fewest} of one; --quick skips it")
    if folds > 1:
        return stratified_folds(is_positive, folds, repeats)
    splitter = StratifiedShuffleSplit(1, test_size=_TESTED, random_state=0)
    return [list(splitter.split(np.zeros(is_positive.size), is_positive))]


def _where(repeat: int, repeats: int, fold: int, folds: int) -> str:
    place = f"fold {fold + 1} of {folds}" if folds > 1 else "comparing on rows kept out"
    return f"repeat {repeat + 1} of {repeats}, {place}" if repeats > 1 else place


def _listener(progress: Progress, where: str, clock: _Clock) -> Listener:
    """Tells how far a learner is that takes long."""

    def hear(name: str, words: str, share: float) -> None:
        clock.within = share
        progress(f"{where}: {words}{clock.left}", clock.share, detail=True)

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


class _Clock:
    """Time left, from the time that the first parts took; the fit to all rows counts as one more."""

    def __init__(self, parts: int) -> None:
        self.parts, self.done, self.within, self.started = parts + 1, 0, 0.0, time.monotonic()

    def advance(self) -> None:
        """One more part is done."""
        self.done, self.within = self.done + 1, 0.0

    @property
    def share(self) -> float:
        """Of the work that is done; ``within`` is that of the present part."""
        return (self.done + self.within) / self.parts

    @property
    def left(self) -> str:
        """The time left, in words after a comma; "" before anything is done."""
        if not self.share:
            return ""
        seconds = (time.monotonic() - self.started) * (1 - self.share) / self.share
        return f", about {seconds:.0f} s left" if seconds < 90 else f", about {seconds / 60:.0f} min left"
