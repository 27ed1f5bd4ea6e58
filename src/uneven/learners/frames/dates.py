"""Dates and times written as text, and the parts of a date that a classifier can use."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
ISO = "ISO8601"
_SAMPLE = 25
_ENOUGH = 0.9
_MOST_OTHERS = 5
_LONGEST = 60  # characters of a date; to search a long text for one would take very long
_LIKELY = (
    r"^(\d{4}-\d{2}-\d{2}.*|\d{1,4}[./-] ?\d{1,2}[./-] ?\d{2,4}( .*)?|\d{1,2}:\d{2}(:\d{2})?|"
    r".*[A-Za-z]{3,}.*\d{2,4}.*)$"
)


def _numeric_formats() -> list[str]:
    orders = ("%Y{0}%m{0}%d", "%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%d{0}%m{0}%y", "%m{0}%d{0}%y")
    days = [order.format(sign) for sign in "./-" for order in orders if not (sign == "." and order.startswith("%m"))]
    words = ["%d %b %Y", "%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y"]
    return [day + time for day in days + words for time in _TIMES] + ["%H:%M", "%H:%M:%S"]


@dataclass(frozen=True)
class Dates:
    """A column of dates.

    Attributes
    ----------
    format : str
        How they are written: strptime's codes, or "ISO8601".
    others : tuple of str
        Texts that are not dates.
    ambiguous : bool
        Whether day and month could be exchanged in every date.
    """

    format: str
    others: tuple[str, ...]
    ambiguous: bool


def find_dates(names: np.ndarray, day_first: bool | None, *, decimal_comma: bool) -> Dates | None:
    """How the distinct texts of a column are written if they are dates, else None.

    If day and month can be exchanged, ``day_first`` decides; without it the day is first in a file with decimal commas.
    """
    import pandas as pd

    sample = pd.Series(names[np.linspace(0, names.size - 1, min(_SAMPLE, names.size)).astype(int)], dtype=object)
    if (sample.str[:_LONGEST].str.match(_LIKELY) & (sample.str.len() <= _LONGEST)).mean() < _ENOUGH:
        return None
    good: dict[str, np.ndarray] = {}
    for form in (ISO, *_numeric_formats()):
        if np.mean(~np.isnat(parsed(sample.to_numpy(), form))) >= _ENOUGH:
            good[form] = ~np.isnat(parsed(names, form))
    if not good:
        return None
    most = max(found.sum() for found in good.values())
    best = [form for form, found in good.items() if found.sum() == most]
    others = names[~good[best[0]]]
    if most < _ENOUGH * names.size or others.size > _MOST_OTHERS:
        return None
    is_day_first = {form: form.find("%d") < form.find("%m") for form in best if form.startswith(("%d", "%m"))}
    ambiguous = len(set(is_day_first.values())) == 2
    if ambiguous:
        wanted = decimal_comma if day_first is None else day_first
        best = [form for form in best if is_day_first.get(form) == wanted]
    return Dates(best[0], tuple(map(str, others)), ambiguous)


def parsed(names: np.ndarray, form: str) -> np.ndarray:
    """Dates in seconds (datetime64), NaT where a text is not one; times with a zone are in UTC."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iso = form == ISO
        found = pd.to_datetime(pd.Series(names, dtype=object), format=form, errors="coerce", utc=iso)
        if iso:
            found = found.dt.tz_localize(None)
    return found.to_numpy().astype("datetime64[s]")


def of_codes(dates: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The date of each row; code -1 is missing."""
    return np.append(dates, np.datetime64("NaT", "s"))[codes]


def typed_dates(column: Any) -> np.ndarray:
    """Dates in seconds from a column that already holds dates; with a zone, in UTC."""
    import pandas as pd

    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return column.to_numpy().astype("datetime64[s]")


NUMERIC_PARTS = ("year", "days")
PARTS = (*NUMERIC_PARTS, "month", "day of week", "hour")
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def part_in_words(part: str, first: str) -> str:
    """The name of a part; a time of day has no date."""
    if part != "days":
        return part
    return "time of day" if first.startswith("1900-01-01T") else f"days since {first[:10]}"


def date_part(dates: np.ndarray, part: str, first: np.datetime64) -> tuple[np.ndarray, list[str]]:
    """One part of dates. Numbers (NaN where missing) and no names; or codes (-1 where missing) and their names.

    "days" counts from ``first``, with the time of day as a fraction.
    """
    missing = np.isnat(dates)
    filled = np.where(missing, first, dates)
    days = filled.astype("datetime64[D]")
    if part == "year":
        return np.where(missing, np.nan, filled.astype("datetime64[Y]").astype(float) + 1970), []
    if part == "days":
        return np.where(missing, np.nan, (filled - first).astype(float) / 86400), []
    if part == "month":
        codes, names = filled.astype("datetime64[M]").astype(int) % 12, [str(k) for k in range(1, 13)]
    elif part == "day of week":
        codes, names = (days.astype(int) + 3) % 7, list(_WEEK)
    else:
        codes, names = (filled - days).astype(int) // 3600, [str(k) for k in range(24)]
    return np.where(missing, -1, codes), names
