"""The table that ``uneven explore table.csv`` was started with: read and checked before the page opens."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from uneven import inputs
from uneven.app.explorer.class_answers import MOST_ACTIONS, MOST_CLASSES
from uneven.app.files.file_kinds import kind_of
from uneven.app.files.table import Table, table_of_bytes
from uneven.app.files.table_columns import read_classes, read_target
from uneven.app.files.table_formats import Reading, read_bytes, sheets_with_rows
from uneven.app.models.written_costs import WrittenCosts
from uneven.app.models.written_matrix import WrittenMatrix
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
        The fields of the page that are filled in: target, positive, fp, fn, unit, sheet, and the table of costs.
    """

    name: str
    content: bytes
    question: dict[str, Any]


def read_given_table(path: str, question: dict[str, str | None]) -> GivenTable:
    """The file as the page gets it; one sentence if the file, the target or a cost makes no sense."""
    known: dict[str, Any] = {field: value for field, value in question.items() if value is not None}
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
    if "costs" in known:
        return GivenTable(name, content, {**known, "costs": _read_costs(table, known)})
    costs = WrittenCosts(known.get("fp", "1"), known.get("fn", "1"))
    costs.columns(table, known.get("target", ""))
    return GivenTable(name, content, known)


def _read_costs(table: Table, known: dict[str, Any]) -> dict[str, Any]:
    """The table of costs as the page has it, for the classes of the target."""
    for field, option in (("positive", "--positive"), ("fp", "--fp-cost"), ("fn", "--fn-cost")):
        if field in known:
            raise UnevenError(f"--costs is for several classes, and {option} for two; leave one of them out")
    if "target" not in known:
        raise UnevenError("--costs is about the classes of --target; give both, or choose in the page")
    labels = read_classes(table, known["target"])
    matrix = WrittenMatrix.read(known["costs"], None).for_labels(known["target"], labels.by_class)[0].matrix
    for what, names, most in (("classes", matrix.classes, MOST_CLASSES), ("decisions", matrix.actions, MOST_ACTIONS)):
        if len(names) > most:
            raise UnevenError(
                f"--costs has {len(names)} {what}, and the explorer has room for {most}; `uneven fit --costs` takes "
                "more"
            )
    assert matrix.exact_costs is not None
    cells = [[_written(cost) for cost in row] for row in matrix.exact_costs]
    return {"classes": list(matrix.classes), "actions": list(matrix.actions), "cells": cells}


def _written(cost: Fraction) -> str:
    """A decimal if that is the same number, else a fraction."""
    decimal = f"{inputs.to_float(cost):.12g}"
    return decimal if Fraction(decimal) == cost else str(cost)
