"""Excel workbooks, read by openpyxl."""

from __future__ import annotations

import datetime as dt
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

from uneven.app.files.file_kinds import parsing, require_unpackable
from uneven.app.files.text_files import Reading, read_names
from uneven.errors import UnevenError, needs_extra
from uneven.inputs import brief

_WHAT = "Excel workbook"
#: Rows that Excel can hold. A forged sheet may number its rows beyond, and openpyxl gives an empty row for each gap.
_MOST_ROWS = 1_048_576


def read_workbook(path: str, reading: Reading) -> tuple[Any, str]:
    """A data frame, and which sheet it is, in words. Columns of numbers are numbers; others are texts."""
    with needs_extra("Excel workbooks", "data"):
        import pandas as pd
        from openpyxl import load_workbook
    require_unpackable(path, _WHAT)
    with parsing(path, _WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of styles and menus, which do not matter here
        with Path(path).open("rb") as file, closing(load_workbook(file, read_only=True, data_only=True)) as book:
            sheet = _chosen(path, book, reading.sheet)
            rows = [row for row in _rows_of(sheet) if any(cell not in (None, "") for cell in row)]
        if not rows:
            raise UnevenError(f"{path}: the sheet {sheet.title!r} is empty")
        header, *body = rows
        last = max(k for row in rows for k, cell in enumerate(row) if cell not in (None, "")) + 1
        names = read_names(path, [*header[:last], *[None] * (last - len(header))], line=1)
        padded = (row if len(row) >= last else (*row, *[None] * (last - len(row))) for row in body)
        columns = zip(*padded, strict=False) if body else ([] for _ in names)
        frame = pd.DataFrame({name: _column(cells) for name, cells in zip(names, columns, strict=False)})
    return frame, f"sheet {sheet.title!r}"


def _rows_of(sheet: Any) -> Any:
    """The rows with what they hold, whatever size the sheet says it has."""
    sheet.reset_dimensions()
    return sheet.iter_rows(values_only=True, max_row=_MOST_ROWS)


def _chosen(path: str, book: Any, name: str | None) -> Any:
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


def _column(cells: Any) -> Any:
    """Numbers if every cell is one, truth values likewise, else texts."""
    import pandas as pd

    present = [cell for cell in cells if cell is not None]
    if present and all(type(cell) in (int, float) for cell in present):
        return pd.Series([None if cell is None else float(cell) for cell in cells], dtype="float64")
    return pd.Series([None if cell is None else _text(cell) or None for cell in cells], dtype="str")


def _text(cell: Any) -> str:
    """A cell as the text that a text file would hold."""
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ", "seconds") if cell.time() != dt.time() else cell.date().isoformat()
    if isinstance(cell, dt.time):
        return cell.isoformat("seconds")
    if isinstance(cell, dt.timedelta):
        return repr(cell.total_seconds() / 3600)
    return repr(cell) if type(cell) in (int, float) else str(cell).strip()
