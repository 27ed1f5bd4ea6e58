"""What a fit of boosted trees descends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.adapters.trees.metric import weighted_sum
from uneven.adapters.trees.objective import class_masses, convex_losses
from uneven.adapters.trees.training_rows import TreeRows
from uneven.solvers.second_order.row_losses import RowLosses


@dataclass
class Descent:
    """The losses of a fit, its start, and what early stopping looks at.

    Attributes
    ----------
    losses : RowLosses
        As the metric sees them.
    normalised : RowLosses
        As the trees see them.
    convex : RowLosses
        The latter if they are convex, else the logistic ones for the same costs.
    warmup : int
        Rounds that descend ``convex`` first.
    start : float
        The best constant score of ``convex``.
    metric : str
    """

    losses: RowLosses
    normalised: RowLosses
    convex: RowLosses
    warmup: int
    start: float
    metric: str
    rounds: int = 0

    @classmethod
    def of(cls, losses: RowLosses, inside: float | None, warmup: int, rows: TreeRows, metric: str) -> Descent:
        """A descent that starts at the best constant score of the rows.

        ``inside`` is the alpha of a loss that contains costs itself, else None.
        """
        normalised = losses.normalised()
        convex = convex_losses(normalised, inside)
        start = convex.best_constant(class_masses(rows.y, rows.weight))
        return cls(losses, normalised, convex, 0 if losses.pair.convex else warmup, start, metric)

    @property
    def now(self) -> RowLosses:
        """The losses of this round."""
        return self.convex if self.rounds < self.warmup else self.normalised

    def derivatives(self, score: np.ndarray, rows: TreeRows) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and hessian of the next round."""
        result = self.now.derivatives(np.ascontiguousarray(score), rows.y, rows.weight)
        self.rounds += 1
        return result

    def measured(self, y: Any, score: Any, weight: Any) -> float:
        """The metric of an evaluation set, whose weights make it a sum."""
        weights = np.empty(0) if weight is None else np.asarray(weight)
        return weighted_sum(self.metric, self.losses, np.asarray(y), np.asarray(score), weights)
