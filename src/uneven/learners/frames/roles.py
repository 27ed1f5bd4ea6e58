"""Decide at fit what each column of a data frame is, from its type and its contents."""

from __future__ import annotations

import re

import numpy as np

from uneven.learners.frames import dates
from uneven.learners.frames.columns import CATEGORY, MANY, NUMBER, TEXT, Column, date_column
from uneven.learners.frames.marks import is_mark
from uneven.learners.frames.values import DATES, NUMBERS, Values

#: A column of texts has few categories up to here, and its texts are taken apart from ``_TEXTS`` on.
_FEW = 20
_TEXTS = 100
_WORDS = 3
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
#: Digits that name something: with leading zeros, or with more digits than a double holds.
_CODE = re.compile(r"0\d+|\d{16,}")


def role_of(values: Values, name: str) -> Column | None:
    """What the column is; None if it has no values or only one."""
    if values.kind == NUMBERS:
        return Column(name, NUMBER) if varies(values.data) else None
    if values.kind == DATES:
        return date_column(name, values.data, "", [])
    codes, names = values.data.codes, np.asarray(values.data.categories, dtype=object)
    if not names.size or (names.size == 1 and codes.min() >= 0):
        return None
    numbers = parsed_numbers(names)
    if not values.declared:
        if numbers is not None and not any(_CODE.fullmatch(one.strip()) for one in names):
            of_rows = np.append(numbers, np.nan)[codes]
            return Column(name, NUMBER) if varies(of_rows) else None
        written = dates.find_dates(names, None, decimal_comma=False)
        if written is not None:
            found = dates.of_codes(dates.parsed(names, written.format), codes)
            return date_column(name, found, written.format, list(written.others))
    if names.size <= _FEW:
        return Column(name, CATEGORY)
    words = np.mean([one.count(" ") + 1 for one in names[:1000]])
    is_text = words >= _WORDS or (names.size > _TEXTS and not (values.declared and numbers is not None))
    return Column(name, TEXT if is_text else MANY)


def varies(values: np.ndarray) -> np.ndarray:
    """Whether numbers (NaN: missing) can tell rows apart: they differ, or some are missing; for each column."""
    known = len(values) - np.isnan(values).sum(axis=0)
    differ = np.fmin.reduce(values, axis=0) < np.fmax.reduce(values, axis=0)
    return np.asarray((known > 0) & (differ | (known < len(values))))


def parsed_numbers(names: np.ndarray) -> np.ndarray | None:
    """The numbers that texts stand for, NaN for marks of missing values; None if one is neither, or all are marks."""
    found = np.empty(names.size)
    for k, name in enumerate(names):
        text = name.strip()
        if _NUMBER.fullmatch(text):
            found[k] = float(text)
        elif is_mark(text):
            found[k] = np.nan
        else:
            return None
    return None if np.isnan(found).all() else np.where(np.isinf(found), np.nan, found)
