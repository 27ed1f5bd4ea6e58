"""What a model costs on a table with labels: the content of a report, for a terminal or a page."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from uneven.app.files.file_kinds import require_output, write_whole
from uneven.app.files.remarks import new_categories
from uneven.app.files.table import Table
from uneven.app.files.table_columns import read_target
from uneven.app.models.apply_model import (
    Application,
    Decisions,
    apply_model,
    can_move,
    in_training,
    name_by_likely_id,
    predict_positive,
    seen_in_words,
)
from uneven.app.models.candidates import CONSTANT_RULES, EVERYONE, NO_ONE
from uneven.app.models.compare_candidates import what_ifs
from uneven.app.models.written_costs import costs_by_name
from uneven.app.report.columns_in_money import ColumnWorth, columns_in_money, columns_in_words
from uneven.app.report.limit_costs import FurtherActions, LimitCost, capacity_costs, further_actions, limit_costs
from uneven.app.report.sentences import (
    WhatIf,
    capitalise,
    cheapest_in_words,
    first_line,
    probability_in_words,
    threshold_in_words,
    volume_in_words,
)
from uneven.costs import RowCosts, money
from uneven.metrics import CapacityCosts, CostEstimate, compare_predictions
from uneven.metrics.passing_costs import answer_with_costs
from uneven.tables.column_values import distinct_texts

OURS = "this model"
_FIRST = 10
#: New rows, of both classes, from which they are judged alone; with fewer, the comparison of the fit says more.
ENOUGH = 50
_QUICK = "it was fitted with --quick, without a comparison"


@dataclass(frozen=True)
class FlaggedRow:
    """A row that is flagged.

    Attributes
    ----------
    name : str
    is_positive : bool
    saved : float or None
        What flagging it is expected to save; None without probabilities.
    probability, threshold : float or None
    score : float
    """

    name: str
    is_positive: bool
    saved: float | None
    probability: float | None
    threshold: float
    score: float

    @property
    def cells(self) -> tuple[str, ...]:
        """For a table: the name, what is saved, probability and threshold; the score alone without probabilities."""
        if self.saved is None or self.probability is None:
            return self.name, f"{self.score:.3g}"
        chances = (probability_in_words(part) for part in (self.probability, self.threshold))
        return self.name, money(self.saved), *chances


@dataclass(frozen=True)
class Judgement:
    """What the model costs on some rows of the table.

    Attributes
    ----------
    decisions : Decisions
        About these rows.
    is_positive : ndarray of bool
    rows : list of CostEstimate
        Ours first, then the alternatives and the constant rules.
    what_ifs : list of WhatIf
    how : str
        Which rows they are, in words.
    """

    decisions: Decisions
    is_positive: np.ndarray
    rows: list[CostEstimate]
    what_ifs: list[WhatIf]
    how: str


class ShownReport(ABC):
    """How a report shows itself: in a notebook, as a file, or printed."""

    @abstractmethod
    def summary(self) -> str:
        """The answer in a few lines."""

    @abstractmethod
    def page(self) -> str:
        """The page."""

    def __repr__(self) -> str:
        return self.summary()

    def to_html(self, path: Any = None) -> str:
        """The page: one file that loads nothing from elsewhere; its figures need the extra ``plot``.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it; whole, or not at all.

        Returns
        -------
        str
            The page, or where it was written.
        """
        shown = self.page()
        if path is None:
            return shown
        require_output(str(path))
        write_whole(str(path), shown)
        return str(path)

    def _repr_html_(self) -> str:
        """For a notebook: the page in a frame, so that its style stays its own."""
        shown = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{shown}" style="width:100%;height:46rem;border:0" title="Report in money"></iframe>'


def not_known(about: dict[str, Any]) -> str:
    """That nobody knows what a model saves on new rows, and why."""
    lacking = about.get("lacking") or (
        "the comparison of the fit was at other costs" if about["comparison"] else _QUICK
    )
    return (
        "WARNING: it is not known what this model saves on new rows. This table has too few of them, and "
        f"{lacking}. Report on rows that were not in the training table."
    )


@dataclass(frozen=True, repr=False)
class Report(ShownReport):
    """What a model costs and saves, on rows that it has not seen: one object for notebook, page and command.

    In a notebook it shows itself; ``to_html`` writes the same page. Printed, it is its :meth:`summary`.

    Attributes
    ----------
    used : Application
        The model on the rows with a label.
    is_positive : ndarray of bool
    new : Judgement or None
        On the rows that were not in the training table; None if there are too few.
    known : Judgement or None
        On the rows that were in the training table, where a model looks better than it is; None if there are none.
    fitted : list of CostEstimate
        The comparison of the fit, ours first; empty if there was none, or if the costs are not those of the fit.
    how_moved : str
        What happens to the models at other costs.
    first : list of FlaggedRow
        The rows that it would flag first.
    seen : str
        A sentence if rows were in the training table; else "".
    unknowns : list of str
    pipeline : Pipeline
    capacity : CapacityCosts or None
        What every limit on flagged rows would have cost, on new rows; None without such rows or probabilities.
    further : FurtherActions or None
        What the further actions of the model did on the rows with a label.
    read_as : str
        What the rows are and how they were read, in words.
    rows_per_year : float or None
        The volume for which money is told as well.
    columns : list of ColumnWorth
        Which columns matter, the dearest first; empty if nobody looked.
    columns_how : str
        On which rows that was found, or why it was not.
    """

    used: Application
    is_positive: np.ndarray
    new: Judgement | None
    known: Judgement | None
    fitted: list[CostEstimate]
    how_moved: str
    first: list[FlaggedRow]
    seen: str
    unknowns: list[str]
    pipeline: Any
    capacity: CapacityCosts | None
    further: FurtherActions | None
    read_as: str = ""
    rows_per_year: float | None = None
    columns: list[ColumnWorth] = field(default_factory=list)
    columns_how: str = ""

    @property
    def unit(self) -> str | None:
        """The unit of the costs."""
        return self.used.given.unit

    @property
    def rows(self) -> list[CostEstimate]:
        """Costs on rows that no fit has seen, of this table or in the folds of the fit; empty if there are none."""
        return self.new.rows if self.new is not None else self.fitted

    @property
    def how(self) -> str:
        """Which rows the answer rests on, in words."""
        return self.new.how if self.new is not None else f"{self.used.about['compared']}, at the fit"

    @property
    def answer(self) -> str:
        """The first sentence: what the model saves on rows that it has not seen."""
        if self.rows:
            return first_line(self.rows, self.unit)
        return not_known(self.used.about)

    @property
    def volume(self) -> str:
        """What a year costs and saves; "" without ``rows_per_year``."""
        return volume_in_words(self.rows, self.unit, self.rows_per_year) if self.rows else ""

    @property
    def limits(self) -> list[LimitCost]:
        """What limits on flagged rows would have cost; empty if it is not known."""
        if self.capacity is None or self.new is None:
            return []
        new = self.new
        return limit_costs(self.capacity, new.decisions.said_positive, new.is_positive, new.rows[0].cost)

    # -- how it is shown ----------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """The answer in a few lines: money saved, money in a year, the cheapest model, the threshold, the columns."""
        used = self.used
        lines = [self.answer, self.volume, self.seen]
        if self.rows:
            lines += [f"{capitalise(cheapest_in_words(self.rows))} ({self.how}.)"]
        if not used.about.get("own_threshold"):
            known = used.decisions.probability is not None
            lines.append(threshold_in_words(used.decisions.threshold, has_probability=known))
        if self.columns and not self.seen:  # on rows of the fit columns look more useful than they are
            lines.append(f"Columns that matter most: {columns_in_words(self.columns, self.unit)}.")
        return "\n".join(line for line in lines if line)

    def page(self) -> str:
        """The page."""
        from uneven.app.report.pages import report_page

        return report_page(self, self.read_as)

    def to_dict(self) -> dict[str, Any]:
        """The same answers as plain data, for JSON."""
        used = self.used
        thresholds = [] if used.about.get("own_threshold") else np.unique(used.decisions.threshold[:]).tolist()
        return {
            "answer": self.answer,
            "unit": self.unit,
            "rows_per_year": self.rows_per_year,
            "year": self.volume,
            "on": self.how if self.rows else None,
            "rows": int(self.is_positive.size),
            "positives": int(self.is_positive.sum()),
            "seen": self.seen,
            "costs": [row.to_dict() for row in self.rows],
            "on_training_rows": [] if self.known is None else [row.to_dict() for row in self.known.rows],
            "threshold": thresholds[0] if len(thresholds) == 1 else None,
            "what_if": {
                what.label: [row.to_dict() for row in what.rows]
                for what in (self.new.what_ifs if self.new is not None else [])
            },
            "columns": [asdict(column) for column in self.columns],
            "limits": [asdict(limit) for limit in self.limits],
            "unknown": list(self.unknowns),
        }


def make_report(
    content: dict[str, Any],
    table: Table,
    id_column: str | None = None,
    changes: dict[str, str] | None = None,
    rows_per_year: float | None = None,
) -> Report:
    """The report of a model file on a table; rows without a label are left out."""
    about = content["about"]
    labels = read_target(table, about["target"], about["positive"], others_negative=about["others_negative"])
    labelled = table.rows(labels.known)
    used = name_by_likely_id(apply_model(content, labelled, id_column, changes), labelled)
    truth, pipeline = labels.is_positive, content["pipeline"]
    known = in_training(used.X, content["seen"])
    count = int((~known).sum())
    enough = not known.any() or (count >= ENOUGH and 0 < truth[~known].sum() < count)
    new = f"on the {count:,} rows that were not in the training table" if known.any() else "on this table"
    old = f"on the {int(known.sum()):,} rows of the training table, where the model looks better than it is"
    compared = [] if changes else about["comparison"]
    fitted = [CostEstimate(**{**row, "name": OURS} if k == 0 else row) for k, row in enumerate(compared)]
    news = new_categories(content["preprocessing"], used.X)
    moved, groups = can_move(pipeline), groups_of(labelled, about)
    told, shown = used.given.per_row or bool(changes), np.flatnonzero(~known) if enough else np.arange(truth.size)

    def decide(X: Any, rows: np.ndarray) -> np.ndarray:
        return predict_positive(pipeline, X, used.decisions.costs.take(shown[rows]), told=told)

    columns, columns_how = columns_in_money(
        decide, used.X.iloc[shown], truth[shown], used.decisions.costs.take(shown), learnt=not enough
    )
    return Report(
        used=used,
        is_positive=truth,
        new=_judge(content, used, truth, ~known, new, groups) if enough else None,
        known=_judge(content, used, truth, known, old, groups) if known.any() else None,
        fitted=fitted,
        how_moved="thresholds moved, nothing refitted" if moved else "the decisions stay, nothing refitted",
        first=flag_first(used.decisions, truth, _names(used, labelled)),
        seen=seen_in_words(known, consequence(count, enough, bool(fitted))),
        unknowns=list_unknowns(about, used.X, _few_rows(about, truth), int((~labels.known).sum()), news),
        pipeline=pipeline,
        capacity=capacity_costs(used.decisions.take(~known), truth[~known]) if enough else None,
        further=further_actions(content, used, labelled, truth),
        read_as=table.in_words(),
        rows_per_year=rows_per_year,
        columns=columns,
        columns_how=columns_how,
    )


def consequence(new: int, enough: bool, compared: bool) -> str:
    """What follows if rows were in the training table, and so many were not."""
    if enough:
        return f"the answer is that of the {new:,} others"
    few = f"; the {new:,} others are too few to judge by" if new else ""
    so = "the answer is that of the comparison at the fit" if compared else "they say little about new rows"
    return so + few


def groups_of(table: Table, about: dict[str, Any]) -> np.ndarray | None:
    """The group of each row, if the fit had groups and this table names them; a row without one is alone."""
    name = about.get("group")
    if name is None or name not in table.frame.columns:
        return None
    codes, names = distinct_texts(table.texts(name))
    return np.where(codes >= 0, codes, names.size + np.arange(codes.size))


def _judge(
    content: dict[str, Any],
    used: Application,
    truth: np.ndarray,
    which: np.ndarray,
    how: str,
    groups: np.ndarray | None,
) -> Judgement:
    """Compare on some of the rows."""
    pipeline, X, costs = content["pipeline"], used.X.iloc[np.flatnonzero(which)], used.decisions.costs.take(which)
    features, said = content["preprocessing"].transform(X), used.decisions.said_positive[which]
    group = None if groups is None else groups[which]
    rows = _compare(content, features, truth[which], costs, said, group)
    moved = can_move(pipeline)

    def compared_at(_: str, other: RowCosts) -> list[CostEstimate]:
        ours = predict_positive(pipeline, X, other, told=True) if moved else said
        return _compare(content, features, truth[which], other, ours, group)

    return Judgement(used.decisions.take(which), truth[which], rows, what_ifs(costs, rows, compared_at), how)


def _compare(
    content: dict[str, Any],
    features: Any,
    truth: np.ndarray,
    costs: RowCosts,
    ours: np.ndarray,
    groups: np.ndarray | None,
) -> list[CostEstimate]:
    """Costs on these rows, ours first, then by cost; the alternatives were fitted with the training table."""
    predictions = {OURS: ours.astype(int)}
    for name, model in content["rivals"].items():
        predictions[name] = answer_with_costs(model, "predict", features, costs)
    predictions |= {NO_ONE: np.zeros(truth.size, dtype=int), EVERYONE: np.ones(truth.size, dtype=int)}
    four = costs_by_name(costs)
    first, *others = compare_predictions(truth.astype(int), predictions, rules=CONSTANT_RULES, groups=groups, **four)
    return [first, *sorted(others, key=lambda row: row.cost)]


def _names(used: Application, table: Table) -> list[str]:
    if used.names is not None:
        return [str(value) for value in used.names[1].to_numpy()]
    return [f"row {number}" for number in table.frame.index.to_numpy() + 1]


def flag_first(found: Decisions, truth: np.ndarray, names: list[str]) -> list[FlaggedRow]:
    """The rows that are flagged first: those whose flag is expected to save most, or with the largest score."""
    gain = found.score if found.probability is None else found.saved
    flagged = np.flatnonzero(found.said_positive)
    order = flagged[np.argsort(-gain[flagged], kind="stable")][:_FIRST]
    return [
        FlaggedRow(
            names[k],
            bool(truth[k]),
            None if found.probability is None else float(gain[k]),
            None if found.probability is None else float(found.probability[k]),
            float(found.threshold[k]),
            float(found.score[k]),
        )
        for k in order
    ]


# -- what the model was not able to know -------------------------------------------------------------------------------


_FEW = 50  # rows of the rarer class
_SHOWN = 4


def list_unknowns(about: dict[str, Any], X: Any, rare: list[str], unlabelled: int, news: list[str]) -> list[str]:
    """What neither the training nor this table could tell.

    Parameters
    ----------
    about : dict
        What the model file says of the training.
    X : DataFrame
        The typed columns of the labelled rows.
    rare : list of str
        Sentences about classes with few rows.
    unlabelled : int
        Rows without a label.
    news : list of str
        Sentences about categories that training did not have.
    """
    found = [about["broken_promise"]] if about.get("broken_promise") else []
    found += rare
    if about["dropped"]:
        found.append(f"Left out at your wish: {_listed(about['dropped'])}.")
    for name, why in about["skipped"].items():
        found.append(f"Column {name!r} was not used: {why}.")
    found += news
    missing = {name: int(count) for name, count in X.isna().sum().items() if count}
    if missing:
        shown = _listed([f"{name} ({count:,})" for name, count in sorted(missing.items(), key=lambda item: -item[1])])
        found.append(f"Missing values were guessed: {shown}.")
    if unlabelled:
        found.append(f"{unlabelled:,} {_rows(unlabelled)} without a label: not in the costs.")
    if about.get("time"):
        found.append(
            f"Cross-validation tested later rows than it learnt from (column {about['time']!r}): what changes after "
            "its last rows is not in its costs."
        )
    elif any(column["role"] == "date" for column in about["columns"]):
        found.append("Cross-validation mixed earlier and later rows: a change over time is not in its costs.")
    else:
        found.append("No column with dates is used: whether things change over time cannot be seen.")
    return found


def _few_rows(about: dict[str, Any], is_positive: np.ndarray) -> list[str]:
    """Sentences if training or this table had few rows of one of two classes."""
    found = []
    fewest = min(about["positives"], about["rows"] - about["positives"])
    if fewest < _FEW:
        kind = "positive" if fewest == about["positives"] else "negative"
        found.append(
            f"Training had only {fewest} {kind} {_rows(fewest)}: the model is a rough guess, its intervals wide."
        )
    here = int(min(is_positive.sum(), (~is_positive).sum()))
    if here < _FEW:
        kind = "positive" if here == is_positive.sum() else "negative"
        found.append(f"This table has only {here} {kind} {_rows(here)}: a few decisions carry the result.")
    return found


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
