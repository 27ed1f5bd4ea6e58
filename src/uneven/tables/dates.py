"""Dates and times written as text, and the parts of a date that a classifier can use."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from uneven.tables.text_hashes import text_hashes

_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
ISO = "ISO8601"
_NOTHING = np.datetime64("NaT", "s")
_CYCLES = {"month": 12, "day of week": 7, "hour": 24}
_SAMPLE = 25
_ENOUGH = 0.9
_MOST_OTHERS = 5
_LONGEST = 60  # characters of a date; to search a long text for one would take very long
_LIKELY = (
    r"^(\d{4}-\d{2}-\d{2}.*|\d{1,4}[./-] ?\d{1,2}[./-] ?\d{2,4}( .*)?|\d{1,2}:\d{2}(:\d{2})?|"
    r"\d{1,2}(\.? |-)[^\W\d]{3,}\.?[ -]\d{2,4}( .*)?|[^\W\d]{3,}\.? \d{1,2}, \d{4}( .*)?)$"
)


def _numeric_formats() -> list[str]:
    orders = ("%Y{0}%m{0}%d", "%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%d{0}%m{0}%y", "%m{0}%d{0}%y")
    days = [order.format(sign) for sign in "./-" for order in orders if not (sign == "." and order.startswith("%m"))]
    words = ["%d %b %Y", "%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y"]
    return [day + time for day in days + words for time in _TIMES] + ["%H:%M", "%H:%M:%S"]


#: In the order in which they are preferred.
FORMATS = (ISO, *_numeric_formats())


@dataclass(frozen=True)
class DateSums:
    """Dates of some rows, summed up.

    Attributes
    ----------
    known : int
        Rows that have a date.
    first, last : datetime64[s]
        NaT if there is none.
    seconds, years : int
        The sums of the seconds since 1970 and of the years.
    rows_of : dict of ndarray
        How many rows have each month, day of the week and hour.
    others : dict of int
        Texts that are not dates, and how many rows have each.
    """

    known: int = 0
    first: np.datetime64 = _NOTHING
    last: np.datetime64 = _NOTHING
    seconds: int = 0
    years: int = 0
    rows_of: dict[str, np.ndarray] = field(default_factory=lambda: {part: np.zeros(n) for part, n in _CYCLES.items()})
    others: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, values: np.ndarray, counts: np.ndarray | None = None) -> DateSums:
        """The sums of dates in seconds, NaT where missing; ``counts`` says how many rows have each."""
        there = ~np.isnat(values)
        some = values[there]
        if not some.size:
            return cls()
        weights = np.ones(some.size, dtype=np.int64) if counts is None else counts[there]
        start = some.min()
        since = int(((some - start).astype(np.int64) * weights).sum())
        return cls(
            int(weights.sum()),
            start,
            some.max(),
            since + int(start.astype(np.int64)) * int(weights.sum()),
            int((date_part(some, "year", start)[0].astype(np.int64) * weights).sum()),
            {
                part: np.bincount(date_part(some, part, start)[0], weights=weights, minlength=n)
                for part, n in _CYCLES.items()
            },
        )

    def __add__(self, other: DateSums) -> DateSums:
        others = {**self.others}
        for text, count in other.others.items():
            others[text] = others.get(text, 0) + count
        return DateSums(
            self.known + other.known,
            np.fmin(self.first, other.first),
            np.fmax(self.last, other.last),
            self.seconds + other.seconds,
            self.years + other.years,
            {part: rows + other.rows_of[part] for part, rows in self.rows_of.items()},
            others,
        )

    def parts(self) -> list[str]:
        """The parts of the dates that vary."""
        if not self.known:
            return []
        years = [value.astype("datetime64[Y]") for value in (self.first, self.last)]
        varies = {
            "year": years[0] != years[1],
            "days": self.first != self.last,
            **{part: np.count_nonzero(rows) > 1 for part, rows in self.rows_of.items()},
        }
        return [part for part in PARTS if varies[part]]

    def mean(self, part: str) -> float:
        """The mean year, or the mean number of days since the first date."""
        if part == "year":
            return self.years / self.known
        return (self.seconds / self.known - float(self.first.astype(np.int64))) / 86400


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
    sums : DateSums
    """

    format: str
    others: tuple[str, ...]
    ambiguous: bool
    sums: DateSums


def find_dates(names: np.ndarray, day_first: bool | None, *, decimal_comma: bool) -> Dates | None:
    """How the distinct texts of a column are written if they are dates, else None."""
    return chosen_format(dates_in_texts(dict.fromkeys(names.tolist(), 1)), day_first, decimal_comma=decimal_comma)


def dates_in_texts(texts: dict[str, int], formats: Iterable[str] | None = None) -> dict[str, DateSums]:
    """By each format that may be that of a column of dates, the sums of its texts; how many rows have each is given.

    Without ``formats`` those are tried that read nearly all of a few texts, chosen by their hashes.
    """
    import pandas as pd

    names = np.array(list(texts), dtype=object)
    if formats is None:
        if not names.size:
            return {}
        sample = pd.Series(names[np.argsort(text_hashes(names.tolist()), kind="stable")[:_SAMPLE]], dtype=object)
        if (sample.str[:_LONGEST].str.match(_LIKELY) & (sample.str.len() <= _LONGEST)).mean() < _ENOUGH:
            return {}
        some = sample.to_numpy()
        formats = [form for form in FORMATS if np.mean(~np.isnat(parsed(some, form))) >= _ENOUGH]
    counts = np.fromiter(texts.values(), dtype=np.int64, count=len(texts))
    found: dict[str, DateSums] = {}
    for form in formats:
        values = parsed(names, form)
        strange = np.flatnonzero(np.isnat(values))
        if strange.size <= _MOST_OTHERS:
            others = {str(names[k]): int(counts[k]) for k in strange}
            found[form] = replace(DateSums.of(values, counts), others=others)
    return found


def chosen_format(found: dict[str, DateSums], day_first: bool | None, *, decimal_comma: bool) -> Dates | None:
    """The format that reads most rows; None if the texts are not dates.

    If day and month can be exchanged, ``day_first`` decides; without it the day is first in a file with decimal commas.
    """
    good = {form: sums for form, sums in found.items() if _are_dates(sums)}
    if not good:
        return None
    most = max(sums.known for sums in good.values())
    best = [form for form in FORMATS if form in good and good[form].known == most]
    is_day_first = {form: form.find("%d") < form.find("%m") for form in best if form.startswith(("%d", "%m"))}
    ambiguous = len(set(is_day_first.values())) == 2
    if ambiguous:
        wanted = decimal_comma if day_first is None else day_first
        best = [form for form in best if is_day_first.get(form) == wanted]
    return Dates(best[0], tuple(good[best[0]].others), ambiguous, good[best[0]])


def _are_dates(sums: DateSums) -> bool:
    """Whether nearly all rows have dates, and few different texts are not."""
    others = sum(sums.others.values())
    return len(sums.others) <= _MOST_OTHERS and others <= (1 - _ENOUGH) * (sums.known + others)


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
