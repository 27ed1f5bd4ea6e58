"""What decisions cost if only so many rows can be flagged: a limit on alerts, calls or reviews."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uneven import inputs
from uneven.costs import GivenCosts
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.metrics.rows import Rows, read_scores


@dataclass(frozen=True)
class CapacityCosts:
    """Expected cost, and what is found, at every limit on the number of flagged rows.

    Between two limits all three are linear: of rows with the same rank, chance decides which are flagged.

    Attributes
    ----------
    capacity : ndarray
        Limits from 0 up: the most rows that are flagged, in each group if there are groups.
    cost : ndarray
        Expected cost per row.
    flagged : ndarray
        Share of the rows that is flagged.
    found : ndarray
        Share of the positives that is flagged (recall); NaN if there are no positives.
    """

    capacity: np.ndarray
    cost: np.ndarray
    flagged: np.ndarray
    found: np.ndarray

    @property
    def best_capacity(self) -> float:
        """The lowest of the cheapest limits on these rows, in hindsight."""
        return float(self.capacity[int(self.cost.argmin())])

    @property
    def best_cost(self) -> float:
        """The cost at :attr:`best_capacity`."""
        return float(self.cost.min())

    def at(self, at_most: Any) -> Any:
        """Expected cost per row at a limit, or at each of several."""
        numbers, scalar = inputs.float_array("at_most", at_most, CostError)
        if (numbers < 0).any():
            raise CostError(f"at_most must not be negative, got {brief(float(numbers.min()))}")
        return inputs.unwrapped(np.interp(numbers, self.capacity, self.cost), scalar)

    def __repr__(self) -> str:
        return (
            f"<CapacityCosts: up to {self.capacity[-1]:.6g} flagged, best {self.best_capacity:.6g} at cost "
            f"{self.best_cost:.6g} per row>"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the cost against the limit; returns the axes. Needs Matplotlib (the extra ``plot``)."""
        from uneven.figures.displays.capacity_cost import CapacityCostDisplay

        return CapacityCostDisplay(self).plot(ax).ax_


def cost_by_capacity(
    y_true: Any,
    y_score: Any,
    *,
    by: str = "saving",
    per: Any = None,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CapacityCosts:
    r"""Expected cost at every limit on the number of flagged rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Probabilities of the positive class; any scores with ``by="score"``.
    by : {"saving", "score"}
        Which rows are flagged first. "saving": those whose flag saves most, by their probability P and costs:
        :math:`P (c_{FN} - c_{TP}) - (1 - P) (c_{FP} - c_{TN})`; rows that save nothing are never flagged, so that the
        cost does not change beyond some limit. This is the cheapest rule if the probabilities are right. "score":
        those with the greatest scores, as many as the limit allows.
    per : array-like of shape (n,), optional
        The group of each row, such as its day: then the limit holds in each group.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`expected_cost`. A row of weight 2 takes two places of the limit; weights and groups together are
        not supported.

    Returns
    -------
    CapacityCosts

    Examples
    --------
    >>> from uneven.metrics import cost_by_capacity
    >>> y, p = [1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.2, 0.05]
    >>> found = cost_by_capacity(y, p, fp_cost=1, fn_cost=9)
    >>> found.capacity.tolist(), found.cost.round(12).tolist()
    ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [3.6, 1.8, 2.0, 0.2, 0.4, 0.4])
    >>> found.best_capacity, found.at(2)
    (3.0, 2.0)
    >>> cost_by_capacity(y, p, per=["mon", "mon", "tue", "tue", "tue"], fp_cost=1, fn_cost=9).cost.round(12).tolist()
    [3.6, 0.0, 0.4, 0.4]
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows, score = read_scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, **costs)
    ranking = _Ranking.of(rows, score, by, per)
    yes, no = _paid_by_decision(rows)
    capacity, (cost, flagged, found) = ranking.sums_by_capacity(
        (rows.weight * yes, rows.weight * no), (rows.weight, None), (_share_of_positives(rows), None)
    )
    return CapacityCosts(capacity, cost, flagged, found)


def cost_at_capacity(
    y_true: Any,
    y_score: Any,
    *,
    at_most: float | None = None,
    at_most_share: float | None = None,
    by: str = "saving",
    per: Any = None,
    fp_cost: Any = 1.0,
    fn_cost: Any = 1.0,
    tp_cost: Any = 0.0,
    tn_cost: Any = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Expected cost per row if at most so many rows are flagged.

    Parameters
    ----------
    y_true, y_score, by, per
        As in :func:`cost_by_capacity`.
    at_most : number, optional
        The most rows that may be flagged, in each group if ``per`` is given.
    at_most_share : number in [0, 1], optional
        The same as a share of the rows (of each group). Give one of the two.
    fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
        As in :func:`cost_by_capacity`.

    Notes
    -----
    With few rows at the limit the number is a matter of chance: :func:`metric_interval` gives its interval.

    Examples
    --------
    >>> from uneven.metrics import cost_at_capacity
    >>> y, p = [1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.2, 0.05]
    >>> cost_at_capacity(y, p, at_most=1, fp_cost=1, fn_cost=9)
    1.8
    >>> cost_at_capacity(y, p, at_most_share=0.6, fp_cost=1, fn_cost=9)
    0.2
    """
    costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    rows, score = read_scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, **costs)
    flagged = _Ranking.of(rows, score, by, per).flag(at_most, at_most_share)
    yes, no = _paid_by_decision(rows)
    return float(rows.weight @ (flagged * yes + (1 - flagged) * no))


