"""What is done with each row, what it is expected to cost, and what a limit costs: the result of ``decide``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from uneven.costs import money
from uneven.decisions.actions import Actions
from uneven.decisions.limits import gains, total_cost
from uneven.errors import needs_extra

__all__ = ["Decisions"]


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Decisions about rows, made by :func:`uneven.decide` or ``decide`` of a classifier.

    All costs are expected ones: they are right as far as the probabilities are.

    Attributes
    ----------
    probability : ndarray
        P(positive) of each row. All money is computed from it. A classifier with a corrected threshold may take another
        action than the one that is the cheapest by its probability.
    choice : ndarray of int
        The number of each row's action; 0 is the action that does nothing.
    labels : tuple
        What the actions are called: names, or the two classes of a classifier.
    actions : Actions
        With their costs.
    prices : dict of str to float
        For each floor (recall, precision, budget) what one unit of it is worth at these decisions: for a recall the
        additional price of a miss.
    guarantee : str or None
        What held-out rows guarantee, in a sentence.
    regrets : ndarray
        What each action costs on average in each row (columns) above the right action for its label; decisions are made
        with these. Differences are those of :attr:`expected_costs`, but where a classifier with a corrected threshold
        takes another action than the cheapest one: there it counts as a little cheaper than that.
    limited : tuple of int
        The numbers of the actions that a limit is on; without a limit all but the first.
    next_gain : ndarray or None
        For each group what one more place would save: see :attr:`price_of_one_more`.
    group, groups : ndarray
        The number of each row's group, and the groups.
    """

    probability: np.ndarray
    choice: np.ndarray
    labels: tuple[Any, ...]
    actions: Actions
    prices: dict[str, float]
    guarantee: str | None
    regrets: np.ndarray = field(kw_only=True)
    _bound: float = field(kw_only=True)
    limited: tuple[int, ...] = field(kw_only=True)
    next_gain: np.ndarray | None = field(kw_only=True)
    group: np.ndarray = field(kw_only=True)
    groups: np.ndarray = field(kw_only=True)
    _index: Any = field(kw_only=True, default=None)

    def __len__(self) -> int:
        return self.choice.size

    def __repr__(self) -> str:
        return f"<Decisions: {self._counted()}>"

    # -- each row ---------------------------------------------------------------------------------------------------

    @property
    def action(self) -> np.ndarray:
        """The action of each row."""
        return np.asarray(self.labels)[self.choice]

    @property
    def flagged(self) -> np.ndarray:
        """Whether each row gets another action than the first."""
        return self.choice > 0

    @cached_property
    def expected_costs(self) -> np.ndarray:
        """What each action would cost on average in each row: one column for each action."""
        return self.actions.expected_costs(self.probability)

    @property
    def expected_cost(self) -> np.ndarray:
        """What the action taken costs on average, in each row."""
        return np.take_along_axis(self.expected_costs, self.choice[:, None], axis=1)[:, 0]

    @property
    def saving(self) -> np.ndarray:
        """How much less the action taken costs on average than the first action, in each row."""
        regrets = self.actions.regrets(self.probability)
        return regrets[:, 0] - np.take_along_axis(regrets, self.choice[:, None], axis=1)[:, 0]

    @cached_property
    def gain(self) -> np.ndarray:
        """What the best limited action saves against the best other action; negative where it costs more.

        Without a limit on some actions, those other than the first take their place.
        """
        return gains(self.regrets, self.limited)

    @cached_property
    def rank(self) -> np.ndarray:
        """The place of each row by :attr:`gain`, from 1, in its group; of equal ones the earlier row comes first."""
        order = np.lexsort((-self.gain, self.group))
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.group, minlength=self.groups.size))])[:-1]
        rank = np.empty(order.size, dtype=np.intp)
        rank[order] = np.arange(order.size) - starts[self.group[order]] + 1
        return rank

    # -- all rows ---------------------------------------------------------------------------------------------------

    @property
    def counts(self) -> dict[Any, int]:
        """How many rows get each action."""
        return dict(zip(self.labels, np.bincount(self.choice, minlength=len(self.labels)).tolist(), strict=True))

    @property
    def total_cost(self) -> float:
        """The expected cost of all rows."""
        return float(self.expected_cost.sum())

    @property
    def constraint_cost(self) -> float:
        """How much more the decisions cost on average, in all rows, than without any limit."""
        return max(0.0, total_cost(self.regrets, self.choice) - float(self.regrets.min(axis=1).sum()))

    @property
    def gap(self) -> float:
        """No decisions within the limits cost less on average by more than this; 0 if these are the cheapest ones."""
        return max(0.0, total_cost(self.regrets, self.choice) - self._bound)

    @property
    def price_of_one_more(self) -> Any:
        """What one more place within the limit would save; a dictionary if there is a limit for each group.

        0 if the limit is not reached, None if there is none. A reviewer who is cheaper than that pays.
        """
        if self.next_gain is None:
            return None
        if self.groups.size == 1:
            return float(self.next_gain[0])
        return dict(zip(self.groups.tolist(), self.next_gain.tolist(), strict=True))

    @property
    def recall(self) -> float:
        """The expected share of the positives that is flagged; NaN if no positive is expected."""
        total = float(self.probability.sum())
        return float(self.probability[self.flagged].sum()) / total if total else float("nan")

    @property
    def precision(self) -> float:
        """The expected share of positives among flagged rows; NaN if none is flagged."""
        return float(self.probability[self.flagged].mean()) if self.flagged.any() else float("nan")

    # -- in words and pictures --------------------------------------------------------------------------------------

    def summary(self, unit: str | None = None) -> str:
        """What was decided and what it costs, in a few sentences."""
        saved = float(self.saving.sum())
        against = f"{money(abs(saved), unit)} {'less' if saved >= 0 else 'more'} than {self.labels[0]} for every row"
        sentences = [f"{self._counted()}.", f"Expected cost {money(self.total_cost, unit)}, which is {against}."]
        if self.flagged.any() and self.recall == self.recall:
            sentences.append(
                f"Expected to be flagged: {100 * self.recall:.3g} % of the positives; {100 * self.precision:.3g} % of "
                "the flagged rows are expected to be positive."
            )
        sentences += self._limits_in_words(unit)
        if self.guarantee is not None:
            sentences.append(self.guarantee)
        return " ".join(sentences)

    def _counted(self) -> str:
        parts = ", ".join(f"{count:,} {label}" for label, count in self.counts.items())
        return f"{len(self):,} rows: {parts}"

    def _limits_in_words(self, unit: str | None) -> list[str]:
        found = []
        if self.next_gain is not None or self.prices:
            found.append(
                f"The limits cost {money(self.constraint_cost, unit)}."
                if self.constraint_cost > 0
                else "The limits cost nothing: the cheapest decisions keep them."
            )
        if self.next_gain is not None and self.groups.size == 1:
            found.append(f"One more place would save {money(float(self.next_gain[0]), unit)}.")
        elif self.next_gain is not None:
            most = int(self.next_gain.argmax())
            found.append(
                f"One more place in each of the {self.groups.size:,} groups would save "
                f"{money(float(self.next_gain.sum()), unit)}, the largest part in {self.groups[most]} "
                f"({money(float(self.next_gain[most]), unit)})."
            )
        found += [
            f"{name} is kept by a price of {money(price, unit)}." for name, price in self.prices.items() if price > 0
        ]
        if self.gap > 1e-9 * max(1.0, abs(self._bound)):
            found.append(f"No decisions within the limits are cheaper by more than {money(self.gap, unit)}.")
        return found

    def to_frame(self) -> Any:
        """A pandas data frame with one row for each decision; needs the extra ``data``."""
        with needs_extra("data frames", "data"):
            import pandas as pd
        columns: dict[str, Any] = {"action": self.action, "probability": self.probability}
        for label, costs in zip(self.labels, self.expected_costs.T, strict=True):
            columns[f"cost of {label}"] = costs
        columns |= {"saving": self.saving, "rank": self.rank}
        if self.groups.size > 1:
            columns["group"] = self.groups[self.group]
        return pd.DataFrame(columns, index=self._index)

    def plot(self, ax: Any = None, *, unit: str | None = None) -> Any:
        """Draw the gain of each row by rank, with the limit; needs the extra ``plot``.

        Parameters
        ----------
        ax : matplotlib axes, optional
        unit : str, optional
            Unit of the costs, such as ``"EUR"``.

        Returns
        -------
        matplotlib axes
        """
        from uneven.figures.displays.ranked_gains import RankedGainsDisplay

        return RankedGainsDisplay(self, unit=unit).plot(ax).ax_
