"""What is done with each row of several classes, and what it is expected to cost: the result of ``decide``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import needs_extra


@dataclass(frozen=True)
class KeptLimits:
    """Limits that decisions keep, and what they cost.

    Attributes
    ----------
    most : dict of action to ndarray of int
        The limit of each group.
    groups : ndarray
    next_gain : dict of action to ndarray
        What one more place of the action would save in each group; with limits on several actions at most this.
    cost : float
        How much more all rows cost than without the limits.
    gap : float
        No decisions within the limits cost less by more than this.
    """

    most: dict[Any, np.ndarray]
    groups: np.ndarray
    next_gain: dict[Any, np.ndarray]
    cost: float
    gap: float

    def in_words(self, unit: str | None) -> Iterator[str]:
        """What the limits are and cost, in sentences."""
        each = "" if self.groups.size == 1 else f" in all {self.groups.size:,} groups"
        limits = " and ".join(f"{int(most.sum()):,} {action}" for action, most in self.most.items())
        cost = money(max(self.cost, 0.0), unit)
        yield f"at most {limits}{each}: this is expected to cost {cost} more in all than no limit"
        above = "at most " if len(self.most) > 1 else ""
        place = (
            "one more place" if self.groups.size == 1 else f"one more place in each of the {self.groups.size} groups"
        )
        for action, gains in self.next_gain.items():
            yield f"{place} for {action} would save {above}{money(float(gains.sum()), unit)}"


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
    limits : KeptLimits or None
        Limits on actions, with what they cost; None without a limit.

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
    limits: KeptLimits | None = None

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

    @property
    def counts(self) -> dict[Any, int]:
        """How many rows get each action."""
        counts = np.bincount(self.choice, minlength=len(self.costs.actions))
        return dict(zip(self.costs.actions, counts.tolist(), strict=True))

    @property
    def constraint_cost(self) -> float:
        """How much more the decisions cost on average, in all rows, than without a limit."""
        return 0.0 if self.limits is None else max(self.limits.cost, 0.0)

    @property
    def gap(self) -> float:
        """No decisions within the limits cost less on average by more than this; 0 with a limit on one action."""
        return 0.0 if self.limits is None else self.limits.gap

    @property
    def price_of_one_more(self) -> Any:
        """What one more place within the limit would save; None without a limit.

        A dictionary of groups with ``per``. With limits on several actions, a dictionary of actions: one more place of
        that action saves at most this.
        """
        if self.limits is None:
            return None
        groups = self.limits.groups
        found = {
            action: float(gain[0]) if groups.size == 1 else dict(zip(groups.tolist(), gain.tolist(), strict=True))
            for action, gain in self.limits.next_gain.items()
        }
        return found if len(found) > 1 else next(iter(found.values()))

    def to_frame(self) -> Any:
        """A data frame: action and expected cost of each row, then the probability of each class."""
        with needs_extra("to_frame", "pandas"):
            import pandas as pd

        columns = {"action": self.action, "expected_cost": self.expected_cost}
        columns |= {f"P({y})": self.probability[:, k] for k, y in enumerate(self.costs.classes)}
        return pd.DataFrame(columns, index=self._index)

    def summary(self, unit: str | None = None) -> str:
        """How many rows get each action, what they are expected to cost, and what limits cost, line by line."""
        total = float(self.expected_cost.sum())
        lines = [
            self._counted(),
            f"expected cost: {money(total, unit)}, {money(total / max(len(self), 1), unit)} per row",
            *(() if self.limits is None else self.limits.in_words(unit)),
        ]
        return "\n".join(lines)

    def _counted(self) -> str:
        parts = [f"{count:,} {action}" for action, count in self.counts.items() if count]
        return f"{len(self):,} rows: {', '.join(parts)}"
