"""Boosting: one tree after the other, each a step that lowers the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from uneven.solvers.boosting.bins import Binned
from uneven.solvers.boosting.grow import Shape, grow
from uneven.solvers.boosting.rows import BoostedRows
from uneven.solvers.boosting.steps import ALGORITHMS
from uneven.solvers.boosting.trees import Trees
from uneven.solvers.linear.exact_search import exact_step
from uneven.solvers.progress import Progress, silent

#: Slopes below this share of those at the start: the loss cannot fall any further.
_NOTHING_LEFT = 1e-9


@dataclass(frozen=True)
class BoostSettings:
    """How to boost.

    Attributes
    ----------
    rounds : int
    rate : float
        The share of each step that is taken, at most 1.
    depth : int
    algorithm : {"discrete", "real", "gradient"}
    masses : ndarray
        What each row counts for ``least_mass``.
    least_mass : float
        The least mass of a leaf; 0: any.
    """

    rounds: int
    rate: float
    depth: int
    algorithm: str
    masses: np.ndarray
    least_mass: float = 0.0
    progress: Progress = silent


@dataclass(frozen=True)
class Round:
    """One round: its tree, its shape in bins, and the loss after it."""

    tree: Trees
    shape: Shape
    loss: float


def best_constant(rows: BoostedRows) -> float:
    """The number that, added to all scores, makes the loss least; the rows are moved by it."""
    ones = np.ones(rows.y.size)
    slope = rows.along(ones, 0.0)[1]
    if slope == 0.0:
        return 0.0
    direction = -np.sign(slope) * ones
    step = exact_step(lambda at: rows.along(direction, at)[1:], -abs(slope), flat=1e-12)
    rows.along(direction, 0.0)
    return float(step * direction[0]) if rows.move(direction, step) else 0.0


def boost(rows: BoostedRows, data: Binned, settings: BoostSettings) -> Iterator[Round]:
    """Rounds of boosting; fewer than asked for if no tree lowers the loss any more."""
    values = ALGORITHMS[settings.algorithm]
    at_start = float(np.abs(rows.slopes).sum())
    for number in range(settings.rounds):
        tried = _round(rows, data, settings, values)
        if tried is None:
            settings.progress(f"round {number + 1}: no tree lowers the loss {rows.loss:.6g} any further")
            return
        settings.progress(f"round {number + 1}: loss {rows.loss:.6g}")
        yield tried
        if not float(np.abs(rows.slopes).sum()) > _NOTHING_LEFT * at_start:
            return


def _round(
    rows: BoostedRows,
    data: Binned,
    settings: BoostSettings,
    values: Callable[[BoostedRows, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> Round | None:
    """One round; None if its tree does not lower the loss."""
    pairs = rows.pairs()
    shape = grow(data, pairs, settings.depth, settings.masses, settings.least_mass)
    if (shape.features < 0).all():
        return None
    sums = rows.leaf_sums(shape.slots, 2**settings.depth, pairs)
    leaves = settings.rate * values(rows, shape.slots, sums, pairs)
    before = rows.loss
    if not rows.move_leaves(shape.slots, leaves) or not rows.loss < before:
        return None
    found = shape.features >= 0
    thresholds = np.where(found, data.thresholds[np.maximum(shape.features, 0), shape.cuts], np.inf)
    tree = Trees(
        shape.features[None],
        thresholds[None],
        shape.missing_left[None],
        shape.gains[None],
        leaves[None],
    )
    return Round(tree, shape, rows.loss)
