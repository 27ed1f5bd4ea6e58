"""``uneven fit`` on Parquet files that do not fit into memory: a linear classifier, read in parts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from uneven._inputs import brief
from uneven.cli.decisions.given_costs import GivenCosts
from uneven.cli.decisions.wish import AUTO, LINEAR, Wish
from uneven.costs import COSTS
from uneven.errors import UnevenError
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.streaming.arrow_columns import kind_of
from uneven.learners.streaming.parquet_files import ParquetFiles
from uneven.learners.streaming.rows import StreamedRows
from uneven.tables.files import PARQUET, in_gigabytes, usable_memory

#: A table in memory takes this many times the size of its columns in the file, with the matrix and its copies.
_TIMES_IN_MEMORY = 6


def is_in_parts(data: str, memory_limit: str | None) -> bool:
    """Whether the data are read in parts: several files, a file that is too large, or the user wants it."""
    if memory_limit is not None or os.path.isdir(data):
        return True
    if not os.path.exists(data):
        return any(sign in data for sign in "*?[") and data.lower().endswith(PARQUET)
    if not data.lower().endswith(PARQUET):
        return False
    return os.path.getsize(data) * _TIMES_IN_MEMORY > usable_memory()


@dataclass(frozen=True)
class StreamedQuestion:
    """What ``uneven fit`` was asked, for files that are read in parts."""

    data: str
    target: str
    positive: str
    id_column: str | None
    drop: tuple[str, ...]
    memory_limit: str | None
    others_negative: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether the data are read in parts."""
        return is_in_parts(self.data, self.memory_limit)

    def fitted(self, wish: Wish, given: GivenCosts, verbose: bool) -> tuple[UnevenLinearClassifier, dict[str, Any]]:
        """The classifier, and what the model file says about it."""
        if wish.kind not in (AUTO, LINEAR) or wish.tune or wish.members or wish.time_limit is not None:
            raise UnevenError(
                "files that are read in parts are for --learner linear, without --tune, --members and --time-limit; "
                "for other learners give one file that fits into memory"
            )
        if self.others_negative:
            raise UnevenError("--others-negative is not for files that are read in parts; write a column of two values")
        files = ParquetFiles(self.data)
        names = files.schema.names
        for name in (self.target, *self.drop, *([self.id_column] if self.id_column else [])):
            if name not in names:
                raise UnevenError(f"there is no column {name!r} in {files}; its columns are {brief(names)}")
        costs = costs_in_parts(given, names)
        others = {self.target, *self.drop, *([self.id_column] if self.id_column else [])}
        rows = StreamedRows(
            self.data,
            target=self.target,
            columns=[name for name in names if name not in others],
            standardize=True,
            memory_limit=self.memory_limit,
        )
        learner = UnevenLinearClassifier(
            wish.loss or "logistic",
            margin_gamma=1 if wish.gamma is None else wish.gamma,
            pos_label=self._label(files.schema.field(self.target)),
            verbose=verbose,
        )
        learner.fit(rows, **costs)
        about = {
            "streamed": True,
            "target": self.target,
            "positive": self.positive,
            "costs": given.to_dict(),
            "id": self.id_column,
            "rows": files.rows,
            "decimal": ".",
        }
        return learner, about

    def _label(self, field: Any) -> Any:
        """The positive value as a label of the target's type."""
        from pyarrow import types

        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        text = self.positive
        try:
            if types.is_boolean(kind):
                return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
            if types.is_integer(kind):
                return int(text)
            if types.is_floating(kind):
                return float(text)
        except (ValueError, KeyError):
            raise UnevenError(
                f"--positive must be a value of the column {self.target!r}, which holds {kind}, got {text!r}"
            ) from None
        kind_of(field)  # an error for lists and the like
        return text

    def in_words(self, learner: UnevenLinearClassifier, about: dict[str, Any]) -> list[str]:
        """What was fitted, and how good the fit is."""
        size = sum(os.path.getsize(path) for path in ParquetFiles(self.data).paths)
        gap = learner.duality_gap_ or 0.0
        return [
            f"{self.data}: Parquet, {in_gigabytes(size)}; {about['rows']:,} rows, read in parts.",
            f"A linear classifier on {learner.n_features_in_} columns of numbers; its objective is proved to be within "
            f"{gap / learner.objective_:.1e} (relative) of the optimum.",
            f"The loss is {learner.loss_!r}: {learner.analysis_.verdict}.",
        ]


def costs_in_parts(given: GivenCosts, names: list[str]) -> dict[str, Any]:
    """The costs as ``fit`` takes them: numbers, or names of columns."""
    if not given.per_row:
        return dict(given.numbers())
    found: dict[str, Any] = {}
    for name in COSTS:
        text = str(getattr(given, name)).strip().strip("`")
        option = f"--{name.replace('_', '-')}"
        if text not in names and not is_number(text):
            raise UnevenError(
                f"{option} must be a number or a column where files are read in parts, got {text!r}; write a column "
                "with the result into the files"
            )
        found[name] = text if text in names else float(text)
    return found


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
