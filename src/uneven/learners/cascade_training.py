r"""Stages of a cascade, and the costs at which each of them lets a row pass.

A stage that rejects a row pays :math:`c_{FN}` if the row is positive, and nothing if it is negative. A stage that lets
it pass pays what the rest of the cascade costs: features still to evaluate, and mistakes still to come. Let
:math:`v_+` and :math:`v_-` be the means of this over the positive and the negative rows that pass. To let a row pass is
cheaper if

.. math:: \eta\, v_+ + (1 - \eta)\, v_- < \eta\, c_{FN}, \qquad\text{that is}\qquad
          \frac{\eta}{1 - \eta} > \frac{v_-}{c_{FN} - v_+}.

So the stage is a classifier with the costs :math:`v_-` of a false positive and :math:`c_{FN} - v_+` of a false
negative. The last stage has the user's own costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uneven.learners.boosting_training import Boosted, TrainingRows, convex_pair, train
from uneven.losses import Loss
from uneven.solvers.boosting.bins import Binned
from uneven.solvers.boosting.boost import BoostSettings
from uneven.solvers.boosting.trees import Trees
from uneven.solvers.progress import Progress

#: Odds of a stage's alpha are kept within these, so that its loss stays a loss.
_ODDS = (1e-6, 1e6)


@dataclass(frozen=True)
class Stages:
    """Stages one after the other. Each adds a number and its trees to the score, and rejects rows at which it is <= 0.

    Attributes
    ----------
    trees : Trees
        Of all stages.
    ends : ndarray of int
        Number of trees after each stage.
    starts : ndarray of float64
        The number that each stage adds.
    odds : ndarray of float64
        alpha/(1 - alpha) of each stage.
    """

    trees: Trees
    ends: np.ndarray
    starts: np.ndarray
    odds: np.ndarray

    @property
    def count(self) -> int:
        return self.ends.size

    @property
    def columns(self) -> np.ndarray:
        """Number of different columns that a row has shown after each stage."""
        return np.array([self.trees.part(0, end).columns().size for end in self.ends], dtype=np.int64)

    def run(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The score of each row at its last stage, and the number of that stage, from 0."""
        scores, last = np.zeros(len(X)), np.zeros(len(X), np.int64)
        alive = np.arange(len(X))
        begin = 0
        for k, end in enumerate(self.ends.tolist()):
            part = scores[alive] + self.starts[k]
            self.trees.add_scores(X if alive.size == len(X) else X[alive], part, begin, end)
            scores[alive], last[alive] = part, k
            alive, begin = alive[part > 0], end
            if not alive.size:
                break
        return scores, last


@dataclass(frozen=True)
class Training:
    """A training set of a cascade, and how its stages are boosted.

    Attributes
    ----------
    rows : TrainingRows
        Their ``X`` is not used.
    data : Binned
        The same rows in bins.
    sizes : tuple of int
        Trees of each stage.
    loss_at : callable
        The loss that is calibrated for given odds alpha/(1 - alpha).
    settings : callable
        How to boost a number of rounds on rows of given masses.
    """

    rows: TrainingRows
    data: Binned
    sizes: tuple[int, ...]
    loss_at: Callable[[float], Loss]
    settings: Callable[[int, np.ndarray], BoostSettings]
    random: np.random.Generator

    def stages(self, odds: np.ndarray) -> Stages:
        """Boost one stage after the other, each on the rows that the stages before it let pass.

        A stage starts from the scores of the stage before. The last stage has the last of the odds; it comes earlier
        if the rows that would pass are all of one class.
        """
        y = self.rows.y
        alive, scores = np.arange(y.size), np.zeros(y.size)
        found: list[Boosted] = []
        used: list[float] = []
        for k, size in enumerate(self.sizes):
            own = float(odds[k])
            stage, after = self._stage(size, own, alive, scores)
            passing = after > 0
            is_last = k + 1 == len(self.sizes)
            if not is_last and np.unique(y[alive[passing]]).size < 2:
                is_last, own = True, float(odds[-1])
                stage, after = self._stage(size, own, alive, scores)
            found.append(stage)
            used.append(own)
            if is_last:
                break
            alive, scores = alive[passing], after[passing]
        depth = self.settings(1, self.rows.masses).depth
        return Stages(
            trees=Trees.stacked([stage.trees for stage in found], depth),
            ends=np.cumsum([stage.trees.count for stage in found]),
            starts=np.array([stage.start for stage in found]),
            odds=np.array(used),
        )

    def _stage(self, size: int, odds: float, alive: np.ndarray, scores: np.ndarray) -> tuple[Boosted, np.ndarray]:
        """A stage on some rows, and their scores after it."""
        after = scores.copy()
        rows = self.rows.take(alive)
        found = train(
            rows,
            convex_pair(self.loss_at(odds), np.ones(2), weighted=True),
            self.settings(size, rows.masses),
            self.random,
            data=Binned(self.data.bins[:, alive], self.data.thresholds),
            scores=after,
        )
        return found, after


