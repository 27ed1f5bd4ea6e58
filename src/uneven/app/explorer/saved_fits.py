"""Files to take away from the tab "Your data": model and decisions, as ``uneven fit`` and ``predict`` write them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from uneven.app.explorer.class_fits import has_classes, read_class_question
from uneven.app.explorer.data_fits import Tell, kept_fit
from uneven.app.explorer.questions import Refusal, in_field
from uneven.app.explorer.table_questions import read_fit_question, read_rows
from uneven.app.files.table import Table
from uneven.app.files.written_tables import sensible_digits, table_bytes
from uneven.app.models.apply_classes import apply_to_classes, class_prediction_table
from uneven.app.models.apply_model import (
    COMPARED,
    apply_model,
    in_training,
    prediction_table,
    row_hashes,
    seen_in_words,
)
from uneven.app.models.candidates import ENSEMBLE
from uneven.app.models.fit_table import Prepared
from uneven.app.models.model_files import model_bytes


def model_file(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The model of a question as a file that ``uneven predict`` and ``report`` open."""
    _, content = _fitted(data, tell)
    return _file(
        "model.skops", model_bytes(content), ["`uneven predict model.skops new.csv -o decisions.csv` uses it."]
    )


def decisions_file(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Decisions of that model about the table, or about new rows, whose bytes come after those of the table.

    ``rows_at`` is then where they begin, and ``rows_name`` the name of their file.
    """
    table, rows = _split(data)
    ready, content = _fitted(table, tell)
    found = ready.table if rows is None else read_rows(rows, ready.table.decimal)
    with in_field("rows"):
        frame, compared, counted, remarks = (_decide_classes if has_classes(table) else _decide)(content, found)
        written = table_bytes(sensible_digits(frame, compared), "decisions.csv", found)
    words = [f"{len(found):,} rows in the order of {found.path}{counted}", *remarks]
    return _file("decisions.csv", written, [one for one in words if one])


def _decide(content: dict[str, Any], found: Table) -> tuple[Any, Any, str, list[str]]:
    """Decisions, columns whose order decides, how many rows are flagged, and sentences."""
    used = apply_model(content, found)
    flagged = int(used.decisions.said_positive.sum())
    seen = seen_in_words(in_training(used.X, content["seen"]))
    remarks = [*used.remarks, seen, used.expected_in_words()]
    return prediction_table(used), COMPARED, f", {flagged:,} flagged.", remarks


def _decide_classes(content: dict[str, Any], found: Table) -> tuple[Any, Any, str, list[str]]:
    """The same with several classes."""
    used = apply_to_classes(content, found)
    frame, compared = class_prediction_table(used)
    return frame, compared, f": {used.counts_in_words()}", [*used.remarks, used.expected_in_words()]


def _split(data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The question about the table, and the new rows, if there are any."""
    at, content = data.get("rows_at"), data["content"]
    if at is None:
        return dict(data), None
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at <= len(content):
        raise Refusal("rows_at must say where the new rows begin", "rows")
    return {**data, "content": content[:at]}, {"name": data.get("rows_name"), "content": content[at:]}


def _fitted(data: Mapping[str, Any], tell: Tell) -> tuple[Prepared, dict[str, Any]]:
    """The table, and what the model file holds, as after ``uneven fit --quick``: nothing was compared."""
    asked = read_class_question(data) if has_classes(data) else read_fit_question(data)
    ready, model = asked.ready, kept_fit(data, asked, tell)
    pipeline = Pipeline([("columns", "passthrough"), ("classifier", model)])
    preprocessing, rivals = ready.training.fit_alternatives(ENSEMBLE, pipeline, quick=True)
    said = {
        "comparison": [],
        "compared": "",
        "broken_promise": "",
        "model": ENSEMBLE,
        "learner": ENSEMBLE,
        "actions": [],
    }
    content = {
        "pipeline": pipeline,
        "preprocessing": preprocessing,
        "about": {**ready.about(), **said},
        "rivals": rivals,
        "seen": row_hashes(ready.training.X),
    }
    return ready, content


def _file(name: str, content: bytes, words: list[str]) -> dict[str, Any]:
    return {"name": name, "file": base64.b64encode(content).decode(), "words": " ".join(words)}
