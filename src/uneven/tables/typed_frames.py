"""From a data frame to typed columns: floats, categories, and the parts of dates. Columns are found by their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.errors import UnevenError
from uneven.inputs import brief
from uneven.tables import dates
from uneven.tables.column_sums import Sizes, TextSums
from uneven.tables.column_values import DATES, NUMBERS, TEXTS, Values, as_texts, finite, values_of
from uneven.tables.columns import DATE, NUMBER, Column, date_column, date_parts, decimals_of, number_column, text_column
from uneven.tables.dates import DateSums
from uneven.tables.written_numbers import NumberSums, arrow_texts, as_numbers

#: Columns of numbers from which they are read at once; fewer need no copy of the whole table.
_MANY = 200
_HOLDS = {NUMBER: "numbers", DATE: "dates"}


def learnt_columns(frame: Any, sizes: Sizes) -> tuple[list[Column], Any]:
    """The columns that can be used, and the typed data frame."""
    plain = _Doubles(frame)
    varying = dict(zip(plain.at, _varies(plain.values), strict=True))
    values = {name: values_of(frame[name], name) for name in frame.columns if name not in varying}
    sums = {
        name: TextSums.of(sizes, one.data.codes, one.data.categories, one.declared)
        for name, one in values.items()
        if one.kind == TEXTS
    }
    decimals = decimals_of({name: one for name, one in sums.items() if not one.declared})
    columns: list[Column] = []
    found: dict[str, Any] = {}
    for name in frame.columns:
        if name in varying:
            columns += [Column(name, NUMBER)] if varying[name] else []
            continue
        one = values[name]
        if one.kind == TEXTS:
            column = text_column(name, sums[name], decimals.get(name, "."))
        elif one.kind == NUMBERS:
            column = number_column(name, NumberSums.of(one.data), len(frame))
        else:
            column = date_column(name, DateSums.of(one.data), len(frame))
        if column is not None:
            columns.append(column)
            _add(found, one, column)
    if not columns:
        raise UnevenError("X has no column with two different values, so there is nothing to learn from")
    return columns, _frame(columns, plain, found)


def _varies(values: np.ndarray) -> np.ndarray:
    """Whether numbers (NaN: missing) can tell rows apart: they differ, or some are missing; for each column."""
    known = len(values) - np.isnan(values).sum(axis=0)
    differ = np.fmin.reduce(values, axis=0) < np.fmax.reduce(values, axis=0)
    return np.asarray((known > 0) & (differ | (known < len(values))))


def typed_frame(frame: Any, columns: list[Column]) -> Any:
    """The same columns of other rows."""
    there = set(frame.columns)
    absent = [column.name for column in columns if column.name not in there]
    if absent:
        listed, more = ", ".join(map(repr, absent[:8])), ", ..." if len(absent) > 8 else ""
        known = ", ".join(map(repr, list(frame.columns)[:12]))
        raise UnevenError(f"X lacks the columns {listed}{more}, which were there at fit; it has {known}")
    plain = _Doubles(frame)
    found: dict[str, Any] = {}
    for column in columns:
        if column.role != NUMBER or column.name not in plain.at:
            _add(found, values_of(frame[column.name], column.name), column)
    return _frame(columns, plain, found)


class _Doubles:
    """The columns of doubles of a data frame, read at once if there are many: a column of pandas takes long.

    Attributes
    ----------
    at : dict of int
        The columns of ``values`` by name; empty if the columns are few.
    values : ndarray
        What :func:`values_of` gives for each.
    """

    def __init__(self, frame: Any) -> None:
        places = np.flatnonzero([dtype == np.float64 for dtype in frame.dtypes])
        if places.size < _MANY or not frame.columns.is_unique:
            places = places[:0]
        self.at = {name: k for k, name in enumerate(frame.columns[places])}
        self.values = finite(frame.iloc[:, places].to_numpy(dtype=np.float64))


def _frame(columns: list[Column], plain: _Doubles, found: dict[str, Any]) -> Any:
    """The numbers as one matrix, followed by the rest; ``found`` has what is not among the plain numbers."""
    import pandas as pd

    names = [column.name for column in columns if column.role == NUMBER]
    numbers = np.empty((len(plain.values), len(names)), order="F")
    known = [k for k, name in enumerate(names) if name in plain.at]
    numbers[:, known] = plain.values[:, [plain.at[names[k]] for k in known]]
    for name in (names[k] for k in known if names[k] in found):
        raise _same_name(name)
    for k in np.setdiff1d(np.arange(len(names)), known):
        numbers[:, k] = found.pop(names[k])
    made = pd.DataFrame(numbers, columns=pd.Index(names, dtype=object))
    return pd.concat([made, pd.DataFrame(found, index=made.index)], axis=1) if found else made


def _add(found: dict[str, Any], values: Values, column: Column) -> None:
    """Put what becomes of a column among the rest."""
    if column.role == NUMBER:
        made = {column.name: read_numbers(values, column)}
    elif column.role == DATE:
        made = date_parts(read_dates(values, column), column)
    else:
        made = {column.name: read_categories(values, column)}
    for name in made:
        if name in found:
            raise _same_name(name)
    found |= made


def _same_name(name: str) -> UnevenError:
    return UnevenError(f"two columns would be called {name!r}; rename the column of that name")


def read_numbers(values: Values, column: Column) -> np.ndarray:
    """The numbers of a column, NaN where missing; an error names a text that is not one."""
    if values.kind == NUMBERS:
        return values.data
    if values.kind == DATES:
        raise _mismatch(values, column, "dates")
    names = arrow_texts(values.data.categories.tolist())
    read = as_numbers(names, column.decimal)
    for k in np.flatnonzero(read.others):
        if names[int(k)].as_py() not in column.marks:
            raise UnevenError(
                f"column {column.name!r} held numbers at fit; now {brief(names[int(k)].as_py())} is not one: correct "
                "it, or leave it missing"
            )
    return np.append(read.values, np.nan)[values.data.codes]


def read_dates(values: Values, column: Column) -> np.ndarray:
    """The dates of a column, NaT where missing; an error names a text that is not one."""
    if values.kind == DATES:
        return values.data
    if values.kind == NUMBERS:
        if not values.missing.all():
            raise _mismatch(values, column, "numbers")
        return np.full(values.data.size, np.datetime64("NaT", "s"))
    names = np.asarray(values.data.categories, dtype=object)
    is_mark = np.isin(names, column.marks)
    found = dates.parsed(names, column.format or dates.ISO)
    if np.isnat(found[~is_mark]).any():
        other = dates.find_dates(names[~is_mark], None, decimal_comma=False)
        if other is not None and not other.others:
            found = dates.parsed(names, other.format)
    wrong = np.isnat(found) & ~is_mark
    if wrong.any():
        raise UnevenError(
            f"column {column.name!r} held dates at fit; now {brief(names[wrong][0])} is not one: correct it, or leave "
            "it missing"
        )
    return dates.of_codes(found, values.data.codes)


def read_categories(values: Values, column: Column) -> Any:
    """The texts of a column: a Categorical."""
    if values.kind == TEXTS:
        return values.data
    if values.kind == NUMBERS:
        return as_texts(values)
    raise _mismatch(values, column, "dates")


def _mismatch(values: Values, column: Column, now: str) -> UnevenError:
    held = _HOLDS.get(column.role, "texts or categories")
    return UnevenError(f"column {column.name!r} held {held} at fit and holds {now} now; convert it as it was at fit")
