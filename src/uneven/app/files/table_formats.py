"""From a file to a data frame: text, Excel workbooks and Parquet; what is not said about a text is detected."""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uneven.app.files.file_kinds import parsing, require_growth, require_unpackable, usable_memory
from uneven.errors import UnevenError, needs_extra
from uneven.inputs import brief

#: Columns that are read at most. Each takes some milliseconds until it is understood, so more would take minutes.
MOST_COLUMNS = 20_000


def require_width(path: str, count: int) -> None:
    """Refuse a table with too many columns, before the work begins."""
    if count > MOST_COLUMNS:
        raise UnevenError(
            f"{path} has {count:,} columns, and at most {MOST_COLUMNS:,} are read; leave columns out, or give the "
            "numbers to a learner in Python, such as uneven.UnevenLinearClassifier"
        )


def read_names(path: str, cells: Sequence[object], line: int) -> list[str]:
    """Names from the cells of a header. A column without a name is called after its position."""
    require_width(path, len(cells))
    names = ["" if cell is None else str(cell).strip().strip("\ufeff") for cell in cells]
    if not any(names):
        raise UnevenError(f"{path}, line {line}: the header has no names of columns")
    names = [name or f"column {position}" for position, name in enumerate(names, start=1)]
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in first:
            raise UnevenError(
                f"{path}, line {line}: columns {first[name]} and {position} are both named {brief(name)}; rename one"
            )
        first[name] = position
    return names


@dataclass(frozen=True)
class Reading:
    """How to read a table; None: detect it."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    day_first: bool | None = None


#: Nothing was asked for.
DETECT = Reading()


# -- how a text is written: its encoding and separator -----------------------------------------------------------------

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: In this order if two separators fit equally well: a comma is also a decimal sign.
_CANDIDATES = ("\t", ";", "|", ",")
_SAMPLE = 100_000  # characters
_ROWS = 200
_CONSISTENT = 0.9  # share of rows that must have as many fields as the header

ENCODING_NAMES = {"utf-8-sig": "UTF-8 with BOM", "utf-8": "UTF-8", "utf-16": "UTF-16", "iso8859-1": "latin-1"}


def decode(path: str, raw: bytes, encoding: str | None) -> tuple[str, str]:
    """The text of a file and the encoding used."""
    if encoding is not None:
        try:
            return raw.decode(encoding).removeprefix("\ufeff"), encoding
        except UnicodeError:
            raise UnevenError(f"{path} is not written in {encoding}; without --encoding it is detected") from None
    for bom, name in _BOMS:
        if raw.startswith(bom):
            try:
                return raw.decode(name), name
            except UnicodeError:
                raise UnevenError(f"{path} begins as {name} but is not written in it; try --encoding") from None
    start = raw[:1000]
    if 0 in start:  # UTF-16 without a BOM: every second byte of European text is 0
        odd, even = start[1::2].count(0), start[::2].count(0)
        names = ["utf-16-le"] if odd > 4 * even else ["utf-16-be"] if even > 4 * odd else []
    else:
        names = ["utf-8", "cp1252", "latin-1"]
    for name in names:
        try:
            return raw.decode(name), name
        except UnicodeDecodeError:
            continue
    raise UnevenError(f"{path} is not a text file: it holds bytes that are 0")


def find_separator(text: str) -> str:
    """The separator that splits the first rows into the same number of fields as the header; a comma if none does."""
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1] or sample
    best, most = ",", (False, 1)
    for candidate in _CANDIDATES:
        widths = [len(row) for _, row in zip(range(_ROWS), rows_of(sample, candidate), strict=False)]
        if not widths or widths[0] < 2:
            continue
        fits = sum(width == widths[0] for width in widths) >= _CONSISTENT * len(widths)
        if (fits, widths[0]) > most:
            best, most = candidate, (fits, widths[0])
    return best


def rows_of(text: str, sep: str) -> Iterator[list[str]]:
    """Rows that are not empty, with Python's own parser: for headers, samples and line numbers only."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    try:
        yield from (row for row in reader if row)
    except csv.Error:
        return