def recall_at(
    y_true: Any,
    y_score: Any,
    *,
    at_most: float | None = None,
    at_most_share: float | None = None,
    per: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Share of the positives that is found if the rows with the greatest scores are flagged, as many as allowed.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes, with at least one positive row.
    y_score : array-like of shape (n,)
        Probabilities or other scores.
    at_most, at_most_share, per, sample_weight
        As in :func:`cost_at_capacity`. Of rows with the same score at the limit, chance decides.
    pos_label
        As in :func:`expected_cost`.

    Examples
    --------
    >>> from uneven.metrics import recall_at
    >>> recall_at([1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.2, 0.05], at_most=2)
    0.5
    """
    rows, score = read_scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, fp_cost=1, fn_cost=1)
    return _found_and_flagged(rows, score, at_most, at_most_share, per)[0]


def lift(
    y_true: Any,
    y_score: Any,
    *,
    at_most: float | None = None,
    at_most_share: float | None = None,
    per: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """How many times as many positives are found as by flagging the same number of rows at random.

    Parameters
    ----------
    y_true, y_score, at_most, at_most_share, per, pos_label, sample_weight
        As in :func:`recall_at`. The limit must be above 0.

    Examples
    --------
    >>> from uneven.metrics import lift
    >>> lift([1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.2, 0.05], at_most=1)
    2.5
    """
    rows, score = read_scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, fp_cost=1, fn_cost=1)
    found, flagged = _found_and_flagged(rows, score, at_most, at_most_share, per)
    if flagged == 0:
        raise CostError("no row is flagged at this limit, so there is no lift; give a limit above 0")
    return found / flagged


def _found_and_flagged(rows: Rows, score: np.ndarray, at_most: Any, share: Any, per: Any) -> tuple[float, float]:
    """The shares of the positives and of all rows that are flagged."""
    if not rows.is_positive.any():
        raise CostError("there is no positive row, so no share of the positives can be found")
    flagged = _Ranking.of(rows, score, "score", per).flag(at_most, share)
    return float(_share_of_positives(rows) @ flagged), float(rows.weight @ flagged)


def _paid_by_decision(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """What each row costs if it is flagged, and if it is not."""
    everyone = np.ones(rows.count, dtype=bool)
    return rows.costs.paid(rows.is_positive, everyone), rows.costs.paid(rows.is_positive, ~everyone)


def _share_of_positives(rows: Rows) -> np.ndarray:
    weight = np.where(rows.is_positive, rows.weight, 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(weight / weight.sum())


@dataclass(frozen=True)
class _Ranking:
    """Which rows come first, in each group. Rows with the same rank in the same group are a tie.

    Attributes
    ----------
    order : ndarray of int
        The numbers of the rows, best first, groups one after the other.
    tie : ndarray of int
        The tie of each row in that order: 0, 1, 2, ...
    start, tied, size : ndarray
        For each tie: how many places of its group lie before it, how many it takes, and how many the group has. A row
        takes as many places of the limit as its weight says.
    pays : ndarray of bool
        Whether the rows of a tie may be flagged at all.
    weighted : bool
        Whether weights were given.
    """

    order: np.ndarray
    tie: np.ndarray
    start: np.ndarray
    tied: np.ndarray
    size: np.ndarray
    pays: np.ndarray
    weighted: bool

    @classmethod
    def of(cls, rows: Rows, score: np.ndarray, by: str, per: Any) -> _Ranking:
        """Read ``by`` and ``per``, and sort."""
        inputs.require_choice("by", by, ("saving", "score"))
        key = _expected_saving(rows, score) if by == "saving" else score
        weighted = rows.sample_weight is not None
        if weighted and per is not None:
            raise CostError("per and sample_weight together are not supported: repeat the rows instead")
        group = np.zeros(rows.count, dtype=np.intp) if per is None else _read_groups(per, rows.count)
        order = np.lexsort((-key, group))
        key, group, places = key[order], group[order], rows.repetitions[order]
        before = np.cumsum(places) - places
        opens_group = np.append(True, group[1:] != group[:-1])
        opens_tie = opens_group | np.append(True, key[1:] != key[:-1])
        tie, group = np.cumsum(opens_tie) - 1, np.cumsum(opens_group) - 1
        group_of_tie = group[opens_tie]
        return cls(
            order,
            tie,
            start=before[opens_tie] - before[opens_group][group_of_tie],
            tied=np.bincount(tie, places),
            size=np.bincount(group, places)[group_of_tie],
            pays=(key > 0 if by == "saving" else np.ones(rows.count, dtype=bool))[opens_tie],
            weighted=weighted,
        )

    def flag(self, at_most: Any, share: Any) -> np.ndarray:
        """For each row, in the order it was given, the probability that it is flagged at a limit."""
        if (at_most is None) == (share is None):
            raise CostError(f"give one of at_most and at_most_share, got {'none' if at_most is None else 'both'}")
        name, value = ("at_most_share", share) if at_most is None else ("at_most", at_most)
        number = inputs.to_float(inputs.exact(name, value, CostError))
        if number < 0 or (at_most is None and number > 1):
            wanted = "lie between 0 and 1" if at_most is None else "not be negative"
            raise CostError(f"{name} must {wanted}, got {brief(value)}")
        limit = self.size * number if at_most is None else number
        share_of_tie = np.clip((limit - self.start) / np.where(self.tied > 0, self.tied, 1.0), 0.0, 1.0)
        flagged = np.empty(self.order.size)
        flagged[self.order] = np.where(self.pays, share_of_tie, 0.0)[self.tie]
        return flagged

    def sums_by_capacity(self, *parts: tuple[np.ndarray, np.ndarray | None]) -> tuple[np.ndarray, list[np.ndarray]]:
        """The limits at which sums over the rows bend, from 0 up, and the sums there.

        A part has one number for each row if it is flagged, and one if it is not (None: 0), in the order in which the
        rows were given. The rows that are not flagged are added from the far end, not taken off the sum of all: the
        difference of two large sums would lose the digits of a small one.
        """
        if self.weighted:  # then there is one group
            capacity = np.append(0.0, self.start + self.tied)
        else:
            capacity = np.arange(self._places.max() + 2, dtype=np.float64)
        found = []
        for yes, no in parts:
            total = np.append(0.0, np.cumsum(self._by_place(np.where(self._pays, yes, 0.0))))
            if no is not None:
                left = np.cumsum(self._by_place(np.where(self._pays, no, 0.0))[::-1])[::-1]
                total += np.append(left, 0.0) + float(no[~self._pays].sum())
            found.append(total)
        return capacity, found

    @cached_property
    def _pays(self) -> np.ndarray:
        """Whether each row may be flagged, in the order in which the rows were given."""
        found = np.empty(self.order.size, dtype=bool)
        found[self.order] = self.pays[self.tie]
        return found

    @cached_property
    def _places(self) -> np.ndarray:
        """The place of each ranked row in its group, from 0; only without weights, where a row takes one place."""
        count = np.bincount(self.tie)
        return np.arange(self.order.size) - (np.cumsum(count) - count - self.start.astype(np.intp))[self.tie]

    def _by_place(self, part: np.ndarray) -> np.ndarray:
        """The sum of a part at each step of the limit: of each tie, or of each place over all groups.

        Chance decides about equals, so each place of a tie gets the mean of its rows.
        """
        of_ties = np.bincount(self.tie, part[self.order])
        return of_ties if self.weighted else np.bincount(self._places, (of_ties / np.bincount(self.tie))[self.tie])


def _expected_saving(rows: Rows, score: np.ndarray) -> np.ndarray:
    """What flagging each row is expected to save, by its probability."""
    if not ((score >= 0) & (score <= 1)).all():
        wrong = float(score[(score < 0) | (score > 1)][0])
        raise CostError(f'y_score must hold probabilities for by="saving", got {brief(wrong)}; by="score" takes any')
    return np.asarray(score * rows.costs.fn_regret - (1 - score) * rows.costs.fp_regret)


def _read_groups(per: Any, count: int) -> np.ndarray:
    """The number of each row's group."""
    groups = np.asarray(per)
    if groups.shape != (count,):
        raise CostError(f"per must have one group for each of {count} rows, got shape {groups.shape}")
    try:
        return np.unique(groups, return_inverse=True)[1]
    except TypeError:
        raise CostError("the groups of per must be of one type, such as texts, numbers or dates") from None
