r"""Where rows leave a cascade.

A cascade is one boosting, whose score :math:`s` is looked at after each stage. There a row is rejected, accepted, or
passed on. Passing costs the price of the features still to come. What it saves against rejecting is
:math:`c_{FN}\, \eta - c_{FP} (1 - \eta)` if later stages accept the row, else nothing; what it saves against accepting
is the negative of this if later stages reject the row, else nothing. A row is passed on where its score promises that
either is worth the price:

.. math:: \text{reject if}\quad E[\text{saved against rejecting} \mid s] \le \text{price} \cdot
          E[\text{features to come} \mid s] \quad\text{and}\quad s \le 0,

and accept alike if :math:`s > 0`. The last stage rejects at 0 and below. So the stages are chosen from the last to the
first, each with the ones after it known. All of it is estimated on rows that the trees were not trained on: eta by
Platt's scaling of the score after all trees, savings by a sigmoid of the score after the stage, which also tells what a
few rows cannot show, features by a mean over rows with similar scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from uneven.decisions.platt import Sigmoid
from uneven.learners.boosted_trees import Boosted, TrainingRows
from uneven.solvers.boosting.trees import Trees
from uneven.solvers.running import Progress

#: Rows with similar scores: the share of all rows, and the least number.
_SIMILAR, _LEAST_SIMILAR = 0.05, 20
#: Groups of rows that a sigmoid is fitted to.
_GROUPS = 500


@dataclass(frozen=True)
class Bill:
    """What rows cost in a cascade: regrets of both mistakes, and the price of a feature."""

    fp: float
    fn: float
    price: float

    def mistakes(self, said: np.ndarray, y: np.ndarray) -> np.ndarray:
        """What the decision about each row costs."""
        return np.where(said & (y == 0), self.fp, 0.0) + np.where(~said & (y == 1), self.fn, 0.0)


@dataclass(frozen=True)
class Exits:
    """Where rows leave: rejected if the score is at most ``low``, accepted if it is above ``high``.

    Attributes
    ----------
    low, high : ndarray of shape (n_stages,)
        ``low <= 0 <= high``; both are 0 for the last stage, which every row leaves.
    """

    low: np.ndarray
    high: np.ndarray

    def leaving(self, stage: int, score: np.ndarray) -> np.ndarray:
        """Which of the rows that reach a stage leave there."""
        return np.asarray((score <= self.low[stage]) | (score > self.high[stage]))

    def last_stages(self, scores: np.ndarray) -> np.ndarray:
        """The stage at which each row leaves, from its scores after all stages."""
        leaving = (scores <= self.low) | (scores > self.high)
        return np.asarray(np.argmax(leaving, axis=1))


@dataclass(frozen=True)
class StagedRows:
    """Rows with their scores after each stage, by trees that were not trained on them.

    Attributes
    ----------
    scores : ndarray of shape (n_rows, n_stages)
    y : ndarray of int8
    weight : ndarray
    fold : ndarray of int
        Rows of one fold have scores from the same trees.
    columns : ndarray of shape (n_folds, n_stages)
        The number of different columns that these trees look at, after each stage.
    """

    scores: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    fold: np.ndarray
    columns: np.ndarray

    def take(self, rows: np.ndarray) -> StagedRows:
        """Some of the rows."""
        return StagedRows(self.scores[rows], self.y[rows], self.weight[rows], self.fold[rows], self.columns)

    def each_fold(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The rows outside of each fold, and those in it."""
        for k in range(len(self.columns)):
            yield np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k)

    def features(self, stage: np.ndarray | int) -> np.ndarray:
        """How many different columns each row has shown at a stage."""
        return np.asarray(self.columns[self.fold, stage])


def cheapest_exits(rows: StagedRows, bill: Bill) -> Exits:
    """The exits at which the rows cost least, chosen from the last stage to the first."""
    stages = rows.scores.shape[1]
    final = rows.scores[:, -1]
    eta = Sigmoid.fit(final, rows.y == 1, rows.weight).probability(final)
    worth = bill.fn * eta - bill.fp * (1 - eta)  # of accepting against rejecting
    low, high = np.zeros(stages), np.zeros(stages)
    accepted, last = final > 0, np.full(final.size, stages - 1)
    for k in range(stages - 2, -1, -1):
        score = rows.scores[:, k]
        similar = _Similar(score, rows.weight)
        price = bill.price * similar.mean(rows.features(last) - rows.features(k))
        rejecting = bill.fn * similar.fit_sigmoid(accepted * worth / bill.fn, rising=True)
        accepting = bill.fp * similar.fit_sigmoid(~accepted * -worth / bill.fp, rising=False)
        low[k] = _edge(score, rejecting > price)
        high[k] = 0.0 - _edge(-score, accepting > price)
        accepted = np.where(score <= low[k], False, np.where(score > high[k], True, accepted))
        last = np.where((score <= low[k]) | (score > high[k]), k, last)
    return Exits(low, high)


