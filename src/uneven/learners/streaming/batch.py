"""Some rows as a source hands them out: features, and what is known about each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


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


def loaded(batch: Batch, number: int) -> Load:
    """A batch that is in memory already, as a load."""
    return Load(number, lambda keep: [batch])


def batches(source: Source) -> Iterator[Batch]:
    """All batches of a source; each may be overwritten by the next one."""
    for load in source.loads():
        yield from load.read(False)
