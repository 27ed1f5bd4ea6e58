"""When each row happened, in whatever way that is written, as the order of its time among all times."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.inputs import brief
from uneven.tables import dates

#: Months as people write them. They come before numbers: 01.2024 is January, and 12.2023 is before it.
_MONTHS = ("%m.%Y", "%m/%Y", "%m-%Y", "%b %Y", "%B %Y", "%b-%Y", "%B-%Y", "%b-%y", "%b %y")
#: A period whose number comes first, such as Q1 2024.
_NUMBER_FIRST = re.compile(r"([A-Za-z]*)\W*(\d{1,2})\D+(\d{4})")
_WORKS = "numbers, dates, or periods such as 2024-03, 2024-Q1 or 'Jan 2024' would work"


def read_times(times: Any, name: str = "times", *, day_first: bool | None = None, decimal: str = ".") -> np.ndarray:
    """For each row the number of its time among all different times, in their order.

    Parameters
    ----------
    times : array-like of numbers, dates, periods or texts
        Texts are dates, numbers, or periods. Periods have a year of four digits and the same parts everywhere.
    name : str
        For errors.
    day_first : bool, optional
        Whether 03/04/2024 is in April; by default what the other texts suggest.
    decimal : str
        Of numbers in texts.

    Examples
    --------
    >>> from uneven.tables.times import read_times
    >>> read_times(["2024-Q1", "2023-Q4", "2024-Q1"]).tolist()
    [1, 0, 1]
    >>> read_times(["31.12.2023", "02.01.2024", "01.01.2024"]).tolist()
    [0, 2, 1]
    """
    if isinstance(times, str) or not hasattr(times, "__len__"):
        raise CostError(f"{name} must have an entry for each row, got {brief(times)}")
    if getattr(getattr(times, "dtype", None), "ordered", False):  # a category whose order the user gave
        codes = np.asarray(times.cat.codes if hasattr(times, "cat") else times.codes)
        return _order(codes, codes < 0, name)
    values = np.asarray(times)
    if values.ndim != 1:
        raise CostError(f"{name} must have one entry for each row, got an array of shape {values.shape}")
    if values.dtype.kind in "Mm":
        return _order(values, np.isnat(values), name)
    if values.dtype.kind in "biuf":
        return _order(values, np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.size, bool), name)
    if values.dtype.kind not in "OUST":
        raise CostError(f"{name} cannot be put in order, got {brief(values[0])}; {_WORKS}")
    return _order_objects(values, name, day_first, decimal)


def _order(values: np.ndarray, missing: np.ndarray, name: str) -> np.ndarray:
    if missing.any():
        raise CostError(
            f"{name} must be known for every row, got {int(missing.sum()):,} of {missing.size:,} rows without a time; "
            "fill them in, or leave these rows out"
        )
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def _order_objects(values: np.ndarray, name: str, day_first: bool | None, decimal: str) -> np.ndarray:
    """Texts, dates and periods as objects; each different one is read once."""
    place: dict[Any, int] = {}
    missing = np.array([_is_missing(value) for value in values], dtype=bool)
    codes = np.array(
        [-1 if gone else place.setdefault(value, len(place)) for value, gone in zip(values, missing, strict=True)],
        dtype=np.int64,
    )
    _order(np.zeros(missing.size), missing, name)  # an error if there are any
    distinct = list(place)
    if all(isinstance(value, str) for value in distinct):
        return _order(_read_texts(distinct, name, day_first, decimal)[codes], missing, name)
    try:
        ordered = sorted(distinct)
    except (TypeError, ValueError):
        raise CostError(f"{name} cannot be put in order, got {brief(distinct[:2])}; {_WORKS}") from None
    rank = {value: number for number, value in enumerate(ordered)}
    return np.array([rank[value] for value in distinct], dtype=np.int64)[codes]


def _read_texts(texts: list[str], name: str, day_first: bool | None, decimal: str) -> np.ndarray:
    """Numbers that have the order of the times."""
    plain = [text.strip() for text in texts]
    names = np.array(plain, dtype=object)
    found = dates.find_dates(names, day_first, decimal_comma=decimal == ",")
    if found is not None and not found.others:
        return dates.parsed(names, found.format).astype(np.int64)
    for form in _MONTHS:
        if (first := dates.parsed(names[:1], form)).size and not np.isnat(first[0]):
            months = dates.parsed(names, form)
            if not np.isnat(months).any():
                return months.astype(np.int64)
    try:
        numbers = np.array([float(text.replace(",", ".") if decimal == "," else text) for text in plain])
    except ValueError:
        numbers = np.array([np.nan])
    if np.isfinite(numbers).all():
        return numbers
    periods = [_period(text) for text in plain]
    forms = {None if period is None else period[0] for period in periods}
    if None in forms or len(forms) > 1:
        wrong = next((text for text, period in zip(plain, periods, strict=True) if period is None), plain[0])
        raise CostError(f"{name} must be times that can be put in order, got {brief(wrong)}; {_WORKS}")
    keys = [period[1] for period in periods if period is not None]
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys])


def _period(text: str) -> tuple[str, tuple[int, ...]] | None:
    """How a period is written, and its numbers with the year first; None if it is none."""
    turned = _NUMBER_FIRST.fullmatch(text)
    if turned is not None:
        return f"{turned[1]} first".lower(), (int(turned[3]), int(turned[2]))
    numbers = re.findall(r"\d+", text)
    if not numbers or len(numbers[0]) != 4 or not text.startswith(numbers[0]):
        return None
    return re.sub(r"\d+", "0", text).lower(), tuple(map(int, numbers))


def _is_missing(value: Any) -> bool:
    """Whether an object stands for no value: None, NaN, NaT or pandas' NA, or an empty text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    same = value == value  # noqa: PLR0124 - NaN and NaT differ from themselves
    return not same if isinstance(same, bool | np.bool_) else True
