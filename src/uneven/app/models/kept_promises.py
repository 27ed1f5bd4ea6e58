"""Whether a comparison holds: for the model that is saved, for later rows, and against random folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from uneven.app.models.candidates import Candidate
from uneven.app.models.compare_candidates import (
    AS_GIVEN,
    FoldColumns,
    Outcome,
    Progress,
    Rows,
    compare_on_splits,
    cost_estimates,
    paid,
)
from uneven.app.report.sentences import chance_in_words, is_ensemble, per_thousand
from uneven.decisions.cost_matrix import CostMatrix
from uneven.metrics import CostEstimate
from uneven.metrics.intervals import ends_in_words


@dataclass(frozen=True)
class RandomClaim:
    """What random folds would have claimed for a model, next to what its folds said of the same rows.

    Attributes
    ----------
    claimed, found : CostEstimate
        With random folds, and by time or group; the second has the paired difference from the first.
    rows : int
    by : FoldColumns
    """

    claimed: CostEstimate
    found: CostEstimate
    rows: int
    by: FoldColumns

    def in_words(self, unit: str | None) -> str:
        """The two costs, their difference, and why they may differ."""
        more = self.found.difference or 0.0
        ends = chance_in_words(self.found, 1 if more >= 0 else -1)
        why = "knows other rows of the same group"
        if self.by.time is not None:
            why = "learns from later rows too, and from more rows"
        if self.by.time is not None and self.by.group is not None:
            why = "learns from later rows too, from other rows of the same group, and from more rows"
        return (
            f"Random folds would have claimed {per_thousand(self.claimed.cost, unit)} per 1,000 rows for "
            f"{self.found.name}; {self.by.in_words} it is {per_thousand(self.found.cost, unit)}, "
            f"{per_thousand(abs(more), unit)} {'more' if more >= 0 else 'less'}{ends}, on the same {self.rows:,} rows. "
            f"In random folds a model {why}."
        )


def random_claim(
    rows: Rows, outcome: Outcome, candidate: Candidate, preprocessing: BaseEstimator, progress: Progress, folds: int
) -> RandomClaim:
    """Test one candidate on the rows of a comparison again, with random folds, as if there were no time and no groups.

    With one fold, half of these rows are tested, and the others are learnt from.
    """
    assert rows.by is not None
    shuffled, tested, y = replace(rows, by=None), outcome.tested, outcome.truth
    part = np.empty(tested.size, dtype=np.intp)
    for label in np.unique(y):
        own = np.random.default_rng(0).permutation(np.flatnonzero(y == label))
        part[own] = np.arange(own.size) % max(2, folds)
    everything = np.arange(rows.truth.size)
    parts = [tested[part == number] for number in range(max(2, folds) if folds > 1 else 1)]
    splits = [(np.setdiff1d(everything, test), test) for test in parts if test.size]
    doing = "what random folds would claim: "
    again = compare_on_splits(shuffled, [splits], [candidate], preprocessing, progress, {AS_GIVEN: 1.0}, doing)
    kept = np.searchsorted(tested, again.tested)
    ours, theirs = outcome.decisions[AS_GIVEN][candidate.name][:1, kept], again.decisions[AS_GIVEN][candidate.name]
    said = {"random folds": theirs, candidate.name: ours}
    trained = min(outcome.trained, again.trained)
    groups = None if outcome.groups is None else outcome.groups[kept]
    costs = again.costs[AS_GIVEN]
    claimed, found = cost_estimates(costs, again.truth, said, trained=trained, groups=groups)
    return RandomClaim(claimed, found, kept.size, rows.by)


# -- the model that is saved, and later rows ---------------------------------------------------------------------------

#: Rows that are looked at for the order: at least, so that a difference can be seen, and at most, to be quick.
_FEWEST, _MOST = 200, 20_000
_BLOCKS = 5
#: A dearer order of the folds is worth a sentence from this share of the cost on.
_WORTH_TELLING = 0.02


def broken_promise(shown: CostEstimate, pipeline: Any, rows: Rows, unit: str | None = None) -> str:
    """A warning if the cost that was shown for a model is not that of the one that was fitted to all rows; else "".

    Parameters
    ----------
    shown : CostEstimate
        Of the comparison.
    pipeline : Pipeline
        The model to save.
    rows : Rows
        All rows; the model learnt from them.
    unit : str or None
        Such as EUR.
    """
    learnt = float(paid(rows.costs, rows.truth, rows.decide(pipeline)).mean())
    own = pipeline[-1].out_of_fold_cost_.cost if is_ensemble(pipeline[-1]) else None
    if own is not None and not shown.low <= own <= shown.high:
        found = f"its out-of-fold cost is {per_thousand(own, unit)}"
    elif learnt > shown.high:
        found = f"on the rows that it learnt from it costs {per_thousand(learnt, unit)}"
    else:
        return ""
    return (
        f"WARNING: the model that was fitted to all rows is not what the comparison promised. Per 1,000 rows {found}; "
        f"the comparison said {per_thousand(shown.cost, unit)} (95 % interval "
        f"{ends_in_words(per_thousand(shown.low), per_thousand(shown.high), rough=shown.rough)}). Do not rely on the "
        "costs below."
    )


def order_in_words(rows: Rows, preprocessing: BaseEstimator, unit: str | None) -> str:
    """A sentence if rows of another time cost more than shuffled folds say; "" otherwise.

    A logistic regression is tested on shuffled folds and on blocks of the file. If blocks cost significantly more, the
    file is in an order that matters.
    """
    found = _compare_orders(rows, preprocessing)
    more = 0.0 if found is None else found.difference or 0.0
    if found is None or (found.difference_low or 0) <= 0 or more <= _WORTH_TELLING * found.cost:
        return ""
    low, high = (per_thousand(end or 0.0) for end in (found.difference_low, found.difference_high))
    return (
        f"The order of the rows matters: a logistic regression costs {per_thousand(more, unit)} more per 1,000 rows on "
        "blocks of the file than on shuffled rows (95 % interval "
        f"{ends_in_words(low, high, rough=found.difference_rough)}). If the file is in the order of time, later rows "
        "may cost that much more than said here, where all folds are shuffled; --time COLUMN measures it."
    )


def dates_in_words(dates: list[str]) -> str:
    """That columns with dates may matter to the folds; "" without any. It needs no fit, so it can be said before."""
    if not dates:
        return ""
    return (
        f"Column {dates[0]!r} holds dates. All folds are shuffled: if things change over time, later rows may cost "
        f"more than said here; --time {dates[0]!r} measures it."
    )


def _compare_orders(rows: Rows, preprocessing: BaseEstimator) -> CostEstimate | None:
    """What blocks of the file cost, and how much more that is than shuffled folds; None if that cannot be said."""
    count = rows.truth.size
    if count < _FEWEST:
        return None
    some = rows.take(np.arange(0, count, -(-count // _MOST)))
    some = replace(some, X=preprocessing.fit_transform(some.X))
    block = np.arange(some.truth.size) * _BLOCKS // some.truth.size
    shuffled, blocks = _decide_folds(some, np.random.default_rng(0).permutation(block)), _decide_folds(some, block)
    if shuffled is None or blocks is None:
        return None
    both = {"shuffled": shuffled[None], "in file order": blocks[None]}
    found: CostEstimate = cost_estimates(some.costs, some.truth, both)[-1]
    return found


def _decide_folds(rows: Rows, fold: np.ndarray) -> np.ndarray | None:
    """Decisions of logistic regressions about rows of other folds; None if one of them lacks a class to learn."""
    from uneven.learners.linear import UnevenLinearClassifier
    from uneven.learners.multinomial import UnevenMultinomialClassifier

    labels, said = rows.labels, np.zeros(fold.size, dtype=bool if rows.classes is None else np.intp)
    classes = np.unique(labels).size
    for number in range(_BLOCKS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if np.unique(labels[train]).size < classes:
            return None
        if isinstance(rows.costs, CostMatrix):
            several = UnevenMultinomialClassifier(costs=rows.costs, tol=1e-3).fit(rows.X[train], labels[train])
            said[test] = rows.costs.number_actions("predictions", several.predict(rows.X[test]))
            continue
        model = UnevenLinearClassifier("logistic", tol=1e-3).fit(rows.X[train], labels[train])
        said[test] = rows.costs.take(test).prefers_positive(model.predict_proba(rows.X[test])[:, 1])
    return said
