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
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uneven.app.files.file_kinds import parsing, require_growth, require_unpackable, usable_memory
from uneven.app.files.header_rows import LOOKED_AT, Layout, find_layout, is_total, layout_in_words, usual_width
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


def read_names(path: str, cells: Sequence[object], line: int, *, named: bool = True) -> list[str]:
    """Names from the cells of a header. A column without a name is called after its position."""
    require_width(path, len(cells))
    names = ["" if cell is None else str(cell).strip().strip("\ufeff") for cell in cells]
    if named and not any(names):
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
    header_row: int | None = None
    no_header: bool = False


@dataclass(frozen=True)
class Written:
    """How a text file is written, so that results can be written in the same way."""

    sep: str = ","
    encoding: str = "utf-8"


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
    if most[0]:
        return best
    return _separator_below_titles(sample) or best


def _separator_below_titles(sample: str) -> str | None:
    """The separator of a table whose names stand below titles; None if there are no titles."""
    found: dict[str, int] = {}
    for candidate in _CANDIDATES:
        rows = [row for _, row in _numbered_rows(sample, candidate)]
        if find_layout(rows).above:
            found[candidate] = usual_width(rows)
    return max(found, key=lambda candidate: found[candidate], default=None)


def _numbered_rows(text: str, sep: str) -> list[tuple[int, list[str]]]:
    """The first rows that have a filled cell, trimmed, with the number of the line that each begins at, from 1."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    found: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                found.append((line, cells))
            line = reader.line_num + 1
            if len(found) == LOOKED_AT:
                break
    except csv.Error:
        pass
    return found


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


def read_text(path: str, raw: bytes, reading: Reading) -> tuple[Any, str, Written]:
    """A data frame of texts, how it is written in words, and for programs; ``path`` is for messages only."""
    text, encoding = decode(path, raw, reading.encoding)
    said = re.match(r"sep=(.)\r?\n", text)  # Excel writes and understands this first line
    if said:
        text = text[said.end() :]
    sep = reading.sep or (said.group(1) if said else find_separator(text))
    rows = _numbered_rows(text[:_HEADER], sep)
    if not rows:
        raise UnevenError(f"{path} is empty: it has no header")
    layout, first = _choose_layout(path, rows, reading, skipped=bool(said))
    line, cells = rows[first]
    names = read_names(path, cells if layout.named else [""] * len(cells), line + bool(said), named=layout.named)
    body, totals = _without_short_totals(text[_start_of_line(text, line) :], sep, len(names))
    frame = _parse_text(path, body, sep, names, line - 1 + bool(said), named=layout.named)
    frame, more = _without_empty_rows(frame, units=layout.units)
    how = f"separator {_SIGNS.get(sep, repr(sep))}, encoding {ENCODING_NAMES.get(encoding, encoding)}"
    return frame, how + layout_in_words(layout, totals + more), Written(sep, encoding)


#: Characters that surely hold the names of the columns.
_HEADER = 2_000_000


def _choose_layout(
    path: str, rows: list[tuple[int, list[str]]], reading: Reading, *, skipped: bool
) -> tuple[Layout, int]:
    """The layout that was asked for or is found, and the position of its first row among these."""
    if reading.header_row is None and not reading.no_header:
        found = find_layout([cells for _, cells in rows])
        return found, found.above
    if reading.no_header:
        return Layout(named=False), 0
    wanted = reading.header_row or 0
    position = next((k for k, (line, _) in enumerate(rows) if line + skipped == wanted), None)
    if position is None:
        known = ", ".join(str(line + skipped) for line, _ in rows[:5])
        raise UnevenError(
            f"{path}: --header-row must be a row with names of columns, got {wanted}, which is empty or too far below; "
            f"the first rows that hold something are {known}"
        )
    below = find_layout([cells for _, cells in rows[position:]])
    return Layout(position, units=below.units and not below.above), position


def _start_of_line(text: str, line: int) -> int:
    """Where a line begins, counted from 1 as Python's reader of CSV counts."""
    lines = io.StringIO(text, newline="")
    return sum(len(next(lines)) for _ in range(line - 1))


def _without_short_totals(text: str, sep: str, width: int) -> tuple[str, int]:
    """The text without totals at its end that have fewer fields than the table, and how many there were."""
    count = 0
    while True:
        bare = text.rstrip("\r\n \t" if sep != "\t" else "\r\n ")
        start = max(bare.rfind("\n"), bare.rfind("\r")) + 1
        cells = [cell.strip() for cell in next(csv.reader([bare[start:]], delimiter=sep), [])] if start else []
        if not 0 < len(cells) < width or not is_total(cells, width):
            return text, count
        text, count = text[:start], count + 1


def _parse_text(path: str, text: str, sep: str, names: list[str], above: int, *, named: bool) -> Any:
    import pyarrow as pa
    from pyarrow import csv

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
        raise _failure(path, text, sep, len(names), above, str(error)) from None
    if table.num_columns != len(names):
        raise UnevenError(f"{path} is not a readable table: the quotation marks in its first row do not match")
    if text.count('"') % 2 and table.num_rows > 1 and "\n" in str(table.column(table.num_columns - 1)[-1].as_py()):
        raise UnevenError(f"{path} ends inside a quotation mark that is not closed; close it or remove it")
    return table.slice(int(named)).rename_columns(names).to_pandas()


