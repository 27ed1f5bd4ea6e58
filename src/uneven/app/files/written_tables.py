"""Results as files: in the kind that the name says, written as the table that they are about."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.app.files.file_kinds import PARQUET, WORKBOOK
from uneven.errors import UnevenError, needs_extra

if TYPE_CHECKING:
    from uneven.app.files.table import Table

#: With these a formula begins (OWASP, CSV injection); spreadsheets also skip blanks and read full-width signs.
_STARTS_FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_SIGNED_NUMBER = re.compile(r"[-+][\d.,]+([eE][-+]?\d+)?%?", re.ASCII)
#: Characters that a workbook cannot hold.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
#: Rows below the header that a sheet of a workbook holds.
_MOST_ROWS = 1_048_575
#: Digits of a number in a file for people, and the decimals that it has at least: cents.
_DIGITS, _DECIMALS = 6, 2


def table_bytes(frame: Any, path: str, like: Table | None = None) -> bytes:
    """A data frame as the bytes of a text, Excel or Parquet file; the ending of the path decides which.

    Text is written as the table ``like`` is: its separator, decimal sign and encoding.
    """
    buffer = io.BytesIO()
    name = path.lower()
    if name.endswith(PARQUET):
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    cells = {column: values.map(harmless_cell) for column, values in frame.items() if _may_hold_texts(values)}
    readable = frame.assign(**cells).rename(columns=harmless_cell)
    if name.endswith(WORKBOOK):
        _write_workbook(readable, buffer, path)
        return buffer.getvalue()
    # The writer leaves a carriage return bare, and a spreadsheet begins a new row there: put all texts in quotes.
    bare = any("\r" in str(cell) for column in (frame.columns, *cells.values()) for cell in column)
    quoting = csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL
    written = None if like is None else like.written_as
    sep = "\t" if name.endswith(".tsv") else "," if written is None else written.sep
    decimal = "." if written is None or like is None else like.decimal
    text = readable.to_csv(index=False, sep=sep, decimal=decimal, quoting=quoting, lineterminator="\n")
    return _encode(text, "utf-8" if written is None else written.encoding)


def _encode(text: str, encoding: str) -> bytes:
    """The bytes in an encoding; UTF-8 with a mark at the start, which Excel understands, if it lacks a character."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8-sig")


def _write_workbook(frame: Any, buffer: io.BytesIO, path: str) -> None:
    with needs_extra("Excel workbooks", "data"):
        import openpyxl  # noqa: F401
    if len(frame) > _MOST_ROWS:
        raise UnevenError(
            f"{path}: a sheet holds at most {_MOST_ROWS:,} rows, got {len(frame):,}; write .csv or .parquet"
        )
    clean = {
        column: values.map(lambda cell: _UNWRITABLE.sub(" ", cell) if isinstance(cell, str) else cell)
        for column, values in frame.items()
        if _may_hold_texts(values)
    }
    frame.assign(**clean).to_excel(buffer, index=False, engine="openpyxl")


def sensible_digits(frame: Any, compared: tuple[tuple[str, str], ...] = ()) -> Any:
    """Numbers with six digits, and at least cents; ``compared`` are columns whose order in a row must stay the same."""
    found = {}
    for name, values in frame.items():
        if values.dtype.kind == "f":
            found[name] = _rounded(values.to_numpy())
    for first, second in compared:
        if first in found and second in found:
            exact, other = frame[first].to_numpy(), frame[second].to_numpy()
            turned = np.sign(exact - other) != np.sign(found[first] - found[second])
            found[first] = np.where(turned, exact, found[first])
            found[second] = np.where(turned, other, found[second])
    return frame.assign(**found)


def _rounded(values: np.ndarray) -> np.ndarray:
    size = np.abs(values)
    known = np.isfinite(values) & (size > 0)
    with np.errstate(all="ignore"):
        magnitude = np.floor(np.log10(np.where(known, size, 1.0)))
    decimals = np.maximum(_DIGITS - 1 - magnitude, _DECIMALS).astype(int)
    found = values.copy()
    for count in np.unique(decimals[known]):
        if count < 300:  # smaller numbers stay as they are
            here = known & (decimals == count)
            found[here] = np.round(values[here], count) if count <= 15 else [float(f"{v:.6g}") for v in values[here]]
    return found


def _may_hold_texts(column: Any) -> bool:
    from pandas.api import types

    return bool(types.is_object_dtype(column.dtype) or types.is_string_dtype(column.dtype) or hasattr(column, "cat"))


def harmless_cell(value: Any) -> Any:
    """A cell of a file for spreadsheets that none takes for a formula: such a text gets an apostrophe in front.

    Numbers, also those written as texts, and single signs stay as they are: they can run nothing.
    """
    if (
        isinstance(value, str)
        and len(value) > 1
        and value[0] in _STARTS_FORMULA
        and not _SIGNED_NUMBER.fullmatch(value)
    ):
        return f"'{value}"
    return value
