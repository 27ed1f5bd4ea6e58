"""The trees of a cascade, in stages, and the rows that its exits are chosen on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from uneven.learners.boosting_training import Boosted, TrainingRows
from uneven.learners.cascade_exits import Bill, Exits, StagedRows, tried_exits
from uneven.solvers.boosting.trees import Trees
from uneven.solvers.progress import Progress

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


def staged_rows(
    rows: TrainingRows,
    folds: Iterator[tuple[np.ndarray, np.ndarray]],
    boosted: Callable[[TrainingRows], Boosted],
    ends: np.ndarray,
    progress: Progress,
) -> StagedRows:
    """The rows with scores from trees that were trained on the other folds."""
    scores, fold = np.empty((rows.y.size, ends.size)), np.empty(rows.y.size, np.int64)
    columns = []
    for number, (known, new) in enumerate(folds):
        progress(f"fold {number + 1}")
        model, X = boosted(rows.take(known)), rows.X[new]
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
        said, last = tried_exits(rows, bill)
        paid = float(rows.weight @ bill.mistakes(said, rows.y))
        features = float(rows.weight @ rows.features(last)) / mass
        progress(f"price {bill.price:.3g}: mistakes cost {paid / mass:.6g} per row, {features:.4g} features per row")
        if paid > most:
            break
        found = bill.price
    return found
