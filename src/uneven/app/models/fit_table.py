"""The work of ``uneven fit``: from a file and options to rows, then compare, choose, and fit to all rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from uneven.app.files.file_kinds import file_hash
from uneven.app.files.remarks import leaking_columns, repeated_ids
from uneven.app.files.table import Table, read_table
from uneven.app.files.table_columns import (
    ClassTarget,
    Plan,
    Target,
    plan_columns,
    read_classes,
    read_target,
    require_memory,
    type_columns,
)
from uneven.app.files.table_formats import Reading
from uneven.app.models.candidates import ALTERNATIVES, AUTO, AskedLearner, Candidate, candidates, is_rule, savable
from uneven.app.models.class_candidates import CLASS_ALTERNATIVES, class_candidates, require_for_classes
from uneven.app.models.compare_candidates import (
    FoldColumns,
    Outcome,
    Progress,
    Rows,
    compare_on_folds,
)
from uneven.app.models.kept_promises import RandomClaim, broken_promise, dates_in_words, order_in_words, random_claim
from uneven.app.models.row_reasons import keep_background
from uneven.app.models.written_costs import WrittenCosts, mean_regrets
from uneven.app.models.written_matrix import WrittenMatrix
from uneven.app.report.sentences import threshold_in_words
from uneven.costs import RowCosts
from uneven.decisions.alpha import probability_thresholds
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import UnevenError
from uneven.labels import read_groups
from uneven.learners.ensemble.members import FAMILIES
from uneven.metrics import CostEstimate
from uneven.solvers.running import listening
from uneven.tables import FrameEncoder
from uneven.tables.category_columns import MOST_CATEGORIES
from uneven.tables.columns import DATE, Column
from uneven.tables.times import read_times

#: Folds of a comparison with ensembles, by the largest number of rows; above the last, one split.
_FOLDS = {1000: 5, 20_000: 3}
#: Folds without ensembles, and rows up to which there are two repeats.
_QUICK_FOLDS, _TWICE = 5, 20_000
#: Of a time limit, for the fits of ensembles; the rest is for everything else.
_FOR_ENSEMBLES = 0.9
_PAYS = "Flagging a row pays"


@dataclass(frozen=True)
class Training:
    """A table with labels and costs, and the classifier that was asked for.

    Attributes
    ----------
    asked : AskedLearner
    given : WrittenCosts or WrittenMatrix
    costs : RowCosts or CostMatrix
    columns : list of Column
    X : DataFrame
    truth : ndarray of bool, or of int
        Whether each row is positive, or the number of its class in the cost matrix.
    by : FoldColumns or None
        What folds look at; None: they are shuffled.
    """

    asked: AskedLearner
    given: WrittenCosts | WrittenMatrix
    costs: Any
    columns: list[Column]
    X: Any
    truth: np.ndarray
    by: FoldColumns | None = None

    def __post_init__(self) -> None:
        if isinstance(self.costs, CostMatrix):
            require_for_classes(self.asked)
        else:
            mean_regrets(self.costs)  # an error if there is nothing to decide

    @property
    def is_positive(self) -> np.ndarray:
        """The truth of two classes."""
        return self.truth

    def plan_in_words(self, cost_columns: list[str]) -> list[str]:
        """What the outcomes cost, how costs of rows will be used, and what the ensemble is made of."""
        if isinstance(self.given, WrittenMatrix):
            return [self.given.in_words(self.costs), *self.given.remarks(), *self._members_in_words()]
        found = [self.given.in_words(self.costs)]
        used = [column.name for column in self.columns]
        for name in cost_columns:
            if name in used:
                option = f'--drop "{name}"' if " " in name else f"--drop {name}"
                found.append(f"Column {name!r} is used for costs and for prediction; {option} keeps it for costs only.")
        return [*found, *self._decisions_in_words(self.costs), *self._members_in_words()]

    def _members_in_words(self) -> list[str]:
        if not self.asked.has_ensemble:
            return []
        return [*_members_in_words(self.asked.members), *_monotone_in_words(self.asked.monotone, self.asked.members)]

    def _decisions_in_words(self, costs: RowCosts) -> list[str]:
        known, threshold = self.asked.has_probabilities, probability_thresholds(*costs.thresholds())
        if not self.given.per_row:
            return [threshold_in_words(threshold, has_probability=known, action=_PAYS)]
        found = []
        turned = int((costs.regrets(self.truth) < 0).sum())
        if turned:
            found.append(f"In {turned:,} of {costs.count:,} rows the mistake costs less than the right decision.")
        if self.asked.tune and self.asked.kind != AUTO:
            return [*found, "Costs differ by row: learning with them and deciding by them are both tried."]
        if known:
            found.append("Costs differ by row: each row is decided by its own.")
            return [*found, threshold_in_words(threshold, action=_PAYS)]
        return [
            *found,
            "Costs differ by row: the rows are weighted by them, because this loss has no probabilities to decide each "
            "row by.",
        ]

    def compare(self, progress: Progress) -> Outcome:
        """All candidates on the same folds."""
        repeats = 1 if self.asked.has_ensemble or self.truth.size > _TWICE else 2
        how: dict[str, Any] = {"folds": self._folds, "repeats": repeats, "limit": self.asked.time_limit}
        return compare_on_folds(self._rows, self._candidates(), self._preprocessing(), progress, **how)

    @property
    def work_in_words(self) -> str:
        """What a comparison with ensembles has to fit, and the shorter ways; "" without ensembles, which is quick."""
        if not self.asked.has_ensemble:
            return ""
        folds = min(self._folds, int(np.unique(self.truth, return_counts=True)[1].min()))
        folds = folds if self.by is None else self.by.fits(self._folds)
        where = "once to three quarters of the rows" if folds == 1 else f"in {folds} folds"
        chosen = " if it is the cheapest" if self.asked.kind == AUTO else ""
        shorter = ["--quick (only the ensemble, judged by its own folds)"]
        shorter += [] if self.asked.members else ["--members linear,extra_trees"]
        shorter += [] if self.asked.time_limit else ["--time-limit 60"]
        rules = [is_rule(candidate.name) for candidate in self._candidates()]
        models = rules.count(False)
        return (
            f"Comparing {models} {'model' if models == 1 else 'models'} and {rules.count(True)} constant "
            f"rules: an ensemble of several learners is fitted {where}, and to all rows{chosen}. After its first fits "
            f"you see the time left. Shorter: {' or '.join(shorter)}."
        )

    def random_claim(self, outcome: Outcome, name: str, progress: Progress) -> RandomClaim | None:
        """What random folds would have claimed for a candidate; None if the folds are random."""
        if self.by is None:
            return None
        chosen = next(candidate for candidate in self._candidates() if candidate.name == name)
        return random_claim(self._rows, outcome, chosen, self._preprocessing(), progress, self._folds)

    def cheapest(self, outcome: Outcome) -> str:
        """The name of the cheapest candidate that may be saved."""
        return outcome.cheapest([candidate.name for candidate in savable(self.asked, self._candidates())])

    @property
    def first_choice(self) -> str:
        """The name of what is fitted if nothing is compared."""
        return self._candidates()[-1].name

    def fit(self, name: str, progress: Progress) -> Any:
        """The pipeline of a candidate, fitted to all rows."""
        chosen = next(candidate for candidate in self._candidates() if candidate.name == name)

        def hear(learner: str, words: str, share: float) -> None:
            progress(f"fitting {name} to all rows: {words}", share, detail=True)

        with listening(hear):
            return self._rows.fit(chosen, self.costs, self._preprocessing())

    def broken_promise(self, shown: CostEstimate, pipeline: Any) -> str:
        """A warning if the fitted pipeline does not cost what the comparison showed; else "".

        Out of time it may well not: the comparison is about later rows than the model's own folds and its training.
        """
        if self.by is not None and self.by.time is not None:
            return ""
        return broken_promise(shown, pipeline, self._rows, self.given.unit)

    def order_in_words(self, *, quick: bool) -> str:
        """A sentence if later rows cost more than shuffled folds say; else "". Quick: nothing is fitted to know it."""
        if quick or (self.by is not None and self.by.time is not None):
            return ""
        return order_in_words(self._rows, self._preprocessing(), self.given.unit)

    @property
    def dates_in_words(self) -> str:
        """A sentence if there are dates that the folds do not look at; else "". It needs no fit."""
        if self.by is not None and self.by.time is not None:
            return ""
        return dates_in_words([column.name for column in self.columns if column.role == DATE])

    def fit_alternatives(self, name: str, pipeline: Any, *, quick: bool) -> tuple[Any, dict[str, Any]]:
        """The preprocessing, and the usual alternatives behind it but the named one, all fitted; none if ``quick``."""
        first = pipeline[0] if pipeline[0] != "passthrough" else self._preprocessing().fit(self.X)
        if quick:
            return first, {}
        features, y = first.transform(self.X), self._rows.labels
        usual = (c for c in self._candidates() if c.name in (*ALTERNATIVES, *CLASS_ALTERNATIVES))
        return first, {c.name: c.new(self.costs).fit(features, y) for c in usual if c.name != name}

    @property
    def _rows(self) -> Rows:
        return Rows(self.X, self.truth, self.costs, self.given.per_row, self.by)

    @property
    def _folds(self) -> int:
        if not self.asked.has_ensemble:
            return _QUICK_FOLDS
        return next((folds for most, folds in _FOLDS.items() if self.truth.size <= most), 1)

    def _candidates(self) -> list[Candidate]:
        limit = self.asked.time_limit
        fits = self._folds + 1 if self.by is None else self.by.fits(self._folds) + self._folds + 1
        seconds = None if limit is None else _FOR_ENSEMBLES * limit / fits
        if isinstance(self.given, WrittenMatrix):
            return class_candidates(self.asked, self.given.matrix, seconds)
        return candidates(self.asked, self.given, self.costs, seconds)

    def _preprocessing(self) -> Any:
        return FrameEncoder(view="linear")


def _members_in_words(members: tuple[str, ...]) -> list[str]:
    """What an ensemble would also use if it were installed."""
    absent = [name for name, family in FAMILIES.items() if not (members or family.installed or family.instead_of)]
    if not absent:
        return []
    return [
        f"The ensemble would also use {' and '.join(absent)}, if installed: pip install 'uneven[{','.join(absent)}]'."
    ]


def _monotone_in_words(monotone: tuple[tuple[str, int], ...], members: tuple[str, ...]) -> list[str]:
    """What a user asked the probability to do, and which members cannot."""
    if not monotone:
        return []
    asked = [f"only {'rises' if sign > 0 else 'falls'} with {name!r}" for name, sign in monotone]
    unable = [name for name, family in FAMILIES.items() if not family.monotone and (not members or name in members)]
    left = f" Members that cannot keep this are left out: {', '.join(unable)}." if unable else ""
    return [f"The probability {' and '.join(asked)}, all else equal: only the ensemble is fitted for it.{left}"]


# -- from a file and options to rows -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """What is to be predicted, from which columns.

    Attributes
    ----------
    target : str
    positive : str or None
        None with several classes.
    others_negative : bool
        Whether all other values of the target are negative.
    id_column : str or None
        The column that names the rows.
    drop, keep : tuple of str
        Columns to leave out, and to use though they look like an ID, or are the time.
    time, group : str or None
        Columns that folds look at: models are tested on later rows, and on rows of other groups.
    """

    target: str
    positive: str | None = None
    others_negative: bool = False
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    time: str | None = None
    group: str | None = None

    @property
    def unused(self) -> list[str]:
        """Columns that are not for prediction: those that name rows or groups, and the time unless it is kept."""
        names = [self.id_column, self.group, None if self.time in self.keep else self.time]
        return [*self.drop, *(name for name in names if name is not None)]

    def require_fold_columns(self) -> None:
        """Raise if the columns of time and group are not two that the folds can look at."""
        for option, name in (("--time", self.time), ("--group", self.group)):
            if name is not None and name == self.target:
                raise UnevenError(f"{option} {name!r} is the column to predict; name another one")
        if self.time is not None and self.time == self.group:
            raise UnevenError(f"--time and --group both name {self.time!r}; name two columns, or leave one out")
        if self.group is not None and self.group in self.keep:
            raise UnevenError(
                f"--keep {self.group!r} would use the group for prediction, and new groups have other values; leave it "
                "out"
            )


@dataclass(frozen=True)
class Prepared:
    """A table that was read, and the training that is possible with it.

    Attributes
    ----------
    question : Question
    table : Table
    labels : Target or ClassTarget
    plan : Plan
    training : Training
    width : int
        Columns of the matrix.
    cost_columns : list of str
        Columns that the costs need.
    notes : list of str
        Sentences about rows that were left out, and about IDs that occur more than once.
    """

    question: Question
    table: Table
    labels: Any
    plan: Plan
    training: Training
    width: int
    cost_columns: list[str]
    notes: list[str]

    @cached_property
    def leaks(self) -> dict[str, str]:
        """Columns that may give the target away, and what each tells about it."""
        return leaking_columns(self.training.X, self.labels)

    def about(self) -> dict[str, Any]:
        """What the model file says about the training, as plain data."""
        question, labels, X = self.question, self.labels, self.training.X
        if isinstance(labels, ClassTarget):
            said: dict[str, Any] = {"classes": labels.by_class}
        else:
            said = {
                "positive": labels.positive,
                "negatives": labels.negatives,
                "others_negative": question.others_negative,
                "positives": int(labels.is_positive.sum()),
                "background": keep_background(X, self.plan.columns),
            }
        return {
            "target": question.target,
            **said,
            "id": question.id_column,
            "costs": self.training.given.to_dict(),
            "columns": [column.to_dict() for column in self.plan.columns],
            "dropped": list(question.drop),
            "time": question.time,
            "group": question.group,
            "skipped": self.plan.skipped,
            "decimal": self.table.decimal,
            "rows": int(self.training.truth.size),
            "missing": dict(zip(X.columns, X.isna().to_numpy().sum(axis=0).tolist(), strict=True)),
            "unlabelled": int((~labels.known).sum()),
            "leaks": self.leaks,
            "table": {"name": Path(self.table.path).name, "sha256": file_hash(self.table.path)},
        }


def prepare(
    data: str,
    reading: Reading,
    question: Question,
    given: WrittenCosts | WrittenMatrix,
    asked: AskedLearner,
    *,
    skip_bad_costs: bool = False,
) -> Prepared:
    """Read the table; an error names what is wrong with it. Skip: leave rows out whose costs are not known."""
    return prepare_table(read_table(data, reading), question, given, asked, skip_bad_costs=skip_bad_costs)


def prepare_table(
    table: Table,
    question: Question,
    given: WrittenCosts | WrittenMatrix,
    asked: AskedLearner,
    *,
    skip_bad_costs: bool = False,
) -> Prepared:
    """What can be learnt from a table that was read."""
    question.require_fold_columns()
    cost_columns = given.columns(table, question.target)
    notes: list[str] = []
    labels: Target | ClassTarget
    if isinstance(given, WrittenMatrix):
        require_for_classes(asked)
        labels = read_classes(table, question.target)
        given, notes = given.for_labels(question.target, labels.by_class)
        truth = given.number(labels, question.target)
    else:
        if skip_bad_costs:
            table, skipped = given.skip_unknown(table)
            notes = [skipped]
        assert question.positive is not None
        labels = read_target(table, question.target, question.positive, others_negative=question.others_negative)
        if labels.positive != question.positive.strip():
            notes.append(f"--positive {question.positive!r}: column {question.target!r} writes it {labels.positive!r}.")
        truth = labels.is_positive
    labelled = table.rows(labels.known)
    costs = given.of(labelled)
    plan = plan_columns(labelled, question.target, leave_out=question.unused, keep=question.keep)
    by = _fold_columns(labelled, question)
    asked.require_columns(plan.columns)
    X = type_columns(labelled, plan.columns)
    width = require_memory(X, MOST_CATEGORIES)
    training = Training(asked, given, costs, plan.columns, X, truth, by)
    again = repeated_ids(labelled, question.id_column)
    advice = " If these are the same case, keep one row of each: copies in training and test make a model look cheaper."
    if question.group is not None:
        advice = ""
    notes += [again + advice if again else "", *_folds_in_words(question, by)]
    return Prepared(question, table, labels, plan, training, width, cost_columns, [note for note in notes if note])


def _fold_columns(table: Table, question: Question) -> FoldColumns | None:
    """The times and groups of the rows; an error names the column if they do not make folds."""
    if question.time is None and question.group is None:
        return None
    times = groups = None
    if question.time is not None:
        name, decimal = f"column {question.time!r}", table.decimals.get(question.time, table.decimal)
        times = read_times(_values(table, question.time), name, day_first=table.reading.day_first, decimal=decimal)
    if question.group is not None:
        groups = read_groups(_values(table, question.group), f"column {question.group!r}")
    return FoldColumns(question.time, question.group, times, groups)


def _values(table: Table, name: str) -> Any:
    """A column as it is typed, or its texts."""
    dtype = table.types[name]
    typed = getattr(dtype, "kind", "O") in "biufMm" or getattr(dtype, "ordered", False)
    return table.frame[name] if typed else table.texts(name).to_pylist()


def _folds_in_words(question: Question, by: FoldColumns | None) -> list[str]:
    """What the folds look at, and whether that is used for prediction."""
    found = []
    if by is not None and by.times is not None:
        used = (
            f"It is used for prediction too, because of --keep {question.time}."
            if question.time in question.keep
            else f"It is not used for prediction; --keep {question.time} would use it."
        )
        found.append(
            f"Column {by.time!r} is the time, with {int(by.times.max()) + 1:,} different values: models are tested on "
            f"later rows than they learnt from. {used}"
        )
    if by is not None and by.groups is not None:
        found.append(
            f"Column {by.group!r} names {int(by.groups.max()) + 1:,} groups: no model is tested on a group that it "
            "learnt from, and intervals count groups, not rows. It is not used for prediction."
        )
    return found
