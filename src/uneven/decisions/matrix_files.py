"""Tables of costs as people keep them: text with commas, semicolons or tabs, or a sheet of a workbook."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from uneven.errors import CostError, needs_extra
from uneven.inputs import brief

#: Endings of workbooks; every other file is text.
_WORKBOOKS = (".xlsx", ".xlsm")
_SEPARATORS = (",", ";", "\t")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


def read_cost_cells(path: Any) -> list[list[str]]:
    """The cells of a table of costs: decisions in the first line, true classes in the first column."""
    shown = brief(str(path))
    try:
        name = Path(path)
    except TypeError:
        raise CostError(f"read takes the path of a CSV file or a workbook, got {brief(path)}") from None
    try:
        lines = _sheet(name) if name.suffix.lower() in _WORKBOOKS else _text(name)
    except OSError as error:
        raise CostError(f"cannot read {shown}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise CostError(f"{shown} is not a CSV file in UTF-8") from None
    cells = [[cell.strip() for cell in line] for line in lines if any(cell.strip() for cell in line)]
    if len(cells) < 2 or any(len(line) != len(cells[0]) for line in cells):
        raise CostError(f"{shown} must have the actions in its first line, then a line for each class")
    for kind, names in (("action", cells[0][1:]), ("class", [line[0] for line in cells[1:]])):
        if "" in names:
            raise CostError(f"{shown}: {kind} {names.index('') + 1} has no name")
    for line in cells[1:]:
        if "" in line:
            action = cells[0][line.index("")]
            raise CostError(f"{shown} has no cost of {action!r} where {line[0]!r} is true; every cell needs a number")
    return cells


def _text(path: Path) -> list[list[str]]:
    """The cells of a text; with semicolons or tabs, a number may have a decimal comma."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        written = file.read()
    first = next((line for line in written.splitlines() if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    lines = list(csv.reader(written.splitlines(), delimiter=separator, strict=True))
    if separator == ",":
        return lines
    return [[_with_point(cell) for cell in line] for line in lines]


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else cell


def _sheet(path: Path) -> list[list[str]]:
    """The cells of the first sheet of a workbook, without empty columns at its end."""
    with needs_extra("Excel workbooks", "data"):
        from openpyxl import load_workbook
    try:
        book = load_workbook(path, read_only=True, data_only=True)
        rows = [["" if cell is None else _cell(cell) for cell in row] for row in book.worksheets[0].values]
    except OSError:
        raise
    except Exception:  # a workbook can be damaged in many ways
        raise CostError(f"{brief(str(path))} cannot be read as an Excel workbook; save it as .csv") from None
    width = max((k + 1 for row in rows for k, cell in enumerate(row) if cell.strip()), default=0)
    return [(row + [""] * width)[:width] for row in rows]


def _cell(value: Any) -> str:
    """A number as it is shown: 5 in place of 5.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
