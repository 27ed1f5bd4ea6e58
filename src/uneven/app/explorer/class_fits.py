"""The tab "Your data" with several classes: the question, the fit, and the files to take away.

The ensemble decides at its calibrated probabilities (``method="none"``). Its fit then does not depend on the costs, and
what the page says at other costs is what a fit with these would say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from uneven.app.explorer.class_answers import describe_classes, read_matrix
from uneven.app.explorer.questions import Refusal, in_field
from uneven.app.explorer.table_questions import FEWEST, MEMBERS, read_asked, read_rows, read_upload
from uneven.app.files.table import Table
from uneven.app.files.table_columns import read_classes
from uneven.app.files.written_tables import sensible_digits, table_bytes
from uneven.app.models.apply_classes import apply_to_classes, class_prediction_table
from uneven.app.models.apply_model import row_hashes
from uneven.app.models.candidates import ENSEMBLE, AskedLearner
from uneven.app.models.fit_table import Prepared, Question, prepare_table
from uneven.app.models.model_files import model_bytes
from uneven.app.models.written_matrix import WrittenMatrix

Tell = Callable[[dict[str, Any]], None]

#: What the costs of the page are called in sentences and in the model file.
_COSTS = "the table of costs"


@dataclass(frozen=True)
class ClassQuestion:
    """What was asked about a table with several classes, and what can be learnt from it."""

    ready: Prepared
    members: str
    seconds: float

    @property
    def given(self) -> WrittenMatrix:
        """The costs."""
        found = self.ready.training.given
        assert isinstance(found, WrittenMatrix)
        return found

    def about(self) -> list[str]:
        """How the table was read, in sentences."""
        from uneven.app.files.remarks import about_reading

        ready = self.ready
        words = list(about_reading(ready.table, ready.plan, ready.training.X, ready.labels, ready.width))
        if ready.question.drop:
            words.append(f"Left out at your wish: {', '.join(map(repr, ready.question.drop))}.")
        return [*words, *ready.notes]


def has_classes(data: Mapping[str, Any]) -> bool:
    """Whether a question is about several classes: it has a table of costs."""
    return data.get("costs") is not None


def read_class_question(data: Mapping[str, Any]) -> ClassQuestion:
    """The table and the question; a :class:`Refusal` names the field that is wrong."""
    asked = read_asked(data)
    given = WrittenMatrix(read_matrix(data), asked.unit, _COSTS)
    table = read_upload(data)
    with in_field("target"):
        labels = read_classes(table, asked.target)
    least = int(np.argmin(labels.counts))
    if labels.counts[least] < FEWEST:
        raise Refusal(
            f"each class needs at least {FEWEST} rows, and {labels.classes[least]!r} has {labels.counts[least]}; "
            "leave it out of the table, or join it with another one",
            "target",
        )
    missing = [label for label in labels.classes if label not in given.matrix.classes]
    if missing:
        raise Refusal(f"the table of costs has no row for the class {missing[0]!r}", "costs")
    learner = AskedLearner.read("ensemble", None, None, False, MEMBERS[asked.members], asked.seconds, ())
    with in_field("columns" if asked.leave_out else "file"):
        ready = prepare_table(table, Question(asked.target, drop=asked.leave_out), given, learner)
    return ClassQuestion(ready, asked.members, asked.seconds)


# -- the fit -----------------------------------------------------------------------------------------------------------


def fit_classes(
    data: Mapping[str, Any], tell: Tell, words_of_leaks: Callable[[list[dict[str, str]]], str]
) -> dict[str, Any]:
    """Fit to a table; parts of the answer are told as they come."""
    asked = read_class_question(data)
    ready = asked.ready
    leaks = [{"column": name, "words": why} for name, why in ready.leaks.items()]
    warning = words_of_leaks(leaks)
    tell({"about": asked.about(), "rows": int(ready.training.truth.size)})
    tell({"leaks": leaks, "warning": warning})
    model = _fit(asked, tell)
    _KEPT.clear()
    _KEPT[_key(data)] = model
    answer = describe_classes(model, asked.given.unit)
    if not answer["mistakes"]:
        warning = warning or (
            f"Too good to be true? There is not one mistake in {answer['rows']:,} rows: look for columns that are not "
            "known when you decide."
        )
    return {**answer, "leaks": leaks, "warning": warning}


def _fit(asked: ClassQuestion, tell: Tell) -> Any:
    from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier
    from uneven.solvers.running import listening

    members = MEMBERS[asked.members]
    model = UnevenEnsembleClassifier(
        costs=asked.given.matrix,
        members="auto" if members is None else members.split(","),
        time_limit=asked.seconds,
        keep_training_rows=True,
        method="none",
        random_state=0,
    )

    def hear(name: str, words: str, share: float) -> None:
        tell({"progress": f"ensemble: {words}", "share": 0.02 + 0.95 * share})

    tell({"progress": "ensemble: fitting the members", "share": 0.02})
    training = asked.ready.training
    with listening(hear):
        return model.fit(training.X, np.array(asked.given.matrix.classes)[training.truth])


#: The last fit of this process, by the hash of its question.
_KEPT: dict[bytes, Any] = {}


def _model_for(data: Mapping[str, Any], asked: ClassQuestion, tell: Tell) -> Any:
    """The model of a question at its costs: that of the last fit, or fitted again."""
    key = _key(data)
    if key not in _KEPT:
        _KEPT.clear()
        _KEPT[key] = _fit(asked, tell)
    model = _KEPT[key]
    return model if model.costs_ == asked.given.matrix else model.with_costs(costs=asked.given.matrix)


def _key(data: Mapping[str, Any]) -> bytes:
    """A hash of the table and of all that matters for the fit; the costs do not."""
    said = json.dumps([data.get(field) for field in ("name", "sheet", "target", "members", "seconds", "leave_out")])
    return sha256(said.encode() + b"\n" + data["content"]).digest()


# -- files to take away ------------------------------------------------------------------------------------------------


def class_model_bytes(data: Mapping[str, Any], tell: Tell) -> bytes:
    """The model of a question as a file that ``uneven predict`` opens."""
    asked = read_class_question(data)
    return model_bytes(_content(asked, _model_for(data, asked, tell)))


def class_decisions(table: Mapping[str, Any], rows: Mapping[str, Any] | None, tell: Tell) -> tuple[bytes, list[str]]:
    """Decisions about the table, or about new rows, as ``uneven predict`` writes them; and sentences."""
    asked = read_class_question(table)
    content = _content(asked, _model_for(table, asked, tell))
    found: Table = asked.ready.table if rows is None else read_rows(rows, asked.ready.table.decimal)
    with in_field("rows"):
        used = apply_to_classes(content, found)
        frame, compared = class_prediction_table(used)
        written = table_bytes(sensible_digits(frame, compared), "decisions.csv", found)
    words = [f"{len(found):,} rows in the order of {found.path}: {used.counts_in_words()}"]
    return written, [*words, *used.remarks, used.expected_in_words()]


def _content(asked: ClassQuestion, model: Any) -> dict[str, Any]:
    """What the model file holds, as after ``uneven fit --quick``."""
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
