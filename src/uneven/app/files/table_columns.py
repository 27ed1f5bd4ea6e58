"""The columns of a table: what each is, which are not used and why, the typed data frame, and the target."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.app.files.file_kinds import in_gigabytes, usable_memory
from uneven.app.files.table import Table
from uneven.errors import UnevenError
from uneven.inputs import brief
from uneven.tables import dates, written_numbers
from uneven.tables.category_columns import MOST_COUNTED, SPARSE_BELOW, frequent_categories, rare_below
from uneven.tables.column_values import distinct_texts, texts_of, without_marks
from uneven.tables.columns import (
    DATE,
    NUMBER,
    Column,
    Sizes,
    TextSums,
    date_column,
    date_parts,
    is_free_text,
    text_column,
)
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


#: How the reason begins why a column that seems to name the rows is skipped.
LIKE_AN_ID = "looks like an ID"


class Skip(Exception):
    """A column is not used; the message says why."""


def plan_columns(table: Table, target: str, leave_out: Collection[str] = (), keep: Collection[str] = ()) -> Plan:
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
    codes, names = distinct_texts(present)
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
        raise Skip(f"{LIKE_AN_ID} ({distinct:,} different values); --keep uses it")
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
        raise Skip(f"{LIKE_AN_ID} or a row number ({values.size:,} different values; --keep uses it)")
    return Column(name, NUMBER, list(marks))


def _counts_rows(name: str, values: np.ndarray) -> bool:
    """Whether whole numbers are all different and number the rows, or are called an ID."""
    if not (values == np.round(values)).all():
        return False
    ordered = np.sort(values)
    if (np.diff(ordered) == 0).any():
        return False
    return bool(ordered[-1] - ordered[0] == values.size - 1 or _ID_NAME.search(name))


# -- typed columns: floats, categories and dates -----------------------------------------------------------------------


def type_columns(table: Table, columns: list[Column]) -> Any:
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
            codes, names = distinct_texts(table.texts(column.name))
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
    codes, names = distinct_texts(table.texts(column.name, tuple(column.marks)))
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


# -- how large the matrix will be --------------------------------------------------------------------------------------

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


# -- the column to predict --------------------------------------------------------------------------------------------


_LABELS_SHOWN = 6
#: Classes that are counted in a sentence.
_CLASSES_SHOWN = 12


@dataclass(frozen=True)
class Target:
    """Labels.

    Attributes
    ----------
    known : ndarray of bool
        Which rows have a label.
    is_positive : ndarray of bool
        For each row with a label, whether it is the positive one.
    positive : str
        The positive label as the file writes it.
    negatives : list of str
        The other labels, the most frequent first.
    """

    known: np.ndarray
    is_positive: np.ndarray
    positive: str
    negatives: list[str]

    def in_words(self) -> str:
        """How many rows there are, and how many are positive."""
        count, positives = self.is_positive.size, int(self.is_positive.sum())
        return f"{count:,} rows, {positives:,} positive ({positives / count:.1%})."


@dataclass(frozen=True)
class ClassTarget:
    """Labels of several classes.

    Attributes
    ----------
    known : ndarray of bool
        Which rows have a label.
    codes : ndarray of int
        For each row with a label, its place in ``classes``.
    classes : list of str
        As the file writes them, the most frequent first.
    """

    known: np.ndarray
    codes: np.ndarray
    classes: list[str]

    @property
    def counts(self) -> list[int]:
        """How many rows each class has."""
        return [int(count) for count in np.bincount(self.codes, minlength=len(self.classes))]

    @property
    def by_class(self) -> dict[str, int]:
        """The same by the names of the classes."""
        return dict(zip(self.classes, self.counts, strict=True))

    def in_words(self) -> str:
        """How many rows each class has."""
        return f"{self.codes.size:,} rows: {self.listed()}."

    def listed(self) -> str:
        """The classes with their rows."""
        shown = [f"{label} ({count:,})" for count, label in zip(self.counts, self.classes, strict=True)]
        more = f" and {len(shown) - _CLASSES_SHOWN} further classes" if len(shown) > _CLASSES_SHOWN else ""
        return ", ".join(shown[:_CLASSES_SHOWN]) + more


def read_classes(table: Table, name: str) -> ClassTarget:
    """Read the labels of several classes."""
    codes, labels = _read_labels(table, name)
    order = np.argsort(-np.bincount(codes[codes >= 0], minlength=labels.size), kind="stable")
    place = np.empty(labels.size, dtype=np.intp)
    place[order] = np.arange(labels.size)
    known = codes >= 0
    return ClassTarget(known, place[codes[known]], [str(labels[k]) for k in order])


def _read_labels(table: Table, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The number of the label of each row, -1 without one, and the labels; an error if there are none."""
    table.require([name], ", which is to be predicted")
    written = table.written(name)
    codes, labels = distinct_texts(without_marks(written))
    if labels.size < 2:  # a mark such as "-" or "None" is then a label
        codes, labels = distinct_texts(written)
    if not labels.size:
        raise UnevenError(f"{table.path}: column {name!r} has no labels, only empty cells")
    return codes, labels


def read_target(table: Table, name: str, positive: str, *, others_negative: bool = False) -> Target:
    """Read the labels; more than two different ones are an error unless all but the positive one are negative."""
    codes, labels = _read_labels(table, name)
    counts = np.bincount(codes[codes >= 0], minlength=labels.size)
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(f"{labels[k]!r} ({counts[k]:,})" for k in order[:_LABELS_SHOWN])
    shown += ", ..." if labels.size > _LABELS_SHOWN else ""
    chosen = _choose_label(list(labels), positive)
    if chosen is None:
        raise UnevenError(f"no row of column {name!r} has the positive value {brief(positive)}; it has {shown}")
    negatives = [str(labels[k]) for k in order if k != chosen]
    if not negatives:
        raise UnevenError(f"every row of column {name!r} is positive ({labels[chosen]!r}); two classes are needed")
    if len(negatives) > 1 and not others_negative:
        raise UnevenError(
            f"column {name!r} has {labels.size:,} different values, {shown}; two are needed, or --others-negative, "
            f"which takes all but {labels[chosen]!r} as negative"
        )
    known = codes >= 0
    return Target(known, codes[known] == chosen, str(labels[chosen]), negatives)


def _choose_label(labels: list[str], positive: str) -> int | None:
    """The label that was asked for: exactly, else as the same number (1 and 1.0), else in other case of letters."""
    wanted = positive.strip()
    number = _as_number(wanted)
    for same in (
        lambda label: label == wanted,
        lambda label: number is not None and _as_number(label) == number,
        lambda label: label.casefold() == wanted.casefold(),
    ):
        found = [k for k, label in enumerate(labels) if same(label)]
        if len(found) == 1:
            return found[0]
    return None


def _as_number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
