"""From labels, sample weights and costs to the class that each row is learnt as, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.learners.streaming.batch import Batch
from uneven.metrics.labels import distinct_labels
from uneven.solvers.linear.parts.block import Block


@dataclass(frozen=True)
class BlockMaker:
    """How a batch becomes a block: labels, sample weights and costs become a class and a weight of each row.

    Attributes
    ----------
    positive : label
        Rows with this label have the class 1.
    known : bool
        Whether the labels have been looked at: if not, each block says which ones occur.
    numbers : dict
        With costs of rows, those of the four that are the same in all rows.
    inside : tuple of float
        With costs of rows, by what the regrets of the negative and the positive class are divided.
    per_row : bool
        Whether a cost differs by row.
    """

    positive: Any
    known: bool = False
    numbers: dict[str, float] = field(default_factory=dict)
    inside: tuple[float, float] = (1.0, 1.0)
    per_row: bool = False

    def with_costs(self, numbers: dict[str, float], inside: tuple[float, float]) -> BlockMaker:
        """The same where some costs differ by row; ``numbers`` are the others."""
        return replace(self, numbers=numbers, inside=inside, per_row=True)

    def __call__(self, batch: Batch, number: int) -> Block:
        """The rows of a batch with the class that each is learnt as."""
        if batch.y is None:
            raise CostError(f"batch {number} has no labels; a batch to learn from is (X, y) or (X, y, weight)")
        labels = () if self.known else tuple(distinct_labels(batch.y)[:3])
        is_positive = np.asarray(batch.y == self.positive)
        y = is_positive.astype(np.int8)
        weight, given, turned = batch.weight, None, 0
        if weight.size:
            least = float(weight.min())
            if not least >= 0:
                row = int(np.flatnonzero(~(weight >= 0))[0])
                raise CostError(
                    f"sample weights must be finite and nonnegative, got {weight[row]:g} in row {row} of batch "
                    f"{number} (both count from 0)"
                )
            given = float(weight.sum())
        if self.per_row:
            regrets = self._regrets(batch, is_positive, number)
            turned = int((regrets < 0).sum())
            if turned:
                y = np.where(regrets < 0, 1 - y, y).astype(np.int8)
            regrets = np.abs(regrets) / np.array(self.inside)[y]
            weight = weight * regrets if weight.size else regrets
        return Block(batch.X, y, weight, number, given, turned, labels)

    def _regrets(self, batch: Batch, is_positive: np.ndarray, number: int) -> np.ndarray:
        costs: dict[str, Any] = {**self.numbers, **batch.costs}
        try:
            return RowCosts.read(batch.rows, **costs).regrets(is_positive)
        except CostError as error:
            raise CostError(f"in batch {number}: {error}") from None
