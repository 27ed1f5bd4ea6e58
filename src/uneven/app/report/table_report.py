"""What a model costs on a table with labels: the content of a report, for a terminal or a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.app.files.remarks import new_categories
from uneven.app.files.table import Table
from uneven.app.files.table_columns import read_target
from uneven.app.models.apply_model import (
    Application,
    apply_model,
    can_move,
    in_training,
    predict_positive,
    seen_in_words,
)
from uneven.app.models.candidates import CONSTANT_RULES, EVERYONE, NO_ONE
from uneven.app.models.compare_candidates import what_ifs
from uneven.app.models.written_costs import costs_by_name
from uneven.app.report.limit_costs import FurtherActions, capacity_costs, further_actions
from uneven.app.report.sentences import WhatIf, first_line, probability_in_words
from uneven.costs import RowCosts, money
from uneven.metrics import CapacityCosts, CostEstimate, compare_predictions
from uneven.metrics.passing_costs import answer_with_costs

OURS = "this model"
_FIRST = 10
#: New rows, of both classes, from which they are judged alone; with fewer, the comparison of the fit says more.
_ENOUGH = 50
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
    which : ndarray of bool
        Which of the rows with a label.
    rows : list of CostEstimate
        Ours first, then the alternatives and the constant rules.
    what_ifs : list of WhatIf
    how : str
        Which rows they are, in words.
    """

    which: np.ndarray
    rows: list[CostEstimate]
    what_ifs: list[WhatIf]
    how: str


@dataclass(frozen=True)
class Report:
    """Answers in money.

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
        lacking = "the comparison of the fit was at other costs" if self.used.about["comparison"] else _QUICK
        return (
            "WARNING: it is not known what this model saves on new rows. This table has too few of them, and "
            f"{lacking}. Report on rows that were not in the training table."
        )


def make_report(
    content: dict[str, Any], table: Table, id_column: str | None = None, changes: dict[str, str] | None = None
) -> Report:
    """The report of a model on a table; rows without a label are left out."""
    about = content["about"]
    labels = read_target(table, about["target"], about["positive"], others_negative=about["others_negative"])
    labelled = table.rows(labels.known)
    used = apply_model(content, labelled, id_column, changes)
    truth, pipeline = labels.is_positive, content["pipeline"]
    known = in_training(used.X, content["seen"])
    count = int((~known).sum())
    enough = not known.any() or (count >= _ENOUGH and 0 < truth[~known].sum() < count)
    new = f"on the {count:,} rows that were not in the training table" if known.any() else "on this table"
    old = f"on the {int(known.sum()):,} rows of the training table, where the model looks better than it is"
    compared = [] if changes else about["comparison"]
    fitted = [CostEstimate(**{**row, "name": OURS} if k == 0 else row) for k, row in enumerate(compared)]
    news = new_categories(content["preprocessing"], used.X)
    moved = can_move(pipeline)
    return Report(
        used=used,
        is_positive=truth,
        new=_judge(content, used, truth, ~known, new) if enough else None,
        known=_judge(content, used, truth, known, old) if known.any() else None,
        fitted=fitted,
        how_moved="thresholds moved, nothing refitted" if moved else "the decisions stay, nothing refitted",
        first=_first(used, labelled, truth),
        seen=seen_in_words(known, _consequence(count, enough, bool(fitted))),
        unknowns=list_unknowns(about, used.X, truth, int((~labels.known).sum()), news),
        pipeline=pipeline,
        capacity=capacity_costs(used, truth, ~known) if enough else None,
        further=further_actions(content, used, labelled, truth),
    )


def _consequence(new: int, enough: bool, compared: bool) -> str:
    """What follows if rows were in the training table, and so many were not."""
    if enough:
        return f"the answer is that of the {new:,} others"
    few = f"; the {new:,} others are too few to judge by" if new else ""
    so = "the answer is that of the comparison at the fit" if compared else "they say little about new rows"
    return so + few


def _judge(content: dict[str, Any], used: Application, truth: np.ndarray, which: np.ndarray, how: str) -> Judgement:
    """Compare on some of the rows."""
    pipeline, X, costs = content["pipeline"], used.X.iloc[np.flatnonzero(which)], used.decisions.costs.take(which)
    features, said = content["preprocessing"].transform(X), used.decisions.said_positive[which]
    rows = _compare(content, features, truth[which], costs, said)
    moved = can_move(pipeline)

    def compared_at(_: str, other: RowCosts) -> list[CostEstimate]:
        ours = predict_positive(pipeline, X, other, told=True) if moved else said
        return _compare(content, features, truth[which], other, ours)

    return Judgement(which, rows, what_ifs(costs, rows, compared_at), how)


def _compare(
    content: dict[str, Any], features: Any, truth: np.ndarray, costs: RowCosts, ours: np.ndarray
) -> list[CostEstimate]:
    """Costs on these rows, ours first, then by cost; the alternatives were fitted with the training table."""
    predictions = {OURS: ours.astype(int)}
    for name, model in content["rivals"].items():
        predictions[name] = answer_with_costs(model, "predict", features, costs)
    predictions |= {NO_ONE: np.zeros(truth.size, dtype=int), EVERYONE: np.ones(truth.size, dtype=int)}
    four = costs_by_name(costs)
    first, *others = compare_predictions(truth.astype(int), predictions, rules=CONSTANT_RULES, **four)
    return [first, *sorted(others, key=lambda row: row.cost)]


def _first(used: Application, table: Table, truth: np.ndarray) -> list[FlaggedRow]:
    found = used.decisions
    gain = found.score if found.probability is None else found.saved
    flagged = np.flatnonzero(found.said_positive)
    order = flagged[np.argsort(-gain[flagged], kind="stable")][:_FIRST]
    numbers = table.frame.index.to_numpy() + 1
    names = [f"row {number}" for number in numbers[order]]
    if used.names is not None:
        names = [str(value) for value in used.names[1].to_numpy()[order]]
    return [
        FlaggedRow(
            name,
            bool(truth[k]),
            None if found.probability is None else float(gain[k]),
            None if found.probability is None else float(found.probability[k]),
            float(found.threshold[k]),
            float(found.score[k]),
        )
        for name, k in zip(names, order, strict=True)
    ]


# -- what the model was not able to know -------------------------------------------------------------------------------


_FEW = 50  # rows of the rarer class
_SHOWN = 4


def list_unknowns(
    about: dict[str, Any], X: Any, is_positive: np.ndarray, unlabelled: int, news: list[str]
) -> list[str]:
    """What neither the training nor this table could tell.

    Parameters
    ----------
    about : dict
        What the model file says of the training.
    X : DataFrame
        The typed columns of the labelled rows.
    is_positive : ndarray of bool
    unlabelled : int
        Rows without a label.
    news : list of str
        Sentences about categories that training did not have.
    """
    found = [about["broken_promise"]] if about.get("broken_promise") else []
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
    if any(column["role"] == "date" for column in about["columns"]):
        found.append("Cross-validation mixed earlier and later rows: a change over time is not in its costs.")
    else:
        found.append("No column with dates is used: whether things change over time cannot be seen.")
    return found


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
