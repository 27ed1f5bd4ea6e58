"""The table that ``uneven explore table.csv`` was started with: read and checked before the page opens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from uneven.app.files.file_kinds import kind_of
from uneven.app.files.table import table_of_bytes
from uneven.app.files.table_columns import read_target
from uneven.app.files.table_formats import Reading, read_bytes, sheets_with_rows
from uneven.app.models.written_costs import WrittenCosts
from uneven.errors import UnevenError

#: Bytes of a table, here and from the page: a question is answered from memory, and a slider may not wait.
MOST_TABLE = 64 * 1024 * 1024


@dataclass(frozen=True)
class GivenTable:
    """A table in memory, and what is already known of the question. The page never learns where the file lies.

    Attributes
    ----------
    name : str
        The name of the file, without its folder.
    content : bytes
        Not compressed.
    question : dict of str
        The fields of the page that are filled in: target, positive, fp, fn, unit, sheet.
    """

    name: str
    content: bytes
    question: dict[str, str]


def read_given_table(path: str, question: dict[str, str | None]) -> GivenTable:
    """The file as the page gets it; one sentence if the file, the target or a cost makes no sense."""
    known = {field: value for field, value in question.items() if value is not None}
    kind = kind_of(path)
    if kind == "parquet":
        raise UnevenError(f"{path}: the explorer reads text files and Excel workbooks; `uneven fit` also reads Parquet")
    content = read_bytes(path) if kind == "text" else Path(path).read_bytes()
    if len(content) > MOST_TABLE:
        raise UnevenError(
            f"{path} has {-(-len(content) // 2**20):,} MB, and the explorer reads at most {MOST_TABLE // 2**20}; "
            "`uneven fit` reads larger files"
        )
    name = Path(path).name
    name = name[: -len(".gz")] if name.lower().endswith(".gz") else name
    if "sheet" in known and kind != "workbook":
        raise UnevenError(f"--sheet is for Excel workbooks, and {path} is not one; leave it out")
    if kind == "workbook" and "sheet" not in known:
        known["sheet"] = next(iter(sheets_with_rows(name, content)), "")  # the page offers the others
    table = table_of_bytes(name, content, Reading(sheet=known.get("sheet") or None))
    if "target" in known:
        table.require([known["target"]], "")
    elif "positive" in known:
        raise UnevenError("--positive is a value of --target; give both, or choose in the page")
    if "positive" in known:
        read_target(table, known["target"], known["positive"], others_negative=True)
    costs = WrittenCosts(known.get("fp", "1"), known.get("fn", "1"))
    costs.columns(table, known.get("target", ""))
    return GivenTable(name, content, known)
