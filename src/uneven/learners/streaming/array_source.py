"""Rows of one array, in memory or mapped from a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.learners.streaming.batch import Batch, Load
from uneven.learners.streaming.block_size import rows_per_block
from uneven.learners.streaming.mapped_file import begin_of, give_back
from uneven.metrics.labels import read_target


class ArraySource:
    """Slices of an array and of what belongs to its rows.

    A slice of a mapped file is copied, and its pages are given back, so that the file never fills the memory.
    """

    names: list[str] | None = None
    numbers: np.ndarray | None = None

    def __init__(self, X: Any, y: Any = None, weight: Any = None, costs: dict[str, Any] | None = None) -> None:
        if getattr(X, "ndim", None) != 2 or X.dtype.kind not in "fiub":
            raise CostError(
                f"an array of rows must have two dimensions and hold numbers, got shape {getattr(X, 'shape', None)} "
                f"and type {getattr(X, 'dtype', type(X).__name__)}"
            )
        self.X, count = X, X.shape[0]
        self.y = None if y is None else read_target(y, count)
        self.weight = self._vector("sample_weight", weight)
        self.costs = {name: self._vector(name, value) for name, value in (costs or {}).items()}
        self._size = rows_per_block(X.shape[1])

    @property
    def row_costs(self) -> tuple[str, ...]:
        return tuple(self.costs)

    def _vector(self, name: str, value: Any) -> np.ndarray:
        if value is None:
            return np.empty(0)
        array = np.asarray(value)
        if array.shape != (self.X.shape[0],) or array.dtype.kind not in "fiub":
            raise CostError(f"{name} must be {self.X.shape[0]} numbers, one for each row of X, got shape {array.shape}")
        return array

    def loads(self, first: int = 0) -> Iterator[Load]:
        for number in range(first, -(-self.X.shape[0] // self._size)):
            part = slice(number * self._size, min((number + 1) * self._size, self.X.shape[0]))
            yield Load(number, partial(self._batch, part))

    def _batch(self, part: slice, keep: bool) -> Iterator[Batch]:
        yield Batch(
            self._rows(part),
            None if self.y is None else self.y[part],
            self.weight[part].astype(np.float64, copy=False),
            {name: cost[part] for name, cost in self.costs.items()},
        )

    def _rows(self, part: slice) -> Any:
        X = self.X[part]
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        if not isinstance(self.X, np.memmap):
            return np.asarray(X, dtype=dtype) if isinstance(X, np.ndarray) else X.astype(dtype, copy=False)
        copied = np.array(X, dtype=dtype)
        mapping: Any = getattr(self.X, "_mmap", None)
        if mapping is not None and self.X.flags.c_contiguous:
            start = begin_of(self.X, mapping) + part.start * self.X.strides[0]
            give_back(mapping, start, X.nbytes)
        return copied

    def require_unchanged(self) -> None:
        """An array cannot change its number of rows."""
