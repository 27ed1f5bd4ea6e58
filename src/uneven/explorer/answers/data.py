"""The tab "Your data": a table, what is in it, and a fit for its costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import _inputs
from uneven._inputs import to_float
from uneven.explorer.answers.fits import FEWEST, MEMBERS, MOST_SECONDS, Tell, fitted
from uneven.explorer.answers.refusal import Refusal, in_field
from uneven.tables.columns import planned
from uneven.tables.files import TEXT
from uneven.tables.matrix import typed
from uneven.tables.remarks import about_reading, leaking_columns
from uneven.tables.size import require_memory
from uneven.tables.table import Table, read_text_table
from uneven.tables.target import read_target
from uneven.tables.texts import distinct_texts, present

#: Columns with more different values cannot be the target.
_MOST_LABELS = 20
_MOST_COLUMNS = 2000
_MOST_CATEGORIES = 500


def example(data: Any) -> bytes:
    """The breast-cancer data of scikit-learn as a text table."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True)
    frame = found.data.assign(diagnosis=np.where(found.target == 0, "malignant", "benign"))
    text: str = frame.to_csv(index=False)
    return text.encode()


def table(data: Mapping[str, Any]) -> dict[str, Any]:
    """How a table was read, and which of its columns can be the target, with their values."""
    found = _read(data)
    targets = [one for name in found.frame.columns if (one := _labels(found, name)) is not None]
    if not targets:
        raise Refusal("no column has between 2 and 20 different values, so none can be the one to predict", "target")
    columns = [str(name) for name in found.frame.columns]
    return {"words": found.in_words(), "rows": len(found), "targets": targets, "columns": columns}


def _labels(found: Table, name: str) -> dict[str, Any] | None:
    """The different values of a column, the rarest first: it is usually the one to find."""
    codes, labels = distinct_texts(present(found.written(name)))
    if not 2 <= labels.size <= _MOST_LABELS:
        return None
    counts = np.bincount(codes[codes >= 0], minlength=labels.size)
    order = np.argsort(counts, kind="stable")
    return {"name": name, "values": [{"value": str(labels[k]), "rows": int(counts[k])} for k in order]}


def _read(data: Mapping[str, Any]) -> Table:
    name = str(data.get("name", ""))[:200] or "table.csv"
    if not name.lower().endswith(TEXT):
        raise Refusal(
            "the table must be a text file: .csv, .tsv or .txt; `uneven fit` also reads Excel and Parquet", "file"
        )
    with in_field("file"):
        found = read_text_table(name, data["content"])
    if found.frame.shape[1] > _MOST_COLUMNS:
        raise Refusal(
            f"the table has {found.frame.shape[1]:,} columns; at most {_MOST_COLUMNS:,} are read here", "file"
        )
    return found


@dataclass(frozen=True)
class _Wish:
    """What was asked about a table."""

    target: str
    positive: str
    fp_cost: float
    fn_cost: float
    members: str
    seconds: float
    leave_out: tuple[str, ...]


def _wish(data: Mapping[str, Any]) -> _Wish:
    def text(field: str) -> str:
        value = data.get(field)
        if not isinstance(value, str) or not value or len(value) > 500:
            raise Refusal(f"{field} is missing", field)
        return value

    costs = {}
    for field, words in (("fp", "the cost of a false alarm"), ("fn", "the cost of a miss")):
        with in_field(field):
            costs[field] = to_float(_inputs.positive(words, text(field).strip()))
    members = text("members")
    if members not in MEMBERS:
        raise Refusal(f"members must be one of {', '.join(MEMBERS)}", "members")
    with in_field("seconds"):
        seconds = to_float(_inputs.positive("the time limit", text("seconds").strip()))
    if seconds > MOST_SECONDS:
        raise Refusal(f"the time limit is at most {MOST_SECONDS:,} seconds here", "seconds")
    leave_out = data.get("leave_out", [])
    if not isinstance(leave_out, list) or not all(isinstance(name, str) for name in leave_out):
        raise Refusal("leave_out must be a list of columns", "columns")
    return _Wish(text("target"), text("positive"), costs["fp"], costs["fn"], members, seconds, tuple(leave_out))


def fit(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Fit to a table; parts of the answer are told as they come."""
    wish = _wish(data)
    tell({"progress": "reading the table", "share": 0.0})
    found = _read(data)
    with in_field("target"):
        labels = read_target(found, wish.target, wish.positive, others_negative=True)
        if min(labels.is_positive.sum(), (~labels.is_positive).sum()) < FEWEST:
            raise Refusal(f"each class needs at least {FEWEST} rows", "target")
    labelled = found.rows(labels.known)
    with in_field("columns" if wish.leave_out else "file"):
        plan = planned(labelled, wish.target, wish.leave_out)
    with in_field("file"):
        X = typed(labelled, plan.columns)
        width = require_memory(X, _MOST_CATEGORIES)
    words = list(about_reading(found, plan, X, labels, width))
    if wish.leave_out:
        words.append(f"Left out at your wish: {', '.join(map(repr, wish.leave_out))}.")
    leaks = [{"column": name, "words": why} for name, why in leaking_columns(X, labels).items()]
    warning = _leaks_in_words(leaks)
    tell({"about": words, "positive": labels.positive, "rows": int(labels.is_positive.size)})
    tell({"leaks": leaks, "warning": warning})
    answer = fitted(
        X,
        labels.is_positive,
        fp_cost=wish.fp_cost,
        fn_cost=wish.fn_cost,
        members=wish.members,
        seconds=wish.seconds,
        tell=tell,
    )
    return {**answer, "leaks": leaks, "warning": warning or answer["warning"]}


def _leaks_in_words(leaks: list[dict[str, str]]) -> str:
    """What is said first if columns may give the target away; else ""."""
    if not leaks:
        return ""
    if len(leaks) == 1:
        return f"Too good to be true? Column {leaks[0]['column']!r} {leaks[0]['words']}."
    return f"Too good to be true? {len(leaks)} columns may give the target away."
