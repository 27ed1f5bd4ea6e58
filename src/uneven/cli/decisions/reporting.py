"""What a model costs on a table with labels: the content of a report, for a terminal or a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.cli.decisions.answers import WhatIf
from uneven.cli.decisions.application import Application, applied
from uneven.cli.decisions.candidates import EVERYONE, NO_ONE
from uneven.cli.decisions.contest import what_ifs
from uneven.cli.decisions.decided import can_move, said_positive
from uneven.cli.decisions.given_costs import four
from uneven.cli.decisions.seen_rows import seen, seen_in_words
from uneven.cli.decisions.unknowns import unknowns
from uneven.costs import RowCosts
from uneven.metrics import CostEstimate, compare_predictions
from uneven.metrics.passing_costs import answer_with_costs
from uneven.tables.remarks import new_categories
from uneven.tables.table import Table
from uneven.tables.target import read_target

OURS = "this model"
_FIRST = 10


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


@dataclass(frozen=True)
class Report:
    """Answers in money.

    Attributes
    ----------
    used : Application
        The model on the rows with a label.
    is_positive : ndarray of bool
    rows : list of CostEstimate
        Ours first, then the alternatives and the constant rules.
    what_ifs : list of WhatIf
    how_moved : str
        What happens to the models at other costs.
    first : list of FlaggedRow
        The rows that it would flag first.
    seen : str
        A sentence if rows were in the training table; else "".
    unknowns : list of str
    pipeline : Pipeline
    """

    used: Application
    is_positive: np.ndarray
    rows: list[CostEstimate]
    what_ifs: list[WhatIf]
    how_moved: str
    first: list[FlaggedRow]
    seen: str
    unknowns: list[str]
    pipeline: Any

    @property
    def unit(self) -> str | None:
        """The unit of the costs."""
        return self.used.given.unit


def made_report(
    content: dict[str, Any], table: Table, id_column: str | None = None, changes: dict[str, str] | None = None
) -> Report:
    """The report of a model on a table; rows without a label are left out."""
    about = content["about"]
    labels = read_target(table, about["target"], about["positive"], others_negative=about["others_negative"])
    labelled = table.rows(labels.known)
    used = applied(content, labelled, id_column, changes)
    truth, pipeline = labels.is_positive, content["pipeline"]
    features = content["preprocessing"].transform(used.X)
    rows = _compared(content, features, truth, used.decisions.costs, used.decisions.said_positive)
    moved = can_move(pipeline)

    def compared_at(_: str, costs: RowCosts) -> list[CostEstimate]:
        ours = said_positive(pipeline, used.X, costs, told=True) if moved else used.decisions.said_positive
        return _compared(content, features, truth, costs, ours)

    news = new_categories(content["preprocessing"], used.X)
    return Report(
        used=used,
        is_positive=truth,
        rows=rows,
        what_ifs=what_ifs(used.decisions.costs, rows, compared_at),
        how_moved="thresholds moved, nothing refitted" if moved else "the decisions stay, nothing refitted",
        first=_first(used, labelled, truth),
        seen=seen_in_words(seen(used.X, content["seen"])),
        unknowns=unknowns(about, used.X, truth, int((~labels.known).sum()), news),
        pipeline=pipeline,
    )


def _compared(
    content: dict[str, Any], features: Any, truth: np.ndarray, costs: RowCosts, ours: np.ndarray
) -> list[CostEstimate]:
    """Costs on these rows, ours first, then by cost; the alternatives were fitted with the training table."""
    predictions = {OURS: ours.astype(int)}
    for name, model in content["rivals"].items():
        predictions[name] = answer_with_costs(model, "predict", features, costs)
    predictions |= {NO_ONE: np.zeros(truth.size, dtype=int), EVERYONE: np.ones(truth.size, dtype=int)}
    first, *others = compare_predictions(truth.astype(int), predictions, **four(costs))
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
