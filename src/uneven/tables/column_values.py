"""What a column holds: numbers, dates or texts, whatever the type it comes in. Texts are cleaned by one rule."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from uneven.errors import UnevenError
from uneven.inputs import brief
from uneven.tables import dates
from uneven.tables.columns import (
    DATE,
    NUMBER,
    Column,
    Sizes,
    TextSums,
    date_column,
    date_parts,
    decimals_of,
    number_column,
    text_column,
)
from uneven.tables.dates import DateSums
from uneven.tables.written_numbers import NumberSums, arrow_texts, as_numbers

#: Texts that mean "missing", in any case of letters.
MARKS = (
    *("", "na", "n/a", "n.a.", "nan", "-nan", "null", "<na>", "-", "--", "?", "."),
    *("#n/a", "#na", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),
)
#: Exactly as written here.
EXACT_MARKS = ("None", "NaT")


def trim(texts: Any) -> Any:
    """Texts (Arrow) without spaces around them; null where nothing is left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    short = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.equal(short, ""), pa.scalar(None, type=short.type), short)


def without_marks(written: Any, marks: tuple[str, ...] = ()) -> Any:
    """The same texts with null where a mark says that the value is missing; ``marks`` are further ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = written.type
    is_mark = pc.is_in(pc.utf8_lower(written), value_set=pa.array(MARKS, type=kind))
    is_mark = pc.or_(is_mark, pc.is_in(written, value_set=pa.array((*EXACT_MARKS, *marks), type=kind)))
    return pc.if_else(is_mark, pa.scalar(None, type=kind), written)


def distinct_texts(texts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes (-1: missing) and the distinct texts they stand for; "TRUE" and "true" are the same as "True"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = texts.dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    names = np.array(encoded.dictionary.to_pylist(), dtype=object)
    truth = pc.is_in(pc.utf8_lower(encoded.dictionary), value_set=pa.array(("true", "false"), type=texts.type))
    places = np.flatnonzero(np.asarray(truth))
    for place in places:
        names[place] = names[place].capitalize()
    if places.size > 1:
        kept = dict.fromkeys(names)
        position = {name: k for k, name in enumerate(kept)}
        codes = np.append([position[name] for name in names], -1)[codes]
        names = np.array(list(kept), dtype=object)
    return codes, names


NUMBERS, DATES, TEXTS = "numbers", "dates", "texts"
_NESTED = (list, dict, set, frozenset, tuple, bytes, bytearray, np.ndarray)
_AS_NUMBERS = ("boolean", "integer", "floating", "mixed-integer-float", "decimal")
_AS_DATES = ("datetime64", "datetime", "date")


@dataclass(frozen=True)
class Values:
    """The values of a column.

    Attributes
    ----------
    kind : {"numbers", "dates", "texts"}
    data : ndarray of float or datetime64, or Categorical of str
        NaN, NaT and code -1 where missing; infinite numbers count as missing.
    boolean : bool
        Whether the numbers stand for True and False.
    declared : bool
        Whether the type of the column says that its texts are categories.
    """

    kind: str
    data: Any
    boolean: bool = False
    declared: bool = False

    @property
    def missing(self) -> np.ndarray:
        """Where a value is missing."""
        if self.kind == NUMBERS:
            return np.isnan(self.data)
        return np.isnat(self.data) if self.kind == DATES else self.data.codes < 0


def values_of(column: Any, name: str) -> Values:
    """The values of a column of a pandas data frame."""
    import pandas as pd
    from pandas.api import types

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        names = [as_text(one) for one in column.cat.categories]
        return texts_of(column.cat.codes.to_numpy(), names, declared=True)
    if isinstance(dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
        dtype = column.dtype
    if isinstance(dtype, pd.PeriodDtype):
        return Values(DATES, dates.typed_dates(column.dt.to_timestamp()))
    if types.is_complex_dtype(dtype):
        raise UnevenError(f"column {name!r} holds complex numbers; use real and imaginary parts as two columns")
    if types.is_bool_dtype(dtype) or types.is_numeric_dtype(dtype):
        found = column.to_numpy(dtype=float, na_value=np.nan)
        return Values(NUMBERS, finite(found), boolean=types.is_bool_dtype(dtype))
    if not isinstance(dtype, pd.ArrowDtype):
        if types.is_datetime64_any_dtype(dtype):
            return Values(DATES, dates.typed_dates(column))
        if types.is_timedelta64_dtype(dtype):
            return Values(NUMBERS, column.dt.total_seconds().to_numpy(dtype=float))
    return _objects(column.astype(object), name)


def _objects(column: Any, name: str) -> Values:
    """The values of a column of Python objects."""
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "string":
        codes, found = pd.factorize(column)
        return texts_of(codes, found.tolist())
    missing = column.isna().to_numpy()
    if missing.all():
        return Values(NUMBERS, np.full(len(column), np.nan))
    present = column[~missing]
    if kind in _AS_NUMBERS:
        return Values(NUMBERS, _scattered([_number(v) for v in present], missing), boolean=kind == "boolean")
    if kind in _AS_DATES:
        return Values(DATES, dates.typed_dates(pd.to_datetime(column, utc=True, errors="coerce", format="ISO8601")))
    if kind in ("timedelta64", "timedelta"):
        return Values(NUMBERS, pd.to_timedelta(column).dt.total_seconds().to_numpy(dtype=float))
    if kind == "time":
        seconds = [v.hour * 3600 + v.minute * 60 + v.second + v.microsecond / 1e6 for v in present]
        return Values(NUMBERS, _scattered(seconds, missing))
    for value in present:
        if isinstance(value, _NESTED) or hasattr(value, "__array__"):
            what = "bytes" if isinstance(value, bytes | bytearray) else "lists or other nested values"
            help_ = "decode them to texts" if what == "bytes" else "make columns of them, or drop it"
            raise UnevenError(f"column {name!r} holds {what}, such as {brief(value)}; {help_}")
    if all(isinstance(value, Real | Decimal) for value in present):
        return Values(NUMBERS, _scattered([_number(v) for v in present], missing))
    codes, names = pd.factorize(np.array([as_text(value) for value in present], dtype=object))
    return texts_of(_scattered(codes, missing, -1).astype(int), list(names))


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _scattered(found: Any, missing: np.ndarray, nothing: float = np.nan) -> np.ndarray:
    """Values of the rows that have one, among the others."""
    values = np.full(missing.size, nothing, dtype=float)
    values[~missing] = found
    return finite(values)


def finite(values: np.ndarray) -> np.ndarray:
    """Numbers with NaN in place of infinities."""
    infinite = np.isinf(values)
    return np.where(infinite, np.nan, values) if infinite.any() else values


def as_text(value: Any) -> str:
    """A value as a text; whole numbers without ".0"."""
    if isinstance(value, float | np.floating) and value == np.round(value) and np.isfinite(value):
        return str(int(value))
    return str(value)


def texts_of(codes: np.ndarray, names: Any, *, declared: bool = False) -> Values:
    """Texts from the number of each row's text (-1: missing): those that occur, without repetitions.

    Spaces around a text do not count, marks such as "NA" mean that it is missing, and "TRUE" is "True".

    Parameters
    ----------
    codes : ndarray of int
    names : list of str or Arrow array of texts
    declared : bool
    """
    import pandas as pd

    own, shown = distinct_texts(without_marks(trim(arrow_texts(names) if isinstance(names, list) else names)))
    of_rows = np.append(own, -1)[codes]
    used = np.bincount(of_rows[of_rows >= 0], minlength=shown.size) > 0
    if not used.all():
        of_rows = np.append(np.where(used, np.cumsum(used) - 1, -1), -1)[of_rows]
        shown = shown[used]
    return Values(
        TEXTS, pd.Categorical.from_codes(of_rows, categories=pd.Index(shown, dtype=object)), declared=declared
    )


def as_texts(values: Values) -> Any:
    """Numbers as texts: a Categorical."""
    distinct, codes = np.unique(values.data, return_inverse=True)
    known = distinct[~np.isnan(distinct)]
    names = [str(bool(one)) for one in known] if values.boolean else [as_text(float(one)) for one in known]
    return texts_of(np.where(np.isnan(values.data), -1, codes), names).data


# -- data frames with typed columns: floats, categories, parts of dates ------------------------------------------------

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