def first_uneven_row(text: str, sep: str, width: int) -> tuple[int, int] | None:
    """Line and number of fields of the first row with another number of fields than the header."""
    csv.field_size_limit(1 << 30)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    line = 1
    for row in reader:
        if row and len(row) != width:
            return line, len(row)
        line = reader.line_num + 1
    return None


# -- text tables: every field stays the text it was --------------------------------------------------------------------

_BLOCK = 1 << 25  # a row must fit into a block
_PART = 1 << 22  # bytes that are unpacked at once
_SIGNS = {"\t": "tab", " ": "space"}


def read_text(path: str, raw: bytes, reading: Reading) -> tuple[Any, str, str]:
    """A data frame of texts, how it is written in words, and the separator; ``path`` is for messages only."""
    import pyarrow as pa
    from pyarrow import csv

    text, encoding = decode(path, raw, reading.encoding)
    said = re.match(r"sep=(.)\r?\n", text)  # Excel writes and understands this first line
    if said:
        text = text[said.end() :]
    sep = reading.sep or (said.group(1) if said else find_separator(text))
    header = next(rows_of(text[:2_000_000], sep), None)
    if header is None:
        raise UnevenError(f"{path} is empty: it has no header")
    names = read_names(path, header, line=1 + bool(said))
    try:
        table = csv.read_csv(
            pa.BufferReader(text.encode("utf-8", errors="replace")),
            read_options=csv.ReadOptions(autogenerate_column_names=True, block_size=_BLOCK),
            parse_options=csv.ParseOptions(delimiter=sep, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types={f"f{k}": pa.string() for k in range(len(names))},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise _failure(path, text, sep, len(names), bool(said), str(error)) from None
    if table.num_columns != len(names):
        raise UnevenError(f"{path} is not a readable table: the quotation marks in its first row do not match")
    if text.count('"') % 2 and table.num_rows > 1 and "\n" in str(table.column(table.num_columns - 1)[-1].as_py()):
        raise UnevenError(f"{path} ends inside a quotation mark that is not closed; close it or remove it")
    frame = table.slice(1).rename_columns(names).to_pandas()
    shown = f"separator {_SIGNS.get(sep, repr(sep))}, encoding {ENCODING_NAMES.get(encoding, encoding)}"
    return frame, shown, sep


def read_bytes(path: str) -> bytes:
    """The bytes of a text file, which may be compressed by gzip."""
    raw = Path(path).read_bytes()
    if raw[:2] != b"\x1f\x8b":
        return raw
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.open(io.BytesIO(raw)) as packed:
            while part := packed.read(_PART):
                parts.append(part)
                size += len(part)
                require_growth(path, len(raw), size)
    except (OSError, EOFError, zlib.error):
        raise UnevenError(f"{path} is a damaged gzip file") from None
    return b"".join(parts)


def _failure(path: str, text: str, sep: str, width: int, skipped: bool, message: str) -> UnevenError:
    """An error with the line of the first row that has too many or too few fields."""
    found = first_uneven_row(text, sep, width)
    if found is None:
        return UnevenError(f"{path} is not a readable table: {' '.join(message.split())[:200]}")
    line, fields = found
    shown = _SIGNS.get(sep, repr(sep))
    return UnevenError(
        f"{path}, line {line + skipped}: {fields} {'field' if fields == 1 else 'fields'}, but the header has {width} "
        f"(separator {shown}); put quotation marks around a field that holds the separator, or give --sep"
    )


# -- Excel workbooks --------------------------------------------------------------------------------------------------


_WORKBOOK = "Excel workbook"
#: Rows that Excel can hold. A forged sheet may number its rows beyond, and openpyxl gives an empty row for each gap.
_MOST_ROWS = 1_048_576


def read_workbook(path: str, reading: Reading) -> tuple[Any, str]:
    """A data frame, and which sheet it is, in words. Columns of numbers are numbers; others are texts."""
    with needs_extra("Excel workbooks", "data"):
        import pandas as pd
        from openpyxl import load_workbook
    require_unpackable(path, _WORKBOOK)
    with parsing(path, _WORKBOOK), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of styles and menus, which do not matter here
        with Path(path).open("rb") as file, closing(load_workbook(file, read_only=True, data_only=True)) as book:
            sheet = _choose_sheet(path, book, reading.sheet)
            rows = [row for row in _rows_of(sheet) if any(cell not in (None, "") for cell in row)]
        if not rows:
            raise UnevenError(f"{path}: the sheet {sheet.title!r} is empty")
        header, *body = rows
        last = max(k for row in rows for k, cell in enumerate(row) if cell not in (None, "")) + 1
        names = read_names(path, [*header[:last], *[None] * (last - len(header))], line=1)
        padded = (row if len(row) >= last else (*row, *[None] * (last - len(row))) for row in body)
        columns = zip(*padded, strict=False) if body else ([] for _ in names)
        frame = pd.DataFrame({name: _cells_as_column(cells) for name, cells in zip(names, columns, strict=False)})
    return frame, f"sheet {sheet.title!r}"


def _rows_of(sheet: Any) -> Any:
    """The rows with what they hold, whatever size the sheet says it has."""
    sheet.reset_dimensions()
    return sheet.iter_rows(values_only=True, max_row=_MOST_ROWS)


def _choose_sheet(path: str, book: Any, name: str | None) -> Any:
    """The sheet that was asked for, or the only one."""
    sheets = {sheet.title: sheet for sheet in book.worksheets if sheet.sheet_state == "visible"}
    listed = ", ".join(map(repr, sheets))
    if name is not None:
        if name not in sheets:
            raise UnevenError(f"{path} has no sheet {brief(name)}; its sheets are {listed}")
        return sheets[name]
    if not sheets:
        raise UnevenError(f"{path} has no visible sheet")
    if len(sheets) > 1:
        full = [sheet for sheet in sheets.values() if _has_rows(sheet)]
        if len(full) == 1:
            return full[0]
        raise UnevenError(f"{path} has {len(sheets)} sheets, {listed}; choose one with --sheet")
    return next(iter(sheets.values()))


def _has_rows(sheet: Any) -> bool:
    return any(cell not in (None, "") for row in _rows_of(sheet) for cell in row)


def _cells_as_column(cells: Any) -> Any:
    """Numbers if every cell is one, truth values likewise, else texts."""
    import pandas as pd

    present = [cell for cell in cells if cell is not None]
    if present and all(type(cell) in (int, float) for cell in present):
        return pd.Series([None if cell is None else float(cell) for cell in cells], dtype="float64")
    return pd.Series([None if cell is None else _cell_text(cell) or None for cell in cells], dtype="str")


def _cell_text(cell: Any) -> str:
    """A cell as the text that a text file would hold."""
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ", "seconds") if cell.time() != dt.time() else cell.date().isoformat()
    if isinstance(cell, dt.time):
        return cell.isoformat("seconds")
    if isinstance(cell, dt.timedelta):
        return repr(cell.total_seconds() / 3600)
    return repr(cell) if type(cell) in (int, float) else str(cell).strip()


# -- Parquet ----------------------------------------------------------------------------------------------------------


#: Bytes that a value of a Parquet file takes at least while it is read; packed, it may take none.
_MEMORY_OF_VALUE = 16


def read_parquet(path: str) -> Any:
    """A data frame of one Parquet file."""
    import pandas as pd
    from pyarrow import parquet

    with parsing(path, "Parquet file"):
        about = parquet.read_metadata(path)
        require_width(path, about.num_columns)
        if about.num_rows * about.num_columns * _MEMORY_OF_VALUE > usable_memory():
            raise UnevenError(
                f"{path} has {about.num_rows:,} rows and {about.num_columns:,} columns, too many for the memory of "
                "this machine; `uneven fit` reads it in parts with --memory-limit"
            )
        frame = pd.read_parquet(path)
        if any(name is not None for name in frame.index.names):
            frame = frame.reset_index()
        frame.columns = [str(column).strip() for column in frame.columns]
        if frame.columns.duplicated().any():
            twice = frame.columns[frame.columns.duplicated()][0]
            raise UnevenError(f"{path} has two columns named {twice!r}; rename one")
        return frame.reset_index(drop=True)
