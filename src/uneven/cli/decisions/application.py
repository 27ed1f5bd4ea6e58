"""A model of a file, applied to a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven._money import money
from uneven.cli.decisions.decided import Decisions, can_move, decisions
from uneven.cli.decisions.given_costs import GivenCosts
from uneven.errors import UnevenError
from uneven.tables.matrix import read_columns, typed
from uneven.tables.table import Table

#: Standard deviations on either side of a mean that hold 95 % of a normal distribution.
_NORMAL = 1.96


@dataclass(frozen=True)
class Application:
    """What a model says about the rows of a table.

    Attributes
    ----------
    about : dict
        What the model file says of the training.
    given : GivenCosts
    X : DataFrame
        The typed columns.
    decisions : Decisions
    names : (str, Series) or None
        The column that names the rows, and its values.
    remarks : list of str
    """

    about: dict[str, Any]
    given: GivenCosts
    X: Any
    decisions: Decisions
    names: tuple[str, Any] | None
    remarks: list[str]

    @property
    def words(self) -> tuple[str, str]:
        """What the target calls a negative and a positive row."""
        negatives, positive = self.about["negatives"], self.about["positive"]
        return (negatives[0] if len(negatives) == 1 else f"not {positive}"), positive

    def expected_in_words(self) -> str:
        """What all decisions together are expected to cost, and the constant rules; "" without probabilities."""
        if self.decisions.probability is None:
            return ""
        found = self.decisions
        negative, positive = found.expected_costs
        ours = np.where(found.said_positive, positive, negative)
        total, everyone, no_one = (float(part.sum()) for part in (ours, positive, negative))
        chance = _NORMAL * found.spread_of_total
        unit = self.given.unit
        return (
            f"If its probabilities are right, these decisions cost {money(total, unit)} (chance alone, 95 %: "
            f"{money(total - chance)} to {money(total + chance)}); flagging everyone would cost "
            f"{money(everyone, unit)}, flagging no one {money(no_one, unit)}."
        )


def applied(
    content: dict[str, Any], table: Table, id_column: str | None = None, changes: dict[str, str] | None = None
) -> Application:
    """Apply the model to all rows of the table; an error names a column that is missing, for the model or its costs.

    ``changes`` are costs in place of those of the model; an error says so if it cannot decide at other costs.
    """
    about = content["about"]
    given = GivenCosts(**{**about["costs"], **(changes or {})})
    if changes and not can_move(content["pipeline"]):
        raise UnevenError(
            f"this model ({about['model']}) decides only at the costs of its fit, got others; fit it again with them"
        )
    costs = given.of(table)
    X = typed(table, read_columns(about["columns"]))
    remarks = []
    if id_column is not None:
        table.require([id_column], ", which names the rows")
    elif about["id"] is not None and about["id"] not in table.frame.columns:
        remarks.append(f"There is no column {about['id']!r}, which names the rows: they keep their order.")
    name = id_column if id_column is not None else about["id"]
    names = (name, table.frame[name]) if name is not None and name in table.frame.columns else None
    found = decisions(content["pipeline"], X, costs, told=given.per_row or bool(changes))
    return Application(about, given, X, found, names, remarks)
