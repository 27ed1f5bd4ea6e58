"""Rows that a program hands out in batches: any object that can be iterated again and again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from uneven._inputs import brief
from uneven.costs import COSTS
from uneven.errors import CostError
from uneven.learners.streaming.batch import Batch, Load, loaded
from uneven.metrics.labels import read_target

_SHAPE = (
    "a batch is (X, y), (X, y, weight) or (X, y, weight, costs), where costs is a dict such as {'fn_cost': amounts}"
)


class BatchSource:
    """Batches (X, y[, weight[, costs]]); to predict, X alone will do."""

    numbers: np.ndarray | None = None
    names: list[str] | None = None

    def __init__(self, batches: Any, *, labelled: bool = True) -> None:
        if iter(batches) is batches:
            raise CostError(
                f"the rows are read several times, but {brief(batches)} can be iterated only once; give a list of "
                "batches, or an object whose __iter__ starts anew each time"
            )
        self._batches, self._labelled = batches, labelled
        self._width: int | None = None
        self._costs: tuple[str, ...] | None = None

    @property
    def row_costs(self) -> tuple[str, ...]:
        """Known from the first batch on."""
        return self._costs or ()

    def loads(self, first: int = 0) -> Iterator[Load]:
        number = -1
        for number, item in enumerate(islice(self._full(), first, None), start=first):
            yield loaded(self._read(item, number), number)
        if number < 0:
            raise CostError("there are no rows: the iterable gave no batch with a row")

    def _full(self) -> Iterator[Any]:
        """The batches that have rows."""
        for item in self._batches:
            X = item[0] if isinstance(item, tuple | list) else item
            if len(X) if not hasattr(X, "shape") else X.shape[0]:
                yield item

    def _read(self, item: Any, number: int) -> Batch:
        if not self._labelled:
            return Batch(self._features(item[0] if isinstance(item, tuple | list) else item, number))
        if not isinstance(item, tuple | list) or not 2 <= len(item) <= 4:
            raise CostError(f"{_SHAPE}; batch {number} is {brief(item)}")
        X = self._features(item[0], number)
        count = X.shape[0]
        try:
            y = read_target(item[1], count)
        except ValueError as error:
            raise CostError(f"in batch {number}: {error}") from None
        weight = item[2] if len(item) > 2 else None
        costs = dict(item[3]) if len(item) > 3 and item[3] is not None else {}
        unknown = [name for name in costs if name not in COSTS]
        if unknown:
            raise CostError(f"costs of rows are {', '.join(COSTS)}, got {unknown[0]!r} in batch {number}")
        names = tuple(sorted(costs))
        if self._costs is None:
            self._costs = names
        if names != self._costs:
            raise CostError(
                f"all batches must have costs of rows for the same names: batch {number} has {brief(list(names))}, the "
                f"first one {brief(list(self._costs))}"
            )
        return Batch(
            X,
            y,
            np.empty(0) if weight is None else _vector("weight", weight, count, number),
            {name: _vector(name, value, count, number) for name, value in costs.items()},
        )

    def _features(self, given: Any, number: int) -> Any:
        from scipy.sparse import issparse

        if issparse(given):
            X = given.tocsr()
        else:
            X = np.asarray(given)
            if X.ndim != 2 or X.dtype.kind not in "fiub":
                raise CostError(
                    f"X of a batch must have two dimensions and hold numbers, got shape {X.shape} and type {X.dtype} "
                    f"in batch {number}"
                )
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if self._width is None:
            self._width = X.shape[1]
        if X.shape[1] != self._width:
            raise CostError(
                f"all batches must have the same columns: batch {number} has {X.shape[1]}, the first one {self._width}"
            )
        return X

    def require_unchanged(self) -> None:
        """Only the number of rows is compared, by the loop over the batches."""


def _vector(name: str, value: Any, count: int, number: int) -> np.ndarray:
    array = np.asarray(value)
    if array.shape != (count,) or array.dtype.kind not in "fiub":
        raise CostError(
            f"{name} of a batch must be one number for each row, got shape {array.shape} for {count} rows in batch "
            f"{number}"
        )
    return array.astype(np.float64, copy=False)
