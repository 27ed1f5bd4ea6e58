"""``uneven predict`` with a model that was fitted in parts: predictions of one batch after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uneven.cli._output import whole_file
from uneven.cli.decisions.streamed import is_number
from uneven.errors import UnevenError
from uneven.learners.streaming.rows import tables_of
from uneven.tables.table import harmless_cell

#: Rows of the column that names the rows which are read at once.
_ROWS = 1 << 16


def write_predictions(content: dict[str, Any], data: str, output: str, costs: dict[str, str]) -> tuple[int, int]:
    """Write a table of predictions; returns how many rows there are, and how many are predicted positive.

    The file is complete, or it is not there.
    """
    learner, about = content["pipeline"], content["about"]
    given = changed_numbers(costs)
    rows = positives = 0
    with whole_file(output) as partial, _Writer(partial, output) as writer:
        names = _ids(data, about["id"])
        for found in learner.predict_parts(data, **given):
            columns: dict[str, Any] = {}
            if names is not None:
                columns[about["id"]] = names.take(len(found.score))
            columns["prediction"] = found.label
            if found.loss is not None:
                columns["probability"] = found.probability
            columns["score"] = found.score
            writer.write(columns)
            rows, positives = rows + len(found.score), positives + int(found.is_positive.sum())
    return rows, positives


def changed_numbers(costs: dict[str, str]) -> dict[str, float]:
    """Costs in place of those of a fit in parts."""
    per_row = [name for name, text in costs.items() if text.strip() and not is_number(text)]
    if per_row:
        raise UnevenError(
            f"a model that was fitted in parts takes other costs as numbers, got --{per_row[0].replace('_', '-')} "
            f"{costs[per_row[0]]!r}"
        )
    return {name: float(text) for name, text in costs.items()}


class _Ids:
    """The column that names the rows, handed out in pieces."""

    def __init__(self, data: str, column: str) -> None:
        self._tables = (table for _, table in tables_of(data).tables([column], _ROWS))
        self._rest: Any = None

    def take(self, count: int) -> Any:
        """The next so many values."""
        import pyarrow as pa

        while self._rest is None or self._rest.num_rows < count:
            following = next(self._tables)
            self._rest = following if self._rest is None else pa.concat_tables([self._rest, following])
        found, self._rest = self._rest.slice(0, count), self._rest.slice(count)
        return found.column(0)


def _ids(data: str, column: str | None) -> _Ids | None:
    if column is None or column not in tables_of(data).schema.names:
        return None
    return _Ids(data, column)


class _Writer:
    """A CSV or Parquet file that is written batch by batch; the ending of ``name`` decides which."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._csv = path, name.lower().endswith(".csv")
        self._open: Any = None

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._open.close()

    def write(self, columns: dict[str, Any]) -> None:
        """Add rows."""
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet as pq

        table = pa.table(_harmless(columns) if self._csv else columns)
        if self._open is None:
            make = pyarrow.csv.CSVWriter if self._csv else pq.ParquetWriter
            self._open = make(str(self._path), table.schema)
        self._open.write_table(table)


def _harmless(columns: dict[str, Any]) -> dict[str, Any]:
    """Columns for a CSV file, without texts that a spreadsheet would take for formulas."""
    import pyarrow as pa
    from pyarrow import types

    table = pa.table(columns)
    found: dict[str, Any] = {}
    for name, values in zip(table.column_names, table.columns, strict=True):
        kind = values.type.value_type if types.is_dictionary(values.type) else values.type
        texts = types.is_string(kind) or types.is_large_string(kind)
        found[harmless_cell(name)] = pa.array(map(harmless_cell, values.to_pylist()), kind) if texts else values
    return found
