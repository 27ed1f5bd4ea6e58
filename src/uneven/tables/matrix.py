"""From a table to the typed columns that a pipeline takes: floats, categories, and the parts of dates."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.learners.frames import dates
from uneven.learners.frames.columns import CATEGORY, NUMBER, TEXT, Column, date_parts, part_name
from uneven.tables import texts
from uneven.tables.table import Table


def typed(table: Table, columns: list[Column]) -> Any:
    """A data frame of floats (NaN: missing) and categories; an error names the first value that does not fit."""
    import pandas as pd

    table.require([column.name for column in columns], ", which the model expects")
    found: dict[str, Any] = {}
    for column in columns:
        if column.role == NUMBER:
            found[column.name] = table.required_numbers(column.name, tuple(column.marks))
        elif column.role in (CATEGORY, TEXT):
            codes, names = texts.distinct_texts(table.texts(column.name))
            found[column.name] = pd.Categorical.from_codes(codes, categories=list(names))
        else:
            found |= date_parts(_dates(table, column), column)
    frame = pd.DataFrame(found)
    frame.columns = pd.Index(list(found), dtype=object)  # an index of Arrow texts takes longer at every use
    return frame


def made_from(column: Column) -> list[str]:
    """Names of what :func:`typed` makes from a column."""
    return [part_name(column, part) for part in column.parts] or [column.name]


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
