"""What a column of a table is: decided at fit, from sums that can be added over parts of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from uneven.tables import dates
from uneven.tables.column_sums import TextSums
from uneven.tables.dates import DateSums
from uneven.tables.written_numbers import NumberSums, arrow_texts, decimal_signs, is_numeric

#: What a column is. "many" has too many categories for trees to have a column of 0 and 1 each; "text" has texts whose
#: parts matter.
NUMBER, CATEGORY, MANY, TEXT, DATE = "number", "category", "many", "text", "date"
#: Names the column of 0 and 1 that says where a value is missing.
MISSING = "missing"
#: A column of texts has few categories up to here, and trees see parts of its texts beyond ``_TEXTS``.
_FEW = 20
_TEXTS = 100
#: Words of a text on average from which a column is free text.
_WORDS = 3


@dataclass(frozen=True)
class Column:
    """How to read a column.

    Attributes
    ----------
    name : str
    role : {"number", "category", "many", "text", "date"}
    marks : list of str
        Texts of this column that mean "missing" besides the usual ones.
    format : str
        How dates are written; "" if the table holds dates as such.
    first : str
        The first date.
    parts : list of str
        Parts of the date that are used.
    decimal : str
        The decimal sign of numbers that are written as texts.
    words : bool
        Whether linear models see the words of the texts.
    counted : bool
        Whether frequent texts have a column of their own in linear models: not if there are too many to count.
    """

    name: str
    role: str
    marks: list[str] = field(default_factory=list)
    format: str = ""
    first: str = ""
    parts: list[str] = field(default_factory=list)
    decimal: str = "."
    words: bool = False
    counted: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for the model file."""
        return {**self.__dict__, "marks": [*self.marks], "parts": [*self.parts]}


def number_column(
    name: str, sums: NumberSums, rows: int, marks: list[str] | None = None, decimal: str = "."
) -> Column | None:
    """A column of numbers; None if it has no values or only one."""
    if not sums.known or (sums.low == sums.high and sums.known == rows):
        return None
    return Column(name, NUMBER, marks or [], decimal=decimal)


def date_column(name: str, sums: DateSums, rows: int, form: str = "", marks: list[str] | None = None) -> Column | None:
    """A column of dates with the parts that vary; None if there is nothing to learn from it."""
    parts = sums.parts()
    if not sums.known or (not parts and sums.known == rows):
        return None
    return Column(name, DATE, marks or [], form, str(sums.first), parts or ["days"])


def text_column(
    name: str, sums: TextSums, decimal: str = ".", day_first: bool | None = None, *, numbers: bool = True
) -> Column | None:
    """What a column of texts is; None if it has no texts or only one. Without ``numbers`` it has none, as is known."""
    if not sums.texts or (sums.counted and len(sums.texts) == 1 and not sums.missing):
        return None
    if not sums.declared:
        meanings = sums.known
        read = meanings.numbers[decimal] if numbers else None
        if read is not None and is_numeric(read):
            return number_column(name, read, sums.rows, list(read.others), decimal)
        written = dates.chosen_format(meanings.dates, day_first, decimal_comma=decimal == ",")
        if written is not None:
            return date_column(name, written.sums, sums.rows, written.format, list(written.others))
    if sums.counted and len(sums.texts) <= _FEW:
        return Column(name, CATEGORY)
    words = is_free_text(sums) or not sums.counted
    many = sums.counted and len(sums.texts) <= _TEXTS and not words
    return Column(name, MANY if many else TEXT, words=words, counted=sums.counted)


def is_free_text(sums: TextSums) -> bool:
    """Whether texts have several words on average, as far as a sample shows."""
    return bool(np.mean([text.count(" ") + 1 for text in sums.sample()]) >= _WORDS)


def decimals_of(columns: Mapping[str, TextSums]) -> dict[str, str]:
    """The decimal sign of each column of texts: its own, else that of most numbers of the others, else a point."""
    signs = decimal_signs([arrow_texts(list(sums.texts)) for sums in columns.values()]) if columns else []
    points, commas = sum(one[0] for one in signs), sum(one[1] for one in signs)
    usual = "," if commas > points else "."
    return {
        name: usual if point == comma else "." if point > comma else ","
        for name, (point, comma, _) in zip(columns, signs, strict=True)
    }


def part_name(column: Column, part: str) -> str:
    """The name of a part of a date."""
    return f"{column.name}: {dates.part_in_words(part, column.first)}"


def date_parts(values: np.ndarray, column: Column) -> dict[str, Any]:
    """The parts of dates by their names: floats (NaN: missing) or categories."""
    import pandas as pd

    first = np.datetime64(column.first, "s")
    found: dict[str, Any] = {}
    for part in column.parts:
        numbers, names = dates.date_part(values, part, first)
        made = pd.Categorical.from_codes(numbers, categories=names, ordered=True) if names else numbers
        found[part_name(column, part)] = made
    return found


def typed_names(columns: list[Column]) -> tuple[list[str], list[str]]:
    """Names of the numbers and of the categories that columns and parts of dates become."""
    numeric = [column.name for column in columns if column.role == NUMBER]
    categories = [column.name for column in columns if column.role in (CATEGORY, MANY, TEXT)]
    for column in columns:
        for part in column.parts:
            (numeric if part in dates.NUMERIC_PARTS else categories).append(part_name(column, part))
    return numeric, categories
