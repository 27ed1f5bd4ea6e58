"""Some rows as a source hands them out: features, and what is known about each row."""

from __future__ import annotations

from collections.abc import Iterator
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

    def batches(self, first: int = 0) -> Iterator[Batch]:
        """All batches from the given one on, in an order that is always the same."""
        ...

    def require_unchanged(self) -> None:
        """Raise if the rows are no longer those of the first read."""
        ...
