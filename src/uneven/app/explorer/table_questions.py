"""Questions about a table: reading it, its sheets and targets, costs as numbers or columns, what to leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import inputs
from uneven.app.explorer.limit_answers import read_unit
from uneven.app.explorer.questions import Refusal, in_field
from uneven.app.files.file_kinds import TEXT, WORKBOOK, require_content
from uneven.app.files.table import Table, table_of_bytes
from uneven.app.files.table_columns import read_target
from uneven.app.files.table_formats import Reading, sheets_with_rows
from uneven.app.models.candidates import AskedLearner
from uneven.app.models.fit_table import Prepared, Question, prepare_table
from uneven.app.models.written_costs import SKIP_BAD_COSTS, WrittenCosts, columns_in, cost_of_rows, number_in
from uneven.inputs import to_float
from uneven.tables.column_values import distinct_texts, without_marks

#: Members of the ensemble, by what the page calls them; none: all that suit the table.
MEMBERS: dict[str, str | None] = {"quick": "linear,extra_trees", "all": None}
MOST_SECONDS = 1200
#: Rows that each class must have.
FEWEST = 10
#: Columns with more different values cannot be the target.
_MOST_LABELS = 20
_MOST_COLUMNS = 2000
#: Costs by field of the page: their names for the command, and for a reader.
_COSTS = {"fp": "the cost of a false alarm", "fn": "the cost of a miss"}


def example(data: Any) -> bytes:
    """The breast-cancer data of scikit-learn as a text table."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True)
    frame = found.data.assign(diagnosis=np.where(found.target == 0, "malignant", "benign"))
    text: str = frame.to_csv(index=False)
    return text.encode()


def table(data: Mapping[str, Any]) -> dict[str, Any]:
    """How a table was read, and which of its columns can be the target, with their values."""
    sheets, chosen = _sheets(data)
    found = read_upload({**data, "sheet": chosen})
    targets = [one for name in found.frame.columns if (one := _labels(found, name)) is not None]
    if not targets:
        raise Refusal("no column has between 2 and 20 different values, so none can be the one to predict", "target")
    columns = [str(name) for name in found.frame.columns]
    return {
        "words": found.in_words(),
        "rows": len(found),
        "targets": targets,
        "columns": columns,
        "sheets": sheets,
        "sheet": chosen,
    }


def _sheets(data: Mapping[str, Any], field: str = "file") -> tuple[list[str], str]:
    """The sheets of a workbook that hold something, and the one to read: that which was asked for, or the first."""
    if not _name(data).lower().endswith(WORKBOOK):
        return [], ""
    with in_field(field):
        require_content(_name(data), "workbook", data["content"][:512])
        sheets = sheets_with_rows(_name(data), data["content"])
    return sheets, str(data.get("sheet") or next(iter(sheets), ""))


def read_rows(data: Mapping[str, Any], decimal: str) -> Table:
    """New rows to decide: of a workbook the first sheet that holds something."""
    return read_upload({**data, "sheet": _sheets(data, "rows")[1]}, "rows", decimal)


def _labels(found: Table, name: str) -> dict[str, Any] | None:
    """The different values of a column, the rarest first: it is usually the one to find."""
    codes, labels = distinct_texts(without_marks(found.written(name)))
    if not 2 <= labels.size <= _MOST_LABELS:
        return None
    counts = np.bincount(codes[codes >= 0], minlength=labels.size)
    order = np.argsort(counts, kind="stable")
    return {"name": name, "values": [{"value": str(labels[k]), "rows": int(counts[k])} for k in order]}


def read_upload(data: Mapping[str, Any], field: str = "file", decimal: str | None = None) -> Table:
    """The table in an upload; a :class:`Refusal` of the field says what is wrong with it.

    ``decimal`` is the decimal sign where the table does not show it.
    """
    name = _name(data)
    if not name.lower().endswith((*TEXT, *WORKBOOK)):
        raise Refusal("the table must be .csv, .tsv, .txt or .xlsx; `uneven fit` also reads Parquet", field)
    with in_field(field):
        found = table_of_bytes(name, data["content"], Reading(sheet=data.get("sheet") or None), decimal)
    if found.frame.shape[1] > _MOST_COLUMNS:
        raise Refusal(f"the table has {found.frame.shape[1]:,} columns; at most {_MOST_COLUMNS:,} are read here", field)
    return found


def _name(data: Mapping[str, Any]) -> str:
    return str(data.get("name", ""))[:200] or "table.csv"


