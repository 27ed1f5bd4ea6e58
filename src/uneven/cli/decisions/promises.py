"""Whether a comparison still holds for the model that is saved, and for rows that come later than those of the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from uneven.cli.decisions.answers import per_thousand
from uneven.cli.decisions.contest import Rows
from uneven.cli.decisions.decided import said_positive
from uneven.cli.decisions.ensembles import is_ensemble
from uneven.metrics import CostEstimate
from uneven.metrics.cost_estimate import estimates
from uneven.metrics.intervals import ends_in_words

#: Mistakes, more or fewer, that are chance where an interval is rough (none in n rows: at most 3/n, at 95 %).
_CHANCE = 3
#: Rows that are looked at for the order: at least, so that a difference can be seen, and at most, to be quick.
_FEWEST, _MOST = 200, 20_000
_BLOCKS = 5
#: A dearer order of the folds is worth a sentence from this share of the cost on.
_WORTH_TELLING = 0.02


def broken_promise(shown: CostEstimate, tested: int, pipeline: Any, rows: Rows) -> str:
    """A warning if the cost that was shown for a model is not that of the one that was fitted to all rows; else "".

    Parameters
    ----------
    shown : CostEstimate
        Of the comparison.
    tested : int
        Rows that it rests on.
    pipeline : Pipeline
        The model to save.
    rows : Rows
        All rows; the model learnt from them.
    """
    slack = 0.0
    if shown.rough:
        dearest = max(float(np.max(np.abs(part))) for part in (rows.costs.fp_regret, rows.costs.fn_regret))
        slack = _CHANCE * dearest / tested
    said = said_positive(pipeline, rows.X, rows.costs, told=rows.per_row)
    learnt = float(rows.costs.paid(rows.is_positive, said).mean())
    own = pipeline[-1].out_of_fold_cost_.cost if is_ensemble(pipeline[-1]) else None
    if own is not None and not shown.low - slack <= own <= shown.high + slack:
        found = f"its out-of-fold cost is {per_thousand(own)}"
    elif learnt > shown.high + slack:
        found = f"on the rows that it learnt from it costs {per_thousand(learnt)}"
    else:
        return ""
    return (
        f"WARNING: the model that was fitted to all rows is not what the comparison promised. Per 1,000 rows {found}; "
        f"the comparison said {per_thousand(shown.cost)} (95 % interval "
        f"{ends_in_words(per_thousand(shown.low), per_thousand(shown.high), rough=shown.rough)}). Do not rely on the "
        "costs below."
    )


def order_in_words(rows: Rows | None, preprocessing: BaseEstimator, dates: list[str]) -> str:
    """A sentence if rows of another time may cost more than shuffled folds say; "" otherwise.

    A logistic regression is tested on shuffled folds and on blocks of the file. If blocks cost significantly more, the
    file is in an order that matters. ``dates`` are columns with dates. Without rows only these count.
    """
    found = None if rows is None else _order(rows, preprocessing)
    if found is not None and (found.difference_low or 0) > 0 and (found.difference or 0) > _WORTH_TELLING * found.cost:
        low, high = (per_thousand(end or 0.0) for end in (found.difference_low, found.difference_high))
        return (
            f"The order of the rows matters: a logistic regression costs {per_thousand(found.difference or 0.0)} more "
            "per 1,000 rows on blocks of the file than on shuffled rows (95 % interval "
            f"{ends_in_words(low, high, rough=found.difference_rough)}). If the file is in the order of time, "
            "later rows may cost that much more than said here, where all folds are shuffled; in Python, "
            "cv=TimeSeriesSplit() measures it."
        )
    if dates:
        return (
            f"Column {dates[0]!r} holds dates. All folds are shuffled: if things change over time, later rows may cost "
            "more than said here; in Python, cv=TimeSeriesSplit() measures it."
        )
    return ""


def _order(rows: Rows, preprocessing: BaseEstimator) -> CostEstimate | None:
    """What blocks of the file cost, and how much more that is than shuffled folds; None if that cannot be said."""
    count = rows.is_positive.size
    if count < _FEWEST:
        return None
    some = rows.take(np.arange(0, count, -(-count // _MOST)))
    some = replace(some, X=preprocessing.fit_transform(some.X))
    block = np.arange(some.is_positive.size) * _BLOCKS // some.is_positive.size
    shuffled, blocks = _said(some, np.random.default_rng(0).permutation(block)), _said(some, block)
    if shuffled is None or blocks is None:
        return None
    return estimates(some.costs, some.is_positive, {"shuffled": shuffled[None], "in file order": blocks[None]})[-1]


def _said(rows: Rows, fold: np.ndarray) -> np.ndarray | None:
    """Decisions of logistic regressions about rows of other folds; None if one of them lacks a class to learn."""
    from uneven.learners.linear import UnevenLinearClassifier

    said = np.zeros(fold.size, dtype=bool)
    for number in range(_BLOCKS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if np.unique(rows.is_positive[train]).size < 2:
            return None
        model = UnevenLinearClassifier("logistic", tol=1e-3).fit(rows.X[train], rows.is_positive[train].astype(int))
        said[test] = rows.costs.take(test).prefers_positive(model.predict_proba(rows.X[test])[:, 1])
    return said
