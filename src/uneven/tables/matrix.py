"""From a table to the typed columns that a pipeline takes: floats, categories and dates."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.learners.frames import dates
from uneven.learners.frames.columns import DATE, NUMBER, Column, date_column, date_parts
from uneven.learners.frames.dates import DateSums
from uneven.learners.frames.values import texts_of
from uneven.tables import texts
from uneven.tables.table import Table


def typed(table: Table, columns: list[Column]) -> Any:
    """A data frame of floats (NaN: missing), categories and dates; an error names the first value that does not fit."""
    import pandas as pd

    table.require([column.name for column in columns], ", which the model expects")
    found: dict[str, Any] = {}
    for column in columns:
        if column.role == NUMBER:
            found[column.name] = table.required_numbers(column.name, tuple(column.marks))
        elif column.role == DATE:
            found[column.name] = _dates(table, column)
        else:
            codes, names = texts.distinct_texts(table.texts(column.name))
            found[column.name] = texts_of(codes, names.tolist()).data
    frame = pd.DataFrame(found)
    frame.columns = pd.Index(list(found), dtype=object)  # an index of Arrow texts takes longer at every use
    return frame


def with_parts(X: Any) -> tuple[Any, dict[str, str]]:
    """Typed columns with the parts of dates in place of the dates, and the column that each is from."""
    import pandas as pd

    source: dict[str, str] = {}
    found: dict[str, Any] = {}
    for name, dtype in X.dtypes.items():
        made = {name: X[name]}
        if dtype.kind == "M":
            values = X[name].to_numpy()
            column = date_column(name, DateSums.of(values), values.size)
            made = {} if column is None else date_parts(values, column)
        source |= dict.fromkeys(made, name)
        found |= made
    return (X if len(found) == X.shape[1] else pd.DataFrame(found, index=X.index, copy=False)), source


def _dates(table: Table, column: Column) -> np.ndarray:
    """The dates of a column. A file that writes them otherwise than the training table is understood if it is clear."""
    from pandas.api import types

    series = table.frame[column.name]
    if types.is_datetime64_any_dtype(series.dtype):
        return dates.typed_dates(series)
    codes, names = texts.distinct_texts(table.texts(column.name, tuple(column.marks)))
    values = dates.parsed(names, column.format or dates.ISO)
    if np.isnat(values).any():
        other = dates.find_dates(names, table.reading.day_first, decimal_comma=table.decimal == ",")
        if other is not None and not other.others:
            values = dates.parsed(names, other.format)
    values = dates.of_codes(values, codes)
    wrong = np.isnat(values) & (codes >= 0)
    if wrong.any():
        raise table.wrong_value(column.name, int(np.flatnonzero(wrong)[0]), "a date")
    return values


def read_columns(saved: list[dict[str, Any]]) -> list[Column]:
    """The columns that a model file holds."""
    return [Column(**column) for column in saved]
