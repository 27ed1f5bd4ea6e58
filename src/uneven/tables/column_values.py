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
from uneven.tables.written_numbers import arrow_texts

#: Texts that mean "missing", in any case of letters.
_MARKS = (
    *("", "na", "n/a", "n.a.", "nan", "-nan", "null", "<na>", "-", "--", "?", "."),
    *("#n/a", "#na", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),
)
#: Exactly as written here.
_EXACT_MARKS = ("None", "NaT")


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
    is_mark = pc.is_in(pc.utf8_lower(written), value_set=pa.array(_MARKS, type=kind))
    is_mark = pc.or_(is_mark, pc.is_in(written, value_set=pa.array((*_EXACT_MARKS, *marks), type=kind)))
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
