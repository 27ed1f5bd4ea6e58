"""How a text table is written: its encoding and its separator, detected from the content."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator

from uneven.errors import UnevenError

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


def decoded(path: str, raw: bytes, encoding: str | None) -> tuple[str, str]:
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


def separator(text: str) -> str:
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
