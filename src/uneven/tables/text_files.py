"""Text tables, parsed by Arrow: every field stays the text it was."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from pathlib import Path
from typing import Any

from uneven.errors import UnevenError
from uneven.tables.dialect import ENCODING_NAMES, decoded, first_uneven_row, rows_of, separator
from uneven.tables.files import require_growth
from uneven.tables.headers import read_names
from uneven.tables.reading import Reading

_BLOCK = 1 << 25  # a row must fit into a block
_PART = 1 << 22  # bytes that are unpacked at once
_SIGNS = {"\t": "tab", " ": "space"}


def read_text(path: str, raw: bytes, reading: Reading) -> tuple[Any, str, str]:
    """A data frame of texts, how it is written in words, and the separator; ``path`` is for messages only."""
    import pyarrow as pa
    from pyarrow import csv

    text, encoding = decoded(path, raw, reading.encoding)
    said = re.match(r"sep=(.)\r?\n", text)  # Excel writes and understands this first line
    if said:
        text = text[said.end() :]
    sep = reading.sep or (said.group(1) if said else separator(text))
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


def content(path: str) -> bytes:
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
