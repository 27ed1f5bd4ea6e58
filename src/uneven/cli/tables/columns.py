"""What each column of a table is: numbers, categories or dates; and which columns are not used, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from uneven.cli.tables import dates, numbers, texts
from uneven.cli.tables.table import Table
from uneven.errors import UnevenError

NUMBER, CATEGORY, DATE = "number", "category", "date"

_ID_NAME = re.compile(r"(^|[\W_])(id|uuid|guid|key|nr|no|index)$|[a-z](Id|ID|Nr|Key)$", re.IGNORECASE)
_FEWEST = 20  # rows from which a column can be called an ID
_FREE_TEXT = 30  # characters on average
_WORDS = 3  # spaces on average


@dataclass(frozen=True)
class Column:
    """How to read a column.

    Attributes
    ----------
    name : str
    role : {"number", "category", "date"}
    marks : list of str
        Texts of this column that mean "missing" besides the usual ones.
    format : str
        How dates are written; "" if the file holds dates as such.
    first : str
        The first date.
    parts : list of str
        Parts of the date that are used.
    """

    name: str
    role: str
    marks: list[str] = field(default_factory=list)
    format: str = ""
    first: str = ""
    parts: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for the model file."""
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """Columns that are used, why others are not, and remarks for the user."""

    columns: list[Column]
    skipped: dict[str, str]
    remarks: list[str]


class Skip(Exception):
    """A column is not used; the message says why."""


def planned(table: Table, target: str, leave_out: Collection[str] = (), keep: Collection[str] = ()) -> Plan:
    """Decide how each column is used; ``keep`` names columns to use even if they look like an ID or free text."""
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
        raise UnevenError("no column can be used for prediction: " + "; ".join(f"{k}: {v}" for k, v in skipped.items()))
    return Plan(columns, skipped, remarks)


def _column(table: Table, name: str, keep: bool, remarks: list[str]) -> Column:
    from pandas.api import types

    column = table.frame[name]
    if types.is_datetime64_any_dtype(column.dtype):
        return _dates(name, dates.typed_dates(column), "", [])
    if types.is_timedelta64_dtype(column.dtype) or (
        types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
    ):
        return _number(table, name, keep, remarks, ())
    if types.is_object_dtype(column.dtype) and _nested(column):
        raise Skip("it holds lists or other nested values")
    present = table.texts(name)
    if present.null_count == len(present):
        raise Skip("it has no values")
    found = table.numbers(name)
    marks = numbers.looks_numeric(present, found)
    if marks is not None:
        if found.example is not None:
            remarks.append(f"Column {name!r}: {found.example[0]!r} is read as {found.example[1]:.15g}.")
        if name in table.unsure:
            sign = "thousands separator" if table.decimal == "." else "decimal sign"
            remarks.append(f"Column {name!r}: the comma or point is taken for a {sign}; --decimal decides otherwise.")
        return _number(table, name, keep, remarks, marks)
    codes, names = texts.distinct_texts(present)
    reading = table.reading
    written = dates.find_dates(names, reading.day_first, decimal_comma=table.decimal == ",")
    if written is not None:
        if written.ambiguous and reading.day_first is None:
            order = "day" if written.format.startswith("%d") else "month"
            remarks.append(
                f"Column {name!r}: dates such as {names[0]!r} can be read in two ways; the {order} is taken to be "
                "first (--dates decides otherwise)."
            )
        if written.others:
            remarks.append(_others_in_words(name, written.others, "dates"))
        values = np.append(dates.parsed(names, written.format), np.datetime64("NaT", "s"))[codes]
        return _dates(name, values, written.format, list(written.others))
    _require_categories(name, codes, names, keep)
    return Column(name, CATEGORY)


def _nested(column: Any) -> bool:
    return any(
        isinstance(value, list | dict | set | tuple | bytes | np.ndarray) for value in column[column.notna()][:100]
    )


def _others_in_words(name: str, others: Collection[str], what: str) -> str:
    listed = ", ".join(map(repr, others))
    return f"Column {name!r}: {listed} {'is' if len(others) == 1 else 'are'} not {what}, treated as missing."


def _number(table: Table, name: str, keep: bool, remarks: list[str], marks: tuple[str, ...]) -> Column:
    if marks:
        remarks.append(_others_in_words(name, marks, "numbers"))
    infinite = table.infinities(name)
    if infinite:
        remarks.append(
            f"Column {name!r}: {infinite:,} infinite {'value' if infinite == 1 else 'values'}, treated as missing."
        )
    values = table.numbers(name, marks).values
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
    known = values[~np.isnat(values)]
    if not known.size:
        raise Skip("it has no values")
    first = known.min()
    parts = []
    for part in dates.PARTS:
        found, _ = dates.date_part(known, part, first)
        if found.min() < found.max():
            parts.append(part)
    if not parts and known.size == values.size:
        raise Skip("it has only one value")
    return Column(name, DATE, marks, form, str(first), parts or ["days"])


def _require_categories(name: str, codes: np.ndarray, names: np.ndarray, keep: bool) -> None:
    """Raise unless a column of texts has categories that return in several rows."""
    known = codes[codes >= 0]
    if names.size == 1 and known.size == codes.size:
        raise Skip("it has only one value")
    if keep or names.size < _FEWEST or names.size <= known.size / 2:
        return
    sample = names[:1000]
    if np.mean([len(text) for text in sample]) > _FREE_TEXT and np.mean([text.count(" ") for text in sample]) > _WORDS:
        raise Skip(f"looks like free text ({names.size:,} different texts); --keep uses its frequent values")
    raise Skip(f"looks like an ID ({names.size:,} different values); --keep uses it")
