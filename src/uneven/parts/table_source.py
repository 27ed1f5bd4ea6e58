"""Rows of Parquet files or of an Arrow dataset, as columns of numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from uneven.errors import CostError, UnevenError
from uneven.inputs import brief
from uneven.parts.blocks import Batch, Load
from uneven.parts.parquet_files import ParquetFiles
from uneven.parts.sources import rows_per_block, rows_per_table
from uneven.tables import arrow_columns, columns_in_parts
from uneven.tables.column_values import NUMBERS
from uneven.tables.columns import Sizes
from uneven.tables.columns_in_parts import ColumnSummary, dtype_of


@dataclass(frozen=True)
class Part:
    """Rows of a table that one thread reads: tables, each with the place where it is from."""

    rows: int
    tables: Callable[[], Iterator[tuple[str, Any]]]


class DatasetTables:
    """An Arrow dataset with the methods of :class:`ParquetFiles` that a source needs."""

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.schema = dataset, dataset.schema.remove_metadata()

    def __str__(self) -> str:
        return "the dataset"

    def is_full_and_varies(self, column: int) -> bool:
        return False

    def tables(self, columns: list[str], rows: int) -> Iterator[tuple[str, Any]]:
        """Tables of at most so many rows, and where each is from."""
        import pyarrow as pa

        scan = self.dataset.scanner(columns=columns, batch_size=rows, batch_readahead=2, fragment_readahead=1)
        at = 0
        try:
            for batch in scan.to_batches():
                if batch.num_rows:
                    yield f"rows from {at} on", pa.Table.from_batches([batch])
                at += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise UnevenError(f"the dataset cannot be read: {str(error).splitlines()[0]}") from None

    def parts(self, columns: list[str], rows: int) -> Iterator[Part]:
        """The tables, which are already read."""
        for item in self.tables(columns, rows):
            yield Part(item[1].num_rows, partial(iter, [item]))

    def require_unchanged(self) -> None:
        """Only the number of rows is compared, by the loop over the batches."""


class FileTables(ParquetFiles):
    """Parquet files as tables."""

    def tables(self, columns: list[str], rows: int) -> Iterator[tuple[str, Any]]:
        """Tables of at most so many rows, and where each is from."""
        for piece in self.pieces(rows):
            yield from self.read(piece, columns, rows, True)

    def parts(self, columns: list[str], rows: int) -> Iterator[Part]:
        """Row groups that are not read yet; large ones are read here, table by table."""
        for piece in self.pieces(rows):
            if not piece.large:
                yield Part(piece.rows, partial(self.read, piece, columns, rows, False))
                continue
            for item in self.read(piece, columns, rows, True):
                yield Part(item[1].num_rows, partial(iter, [item]))


class TableSource:
    """A table with a target, whose columns become numbers by a plan.

    Parameters
    ----------
    tables : FileTables or DatasetTables
    target : str, optional
        None for rows to predict.
    columns : list of str, optional
        By default all that have no other use.
    weight : str, optional
    costs : dict of str
        Names of columns.
    plan : list of dict, optional
        That of a fit; otherwise it is learnt.
    most_categories, buckets : int
        A column with more different texts is hashed into so many columns.
    """

    def __init__(
        self,
        tables: FileTables | DatasetTables,
        target: str | None = None,
        columns: list[str] | None = None,
        weight: str | None = None,
        costs: dict[str, str] | None = None,
        *,
        plan: list[dict[str, Any]] | None = None,
        most_categories: int = 100,
        buckets: int = 256,
    ) -> None:
        self.tables, self.target, self.weight, self.costs = tables, target, weight, dict(costs or {})
        self._sizes = Sizes(most_categories, buckets)
        others = [name for name in (target, weight, *self.costs.values()) if name is not None]
        if columns is None:
            columns = [c["name"] for c in plan] if plan else [n for n in tables.schema.names if n not in others]
        for name in [*columns, *others]:
            if name not in tables.schema.names:
                raise CostError(f"there is no column {name!r} in {tables}; its columns are {_few(tables.schema.names)}")
        if target in columns:
            raise CostError(f"the target {target!r} is among the columns to learn from; leave it out of columns=")
        if not columns:
            raise CostError(f"there is no column to learn from in {tables} besides {_few(others)}")
        if len(set(tables.schema.names)) < len(tables.schema.names):
            raise CostError(f"two columns of {tables} have the same name; rename one")
        self.columns = columns
        self.plan = plan if plan is not None else self._learn_plan()
        self.columns = [entry["name"] for entry in self.plan]
        self.dtype = dtype_of(self.plan, tables.schema)
        self.names: list[str] | None = columns_in_parts.output_names(self.plan)
        self.numbers: np.ndarray | None = columns_in_parts.is_number(self.plan)
        shape = len(self.names), columns_in_parts.numbers_per_row(self.plan)
        self._rows_of_table = rows_per_table(*shape)
        # Predictions are written table by table.
        self._rows = self._rows_of_table if target is None else rows_per_block(*shape)
        self._of_thread = threading.local()

    @property
    def row_costs(self) -> tuple[str, ...]:
        return tuple(self.costs)

    @property
    def bytes_of_load(self) -> int:
        """About the bytes of memory that a load takes while it is read."""
        block = self._rows * columns_in_parts.numbers_per_row(self.plan) * self.dtype.itemsize
        return 2 * block + getattr(self.tables, "largest_group", 4 * block)

    def loads(self, first: int = 0) -> Iterator[Load]:
        """All rows from the given load on."""
        extra = [name for name in (self.target, self.weight, *self.costs.values()) if name is not None]
        wanted = list(dict.fromkeys([*self.columns, *extra]))
        number = 0
        for position, part in enumerate(self.tables.parts(wanted, self._rows_of_table)):
            if position >= first:
                yield Load(number, partial(self._batches, part))
            number += -(-part.rows // self._rows)

    def _batches(self, part: Part, keep: bool) -> Iterator[Batch]:
        for place, table in part.tables():
            encoded = columns_in_parts.Encoded(self.plan, table, self.dtype, place)
            y = None if self.target is None else self._labels(table, place)
            weight = np.empty(0) if self.weight is None else self._vector(table, self.weight, place)
            costs = {name: self._vector(table, column, place) for name, column in self.costs.items()}
            for lo in range(0, table.num_rows, self._rows):
                rows = slice(lo, min(lo + self._rows, table.num_rows))
                yield Batch(
                    encoded.matrix(rows, None if keep else self._memory()),
                    None if y is None else y[rows],
                    weight[rows],
                    {name: cost[rows] for name, cost in costs.items()},
                )

    def _memory(self) -> np.ndarray:
        """Memory for a block of this thread, which is used again and again."""
        if not hasattr(self._of_thread, "memory"):
            self._of_thread.memory = np.empty(
                self._rows * columns_in_parts.numbers_per_row(self.plan), dtype=self.dtype
            )
        found: np.ndarray = self._of_thread.memory
        return found

    def _labels(self, table: Any, place: str) -> np.ndarray:
        values = table.column(self.target)
        if values.null_count:
            raise CostError(f"the target {self.target!r} has missing values in {place}; drop those rows")
        return arrow_columns.as_labels(values)

    def _vector(self, table: Any, name: str, place: str) -> np.ndarray:
        values = table.column(name)
        if values.null_count or arrow_columns.kind_of(self.tables.schema.field(name)) != NUMBERS:
            raise CostError(f"column {name!r} must hold a number in every row, but does not in {place}")
        return np.asarray(arrow_columns.as_numbers(values).to_numpy(), dtype=np.float64)

    def require_unchanged(self) -> None:
        """Raise if the files changed."""
        self.tables.require_unchanged()

    def _learn_plan(self) -> list[dict[str, Any]]:
        """The plan for the columns. Only those that may not be numbers, miss values or have one value are read."""
        schema = self.tables.schema
        look = [
            name
            for name in self.columns
            if arrow_columns.kind_of(schema.field(name)) != NUMBERS
            or not self.tables.is_full_and_varies(schema.get_field_index(name))
        ]
        found: ColumnSummary | None = None
        for _, table in self.tables.tables(look, 1 << 17) if look else ():
            part = ColumnSummary.of(table, self._sizes)
            found = part if found is None else found + part
        learnt = {} if found is None else {entry["name"]: entry for entry in found.plan()}
        plan = [columns_in_parts.plain_entry(name) if name not in look else learnt.get(name) for name in self.columns]
        used = [entry for entry in plan if entry is not None]
        if found is not None and not used:
            raise CostError(f"no column of {self.tables} has two different values, so there is nothing to learn from")
        return used


def _few(names: list[str]) -> str:
    return brief(names) if len(names) <= 8 else f"{brief(names[:8])} and {len(names) - 8} more"
