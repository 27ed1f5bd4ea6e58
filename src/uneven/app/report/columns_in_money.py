"""Which columns a model's decisions need, in money: how much dearer they get if a column is shuffled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.inspection import permutation_importance
from threadpoolctl import threadpool_limits

from uneven.app.models.compare_candidates import paid
from uneven.costs import RowCosts, money
from uneven.decisions.cost_matrix import CostMatrix

#: Rows that are looked at, how often a column is shuffled, and what rows times columns times repeats may be: seconds.
_MOST_ROWS, _FEWEST_ROWS, _REPEATS, _BUDGET = 1000, 200, 3, 40_000
#: Columns that a sentence names.
_NAMED = 3


@dataclass(frozen=True)
class ColumnWorth:
    """What a column is worth.

    Attributes
    ----------
    name : str
    cost : float
        By how much the decisions get dearer per row, on average, if the column is shuffled.
    low, high : float
        The least and the largest such number over the shuffles.
    """

    name: str
    cost: float
    low: float
    high: float


def columns_in_money(
    decide: Callable[[Any, np.ndarray], np.ndarray],
    X: Any,
    truth: np.ndarray,
    costs: RowCosts | CostMatrix,
    *,
    learnt: bool,
) -> tuple[list[ColumnWorth], str]:
    """What each column is worth, the dearest first, and how that was found, or why it was not.

    Parameters
    ----------
    decide : callable
        From some rows, with whatever values, and their numbers to where the model says positive, or to the numbers of
        their actions.
    X : DataFrame or ndarray
    truth : ndarray of bool, or of int
        Whether each row is positive, or the number of its class.
    costs : RowCosts or CostMatrix
    learnt : bool
        Whether the model has learnt from these rows.
    """
    count, width = X.shape
    if sparse.issparse(X) or width * _FEWEST_ROWS > _BUDGET:
        return [], f"Nobody looked which of the {width:,} columns matter: that is done for at most 200, not sparse."
    rows = np.arange(count)
    if count > (most := min(_MOST_ROWS, _BUDGET // width)):
        rows = np.sort(np.random.default_rng(0).permutation(count)[:most])
    repeats = max(1, min(_REPEATS, _BUDGET // (rows.size * width)))
    some, truth, own = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows], truth[rows], costs.take(rows)

    def saved(_: Any, shuffled: Any, __: Any) -> float:
        return -float(paid(own, truth, decide(shuffled, rows)).mean())

    with threadpool_limits(1):  # few rows, many times: threads would mostly wait for each other
        found = permutation_importance(_Scored(), some, truth, scoring=saved, n_repeats=repeats, random_state=0)
    names = list(X.columns) if hasattr(X, "columns") else [f"column {k}" for k in range(width)]
    worths = [
        ColumnWorth(str(name), float(parts.mean()), float(parts.min()), float(parts.max()))
        for name, parts in zip(names, found.importances, strict=True)
    ]
    of = " that the model learnt from, where columns look more useful than they are" if learnt else ""
    how = f"How much dearer the decisions get if a column is shuffled: on {rows.size:,} rows{of}, {repeats} times each."
    return sorted(worths, key=lambda worth: -worth.cost), how


def columns_in_words(worths: list[ColumnWorth], unit: str | None) -> str:
    """The columns that are worth most, with money per 1,000 rows."""
    named = [worth for worth in worths[:_NAMED] if worth.cost > 0]
    shown = [f"{worth.name} ({money(1000 * worth.cost, unit)})" for worth in named]
    return f"{', '.join(shown)} dearer per 1,000 rows without it" if shown else "none by itself"


class _Scored:
    """What scikit-learn asks for: something with ``fit``, which is never called."""

    def fit(self, X: Any, y: Any) -> None:
        """Never called."""
