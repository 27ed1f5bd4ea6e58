"""Options that say how a table is to be read; without them everything is detected."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

import click

from uneven.errors import UnevenError
from uneven.tables.reading import Reading

Command = Callable[..., Any]

_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_DECIMALS = {"comma": ",", "point": ".", ".": ".", ",": ","}

_READING = (
    click.option("--sep", metavar="CHAR", help="What separates the fields of a text file: , ; | or tab."),
    click.option("--decimal", metavar="CHAR", help="The decimal sign of numbers: . or ,"),
    click.option("--encoding", metavar="NAME", help="The encoding of a text file, such as utf-8 or cp1252."),
    click.option("--sheet", metavar="NAME", help="The sheet of an Excel workbook."),
    click.option(
        "--dates",
        type=click.Choice(["day-first", "month-first"]),
        help="How to read dates such as 03/04/2026.",
    ),
)


def reading_options(command: Command) -> Command:
    """Give a command the options of :func:`read_options`."""
    for option in reversed(_READING):
        command = option(command)
    return command


def read_options(
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    dates: str | None = None,
) -> Reading:
    """The options of a command as one value; an error names the option that makes no sense."""
    from uneven._inputs import brief

    if sep is not None:
        sep = _SEPARATORS.get(sep, sep)
        if len(sep) != 1 or sep in '"\r\n' or ord(sep) > 127:
            raise UnevenError(f"--sep must be one character such as , ; | or the word tab, got {brief(sep)}")
    if decimal is not None:
        if decimal not in _DECIMALS:
            raise UnevenError(f"--decimal must be . or , got {brief(decimal)}")
        decimal = _DECIMALS[decimal]
    if encoding is not None:
        try:
            encoding = codecs.lookup(encoding).name
            "".encode(encoding)
        except LookupError:
            raise UnevenError(f"--encoding must be a name such as utf-8 or cp1252, got {brief(encoding)}") from None
    return Reading(sep, decimal, encoding, sheet, None if dates is None else dates == "day-first")
