r"""Several classes: which columns spoke for a decision against the next-cheapest one, in money.

Let a be the decision about a row, b the cheapest other one, and :math:`q_y` the probabilities of the classes. By them a
costs :math:`v = \sum_y q_y (C[y, b] - C[y, a])` less than b. The money of a column is its Shapley value of v. Shapley
values are linear, so those of the probabilities are found once for all rows and pairs of actions, as
:mod:`uneven.learners.explaining.shapley` finds those of a score; their sum over the columns is v minus its mean over
the background rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import needs_extra
from uneven.inputs import require_integer
from uneven.learners.explaining.counterfactuals import Change, changes_of_columns, in_words
from uneven.learners.explaining.mixed_rows import Pool
from uneven.learners.explaining.shapley import sampled_values

__all__ = ["ClassExplanation", "ClassReason"]


class ClassReason(NamedTuple):
    """A column that spoke for the decision about a row.

    Attributes
    ----------
    column : str
    value : object
        Of the row.
    money : float
        By how much it raised what the decision saves against the next-cheapest one.
    """

    column: str
    value: Any
    money: float


@dataclass(frozen=True, eq=False, repr=False)
class ClassExplanation:
    """Why rows of several classes were decided as they were; made by :func:`uneven.explain` or a learner's ``explain``.

    Attributes
    ----------
    columns : tuple of str
        The user's columns.
    action, other : ndarray of shape (n_rows,)
        The decision about each row, and the cheapest one of the others.
    saving, base_saving : ndarray of shape (n_rows,)
        How much less the decision is expected to cost than the other one, by ``predict_proba``, and the mean of this
        over the background rows at the row's costs. A learner with shifted log-odds may take a decision that saves
        nothing by its probabilities: the saving is then negative.
    money : ndarray of shape (n_rows, n_columns)
        Shapley values of the saving: ``base_saving + money.sum(axis=1)`` is ``saving``.
    standard_errors : ndarray of shape (n_rows, n_columns)
        Of the money, over draws of background rows.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> costs = uneven.CostMatrix([[0, 1, 2], [5, 0, 1], [20, 5, 0]])
    >>> X = (X - X.mean()) / X.std()
    >>> why = uneven.UnevenMultinomialClassifier(costs=costs).fit(X, y).explain(X[:3], background=X)
    >>> why
    <ClassExplanation of 3 rows by 13 columns>
    >>> print(why.sentences(1, counterfactuals=False)[0])
    0: expected to cost 0.9984 less than 1. Mostly because of flavanoids = 1.03191 (+1.914).
    """

    columns: tuple[str, ...]
    action: np.ndarray
    other: np.ndarray
    saving: np.ndarray
    base_saving: np.ndarray
    money: np.ndarray
    standard_errors: np.ndarray
    _model: _ClassModel = field(kw_only=True)
    _pool: Pool = field(kw_only=True)
    _index: Any = field(kw_only=True, default=None)

    def __len__(self) -> int:
        return self.saving.size

    def __repr__(self) -> str:
        return f"<ClassExplanation of {len(self):,} rows by {len(self.columns)} columns>"

    def reasons(self, most: int = 3) -> list[list[ClassReason]]:
        """For each row the columns that spoke most for its decision, the most important first.

        Those that spoke against it are never among them.
        """
        require_integer("most", most)
        order = np.argsort(-self.money, axis=1, kind="stable")[:, :most]
        return [
            [
                ClassReason(self.columns[j], self._pool.value(i, j), float(self.money[i, j]))
                for j in row
                if self.money[i, j] > 0
            ]
            for i, row in enumerate(order)
        ]

    def counterfactuals(self, columns: Sequence[str] | None = None, most: int = 1) -> list[list[Change]]:
        """For each row single changes of a column that would change its decision, to whatever other one.

        As :meth:`uneven.Explanation.counterfactuals`: each was verified by asking the model.
        """
        everywhere = np.ones(len(self), dtype=bool)
        return changes_of_columns(self._keeps, self._pool, self.columns, columns, everywhere, most)

    def _keeps(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Whether changed rows get the decisions of the rows that they were."""
        return np.asarray(self._model.act(X, rows) == self._model.chosen[rows])

    def sentences(self, most: int = 3, *, unit: str | None = None, counterfactuals: bool = True) -> list[str]:
        """For each row its decision, what it saves, the reasons, and a change that would have changed it.

        Parameters
        ----------
        most : int
            Reasons per row.
        unit : str, optional
            What the costs are counted in, such as "EUR".
        counterfactuals : bool
            Whether to look for a change; it takes about as long as the explanation.

        Returns
        -------
        list of str
        """
        changes = self.counterfactuals() if counterfactuals else None
        found = []
        for i, reasons in enumerate(self.reasons(most)):
            saving = float(self.saving[i])
            against = f"{money(abs(saving), unit)} {'less' if saving >= 0 else 'more'} than {self.other[i]}"
            parts = [f"{one.column} = {in_words(one.value)} (+{money(one.money, unit)})" for one in reasons]
            because = f"Mostly because of {', '.join(parts)}." if parts else "No column spoke for it."
            text = f"{self.action[i]}: expected to cost {against}. {because}"
            if changes is not None and changes[i]:
                text += f" Would be decided otherwise if {changes[i][0].condition()}."
            elif changes is not None:
                text += " No change of a single column that was tried would change this."
            found.append(text)
        return found

    def to_frame(self, most: int | None = None) -> Any:
        """One row for each row of X: the money of each column, or so many reasons; needs the extra ``data``."""
        with needs_extra("to_frame", "data"):
            import pandas as pd
        if most is None:
            return pd.DataFrame(self.money, columns=list(self.columns), index=self._index)
        columns: dict[str, Any] = {"action": self.action, "other": self.other, "saving": self.saving}
        found = self.reasons(most)
        for k in range(most):
            row = [reasons[k] if k < len(reasons) else None for reasons in found]
            columns[f"reason_{k + 1}"] = [None if one is None else one.column for one in row]
            columns[f"reason_{k + 1}_value"] = [None if one is None else in_words(one.value) for one in row]
            columns[f"reason_{k + 1}_money"] = [np.nan if one is None else one.money for one in row]
        return pd.DataFrame(columns, index=self._index)


