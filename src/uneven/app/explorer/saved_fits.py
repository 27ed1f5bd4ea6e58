"""Files to take away from the tab "Your data": model and decisions, as ``uneven fit`` and ``predict`` write them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from uneven.app.explorer.class_fits import class_decisions, class_model_bytes, has_classes
from uneven.app.explorer.data_fits import Tell, kept_fit
from uneven.app.explorer.questions import Refusal, in_field
from uneven.app.explorer.table_questions import FitQuestion, read_fit_question, read_rows
from uneven.app.files.written_tables import sensible_digits, table_bytes
from uneven.app.models.apply_model import (
    COMPARED,
    apply_model,
    in_training,
    prediction_table,
    row_hashes,
    seen_in_words,
)
from uneven.app.models.candidates import ENSEMBLE
from uneven.app.models.model_files import model_bytes


def model_file(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The model of a question as a file that ``uneven predict`` and ``report`` open."""
    use = ["`uneven predict model.skops new.csv -o decisions.csv` uses it."]
    if has_classes(data):
        return _file("model.skops", class_model_bytes(data, tell), use)
    asked = read_fit_question(data)
    return _file("model.skops", model_bytes(_content(asked, kept_fit(data, asked, tell))), use)


def decisions_file(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Decisions of that model about the table, or about new rows, whose bytes come after those of the table.

    ``rows_at`` is then where they begin, and ``rows_name`` the name of their file.
    """
    table, rows = _split(data)
    if has_classes(table):
        return _file("decisions.csv", *class_decisions(table, rows, tell))
    asked = read_fit_question(table)
    content = _content(asked, kept_fit(table, asked, tell))
    found = asked.ready.table if rows is None else read_rows(rows, asked.ready.table.decimal)
    with in_field("rows"):
        used = apply_model(content, found)
        frame = sensible_digits(prediction_table(used), COMPARED)
        written = table_bytes(frame, "decisions.csv", found)
    flagged = int(used.decisions.said_positive.sum())
    words = [
        f"{len(found):,} rows in the order of {found.path}, {flagged:,} flagged.",
        *used.remarks,
        seen_in_words(in_training(used.X, content["seen"])),
        used.expected_in_words(),
    ]
    return _file("decisions.csv", written, [one for one in words if one])


def _split(data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The question about the table, and the new rows, if there are any."""
    at, content = data.get("rows_at"), data["content"]
    if at is None:
        return dict(data), None
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at <= len(content):
        raise Refusal("rows_at must say where the new rows begin", "rows")
    return {**data, "content": content[:at]}, {"name": data.get("rows_name"), "content": content[at:]}


def _content(asked: FitQuestion, model: Any) -> dict[str, Any]:
    """What the model file holds, as after ``uneven fit --quick``: nothing was compared."""
    ready = asked.ready
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
    return {
        "pipeline": pipeline,
        "preprocessing": preprocessing,
        "about": {**ready.about(), **said},
        "rivals": rivals,
        "seen": row_hashes(ready.training.X),
    }


def _file(name: str, content: bytes, words: list[str]) -> dict[str, Any]:
    return {"name": name, "file": base64.b64encode(content).decode(), "words": " ".join(words)}