def _without_empty_rows(frame: Any, *, units: bool) -> tuple[Any, int]:
    """The rows but for empty ones, that of units, and totals at the end; and the number of totals.

    Each row keeps its number, so that messages count rows as the file does.
    """
    kept = np.ones(len(frame), dtype=bool)
    kept[: int(units)] = False
    empty = np.arange(len(frame))
    for name in frame.columns:
        if not empty.size:
            break
        empty = empty[[not str(cell).strip() for cell in frame[name].to_numpy()[empty]]]
    kept[empty] = False
    totals = 0
    while kept.any():
        known = np.flatnonzero(kept)
        some = [[str(cell).strip() for cell in row] for row in frame.iloc[known[-LOOKED_AT:]].itertuples(index=False)]
        if len(some) < 2 or not is_total(some[-1], usual_width(some[:-1])):
            break
        kept[known[-1]] = False
        totals += 1
    return (frame if kept.all() else frame[kept]), totals


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


def _failure(path: str, text: str, sep: str, width: int, above: int, message: str) -> UnevenError:
    """An error with the line of the first row that has too many or too few fields."""
    found = first_uneven_row(text, sep, width)
    if found is None:
        return UnevenError(f"{path} is not a readable table: {' '.join(message.split())[:200]}")
    line, fields = found
    shown = _SIGNS.get(sep, repr(sep))
    return UnevenError(
        f"{path}, line {line + above}: {fields} {'field' if fields == 1 else 'fields'}, but the header has {width} "
        f"(separator {shown}); put quotation marks around a field that holds the separator, or give --sep"
    )


# -- Excel workbooks --------------------------------------------------------------------------------------------------


_WORKBOOK = "Excel workbook"
#: Rows that Excel can hold. A forged sheet may number its rows beyond, and openpyxl gives an empty row for each gap.
_MOST_ROWS = 1_048_576


def read_workbook(path: str, reading: Reading, raw: bytes | None = None) -> tuple[Any, str]:
    """A data frame, and which sheet it is, in words. Columns of numbers are numbers; others are texts.

    With ``raw``, the bytes of the workbook, ``path`` is for messages only.
    """
    with needs_extra("Excel workbooks", "data"):
        import pandas as pd
    with parsing(path, _WORKBOOK):
        with _open_workbook(path, raw) as book:
            sheet = _choose_sheet(path, book, reading.sheet)
            numbered = [
                (number, row)
                for number, row in enumerate(_rows_of(sheet), start=1)
                if any(cell not in (None, "") for cell in row)
            ]
        if not numbered:
            raise UnevenError(f"{path}: the sheet {sheet.title!r} is empty")
        last = max(k for _, row in numbered for k, cell in enumerate(row) if cell not in (None, "")) + 1
        rows = [row if len(row) >= last else (*row, *[None] * (last - len(row))) for _, row in numbered]
        shown = [(number, _row_texts(row[:last])) for (number, _), row in zip(numbered[:LOOKED_AT], rows, strict=False)]
        layout, first = _choose_layout(path, shown, reading, skipped=False)
        header = rows[first][:last] if layout.named else [None] * last
        names = read_names(path, header, line=numbered[first][0], named=layout.named)
        body = rows[first + layout.named + layout.units :]
        totals = 0
        while len(body) > 1 and is_total(
            _row_texts(body[-1]), usual_width([_row_texts(row) for row in body[-LOOKED_AT:-1]])
        ):
            body, totals = body[:-1], totals + 1
        columns = zip(*body, strict=False) if body else ([] for _ in names)
        frame = pd.DataFrame({name: _cells_as_column(cells) for name, cells in zip(names, columns, strict=False)})
    return frame, f"sheet {sheet.title!r}{layout_in_words(layout, totals)}"


@contextmanager
def _open_workbook(path: str, raw: bytes | None) -> Iterator[Any]:
    with needs_extra("Excel workbooks", "data"):
        from openpyxl import load_workbook
    require_unpackable(path, _WORKBOOK, raw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of styles and menus, which do not matter here
        source = io.BytesIO(Path(path).read_bytes() if raw is None else raw)
        with closing(load_workbook(source, read_only=True, data_only=True)) as book:
            yield book


def sheets_with_rows(name: str, raw: bytes) -> list[str]:
    """The visible sheets of a workbook in memory that hold something; ``name`` is for messages only."""
    with parsing(name, _WORKBOOK), _open_workbook(name, raw) as book:
        return [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible" and _has_rows(sheet)]


def _row_texts(row: Sequence[Any]) -> list[str]:
    return ["" if cell is None else _cell_text(cell) for cell in row]


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
    """A data frame of one Parquet file, or of all files of a folder or a pattern."""
    import pandas as pd

    from uneven.parts.parquet_files import ParquetFiles

    with parsing(path, "Parquet file"):
        files = ParquetFiles(path)
        width = len(files.schema.names)
        require_width(path, width)
        if files.rows * width * _MEMORY_OF_VALUE > usable_memory():
            raise UnevenError(
                f"{path} has {files.rows:,} rows and {width:,} columns, too many for the memory of "
                "this machine; `uneven fit` reads it in parts with --memory-limit"
            )
        frame = pd.concat([pd.read_parquet(one) for one in files.paths])
        if any(name is not None for name in frame.index.names):
            frame = frame.reset_index()
        frame.columns = [str(column).strip() for column in frame.columns]
        if frame.columns.duplicated().any():
            twice = frame.columns[frame.columns.duplicated()][0]
            raise UnevenError(f"{path} has two columns named {twice!r}; rename one")
        return frame.reset_index(drop=True)