@dataclass(frozen=True)
class Bill:
    """What rows cost in a cascade: regrets of both mistakes, and the price of a feature."""

    fp: float
    fn: float
    price: float

    def of(self, columns: np.ndarray, last: np.ndarray, said: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The bill of each row that saw ``columns[last]`` features."""
        mistakes = np.where(said & (y == 0), self.fp, 0.0) + np.where(~said & (y == 1), self.fn, 0.0)
        return mistakes + self.price * columns[last]

    def first_odds(self, stages: int, columns: int) -> np.ndarray:
        """Odds to begin with: a tenth of the mistakes and half of the features are still to come."""
        v = 0.1 * self.fp + 0.5 * self.price * columns
        early = float(np.clip(v / (0.9 * self.fn), *_ODDS))
        return np.array([early] * (stages - 1) + [self.fp / self.fn])


@dataclass(frozen=True)
class Fold:
    """Rows to train stages on, and other rows, on which they are tried."""

    training: Training
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray


def cheapest_odds(folds: list[Fold], bill: Bill, passes: int, progress: Progress) -> np.ndarray:
    """The odds of the stages with which rows that are not trained on cost least, all folds together.

    Each pass trains all stages and takes the odds of the next pass from what rows cost. Then all odds but the last are
    tried larger and smaller together, as long as that helps: a row near a threshold is no average row.
    """
    stages, columns = len(folds[0].training.sizes), len(folds[0].training.data.bins)
    best, least = bill.first_odds(stages, columns), np.inf
    tried = best
    for _ in range(passes):
        cost, after = _attempt(folds, bill, tried, progress)
        if cost < least:
            best, least = tried, cost
        tried = after
    centre = best
    for side in (2.0, 0.5):
        for step in range(1, 5):
            tried = np.append(np.clip(side**step * centre[:-1], *_ODDS), centre[-1])
            cost, _ = _attempt(folds, bill, tried, progress)
            if not cost < least:
                break
            best, least = tried, cost
        if best is not centre:
            break
    return best


def _attempt(folds: list[Fold], bill: Bill, odds: np.ndarray, progress: Progress) -> tuple[float, np.ndarray]:
    """What rows cost in a cascade with these odds, and the odds that this suggests."""
    later = [_Later(odds.size - 1) for _ in (0, 1)]
    paid = features = mass = 0.0
    for fold in folds:
        stages = fold.training.stages(odds)
        scores, last = stages.run(fold.X)
        said = (last == stages.count - 1) & (scores > 0)
        columns = stages.columns
        cost = bill.of(columns, last, said, fold.y)
        paid += float(fold.weight @ cost)
        features += float(fold.weight @ columns[last])
        mass += float(fold.weight.sum())
        for k in range(stages.count - 1):
            for label in (0, 1):
                passing = (last > k) & (fold.y == label)
                later[label].add(k, fold.weight[passing], cost[passing] - bill.price * columns[k])
    progress(f"cost {paid / mass:.6g} per row, {features / mass:.4g} features per row")
    # A stage that no row of a class passed keeps its odds.
    known = (later[0].mass > 0) & (later[1].mass > 0)
    v = [np.divide(part.total, part.mass, out=np.zeros(known.size), where=known) for part in later]
    with np.errstate(divide="ignore"):
        wanted = np.where(v[1] < bill.fn, v[0] / np.maximum(bill.fn - v[1], 0.0), np.inf)
    return paid / mass, np.append(np.where(known, np.clip(wanted, *_ODDS), odds[:-1]), odds[-1])


class _Later:
    """Sums over rows that pass each stage: their weights, and weights times what they cost from there on."""

    def __init__(self, stages: int) -> None:
        self.mass, self.total = np.zeros(stages), np.zeros(stages)

    def add(self, stage: int, weight: np.ndarray, cost: np.ndarray) -> None:
        self.mass[stage] += weight.sum()
        self.total[stage] += weight @ cost
