"""What a column of a table holds, and how it was read when a model was fitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from uneven.learners.frames import dates

#: What a column is. "many" has too many categories for a column of 0 and 1 each; "text" has texts whose parts matter.
NUMBER, CATEGORY, MANY, TEXT, DATE = "number", "category", "many", "text", "date"
#: Names the column of 0 and 1 that says where a value is missing.
MISSING = "missing"


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
    """

    name: str
    role: str
    marks: list[str] = field(default_factory=list)
    format: str = ""
    first: str = ""
    parts: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for the model file."""
        return {**self.__dict__, "marks": [*self.marks], "parts": [*self.parts]}


def date_column(name: str, values: np.ndarray, form: str, marks: list[str]) -> Column | None:
    """A column of dates with the parts that vary; None if there is nothing to learn from it."""
    known = values[~np.isnat(values)]
    if not known.size:
        return None
    first = known.min()
    parts = []
    for part in dates.PARTS:
        found, _ = dates.date_part(known, part, first)
        if found.min() < found.max():
            parts.append(part)
    if not parts and known.size == values.size:
        return None
    return Column(name, DATE, marks, form, str(first), parts or ["days"])


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
        found[part_name(column, part)] = pd.Categorical.from_codes(numbers, categories=names) if names else numbers
    return found


def typed_names(columns: list[Column]) -> tuple[list[str], list[str]]:
    """Names of the numbers and of the categories that columns and parts of dates become."""
    numeric = [column.name for column in columns if column.role == NUMBER]
    categories = [column.name for column in columns if column.role in (CATEGORY, MANY, TEXT)]
    for column in columns:
        for part in column.parts:
            (numeric if part in dates.NUMERIC_PARTS else categories).append(part_name(column, part))
    return numeric, categories
