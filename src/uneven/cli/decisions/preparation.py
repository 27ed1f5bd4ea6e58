"""From a file and the options of ``uneven fit`` to rows that can be learnt from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uneven.cli.decisions.fitting import Training
from uneven.cli.decisions.given_costs import GivenCosts
from uneven.cli.decisions.wish import Wish
from uneven.learners.frames.size import MOST_CATEGORIES
from uneven.tables.columns import Plan, planned
from uneven.tables.matrix import typed
from uneven.tables.reading import Reading
from uneven.tables.size import require_memory
from uneven.tables.table import Table, read_table
from uneven.tables.target import Target, read_target


@dataclass(frozen=True)
class Question:
    """What is to be predicted, from which columns.

    Attributes
    ----------
    target, positive : str
    others_negative : bool
        Whether all other values of the target are negative.
    id_column : str or None
        The column that names the rows.
    drop, keep : tuple of str
        Columns to leave out, and to use though they look like an ID.
    """

    target: str
    positive: str
    others_negative: bool = False
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """A table that was read, and the training that is possible with it.

    Attributes
    ----------
    question : Question
    table : Table
    labels : Target
    plan : Plan
    training : Training
    width : int
        Columns of the matrix.
    cost_columns : list of str
        Columns that the costs need.
    """

    question: Question
    table: Table
    labels: Target
    plan: Plan
    training: Training
    width: int
    cost_columns: list[str]

    def about(self) -> dict[str, Any]:
        """What the model file says about the training, as plain data."""
        question, labels = self.question, self.labels
        return {
            "target": question.target,
            "positive": labels.positive,
            "negatives": labels.negatives,
            "others_negative": question.others_negative,
            "id": question.id_column,
            "costs": self.training.given.to_dict(),
            "columns": [column.to_dict() for column in self.plan.columns],
            "dropped": list(question.drop),
            "skipped": self.plan.skipped,
            "decimal": self.table.decimal,
            "rows": int(labels.is_positive.size),
            "positives": int(labels.is_positive.sum()),
        }


def prepared(data: str, reading: Reading, question: Question, given: GivenCosts, wish: Wish) -> Prepared:
    """Read the table; an error names what is wrong with it."""
    table = read_table(data, reading)
    labels = read_target(table, question.target, question.positive, others_negative=question.others_negative)
    labelled = table.rows(labels.known)
    cost_columns = given.columns(labelled, question.target)
    costs = given.of(labelled)
    dropped = [*question.drop, *([question.id_column] if question.id_column else [])]
    plan = planned(labelled, question.target, leave_out=dropped, keep=question.keep)
    X = typed(labelled, plan.columns)
    width = require_memory(X, MOST_CATEGORIES)
    training = Training(wish, given, costs, plan.columns, X, labels.is_positive)
    return Prepared(question, table, labels, plan, training, width, cost_columns)
