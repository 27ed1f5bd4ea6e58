"""The first question: how many rows of each class there are, what they weigh, and where their columns lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.solvers import compiled
from uneven.solvers.linear.parts.block import Block
from uneven.solvers.threads import in_threads, row_ranges


@dataclass(frozen=True)
class Survey:
    """Sums over rows; the first axis is the class.

    Attributes
    ----------
    rows : ndarray of int64, shape (2,)
    weights : ndarray of shape (2,)
        Sums of the weights.
    sums, squares : ndarray of shape (2, d)
        Weighted sums of (x - about) and of its square.
    plain : ndarray of shape (2, d)
        Sums of (x - about) and of its square over all rows, without weights.
    about : ndarray of shape (d,)
    given_weight : float
        Sum of the sample weights, without costs.
    turned : int
        Rows that are learnt with the other label.
    labels : tuple
        Labels that occur, in order of appearance.
    """

    rows: np.ndarray
    weights: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    plain: np.ndarray
    about: np.ndarray
    given_weight: float
    turned: int
    labels: tuple[Any, ...] = ()

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.rows + other.rows,
            self.weights + other.weights,
            self.sums + other.sums,
            self.squares + other.squares,
            self.plain + other.plain,
            self.about,
            self.given_weight + other.given_weight,
            self.turned + other.turned,
            tuple(dict.fromkeys(self.labels + other.labels)),
        )

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def mean(self) -> np.ndarray:
        """Mean of each column, without weights."""
        return np.asarray(self.about + self.plain[0] / self.count)

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation of each column, without weights; 1 for a constant one."""
        mean = self.plain[0] / self.count
        variance = np.maximum(self.plain[1] / self.count - mean * mean, 0.0)
        # Of a constant column only errors of rounding are left.
        constant = variance <= 1e-14 * (self.plain[1] / self.count + (1e-3 * self.about) ** 2)
        return np.asarray(np.where(constant, 1.0, np.sqrt(variance)))

    def with_classes_exchanged(self) -> Survey:
        """The same if the other class is the positive one."""
        return replace(
            self,
            rows=self.rows[::-1],
            weights=self.weights[::-1],
            sums=self.sums[::-1],
            squares=self.squares[::-1],
        )


@dataclass(frozen=True)
class SurveyRows:
    """Ask for a :class:`Survey`.

    Attributes
    ----------
    about : ndarray of shape (d,)
        A point near the data, such as the mean of some rows: squares around it lose few digits.
    """

    about: np.ndarray

    def answer(self, block: Block) -> Survey:
        """The sums of one block; an error if a number of it is not finite."""
        n, d = block.X.shape
        ranges = row_ranges(n, n * d, 8 * d)
        out = np.zeros((len(ranges), 6, d + 1))
        in_threads(lambda k, lo, hi: self._add(block, lo, hi, out[k]), ranges)
        total = out.sum(axis=0)
        if not np.isfinite(total).all():
            require_finite(block)
        positive = int(np.count_nonzero(block.y))
        return Survey(
            np.array([n - positive, positive]),
            total[:2, d].copy(),
            total[:2, :d],
            total[2:4, :d],
            total[4:, :d],
            self.about,
            float(n) if block.given_weight is None else block.given_weight,
            block.turned,
            block.labels,
        )

    def _add(self, block: Block, lo: int, hi: int, out: np.ndarray) -> None:
        X: Any = block.X
        if not isinstance(X, np.ndarray):
            add_sparse = compiled.survey_passes.add_sparse
            add_sparse(X.data, X.indices, X.indptr, block.y, block.weight, self.about, lo, hi, out)
        elif X.flags.c_contiguous:
            compiled.survey_passes.add_rows(X, block.y, block.weight, self.about, lo, hi, out)
        else:
            compiled.survey_passes.add_columns(X.T, block.y, block.weight, self.about, lo, hi, out)


def require_finite(block: Block) -> None:
    """Raise if a number of a block is not finite; the message says where it is."""
    data = block.X if isinstance(block.X, np.ndarray) else block.X.data
    bad = np.argwhere(~np.isfinite(data))
    if len(bad):
        kind = "NaN" if np.isnan(data[tuple(bad[0])]) else "inf"
        place = f"row {bad[0][0]}, column {bad[0][1]}" if isinstance(block.X, np.ndarray) else "the stored values"
        raise CostError(
            f"X must hold finite numbers, got {kind} in {place} of batch {block.number} (both count from 0); fill in "
            "or drop such values before"
        )
    if not np.isfinite(block.weight).all():
        row = int(np.flatnonzero(~np.isfinite(block.weight))[0])
        raise CostError(
            f"weights and costs must be finite, got {block.weight[row]} in row {row} of batch {block.number} (both "
            "count from 0)"
        )
