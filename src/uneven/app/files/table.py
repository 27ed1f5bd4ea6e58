"""A table that was read: its columns as texts and as numbers, and how numbers are written in it."""

from __future__ import annotations

import difflib
import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from uneven.app.files.file_kinds import WORKBOOK, is_many_files, kind_of, require_content
from uneven.app.files.table_formats import (
    DETECT,
    Reading,
    Written,
    read_bytes,
    read_parquet,
    read_text,
    read_workbook,
)
from uneven.errors import UnevenError, needs_extra
from uneven.inputs import brief
from uneven.tables.column_values import finite, trim, without_marks
from uneven.tables.written_numbers import Numbers, as_numbers, decimal_signs, finite_numbers, plain_numbers

#: Up to so many rows, what was made of a column is kept: it takes no more memory than the table itself.
_FEW_ROWS = 1_000
#: Texts that are looked at together: a table may have thousands of columns, and calls for one column take long.
_AT_ONCE = 1 << 18
#: Columns that are read as numbers together; if one of them is not plainly written, all are read one by one.
_READ_TOGETHER = 32


@dataclass
class Table:
    """A table.

    Attributes
    ----------
    path : str
    frame : DataFrame
        All columns; those of a text file are texts, as written.
    how : str
        How the file is written, in words.
    reading : Reading
        What was asked for.
    decimal : str
        The decimal sign where a column does not decide it.
    decimals : dict of str
        The decimal sign of the columns that decide it.
    unsure : list of str
        Columns with numbers such as 1,234, whose decimal sign nothing in the file decides.
    written_as : Written or None
        How a text file is written; None for other kinds.
    """

    path: str
    frame: Any
    how: str
    reading: Reading
    decimal: str = "."
    decimals: dict[str, str] = field(default_factory=dict)
    unsure: list[str] = field(default_factory=list)
    written_as: Written | None = None
    _kept: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.frame)

    def rows(self, chosen: np.ndarray) -> Table:
        """Some of the rows; messages still count them as in the file."""
        return self if chosen.all() else replace(self, frame=self.frame[chosen], _kept={})

    @cached_property
    def types(self) -> dict[str, Any]:
        """The type of each column: to ask pandas for the column takes longer."""
        return dict(zip(self.frame.columns, self.frame.dtypes, strict=True))

    def written(self, name: str) -> Any:
        """The texts of a column as the file has them (Arrow; null where there is nothing)."""
        return trim(as_written(self.frame[name]))

    def texts(self, name: str, marks: tuple[str, ...] = ()) -> Any:
        """The texts of a column, null where the value is missing."""
        if not marks and name in self._texts_of_few_rows:
            return self._texts_of_few_rows[name]
        return self._once(("texts", name, marks), lambda: without_marks(self.written(name), marks))

    @cached_property
    def _texts_of_few_rows(self) -> dict[str, Any]:
        """The columns of texts by name, if there are few rows: cut from long arrays of many columns."""
        import pyarrow as pa

        rows = len(self)
        found: dict[str, Any] = {}
        for names in self.text_columns() if rows <= _FEW_ROWS else ():
            written = pa.concat_arrays([as_written(self.frame[name]) for name in names])
            told = without_marks(trim(written))
            found |= {name: told.slice(k * rows, rows) for k, name in enumerate(names)}
        return found

    def text_columns(self) -> Iterator[list[str]]:
        """The names of the columns of texts, in pieces with a moderate number of texts."""
        names = [name for name, dtype in self.types.items() if _is_text(dtype)]
        step = max(1, _AT_ONCE // len(self))
        return (names[k : k + step] for k in range(0, len(names), step))

    def _once(self, key: tuple[Any, ...], made: Callable[[], Any]) -> Any:
        """Keep what was made of a column of few rows: there may be thousands, and each is asked for several times."""
        if len(self.frame) > _FEW_ROWS:
            return made()
        if key not in self._kept:
            self._kept[key] = made()
        return self._kept[key]

    def numbers(self, name: str, marks: tuple[str, ...] = ()) -> Numbers:
        """A column as numbers; infinities and missing values are NaN."""
        from pandas.api import types

        dtype = self.types[name]
        if types.is_timedelta64_dtype(dtype):
            return finite_numbers(self.frame[name].dt.total_seconds().to_numpy(dtype=float, na_value=np.nan))
        if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
            return finite_numbers(self.frame[name].to_numpy(dtype=float, na_value=np.nan))
        if not marks and name in self._numbers_of_few_rows:
            return self._numbers_of_few_rows[name]
        decimal = self.decimals.get(name, self.decimal)
        key = ("numbers", name, marks, decimal)
        return cast(Numbers, self._once(key, lambda: as_numbers(self.texts(name, marks), decimal)))

    @cached_property
    def _numbers_of_few_rows(self) -> dict[str, Numbers]:
        """Columns of plainly written numbers by name, if there are few rows; one may lack because of one beside it."""
        found: dict[str, Numbers] = {}
        few = [name for names in self.text_columns() for name in names] if len(self) <= _FEW_ROWS else []
        for decimal in (".", ","):
            same = [name for name in few if self.decimals.get(name, self.decimal) == decimal]
            for k in range(0, len(same), _READ_TOGETHER):
                some = same[k : k + _READ_TOGETHER]
                read = plain_numbers([self.texts(name) for name in some], decimal)
                found |= zip(some, read or (), strict=read is not None)
        return found

    def required_numbers(self, name: str, marks: tuple[str, ...] = ()) -> np.ndarray:
        """A column as numbers, NaN where missing; an error names the first value that is not a number."""
        found = self.numbers(name, marks)
        if found.others.any():
            raise self.wrong_value(name, int(np.flatnonzero(found.others)[0]), "a number")
        return found.values

    def wrong_value(self, name: str, row: int, wanted: str) -> UnevenError:
        """The error for a value that cannot be used."""
        value = self.written(name)[row].as_py()
        place = f"{self.path}: column {name!r}, row {self.frame.index[row] + 1} below the header"
        return UnevenError(f"{place}: {brief(value)} is not {wanted}; correct it or leave it empty")

    def require(self, names: list[str], why: str) -> None:
        """Raise unless the table has the columns; the error names those that are missing."""
        absent = [name for name in names if name not in self.frame.columns]
        if not absent:
            return
        known = list(map(str, self.frame.columns))
        folded = {name.strip().casefold(): name for name in known}
        near = folded.get(absent[0].strip().casefold()) or next(
            iter(difflib.get_close_matches(absent[0], known, 1, cutoff=0.75)), None
        )
        hint = f" (did you mean {near!r}?)" if near else ""
        listed = ", ".join(map(repr, absent[:8]))
        shown = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
        alone = "; --sep gives the separator" if len(known) == 1 else ""
        if known[0] == "column 1" or len(known) == 1:
            alone += "; --header-row N says which row names the columns"
        raise UnevenError(f"{self.path}: there is no column {listed}{hint}{why}; it has {shown} ({self.how}){alone}")

    def in_words(self) -> str:
        """How the table was read, on one line."""
        rows, width = self.frame.shape
        return f"{Path(self.path).name}: {self.how}; {rows:,} rows, {width} columns."


def read_table(path: str, reading: Reading = DETECT, assumed_decimal: str | None = None) -> Table:
    """Read a table; ``assumed_decimal`` counts where the file does not show its decimal sign."""
    _require_packages()
    kind, written = "parquet" if is_many_files(path) else kind_of(path), None
    _require_fitting_options(path, kind, reading)
    if kind == "text":
        frame, how, written = read_text(path, read_bytes(path), reading)
    elif kind == "workbook":
        frame, how = read_workbook(path, reading)
    else:
        frame, how = read_parquet(path), "Parquet"
    return _make_table(path, frame, how, written, reading, assumed_decimal)


def table_of_bytes(name: str, raw: bytes, reading: Reading = DETECT, assumed_decimal: str | None = None) -> Table:
    """A table from bytes in memory: a workbook if the name ends like one, else a text that is not compressed."""
    _require_packages()
    written = None
    if name.lower().endswith(WORKBOOK):
        require_content(name, "workbook", raw[:512])
        frame, how = read_workbook(name, reading, raw)
    else:
        require_content(name, "text", raw[:512])
        frame, how, written = read_text(name, raw, reading)
    return _make_table(name, frame, how, written, reading, assumed_decimal)


def _make_table(
    path: str, frame: Any, how: str, written: Written | None, reading: Reading, assumed: str | None
) -> Table:
    """The table of a data frame, with the decimal signs of its columns."""
    if frame.shape[1] == 0:
        raise UnevenError(f"{path} has no columns")
    if frame.shape[0] == 0:
        raise UnevenError(f"{path} has a header but no rows")
    table = Table(path, frame, how, reading, written_as=written)
    _find_decimals(table, assumed, likely="," if written is not None and written.sep == ";" else ".")
    if table.decimals:
        table.how += ", decimal sign " + " and ".join(map(repr, sorted(set(table.decimals.values()))))
    return table


def _require_packages() -> None:
    with needs_extra("tables", "data"):
        for package in ("pandas", "pyarrow"):
            importlib.import_module(package)


def _require_fitting_options(path: str, kind: str, reading: Reading) -> None:
    """Refuse an option that has no meaning for this kind of file."""
    for option, given, fitting in (
        ("--sep", reading.sep, ("text",)),
        ("--encoding", reading.encoding, ("text",)),
        ("--sheet", reading.sheet, ("workbook",)),
        ("--header-row", reading.header_row, ("text", "workbook")),
        ("--no-header", reading.no_header or None, ("text", "workbook")),
    ):
        if given is not None and kind not in fitting:
            what = " and ".join({"text": "text files", "workbook": "Excel workbooks"}[one] for one in fitting)
            raise UnevenError(f"{option} is for {what}, and {path} is not one; leave it out")


def _find_decimals(table: Table, assumed: str | None, likely: str) -> None:
    """Decide the decimal sign of each text column from its numbers, or from those of the other columns."""
    if table.reading.decimal is not None:
        table.decimal = table.reading.decimal
        table.decimals = {}
        return
    points = commas = 0
    either = []
    for names in table.text_columns():
        signs = decimal_signs([table.texts(name) for name in names])
        for name, (point, comma, open_) in zip(names, signs, strict=True):
            if point > comma or comma > point:
                table.decimals[name] = "." if point > comma else ","
            elif open_:
                either.append(name)
            points, commas = points + point, commas + comma
    if points or commas:
        table.decimal = "," if commas > points else "."
    elif assumed is not None:
        table.decimal = assumed
    else:
        table.decimal = likely
        table.unsure = either


def _is_text(dtype: Any) -> bool:
    from pandas.api import types

    return types.is_object_dtype(dtype) or types.is_string_dtype(dtype)


# -- columns as texts -------------------------------------------------------------------------------------------------


def as_written(column: Any) -> Any:
    """An Arrow array of texts; null where there is nothing at all.

    A whole number held as a float is written without ".0": 1, not 1.0.
    """
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(column.dtype):
        texts = column.astype(object).map({True: "True", False: "False"})
    elif pd.api.types.is_numeric_dtype(column.dtype):
        texts = _number_texts(column)
    elif pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = column.astype(str).where(column.notna(), None)
    else:
        texts = column
    if texts.dtype == object:
        texts = pd.Series([None if _is_nothing(value) else str(value) for value in texts], dtype=object)
    found = pa.array(texts, type=pa.large_string(), from_pandas=True)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _number_texts(column: Any) -> Any:
    import pandas as pd

    values = column.to_numpy(dtype=float, na_value=np.nan)
    distinct, inverse = np.unique(values, return_inverse=True)
    shown = [None if np.isnan(v) else str(int(v)) if v == int(v or 0) else repr(float(v)) for v in finite(distinct)]
    return pd.Series(np.array(shown, dtype=object)[inverse], dtype=object)


def _is_nothing(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))