def try_exits(rows: StagedRows, bill: Bill) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row is accepted, and where it leaves, by exits that were chosen without its fold."""
    last = np.empty(rows.y.size, np.int64)
    for others, own in rows.each_fold():
        last[own] = cheapest_exits(rows.take(others), bill).last_stages(rows.scores[own])
    return rows.scores[np.arange(last.size), last] > 0, last


class _Similar:
    """Rows in the order of their scores."""

    def __init__(self, score: np.ndarray, weight: np.ndarray) -> None:
        self.score, self.weight = score, weight
        self.order = np.argsort(score, kind="stable")

    def mean(self, value: np.ndarray) -> np.ndarray:
        """For each row the mean value of rows with similar scores."""
        n = self.order.size
        half = max(_LEAST_SIMILAR, int(_SIMILAR * n)) // 2
        weight, place = self.weight[self.order], np.arange(n)
        total, mass = (np.concatenate([[0.0], np.cumsum(part)]) for part in (weight * value[self.order], weight))
        first, end = np.maximum(place - half, 0), np.minimum(place + half + 1, n)
        means = np.empty(n)
        means[self.order] = (total[end] - total[first]) / (mass[end] - mass[first])
        return means

    def fit_sigmoid(self, saved: np.ndarray, *, rising: bool) -> np.ndarray:
        """The mean of savings from 0 to 1 as a sigmoid of the score, with which they rise or fall.

        It is fitted to groups of rows, which takes far less time and changes hardly anything.
        """
        sign, n = (1.0 if rising else -1.0), self.order.size
        starts = np.arange(min(n, _GROUPS)) * n // min(n, _GROUPS)
        weight = self.weight[self.order]
        mass = np.add.reduceat(weight, starts)
        score, share = (
            np.add.reduceat(weight * part[self.order], starts) / mass for part in (self.score, np.clip(saved, 0.0, 1.0))
        )
        return Sigmoid.fit_shares(sign * score, share, mass).probability(sign * self.score)


def _edge(score: np.ndarray, pays: np.ndarray) -> float:
    """The largest score, but at most 0, up to which it never pays to pass a row on."""
    paying = float(score[pays].min()) if pays.any() else np.inf
    below = score[score < paying]
    if not below.size:
        return -np.inf
    largest = float(below.max())
    middle = largest if paying == np.inf else largest + (paying - largest) / 2
    return min(middle, 0.0)


# -- the trees in stages, and the rows that exits are chosen on -------------------------------------------------------

#: Prices that are tried if none is given: this many, each twice the one before. With the last, all columns that the
#: trees look at cost as much per row as the better constant decision.
_PRICES = 12


@dataclass(frozen=True)
class Stages:
    """A boosting in stages, with exits.

    Attributes
    ----------
    start : float
        The score before the first tree.
    trees : Trees
        Of all stages.
    ends : ndarray of int
        Number of trees after each stage.
    exits : Exits
    """

    start: float
    trees: Trees
    ends: np.ndarray
    exits: Exits

    def run(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The score of each row at its last stage, and the number of that stage, from 0."""
        scores, last = np.full(len(X), self.start), np.zeros(len(X), np.int64)
        alive = np.arange(len(X))
        begin = 0
        for k, end in enumerate(self.ends.tolist()):
            part = scores[alive]
            self.trees.add_scores(X if alive.size == len(X) else X[alive], part, begin, end)
            scores[alive], last[alive] = part, k
            alive, begin = alive[~self.exits.leaving(k, part)], end
            if not alive.size:
                break
        return scores, last


def columns_after(trees: Trees, ends: np.ndarray) -> np.ndarray:
    """Number of different columns that the first trees look at."""
    return np.array([trees.part(0, int(end)).columns().size for end in ends], dtype=np.int64)


def stage_ends(sizes: tuple[int, ...], trees: int) -> np.ndarray:
    """Number of trees after each stage, of as many trees as were found."""
    return np.unique(np.minimum(np.cumsum(sizes), trees))


def score_stages(
    rows: TrainingRows,
    folds: Iterator[tuple[np.ndarray, np.ndarray]],
    boost: Callable[[TrainingRows], Boosted],
    ends: np.ndarray,
    progress: Progress,
) -> StagedRows:
    """The rows with scores from trees that were trained on the other folds."""
    scores, fold = np.empty((rows.y.size, ends.size)), np.empty(rows.y.size, np.int64)
    columns = []
    for number, (known, new) in enumerate(folds):
        progress(f"fold {number + 1}")
        model, X = boost(rows.take(known)), rows.X[new]
        own = np.minimum(ends, model.trees.count)  # some rows may need fewer trees
        score, begin = np.full(new.size, model.start), 0
        for k, end in enumerate(own.tolist()):
            model.trees.add_scores(X, score, begin, end)
            scores[new, k], begin = score, end
        fold[new] = number
        columns.append(columns_after(model.trees, own))
    return StagedRows(scores, rows.y, rows.masses, fold, np.array(columns))


def highest_price(rows: StagedRows, fp: float, fn: float, rise: float, progress: Progress) -> float:
    """The last of rising prices of a feature before mistakes cost by a share ``rise`` more than those of all trees.

    The costs are those of rows on which the exits were not chosen. 0 if the lowest price that is tried is too high.
    """
    mass = float(rows.weight.sum())
    share = float(rows.weight @ rows.y) / mass
    highest = min(fp * (1 - share), fn * share) / max(1.0, float(rows.columns[:, -1].mean()))
    most = (1 + rise) * float(rows.weight @ Bill(fp, fn, 0.0).mistakes(rows.scores[:, -1] > 0, rows.y))
    found = 0.0
    for step in range(_PRICES - 1, -1, -1):
        bill = Bill(fp, fn, highest / 2**step)
        said, last = try_exits(rows, bill)
        paid = float(rows.weight @ bill.mistakes(said, rows.y))
        features = float(rows.weight @ rows.features(last)) / mass
        progress(f"price {bill.price:.3g}: mistakes cost {paid / mass:.6g} per row, {features:.4g} features per row")
        if paid > most:
            break
        found = bill.price
    return found