# -- explaining --------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _ClassModel:
    """A fitted learner of several classes, how it is given its rows, and the costs of the rows to explain."""

    learner: Any
    read: Callable[[Any], Any]
    costs: CostMatrix | None
    chosen: np.ndarray = field(default_factory=lambda: np.empty(0))

    def probability(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, as the learner orders them."""
        return np.asarray(self.learner.predict_proba(self.read(X)), dtype=np.float64)

    def act(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """The actions about rows that have the costs of these rows to explain."""
        costs = None if self.costs is None else self.costs.take(rows)
        return np.asarray(self.learner.predict(self.read(X), costs=costs))


def explain_classes(
    learner: Any, read: Callable[[Any], Any], pool: Pool, index: Any = None, *, n_draws: int, costs: Any
) -> ClassExplanation:
    """Which columns spoke for the decision about each row.

    Parameters
    ----------
    learner : classifier
        Fitted to several classes.
    read : callable
        From rows as the user has them to those that the learner takes.
    pool : Pool
    index : optional
        Names of the rows.
    n_draws : int
        Background rows that are drawn.
    costs : CostMatrix or array-like or None
        As in ``predict``.
    """
    require_integer("n_draws", n_draws)
    rows = pool.rows(np.arange(pool.count))
    matrix = learner._matrix_to_explain(costs, pool.count)
    used = _ClassModel(learner, read, None if costs is None else matrix)
    used.chosen = used.act(rows, np.arange(pool.count))
    found = sampled_values(used.probability, pool, used.probability(rows), n_draws)
    shares = found.base + found.values.sum(axis=1)
    choice = matrix.number_actions("decisions", used.chosen)
    cost = matrix.expected_regrets(shares)
    others = cost.copy()
    others[np.arange(pool.count), choice] = np.inf
    runner_up = others.argmin(axis=1)
    every = np.arange(pool.count) if matrix.per_row else np.zeros(pool.count, dtype=np.intp)
    table = matrix.costs if matrix.per_row else matrix.costs[None]
    apart = table[every, :, runner_up] - table[every, :, choice]  # in each class, what the other action costs more
    return ClassExplanation(
        pool.names,
        matrix.label_actions(choice),
        matrix.label_actions(runner_up),
        np.einsum("ny,ny->n", shares, apart),
        apart @ found.base,
        np.einsum("njy,ny->nj", found.values, apart),
        found.errors_of(apart),
        _model=used,
        _pool=pool,
        _index=index,
    )
