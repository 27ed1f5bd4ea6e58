"""What must be known of a table's columns before they become numbers: small sums, which can be added.

A partition with more different texts than become columns of their own says only that there are many: with them, the
column is hashed, whatever the others have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uneven.errors import CostError
from uneven.learners.frames.size import rare_below
from uneven.learners.streaming import arrow_columns, table_plan


@dataclass(frozen=True)
class ColumnSummary:
    """Some rows of a table, summed up.

    Attributes
    ----------
    rows : int
    most : int
        Different texts of a column that are counted.
    kinds : dict
        For each column whether it has numbers or texts; None if all its values are missing and nothing says which.
    texts : dict
        For each column of texts how often each occurs; None: there are more than ``most``.
    numbers : dict
        For each column of numbers the sum, how many there are, and how many are missing.
    """

    rows: int
    most: int
    kinds: dict[str, str | None]
    texts: dict[str, dict[str, int] | None]
    numbers: dict[str, tuple[float, int, int]]

    @classmethod
    def of(cls, table: Any, most: int) -> ColumnSummary:
        """The summary of an Arrow table."""
        kinds = {
            field.name: None if str(field.type) == "null" else arrow_columns.kind_of(field) for field in table.schema
        }
        texts = {name: _counts(table.column(name), most) for name, kind in kinds.items() if kind == arrow_columns.TEXTS}
        numbers = {name: _sums(table.column(name)) for name, kind in kinds.items() if kind == arrow_columns.NUMBERS}
        return cls(table.num_rows, most, kinds, texts, numbers)

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        kinds = dict(self.kinds)
        for name, kind in other.kinds.items():
            if kinds[name] is None:
                kinds[name] = kind
            elif kind not in (None, kinds[name]):
                raise CostError(
                    f"column {name!r} has {kinds[name]} in some rows and {kind} in others; make all of them texts, or "
                    "all numbers"
                )
        texts = dict(self.texts)
        for name, counts in other.texts.items():
            texts[name] = _added(texts[name], counts, self.most) if name in texts else counts
        numbers = dict(self.numbers)
        for name, sums in other.numbers.items():
            total, present, missing = numbers.get(name, (0.0, 0, 0))
            numbers[name] = total + sums[0], present + sums[1], missing + sums[2]
        return ColumnSummary(self.rows + other.rows, self.most, kinds, texts, numbers)

    def plan(self, buckets: int) -> list[dict[str, Any]]:
        """How the columns become numbers; ``buckets`` are the columns that one with many texts is hashed into."""
        return [self._column(name, kind, buckets) for name, kind in self.kinds.items()]

    def _column(self, name: str, kind: str | None, buckets: int) -> dict[str, Any]:
        if kind != arrow_columns.TEXTS:
            total, present, _ = self.numbers.get(name, (0.0, 0, self.rows))
            fill = float(total / present) if present else 0.0
            return {"name": name, "kind": table_plan.NUMBER, "flag": present < self.rows, "fill": fill}
        found = self.texts[name]
        if found is None:
            return {"name": name, "kind": table_plan.HASHED, "buckets": buckets}
        frequent = sorted(text for text, count in found.items() if count >= rare_below(self.rows))
        return {"name": name, "kind": table_plan.CATEGORIES, "values": frequent}


def _counts(values: Any, most: int) -> dict[str, int] | None:
    import pyarrow.compute as pc

    found = pc.value_counts(arrow_columns.as_texts(values))
    if len(found) > most + 1:  # one of them may be the missing value
        return None
    counts = {pair["values"]: pair["counts"] for pair in found.to_pylist() if pair["values"] is not None}
    return counts if len(counts) <= most else None


def _added(first: dict[str, int] | None, second: dict[str, int] | None, most: int) -> dict[str, int] | None:
    if first is None or second is None:
        return None
    counts = {text: first.get(text, 0) + second.get(text, 0) for text in {**first, **second}}
    return counts if len(counts) <= most else None


def _sums(values: Any) -> tuple[float, int, int]:
    import pyarrow.compute as pc

    numbers = arrow_columns.as_numbers(values)
    return pc.sum(numbers).as_py() or 0.0, len(numbers) - numbers.null_count, numbers.null_count
