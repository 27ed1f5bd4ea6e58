"""What is done with each row of several classes, and what it is expected to cost: the result of ``decide``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import needs_extra


@dataclass(frozen=True, eq=False, repr=False)
class MatrixTable:
    """Decisions about rows of several classes by a cost matrix.

    All costs are expected ones: they are right as far as the probabilities are. A classifier with shifted log-odds may
    take another action than the one that is the cheapest by its probabilities.

    Attributes
    ----------
    probability : ndarray of shape (n, classes)
        In the order of ``costs.classes``.
    choice : ndarray of int
        The number of each row's action.
    costs : CostMatrix

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> costs = uneven.CostMatrix([[0, 1, 2, 0.3], [5, 0, 1, 0.3], [20, 5, 0, 0.3]], actions=[0, 1, 2, "ask"])
    >>> model = uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=costs).fit(X, y)
    >>> print(model.decide(X).summary())
    178 rows: 55 0, 69 1, 49 2, 5 ask
    expected cost: 4.683, 0.02631 per row
    """

    probability: np.ndarray
    choice: np.ndarray
    costs: CostMatrix
    _index: Any = None

    def __len__(self) -> int:
        return self.choice.size

    def __repr__(self) -> str:
        return f"<MatrixTable: {self._counted()}>"

    @property
    def action(self) -> np.ndarray:
        """The action of each row."""
        return self.costs.label_actions(self.choice)

    @cached_property
    def expected_costs(self) -> np.ndarray:
        """What each action would cost on average in each row: one column for each action."""
        return self.costs.expected_cost(self.probability)

    @property
    def expected_cost(self) -> np.ndarray:
        """What the action taken costs on average, in each row."""
        return np.take_along_axis(self.expected_costs, self.choice[:, None], axis=1)[:, 0]

    def to_frame(self) -> Any:
        """A data frame: action and expected cost of each row, then the probability of each class."""
        with needs_extra("to_frame", "pandas"):
            import pandas as pd

        columns = {"action": self.action, "expected_cost": self.expected_cost}
        columns |= {f"P({y})": self.probability[:, k] for k, y in enumerate(self.costs.classes)}
        return pd.DataFrame(columns, index=self._index)

    def summary(self) -> str:
        """How many rows get each action, and what they are expected to cost, in two lines."""
        total = float(self.expected_cost.sum())
        return f"{self._counted()}\nexpected cost: {money(total)}, {money(total / max(len(self), 1))} per row"

    def _counted(self) -> str:
        counts = np.bincount(self.choice, minlength=len(self.costs.actions))
        parts = [f"{count:,} {action}" for action, count in zip(self.costs.actions, counts, strict=True) if count]
        return f"{len(self):,} rows: {', '.join(parts)}"
