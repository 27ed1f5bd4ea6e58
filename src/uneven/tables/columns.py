"""What each column of a table is: numbers, categories or dates; and which columns are not used, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.errors import UnevenError
from uneven.learners.frames import dates
from uneven.learners.frames.columns import CATEGORY, NUMBER, TEXT, Column, date_column
from uneven.tables import numbers, texts
from uneven.tables.table import Table

_ID_NAME = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key|nr|no|index)$)|[a-z](Id|ID|Nr|Key)$")
_FEWEST = 20  # rows from which a column can be called an ID
_FREE_TEXT = 30  # characters on average
_WORDS = 3  # spaces on average


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
        found = _dates(name, dates.typed_dates(table.frame[name]), "", [])
        remarks.append(f"Column {name!r}: dates; {_used_parts(found)}.")
        return found
    if types.is_timedelta64_dtype(dtype) or (types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype)):
        return _number(name, table.numbers(name), keep, remarks, ())
    if types.is_object_dtype(dtype) and _nested(table.frame[name]):
        raise Skip("it holds lists or other nested values")
    present = table.texts(name)
    if present.null_count == len(present):
        raise Skip("it has no values")
    as_number = _numbers_in_text(table, name, present, keep, remarks)
    if as_number is not None:
        return as_number
    codes, names = texts.distinct_texts(present)
    as_date = _dates_in_text(table, name, codes, names, remarks)
    if as_date is not None:
        return as_date
    role = _role_of_texts(codes, names, keep)
    if role == TEXT:
        remarks.append(f"Column {name!r}: free text ({names.size:,} different texts); its words are used.")
    return Column(name, role)


def _dates_in_text(table: Table, name: str, codes: np.ndarray, names: np.ndarray, remarks: list[str]) -> Column | None:
    """The column if its texts are dates."""
    day_first = table.reading.day_first
    written = dates.find_dates(names, day_first, decimal_comma=table.decimal == ",")
    if written is None:
        return None
    if written.ambiguous and day_first is None:
        order = "day" if written.format.startswith("%d") else "month"
        remarks.append(f"Column {name!r}: day or month first? The {order} is taken to be; --dates decides otherwise.")
    if written.others:
        remarks.append(_others_in_words(name, written.others, "date"))
    of_names = dates.parsed(names, written.format)
    column = _dates(name, dates.of_codes(of_names, codes), written.format, list(written.others))
    shown = int(np.flatnonzero(~np.isnat(of_names))[0])
    value = str(of_names[shown]).removeprefix("1900-01-01T").removesuffix("T00:00:00").replace("T", " ")
    remarks.append(f"Column {name!r}: {names[shown]!r} is read as {value}; {_used_parts(column)}.")
    return column


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
    if len(present) > numbers.FIRST and numbers.few_numbers(present, table.decimals.get(name, table.decimal)):
        return None
    read = table.numbers(name)
    marks = numbers.looks_numeric(present, read)
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


def _number(name: str, read: numbers.Numbers, keep: bool, remarks: list[str], marks: tuple[str, ...]) -> Column:
    if read.infinite:
        values_are = "value is" if read.infinite == 1 else "values are"
        remarks.append(f"Column {name!r}: {read.infinite:,} {values_are} infinite, treated as missing.")
    values = read.values
    known = values[~np.isnan(values)]
    if not known.size:
        raise Skip("it has no values")
    if known.size == values.size and known.min() == known.max():
        raise Skip("it has only one value")
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


def _dates(name: str, values: np.ndarray, form: str, marks: list[str]) -> Column:
    found = date_column(name, values, form, marks)
    if found is None:
        raise Skip("it has no values" if np.isnat(values).all() else "it has only one value")
    return found


def _role_of_texts(codes: np.ndarray, names: np.ndarray, keep: bool) -> str:
    """Categories, if texts return in several rows, or free text; an ID is skipped."""
    known = codes[codes >= 0]
    if names.size == 1 and known.size == codes.size:
        raise Skip("it has only one value")
    if names.size < _FEWEST or names.size <= known.size / 2:
        return CATEGORY
    sample = names[:1000]
    if np.mean([len(text) for text in sample]) > _FREE_TEXT and np.mean([text.count(" ") for text in sample]) > _WORDS:
        return TEXT
    if keep:
        return CATEGORY
    raise Skip(f"looks like an ID ({names.size:,} different values); --keep uses it")
