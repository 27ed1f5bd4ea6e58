"""A table of costs of several classes, as ``uneven fit --costs`` reads it and a model file keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.app.models.written_costs import WrittenCosts
from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import CostError, did_you_mean

if TYPE_CHECKING:
    from uneven.app.files.table import Table
    from uneven.app.files.table_columns import ClassTarget

#: Names that a sentence lists.
_SHOWN = 6


@dataclass(frozen=True)
class WrittenMatrix:
    """What every decision costs in every class, the same for all rows.

    Attributes
    ----------
    matrix : CostMatrix
        Its classes and actions are texts: as the data write them, if these are known, else as the table of costs does.
    unit : str or None
        Such as EUR.
    name : str
        The name of the file, for sentences.
    """

    matrix: CostMatrix
    unit: str | None = None
    name: str = "the table of costs"
    per_row: bool = False

    @classmethod
    def read(cls, path: str, unit: str | None) -> WrittenMatrix:
        """Read a file; an error says what is wrong with it."""
        try:
            matrix = CostMatrix.read(path)
        except CostError as error:
            raise CostError(f"--costs {path}: {error}") from None
        regrets = matrix.costs - matrix.costs.min(axis=1, keepdims=True)
        free = np.flatnonzero(~(regrets > 0).any(axis=0))
        if free.size:
            raise CostError(
                f"--costs {path}: {matrix.actions[free[0]]!r} is a cheapest decision in every class, so there is "
                "nothing to decide"
            )
        return cls(matrix, unit, Path(path).name)

    @classmethod
    def of_model(cls, kept: dict[str, Any]) -> WrittenMatrix:
        """The costs that a model file keeps."""
        matrix = CostMatrix(kept["matrix"], kept["classes"], kept["actions"])
        return cls(matrix, kept["unit"], kept["name"])

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for the model file: costs as exact texts."""
        exact = self.matrix.exact_costs
        assert exact is not None
        return {
            "matrix": [[str(cost) for cost in row] for row in exact],
            "classes": list(self.matrix.classes),
            "actions": list(self.matrix.actions),
            "unit": self.unit,
            "name": self.name,
        }

    # -- what the flow asks of costs, as of those of two classes ------------------------------------------------------

    def columns(self, table: Table, target: str) -> list[str]:
        """The columns that the costs need: none."""
        return []

    def of(self, table: Table) -> CostMatrix:
        """The costs of the rows of a table."""
        return self.matrix

    def in_words(self, _: CostMatrix) -> str:
        """Which way the table is read, by its dearest mistake."""
        regrets = self.matrix.costs - self.matrix.costs.min(axis=1, keepdims=True)
        y, a = np.unravel_index(int(regrets.argmax()), regrets.shape)
        where, what = self.matrix.classes[y], self.matrix.actions[a]
        return (
            f"{self.name}: {len(self.matrix.classes)} true classes in its rows, {len(self.matrix.actions)} decisions "
            f"in its columns. The dearest mistake: {what!r} where {where!r} is true costs "
            f"{money(float(self.matrix.costs[y, a]), self.unit)}."
        )

    def remarks(self) -> list[str]:
        """What is odd about the costs, in sentences."""
        return [f"In {self.name}, {words}." for words in self.matrix.remarks]

    # -- two classes ---------------------------------------------------------------------------------------------------

    def as_four_costs(self, positive: str | None) -> tuple[WrittenCosts, tuple[str, ...]]:
        """The four costs of two classes, and further actions as ``--action`` takes them."""
        first, second = self.matrix.classes
        if positive is None:
            raise CostError(
                f"{self.name} has two classes, {first!r} and {second!r}: --positive says which of them is positive; a "
                "target with more classes needs a row for each"
            )
        places = [k for k, label in enumerate((first, second)) if _alike(label, positive)]
        if len(places) != 1:
            raise CostError(
                f"--positive must be one of the classes of {self.name}, {first!r} or {second!r}, got {positive!r}"
            )
        (p,), n = places, 1 - places[0]
        actions, exact = list(self.matrix.actions), self.matrix.exact_costs
        assert exact is not None
        lacking = [label for label in (first, second) if label not in actions]
        if lacking:
            raise CostError(
                f"{self.name} has two classes, and no decision {lacking[0]!r}: with two classes, both are decisions too"
            )
        positives, negatives = (actions.index(self.matrix.classes[k]) for k in (p, n))
        four = WrittenCosts(
            fp_cost=str(exact[n][positives]),
            fn_cost=str(exact[p][negatives]),
            tp_cost=str(exact[p][positives]),
            tn_cost=str(exact[n][negatives]),
            unit=self.unit,
        )
        further = (k for k in range(len(actions)) if k not in (positives, negatives))
        return four, tuple(f"{actions[k]}={exact[p][k]}:{exact[n][k]}" for k in further)

    # -- the classes of the data ---------------------------------------------------------------------------------------

    def for_labels(self, column: str, counts: Mapping[str, int]) -> tuple[WrittenMatrix, list[str]]:
        """The costs of the classes that a column has, in its spelling, and sentences about what differs.

        A class of the data without costs is an error; one of the costs that no row has is left out. ``counts`` says how
        many rows each class has.
        """
        matrix, notes, labels = self.matrix, [], list(counts)
        spelling: dict[str, str] = {}
        for label, count in counts.items():
            same = [y for y in matrix.classes if y == label] or [y for y in matrix.classes if _alike(y, label)]
            if len(same) != 1:
                raise CostError(self._no_row_for(column, label, int(count), labels))
            if same[0] in spelling:
                raise CostError(
                    f"column {column!r} writes one class in two ways, {spelling[same[0]]!r} and {label!r}, and "
                    f"{self.name} has one row, {same[0]!r}; write it in one way"
                )
            spelling[same[0]] = label
        for own, label in spelling.items():
            if own != label:
                notes.append(f"The class {own!r} of {self.name} is {label!r} in column {column!r}.")
        absent = [y for y in matrix.classes if y not in spelling]
        if absent:
            names = ", ".join(map(repr, absent[:_SHOWN]))
            notes.append(
                f"WARNING: no row has {column} = {names}, which {self.name} has: the model cannot expect "
                f"{'it' if len(absent) == 1 else 'them'}."
            )
        seen = [y for y in matrix.classes if y in spelling]
        if len(seen) < 3:
            raise CostError(
                f"column {column!r} has only {len(seen)} of the classes of {self.name}: "
                f"{', '.join(map(repr, labels))}; a table of costs of two classes, with --positive, would work"
            )
        kept = matrix.for_classes(seen)
        actions = [spelling.get(a, a) for a in matrix.actions]
        renamed = CostMatrix(kept.exact_costs, [spelling[y] for y in seen], actions)
        return replace(self, matrix=renamed), notes

    def _no_row_for(self, column: str, label: str, count: int, labels: Sequence[str]) -> str:
        turned = set(labels) <= set(self.matrix.actions) and not set(labels) <= set(self.matrix.classes)
        hint = "; rows are true classes and columns are decisions: is the table turned round?" if turned else ""
        return (
            f"column {column!r} has {label!r} ({_rows(count)}), and {self.name} has no row for it"
            f"{self._meant(label)}; its rows are {self._classes_in_words()}{hint}"
        )

    def _meant(self, label: str) -> str:
        """The class that was probably meant, in brackets; "" if none is alike."""
        spelled = {str(y): (str(y).lower(),) for y in self.matrix.classes}
        hint = did_you_mean(label, spelled, "")
        return f" ({hint})" if hint else ""

    def _classes_in_words(self) -> str:
        """The names of the classes; of many, the first."""
        names = list(map(repr, self.matrix.classes))
        return ", ".join(names if len(names) <= _SHOWN else [*names[:_SHOWN], "..."])

    def number(self, labels: ClassTarget, column: str) -> np.ndarray:
        """The number of each row's class in the matrix; an error if it has no such class."""
        places = []
        for label, count in zip(labels.classes, labels.counts, strict=True):
            same = [k for k, y in enumerate(self.matrix.classes) if _alike(y, label)]
            exact = [k for k in same if self.matrix.classes[k] == label] or same
            if len(exact) != 1:
                raise CostError(
                    f"column {column!r} has {label!r} ({_rows(count)}), which the model does not know"
                    f"{self._meant(label)}; it knows {self._classes_in_words()}"
                )
            places += exact
        return np.asarray(np.array(places)[labels.codes])


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _alike(one: str, other: str) -> bool:
    """Whether two names differ at most in spaces and in the case of letters, or are one number (1 and 1.0)."""
    if " ".join(one.split()).casefold() == " ".join(other.split()).casefold():
        return True
    try:
        return float(one.replace(",", ".")) == float(other.replace(",", "."))
    except ValueError:
        return False
