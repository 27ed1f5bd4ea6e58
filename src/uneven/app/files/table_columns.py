"""What each column of a table is: numbers, categories or dates; and which columns are not used, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.app.files import table as texts
from uneven.app.files.file_kinds import in_gigabytes, usable_memory
from uneven.app.files.table import Table
from uneven.errors import UnevenError
from uneven.tables import dates, written_numbers
from uneven.tables.category_columns import MOST_COUNTED, SPARSE_BELOW, frequent_categories, rare_below
from uneven.tables.column_sums import Sizes, TextSums
from uneven.tables.column_values import texts_of
from uneven.tables.columns import DATE, NUMBER, Column, date_column, date_parts, is_free_text, text_column
from uneven.tables.dates import DateSums

_ID_NAME = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key|nr|no|index)$)|[a-z](Id|ID|Nr|Key)$")
_FEWEST = 20  # rows from which a column can be called an ID
_ONE_VALUE = "it has only one value"


@dataclass(frozen=True)
class Plan:
    """Columns that are used, why others are not, and remarks for the user."""

    columns: list[Column]
    skipped: dict[str, str]
    remarks: list[str]


class Skip(Exception):
    """A column is not used; the message says why."""


def planned(table: Table, target: str, leave_out: Collection[str] = (), keep: Collection[str] = ()) -> Plan:
    """Decide how each column is used; ``keep`` names columns to use even if they look like an ID."""
    table.require([*leave_out, *keep], "")
    columns: list[Column] = []
    skipped: dict[str, str] = {}
    remarks: list[str] = []
    for name in table.frame.columns:
        if name == target or name in leave_out:
            continue
        try:
            columns.append(_column(table, name, name in keep, remarks))
        except Skip as why:
            skipped[name] = str(why)
    if not columns:
        reasons = "; ".join(f"{k}: {v}" for k, v in skipped.items()) or "all are left out"
        raise UnevenError(f"no column can be used for prediction: {reasons}")
    return Plan(columns, skipped, remarks)


def _column(table: Table, name: str, keep: bool, remarks: list[str]) -> Column:
    from pandas.api import types

    dtype = table.types[name]
    if types.is_datetime64_any_dtype(dtype):
        values = dates.typed_dates(table.frame[name])
        found = date_column(name, DateSums.of(values), values.size)
        if found is None:
            raise Skip("it has no values" if np.isnat(values).all() else _ONE_VALUE)
        remarks.append(f"Column {name!r}: dates; {_used_parts(found)}.")
        return found
    if types.is_timedelta64_dtype(dtype) or (types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype)):
        return _number(name, table.numbers(name), keep, remarks, ())
    if types.is_object_dtype(dtype) and _nested(table.frame[name]):
        raise Skip("it holds lists or other nested values")
    present = table.texts(name)
    if present.null_count == len(present):
        raise Skip("it has no values")
    declared = hasattr(dtype, "categories")
    as_number = None if declared else _numbers_in_text(table, name, present, keep, remarks)
    if as_number is not None:
        return as_number
    codes, names = texts.distinct_texts(present)
    sums = TextSums.of(Sizes(MOST_COUNTED, 0), codes, names.tolist(), declared)
    column = text_column(name, sums, table.decimal, table.reading.day_first, numbers=False)
    if column is None:
        raise Skip(_ONE_VALUE)
    if column.role == DATE:
        _say_dates(table, column, names, remarks)
        return column
    distinct, known = names.size, codes.size - sums.missing
    if column.words and is_free_text(sums):
        remarks.append(f"Column {name!r}: free text ({distinct:,} different texts); its words are used.")
    elif not keep and distinct >= _FEWEST and distinct > known / 2:
        raise Skip(f"looks like an ID ({distinct:,} different values); --keep uses it")
    elif column.words:
        remarks.append(f"Column {name!r}: {distinct:,} different texts; their words are used.")
    return column


def _say_dates(table: Table, column: Column, names: np.ndarray, remarks: list[str]) -> None:
    """Say how texts are read as dates, and which parts of them are used."""
    name, day_first = column.name, table.reading.day_first
    written = dates.find_dates(names, day_first, decimal_comma=table.decimal == ",")
    if written is not None and written.ambiguous and day_first is None:
        order = "day" if column.format.startswith("%d") else "month"
        remarks.append(f"Column {name!r}: day or month first? The {order} is taken to be; --dates decides otherwise.")
    if column.marks:
        remarks.append(_others_in_words(name, column.marks, "date"))
    of_names = dates.parsed(names, column.format)
    shown = int(np.flatnonzero(~np.isnat(of_names))[0])
    value = str(of_names[shown]).removeprefix("1900-01-01T").removesuffix("T00:00:00").replace("T", " ")
    remarks.append(f"Column {name!r}: {names[shown]!r} is read as {value}; {_used_parts(column)}.")


def _used_parts(column: Column) -> str:
    return f"used as {', '.join(dates.part_in_words(part, column.first) for part in column.parts)}"


def _nested(column: Any) -> bool:
    return any(
        isinstance(value, list | dict | set | tuple | bytes | np.ndarray) for value in column[column.notna()][:100]
    )


def _others_in_words(name: str, others: Collection[str], what: str) -> str:
    verb = f"is not a {what}" if len(others) == 1 else f"are not {what}s"
    return f"Column {name!r}: {', '.join(map(repr, others))} {verb}, treated as missing."


def _numbers_in_text(table: Table, name: str, present: Any, keep: bool, remarks: list[str]) -> Column | None:
    """The column if its texts are numbers."""
    decimal = table.decimals.get(name, table.decimal)
    if len(present) > written_numbers.FIRST and written_numbers.few_numbers(present, decimal):
        return None
    read = table.numbers(name)
    marks = written_numbers.looks_numeric(present, read)
    if marks is None:
        return None
    if read.example is not None:
        remarks.append(f"Column {name!r}: {read.example[0]!r} is read as {read.example[1]:.15g}.")
    if name in table.unsure:
        sign = "thousands separator" if table.decimal == "." else "decimal sign"
        remarks.append(f"Column {name!r}: the comma or point is taken for a {sign}; --decimal decides otherwise.")
    if marks:
        remarks.append(_others_in_words(name, marks, "number"))
    return _number(name, read, keep, remarks, marks)


def _number(name: str, read: written_numbers.Numbers, keep: bool, remarks: list[str], marks: tuple[str, ...]) -> Column:
    if read.infinite:
        values_are = "value is" if read.infinite == 1 else "values are"
        remarks.append(f"Column {name!r}: {read.infinite:,} {values_are} infinite, treated as missing.")
    values = read.values
    known = values[~np.isnan(values)]
    if not known.size:
        raise Skip("it has no values")
    if known.size == values.size and known.min() == known.max():
        raise Skip(_ONE_VALUE)
    if not keep and known.size == values.size >= _FEWEST and _counts_rows(name, values):
        raise Skip(f"looks like an ID or a row number ({values.size:,} different values; --keep uses it)")
    return Column(name, NUMBER, list(marks))


def _counts_rows(name: str, values: np.ndarray) -> bool:
    """Whether whole numbers are all different and number the rows, or are called an ID."""
    if not (values == np.round(values)).all():
        return False
    ordered = np.sort(values)
    if (np.diff(ordered) == 0).any():
        return False
    return bool(ordered[-1] - ordered[0] == values.size - 1 or _ID_NAME.search(name))


# From a table to the typed columns that a pipeline takes: floats, categories and dates.


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


# How large the matrix of a table will be: estimated before a fit.

#: Folds, scaled copies and a solver's own vectors take this many times the matrix.
_COPIES = 4


def matrix_width(X: Any, most: int) -> tuple[int, int]:
    """Columns of the matrix without those of words, and how many of them are not 0 in a row."""
    X, _ = with_parts(X)
    numbers, categories = X.select_dtypes("number"), X.select_dtypes("category")
    width = filled = numbers.shape[1] + int(numbers.isna().to_numpy().any(axis=0).sum())
    for _, column in categories.items():
        counted = len(column.cat.categories) <= MOST_COUNTED
        kept, missing, other = frequent_categories(column, rare_below(len(X)), most if counted else 0)
        width, filled = width + len(kept) + missing + other, filled + 1
    return width, filled


def require_memory(X: Any, most: int) -> int:
    """The width of the matrix; an error if a fit would need more memory than the machine has."""
    width, filled = matrix_width(X, most)
    sparse = filled < SPARSE_BELOW * width
    size = len(X) * (12 * filled + 8 if sparse else 8 * width) * _COPIES
    if size > usable_memory():
        raise UnevenError(
            f"{len(X):,} rows become a matrix of {width:,} columns, and a fit would need about {in_gigabytes(size)} of "
            f"memory, more than {in_gigabytes(usable_memory())}; use fewer rows, or leave out columns with --drop"
        )
    return width
