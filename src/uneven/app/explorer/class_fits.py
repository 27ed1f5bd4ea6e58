"""The tab "Your data" with several classes: the question and the fit.

The ensemble decides at its calibrated probabilities (``method="none"``). Its fit then does not depend on the costs, and
what the page says at other costs is what a fit with these would say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.app.explorer.class_answers import read_matrix
from uneven.app.explorer.questions import Refusal, in_field
from uneven.app.explorer.table_questions import FEWEST, MEMBERS, read_asked, read_upload
from uneven.app.files.table_columns import read_classes
from uneven.app.models.candidates import AskedLearner
from uneven.app.models.fit_table import Prepared, Question, prepare_table
from uneven.app.models.written_matrix import WrittenMatrix

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


def fit_ensemble(asked: ClassQuestion, hear: Callable[[str, str, float], None]) -> Any:
    """An ensemble that decides at its calibrated probabilities; ``hear`` is told of its progress."""
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
    training = asked.ready.training
    with listening(hear):
        return model.fit(training.X, np.array(asked.given.matrix.classes)[training.truth])


def at_its_costs(model: Any, asked: ClassQuestion) -> Any:
    """A model that was fitted to this table, perhaps at other costs, at those of the question."""
    return model if model.costs_ == asked.given.matrix else model.with_costs(costs=asked.given.matrix)
