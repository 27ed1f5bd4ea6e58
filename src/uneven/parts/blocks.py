"""Some of the rows in memory: as a source hands them out (a batch), and as a fit uses them (a block)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.labels import distinct_labels
from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses


@dataclass(frozen=True)
class Batch:
    """Some rows.

    Attributes
    ----------
    X : ndarray of float64 or float32, or CSR matrix
    y : ndarray, optional
        Labels; None for rows to predict.
    weight : ndarray of float64
        Sample weights; empty if all are 1.
    costs : dict
        Those of the four costs that differ by row.
    """

    X: Any
    y: np.ndarray | None = None
    weight: np.ndarray = field(default_factory=lambda: np.empty(0))
    costs: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


@dataclass(frozen=True)
class Load:
    """Some of the rows, to be read by any thread.

    Attributes
    ----------
    first : int
        Number of its first batch, counted over all rows.
    read : callable
        read(keep) gives its batches one after the other. Unless they are to be kept, the next one may overwrite the
        one before, which saves the time to get new memory.
    """

    first: int
    read: Callable[[bool], Iterable[Batch]]


class Source(Protocol):
    """Rows that can be read again and again."""

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, if they have some."""
        ...

    @property
    def numbers(self) -> np.ndarray | None:
        """Which columns are numbers, and not marks of 0 and 1; None: all."""
        ...

    @property
    def row_costs(self) -> tuple[str, ...]:
        """Which of the four costs differ by row."""
        ...

    def loads(self, first: int = 0) -> Iterator[Load]:
        """All rows from the given load on, in an order that is always the same."""
        ...

    def require_unchanged(self) -> None:
        """Raise if the rows are no longer those of the first read."""
        ...


def as_load(batch: Batch, number: int) -> Load:
    """A batch that is in memory already, as a load."""
    return Load(number, lambda keep: [batch])


def batches(source: Source) -> Iterator[Batch]:
    """All batches of a source; each may be overwritten by the next one."""
    for load in source.loads():
        yield from load.read(False)


@dataclass(frozen=True)
class Block:
    """Rows as a part hands them out.

    Attributes
    ----------
    X : ndarray of float64 or float32 in C or F order, or CSR matrix
    y : ndarray of int8
        The class that each row is learnt as: 0 for the negative, 1 for the positive one.
    weight : ndarray of float64
        What each row counts, up to a factor for each class: its sample weight times its own regret. Empty: 1 for all.
    number : int
        Which block it is; messages name it, and it seeds the sample of its rows.
    given_weight : float, optional
        Sum of the sample weights alone; by default the number of rows.
    turned : int
        How many rows are learnt with the other label, because their mistake pays.
    labels : tuple
        The labels that occur, where they are not known yet.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray
    number: int = 0
    given_weight: float | None = None
    turned: int = 0
    labels: tuple[Any, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        X = self.X
        arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
        return int(sum(array.nbytes for array in (*arrays, self.y, self.weight)))

    def losses(self, pair: PairOfLosses) -> Objective:
        """The losses of these rows, without a penalty."""
        return Objective(design(self.X), self.y, pair, self.weight, penalty=0.0, fit_intercept=True)

    def with_classes_exchanged(self) -> Block:
        """The same if the other class is the positive one."""
        return replace(self, y=1 - self.y)


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