@dataclass(frozen=True)
class FitQuestion:
    """What was asked about a table, and what can be learnt from it.

    Attributes
    ----------
    ready : Prepared
        As for ``uneven fit``: labels, costs and columns of the rows with a label.
    members : str
        A key of ``MEMBERS``.
    seconds : float
    """

    ready: Prepared
    members: str
    seconds: float

    @property
    def leave_out(self) -> tuple[str, ...]:
        """The columns that the user does not want."""
        return self.ready.question.drop

    def about(self) -> list[str]:
        """How the table was read and what is done with it, in sentences."""
        from uneven.app.files.remarks import about_reading

        ready = self.ready
        words = list(about_reading(ready.table, ready.plan, ready.training.X, ready.labels, ready.width))
        if self.leave_out:
            words.append(f"Left out at your wish: {', '.join(map(repr, self.leave_out))}.")
        if ready.training.given.per_row:
            words.append(ready.training.given.in_words(ready.training.costs))
            used = {column.name for column in ready.plan.columns}
            words += [
                f"Column {name!r} is used for costs and for prediction; leave it out to keep it for costs only."
                for name in ready.cost_columns
                if name in used
            ]
        return words


@dataclass(frozen=True)
class Asked:
    """What every fit is asked, with two classes or more."""

    target: str
    members: str
    seconds: float
    leave_out: tuple[str, ...]
    unit: str | None


def _text(data: Mapping[str, Any], field: str) -> str:
    value = data.get(field)
    if not isinstance(value, str) or not value or len(value) > 500:
        raise Refusal(f"{_COSTS.get(field, field)} is missing", field)
    return value


def read_asked(data: Mapping[str, Any]) -> Asked:
    """Target, members, time, columns and unit; a :class:`Refusal` names the field that is wrong."""
    target, members = _text(data, "target"), _text(data, "members")
    if members not in MEMBERS:
        raise Refusal(f"members must be one of {', '.join(MEMBERS)}", "members")
    with in_field("seconds"):
        seconds = to_float(inputs.positive("the time limit", _text(data, "seconds").strip()))
    if seconds > MOST_SECONDS:
        raise Refusal(f"the time limit is at most {MOST_SECONDS:,} seconds here", "seconds")
    leave_out = data.get("leave_out", [])
    if not isinstance(leave_out, list) or not all(isinstance(name, str) for name in leave_out):
        raise Refusal("leave_out must be a list of columns", "columns")
    return Asked(target, members, seconds, tuple(leave_out), read_unit(data))


def read_fit_question(data: Mapping[str, Any]) -> FitQuestion:
    """The table and the question; a :class:`Refusal` names the field that is wrong."""
    target, positive, members = (_text(data, field) for field in ("target", "positive", "members"))
    costs = {field: _read_cost(field, _text(data, field).strip()) for field in _COSTS}
    wanted = read_asked(data)
    seconds, leave_out, unit = wanted.seconds, wanted.leave_out, wanted.unit
    table = read_upload(data)
    with in_field("target"):
        labels = read_target(table, target, positive, others_negative=True)
        if min(labels.is_positive.sum(), (~labels.is_positive).sum()) < FEWEST:
            raise Refusal(f"each class needs at least {FEWEST} rows", "target")
    for field, cost in costs.items():
        _require_costs(field, cost, table.rows(labels.known), target)
    given = WrittenCosts(costs["fp"], costs["fn"], unit=unit)
    asked = AskedLearner.read("ensemble", None, None, False, MEMBERS[members], seconds, ())
    question = Question(target, positive, others_negative=True, drop=tuple(leave_out))
    with in_field("columns" if leave_out else "file"):
        return FitQuestion(prepare_table(table, question, given, asked), members, seconds)


def _read_cost(field: str, written: str) -> str:
    """A cost as it is written: a number above 0, or a text that needs columns."""
    with in_field(field):
        number = number_in(_COSTS[field], written)
        if number is not None:
            inputs.positive(_COSTS[field], number)
    return written


def _require_costs(field: str, written: str, table: Table, target: str) -> None:
    """Refuse a cost of rows that makes no sense, beside its field."""
    words = _COSTS[field]
    if number_in(words, written) is not None:
        return
    try:
        with in_field(field):
            needed = columns_in(words, written, table)
            values = cost_of_rows(words, written, table)
    except Refusal as refusal:
        told = refusal.message.replace(SKIP_BAD_COSTS, f"`uneven fit {SKIP_BAD_COSTS}`")
        raise Refusal(told, field) from None
    if target in needed:
        raise Refusal(f"{words} needs the column {target!r}, which is not known when you decide", field)
    if (values < 0).any() or not (values > 0).any():
        row = int(np.flatnonzero(values < 0)[0]) if (values < 0).any() else 0
        raise Refusal(
            f"{words} must not be negative, and above 0 in some rows; row {table.frame.index[row] + 1} below the "
            f"header has {values[row]:.6g}",
            field,
        )
