"""What a model of several classes costs and saves: the content of its report, for a terminal, a page or a notebook."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from uneven.app.files.remarks import new_categories
from uneven.app.files.table import Table
from uneven.app.files.table_columns import read_classes
from uneven.app.models.apply_classes import apply_to_classes
from uneven.app.models.apply_model import in_training, seen_in_words
from uneven.app.models.candidates import ALWAYS, is_rule
from uneven.app.models.class_candidates import LIKELIEST, actions_of_classes
from uneven.app.models.compare_candidates import cost_estimates, paid
from uneven.app.models.written_matrix import WrittenMatrix
from uneven.app.report.columns_in_money import ColumnWorth, columns_in_money, columns_in_words
from uneven.app.report.sentences import (
    capitalise,
    cheapest_in_words,
    first_line,
    likeliest_in_words,
    never_chosen_in_words,
    per_thousand,
    volume_in_words,
)
from uneven.app.report.table_report import (
    ENOUGH,
    OURS,
    ShownReport,
    consequence,
    groups_of,
    list_unknowns,
    not_known,
)
from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.matrix_table import MatrixTable
from uneven.metrics.matrix_estimates import MatrixCostEstimate

#: Rows of a class below which it is named among what is not known.
_FEW = 20


@dataclass(frozen=True, repr=False)
class ClassReport(ShownReport):
    """What a model of several classes costs and saves, on rows that it has not seen.

    In a notebook it shows itself; ``to_html`` writes the same page. Printed, it is its :meth:`summary`.

    Attributes
    ----------
    about : dict
        What is known of the training.
    given : WrittenMatrix
    truth : ndarray of int
        The number of the class of each row with a label.
    rows : list of MatrixCostEstimate
        Costs on rows that no fit has seen, ours first: of this table, out of fold, or in the folds of the fit; empty if
        there are none.
    how : str
        Which rows these are, in words.
    known : list of MatrixCostEstimate
        Costs on rows that the model has learnt from, where it looks better than it is.
    known_how : str
    seen : str
        A sentence if rows were in the training table; else "".
    unknowns : list of str
    guarantee : str
        What is guaranteed, or why nothing is.
    pipeline : Pipeline
    read_as : str
        What the rows are and how they were read, in words.
    rows_per_year : float or None
        The volume for which money is told as well.
    columns : list of ColumnWorth
        Which columns matter, the dearest first; empty if nobody looked.
    columns_how : str
    """

    about: dict[str, Any]
    given: WrittenMatrix
    truth: np.ndarray
    rows: list[MatrixCostEstimate]
    how: str
    known: list[MatrixCostEstimate]
    known_how: str
    seen: str
    unknowns: list[str]
    guarantee: str
    pipeline: Any
    read_as: str = ""
    rows_per_year: float | None = None
    columns: list[ColumnWorth] = field(default_factory=list)
    columns_how: str = ""

    @property
    def matrix(self) -> CostMatrix:
        """The costs."""
        return self.given.matrix

    @property
    def unit(self) -> str | None:
        """The unit of the costs."""
        return self.given.unit

    @property
    def answer(self) -> str:
        """The first sentence: what the model saves on rows that it has not seen."""
        rows: Any = self.rows
        return first_line(rows, self.unit) if rows else not_known(self.about)

    @property
    def likeliest(self) -> str:
        """What the likeliest class costs in place of the cheapest decision; "" if it is not known."""
        rows: Any = self.rows
        return likeliest_in_words(rows, self.unit) if rows else ""

    @property
    def volume(self) -> str:
        """What a year costs and saves; "" without ``rows_per_year``."""
        rows: Any = self.rows
        return volume_in_words(rows, self.unit, self.rows_per_year) if rows else ""

    @property
    def counts_in_words(self) -> str:
        """How many rows each class has."""
        counts = np.bincount(self.truth, minlength=len(self.matrix.classes))
        shown = ", ".join(f"{label} ({count:,})" for label, count in zip(self.matrix.classes, counts, strict=True))
        return f"{self.truth.size:,} rows with a label: {shown}."

    @property
    def judged(self) -> MatrixCostEstimate:
        """Ours, on rows that no fit has seen, or on known ones if there are no others."""
        return (self.rows or self.known)[0]

    @property
    def compared(self) -> tuple[list[MatrixCostEstimate], str]:
        """The costs without models that have the numbers of an earlier one, and a sentence about these; else ""."""
        kept: dict[tuple[Any, ...], MatrixCostEstimate] = {}
        same = []
        for row in sorted(self.rows, key=lambda row: not row.name.startswith(OURS)):  # ours stay, whatever is alike
            twin = kept.setdefault((row.cost, row.low, row.high, row.counts.tobytes(), is_rule(row.name)), row)
            if twin is not row:
                same.append(f"{row.name} has the numbers of {twin.name}")
        left = {id(row) for row in kept.values()}
        told = f"{capitalise('; '.join(same))}." if same else ""
        return [row for row in self.rows if id(row) in left], told

    @property
    def shown_on(self) -> str:
        """On which rows the decisions that are shown were made."""
        return self.how if self.rows else self.known_how

    # -- how it is shown ----------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """The answer in a few lines: money saved, against the likeliest class, the cheapest model, the columns."""
        rows: Any = self.compared[0]
        lines = [self.answer, self.likeliest, self.volume, self.seen]
        if rows:
            lines.append(f"{capitalise(cheapest_in_words(rows))} ({self.how}.)")
        lines.append(never_chosen_in_words(self.judged.counts, self.matrix))
        if self.columns and not self.seen:  # on rows of the fit columns look more useful than they are
            lines.append(f"Columns that matter most: {columns_in_words(self.columns, self.unit)}.")
        return "\n".join(line for line in lines if line)

    def page(self) -> str:
        """The page."""
        from uneven.app.report.class_page import class_report_page

        return class_report_page(self)

    def to_dict(self) -> dict[str, Any]:
        """The same answers as plain data, for JSON."""
        return {
            "answer": self.answer,
            "likeliest": self.likeliest,
            "unit": self.unit,
            "rows_per_year": self.rows_per_year,
            "year": self.volume,
            "on": self.how if self.rows else None,
            "rows": int(self.truth.size),
            "classes": list(self.matrix.classes),
            "actions": list(self.matrix.actions),
            "matrix": self.matrix.costs.tolist(),
            "seen": self.seen,
            "costs": [row.to_dict() for row in self.rows],
            "on_training_rows": [row.to_dict() for row in self.known],
            "by_class": [dict(zip(CLASS_HEADER, row, strict=True)) for row in class_cells(self.judged, self.matrix)],
            "guarantee": self.guarantee,
            "columns": [asdict(column) for column in self.columns],
            "unknown": list(self.unknowns),
        }


#: The columns of :func:`class_cells`.
CLASS_HEADER = ("class", "rows", "decided cheapest", "most often decided", "cost in all", "cost per 1,000 of them")


def class_cells(one: MatrixCostEstimate, matrix: CostMatrix) -> list[list[str]]:
    """For each class: its rows, how often it got a cheapest decision, the most frequent one, and its costs."""
    cells = []
    least = matrix.costs.min(axis=1, keepdims=True)
    for label, counts, costs, right in zip(
        matrix.classes, one.counts, matrix.costs, matrix.costs <= least, strict=True
    ):
        total = float(counts.sum())
        if not total:
            cells.append([str(label), "0", "", "", "", ""])
            continue
        cost = float(counts @ costs)
        often = int(counts.argmax())
        cells.append(
            [
                str(label),
                f"{total:,g}",
                f"{counts[right].sum() / total:.1%}",
                f"{matrix.actions[often]} ({counts[often] / total:.0%})",
                money(cost),
                per_thousand(cost / total),
            ]
        )
    return cells


def guarantee_in_words(learner: Any) -> str:
    """What a learner guarantees for new rows, or why nothing."""
    try:
        found: str = learner.guarantee_.in_words()
    except AttributeError as error:
        known = str(error) if "guarantee for this fit" in str(error) else "this learner gives no guarantee"
        return f"Nothing. {capitalise(known)}."
    return found


def compare_on_rows(
    matrix: CostMatrix, truth: np.ndarray, found: MatrixTable, others: dict[str, np.ndarray], groups: Any = None
) -> list[MatrixCostEstimate]:
    """Costs on some rows, ours first, then by cost: others, our likeliest class, and the cheapest constant decision.

    A model that always takes its likeliest class is compared with the cheapest decision at its probabilities instead.
    ``others`` are the numbers of their actions.
    """
    likeliest = actions_of_classes(matrix)[found.probability.argmax(axis=1)]
    said = {OURS: found.choice, f"{OURS}{LIKELIEST}": likeliest}
    if (likeliest == found.choice).all():
        said = {OURS: found.choice, f"{OURS}, cheapest decision": found.expected_costs.argmin(axis=1)}
    said |= others
    every = [float(paid(matrix, truth, np.full(truth.size, k)).mean()) for k in range(len(matrix.actions))]
    best = int(np.argmin(every))
    said[f"{ALWAYS}{matrix.actions[best]}"] = np.full(truth.size, best)
    taken = {name: part[None] for name, part in said.items()}
    first, *rest = cost_estimates(matrix, truth, taken, groups=groups)
    return [first, *sorted(rest, key=lambda row: row.cost)]


def take_rows(found: MatrixTable, rows: np.ndarray) -> MatrixTable:
    """Decisions about some rows."""
    return MatrixTable(found.probability[rows], found.choice[rows], found.costs)


def rare_classes(counts: dict[Any, int], where: str) -> list[str]:
    """A sentence about classes with few rows."""
    few = [f"{label} ({count:,})" for label, count in counts.items() if count < _FEW]
    if not few:
        return []
    return [f"{where} few rows of some classes, {', '.join(few)}: what is said of them is a rough guess."]


def make_class_report(
    content: dict[str, Any], table: Table, id_column: str | None = None, rows_per_year: float | None = None
) -> ClassReport:
    """The report of a model file of several classes on a table; rows without a label are left out."""
    about, pipeline = content["about"], content["pipeline"]
    labels = read_classes(table, about["target"])
    labelled = table.rows(labels.known)
    used = apply_to_classes(content, labelled, id_column)
    matrix, found = used.given.matrix, used.decisions
    truth = used.given.number(labels, about["target"])
    known = in_training(used.X, content["seen"])
    count = int((~known).sum())
    enough = not known.any() or (count >= ENOUGH and np.unique(truth[~known]).size > 1)
    features, groups = content["preprocessing"].transform(used.X), groups_of(labelled, about)
    rivals = {
        name: matrix.number_actions("predictions", rival.predict(features)) for name, rival in content["rivals"].items()
    }

    def judge(which: np.ndarray) -> list[MatrixCostEstimate]:
        there = {name: said[which] for name, said in rivals.items()}
        group = None if groups is None else groups[which]
        return compare_on_rows(matrix, truth[which], take_rows(found, which), there, group)

    new = f"on the {count:,} rows that were not in the training table" if known.any() else "on this table"
    rows, how = judge(np.flatnonzero(~known)) if enough else _ours_first(about), new
    if not enough:
        how = f"{about['compared']}, at the fit"
    shown = np.flatnonzero(~known) if enough else np.arange(truth.size)

    def decide(X: Any, _: np.ndarray) -> np.ndarray:
        return matrix.number_actions("predictions", pipeline.predict(X))

    columns, columns_how = columns_in_money(decide, used.X.iloc[shown], truth[shown], matrix, learnt=not enough)
    here = dict(zip(matrix.classes, np.bincount(truth, minlength=len(matrix.classes)).tolist(), strict=True))
    rare = [*rare_classes(about["classes"], "Training had"), *rare_classes(here, "This table has")]
    news = new_categories(content["preprocessing"], used.X)
    return ClassReport(
        about=about,
        given=used.given,
        truth=truth,
        rows=rows,
        how=how,
        known=judge(np.flatnonzero(known)) if known.any() else [],
        known_how=f"on the {int(known.sum()):,} rows of the training table, where the model looks better than it is",
        seen=seen_in_words(known, consequence(count, enough, bool(rows))),
        unknowns=list_unknowns(about, used.X, rare, int((~labels.known).sum()), news),
        guarantee=guarantee_in_words(pipeline[-1]),
        pipeline=pipeline,
        read_as=table.in_words(),
        rows_per_year=rows_per_year,
        columns=columns,
        columns_how=columns_how,
    )


def fitted_rows(about: dict[str, Any]) -> list[MatrixCostEstimate]:
    """The comparison of the fit; empty if there was none."""
    return [MatrixCostEstimate(**{**row, "counts": np.array(row["counts"])}) for row in about["comparison"]]


def _ours_first(about: dict[str, Any]) -> list[MatrixCostEstimate]:
    """The same with our names in a report."""
    rows = fitted_rows(about)
    if not rows:
        return []
    ours = rows[0].name
    names = {ours: OURS, f"{ours}{LIKELIEST}": f"{OURS}{LIKELIEST}"}
    return [MatrixCostEstimate(**{**vars(row), "name": names.get(row.name, row.name)}) for row in rows]
