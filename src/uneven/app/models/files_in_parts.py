"""Parquet files that do not fit into memory: a linear classifier is fitted, applied and judged in parts."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from uneven.app.files.file_kinds import PARQUET, in_gigabytes, is_many_files, usable_memory, whole_file
from uneven.app.files.table import Table
from uneven.app.files.table_formats import DETECT
from uneven.app.files.written_tables import harmless_cell, sensible_digits
from uneven.app.models.apply_model import COMPARED, Decisions, expected_total_in_words
from uneven.app.models.candidates import AUTO, EVERYONE, LINEAR, NO_ONE, AskedLearner
from uneven.app.models.fit_table import Question
from uneven.app.models.written_costs import WrittenCosts, number_in
from uneven.app.report.table_report import OURS
from uneven.costs import COSTS, RowCosts
from uneven.decisions.alpha import probability_thresholds
from uneven.errors import UnevenError
from uneven.inputs import brief, to_float
from uneven.learners.linear import UnevenLinearClassifier
from uneven.metrics import CostEstimate
from uneven.metrics.intervals import OutcomeKey, interval_of_outcomes, outcome_cells
from uneven.metrics.mean_interval import Cell
from uneven.parts.parquet_files import ParquetFiles
from uneven.parts.streamed_rows import StreamedRows, tables_of
from uneven.tables.arrow_columns import kind_of

#: A table in memory takes this many times the size of its columns in the file, with the matrix and its copies.
_TIMES_IN_MEMORY = 6


def is_in_parts(data: str, memory_limit: str | None) -> bool:
    """Whether the data are read in parts: they are too large for the memory, or the user wants it."""
    if memory_limit is not None:
        return True
    if not is_many_files(data) and not (os.path.exists(data) and data.lower().endswith(PARQUET)):
        return False
    size = sum(os.path.getsize(path) for path in ParquetFiles(data).paths)
    return size * _TIMES_IN_MEMORY > usable_memory()


def require_in_parts(
    data: str, question: Question, asked: AskedLearner, given: WrittenCosts
) -> tuple[ParquetFiles, list[str], list[str]]:
    """Refuse what files in parts cannot do; returns the files, their columns, and those that are not for prediction."""
    if asked.kind not in (AUTO, LINEAR) or asked.tune or asked.members or asked.time_limit is not None:
        raise UnevenError(
            "files that are read in parts are for --learner linear, without --tune, --members, --monotone and "
            "--time-limit; for other learners give one file that fits into memory"
        )
    if question.others_negative:
        raise UnevenError("--others-negative is not for files that are read in parts; write a column of two values")
    files = ParquetFiles(data)
    names = files.schema.names
    others = [question.target, *question.drop, *([question.id_column] if question.id_column else [])]
    for name in others:
        if name not in names:
            raise UnevenError(f"there is no column {name!r} in {files}; its columns are {brief(names)}")
    costs_in_parts(given, names)
    return files, names, others


def fit_in_parts(
    data: str, question: Question, asked: AskedLearner, given: WrittenCosts, memory_limit: str | None
) -> tuple[UnevenLinearClassifier, dict[str, Any]]:
    """The classifier, and what the model file says about it; a fit tells its progress on stderr."""
    files, names, others = require_in_parts(data, question, asked, given)
    costs = costs_in_parts(given, names)
    rows = StreamedRows(
        data,
        target=question.target,
        columns=[name for name in names if name not in others],
        standardize=True,
        memory_limit=memory_limit,
    )
    learner = UnevenLinearClassifier(
        asked.loss or "logistic",
        margin_gamma=1 if asked.gamma is None else asked.gamma,
        pos_label=_read_label(question, files.schema.field(question.target)),
        verbose=True,
    )
    learner.fit(rows, **costs)
    about = {
        "streamed": True,
        "target": question.target,
        "positive": question.positive,
        "costs": given.to_dict(),
        "id": question.id_column,
        "rows": files.rows,
        "decimal": ".",
    }
    return learner, about


def _read_label(question: Question, field: Any) -> Any:
    """The positive value as a label of the target's type."""
    from pyarrow import types

    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    text = question.positive or ""
    try:
        if types.is_boolean(kind):
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        if types.is_integer(kind):
            return int(text)
        if types.is_floating(kind):
            return float(text)
    except (ValueError, KeyError):
        raise UnevenError(
            f"--positive must be a value of the column {question.target!r}, which holds {kind}, got {text!r}"
        ) from None
    kind_of(field)  # an error for lists and the like
    return text


def fit_in_words(data: str, learner: UnevenLinearClassifier, about: dict[str, Any]) -> list[str]:
    """What was fitted."""
    size = sum(os.path.getsize(path) for path in ParquetFiles(data).paths)
    return [
        f"{data}: Parquet, {in_gigabytes(size)}; {about['rows']:,} rows, read in parts.",
        f"The model is linear in {learner.n_features_in_} columns of numbers, and was fitted to all rows.",
        f"The loss is {learner.loss_!r}: {learner.analysis_.verdict}.",
    ]


#: Rows of the sample that tells what the data are like, and pieces of the files that it is from.
_SAMPLE, _PIECES = 20_000, 20


def sample_table(data: str) -> Table:
    """Some of the rows as a table in memory, from pieces that lie evenly in the files."""
    import pyarrow as pa

    files = ParquetFiles(data)
    pieces = files.pieces(max(1, min(_SAMPLE, files.rows // _PIECES)))
    chosen = [pieces[k] for k in sorted({round(k) for k in np.linspace(0, len(pieces) - 1, _PIECES)})]
    some = -(-_SAMPLE // len(chosen))
    tables = [next(files.read(piece, files.schema.names, some, True))[1] for piece in chosen]
    frame = pa.concat_tables(tables, promote_options="permissive").to_pandas().reset_index(drop=True)
    return Table(data, frame, f"Parquet, a sample of {files.rows:,} rows", DETECT)


def costs_in_parts(given: WrittenCosts, names: list[str]) -> dict[str, Any]:
    """The costs as ``fit`` takes them: numbers, or names of columns."""
    if not given.per_row:
        return dict(given.numbers())
    found: dict[str, Any] = {}
    for name in COSTS:
        text = str(getattr(given, name)).strip().strip("`")
        option = f"--{name.replace('_', '-')}"
        number = number_in(option, text)
        if text not in names and number is None:
            raise UnevenError(
                f"{option} must be a number or a column where files are read in parts, got {text!r}; write a column "
                "with the result into the files"
            )
        found[name] = text if number is None or text in names else to_float(number)
    return found


# -- predictions of one batch after the other -------------------------------------------------------------------------

#: Rows of the column that names the rows which are read at once.
_ROWS = 1 << 16


def write_predictions(content: dict[str, Any], data: str, output: str, costs: dict[str, str]) -> tuple[int, int, str]:
    """Write a table of predictions; returns how many rows there are, how many are predicted positive, and their money.

    The file is complete, or it is not there. It has the columns of predictions in memory: those about costs only if the
    files have all columns of the costs.
    """
    learner, about = content["pipeline"], content["about"]
    given = WrittenCosts(**{**about["costs"], **costs})
    there = tables_of(data).schema.names
    four = costs_in_parts(given, there) if not given.per_row or _has_costs(given, there) else {}
    by_row = {name: value for name, value in four.items() if given.per_row and isinstance(value, str)}
    numbers = {name: float(Fraction(value)) for name, value in four.items() if name not in by_row}
    rows = positives = 0
    sums = np.zeros(3)
    with whole_file(output) as partial, _Writer(partial, output) as writer:
        names = _Ids(data, about["id"]) if about["id"] in there else None
        for found in learner.predict_parts(data, row_costs=by_row, **changed_numbers(costs)):
            said, probability = found.is_positive, found.probability
            columns: dict[str, Any] = {}
            if names is not None:
                columns[about["id"]] = names.take(said.size)
            columns["prediction"] = found.label
            if probability is not None:
                columns["probability"] = probability
            if four:
                of_rows = RowCosts.read(said.size, **numbers, **found.batch.costs)
                cut = probability_thresholds(*of_rows.thresholds())
                columns["threshold"] = np.broadcast_to(cut, said.shape)
                if probability is not None:
                    expected = Decisions(of_rows, said, found.score, probability, cut).expected_costs
                    columns["cost_if_negative"], columns["cost_if_positive"] = expected
                    sums += [np.where(said, expected[1], expected[0]).sum(), expected[1].sum(), expected[0].sum()]
            columns["score"] = found.score
            writer.write(columns)
            rows, positives = rows + said.size, positives + int(said.sum())
    total, everyone, no_one = sums.tolist()
    return rows, positives, expected_total_in_words(total, everyone, no_one, given.unit) if sums.any() else ""


def _has_costs(given: WrittenCosts, names: list[str]) -> bool:
    """Whether files have every column that costs need: without them rows are decided, but not priced."""
    try:
        costs_in_parts(given, names)
    except UnevenError:
        return False
    return True


def changed_numbers(costs: dict[str, str]) -> dict[str, float]:
    """Costs in place of those of a fit in parts."""
    found = {}
    for name, text in costs.items():
        option = f"--{name.replace('_', '-')}"
        number = number_in(option, text)
        if number is None:
            raise UnevenError(f"a model that was fitted in parts takes other costs as numbers, got {option} {text!r}")
        found[name] = to_float(number)
    return found


class _Ids:
    """The column that names the rows, handed out in pieces."""

    def __init__(self, data: str, column: str) -> None:
        self._tables = (table for _, table in tables_of(data).tables([column], _ROWS))
        self._rest: Any = None

    def take(self, count: int) -> Any:
        """The next so many values."""
        import pyarrow as pa

        while self._rest is None or self._rest.num_rows < count:
            following = next(self._tables)
            self._rest = following if self._rest is None else pa.concat_tables([self._rest, following])
        found, self._rest = self._rest.slice(0, count), self._rest.slice(count)
        return found.column(0)


class _Writer:
    """A CSV or Parquet file that is written batch by batch; the ending of ``name`` decides which."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._csv = path, name.lower().endswith(".csv")
        self._open: Any = None

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._open.close()

    def write(self, columns: dict[str, Any]) -> None:
        """Add rows."""
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet as pq

        table = pa.table(_harmless(_with_sensible_digits(columns)) if self._csv else columns)
        if self._open is None:
            make = pyarrow.csv.CSVWriter if self._csv else pq.ParquetWriter
            self._open = make(str(self._path), table.schema)
        self._open.write_table(table)


def _with_sensible_digits(columns: dict[str, Any]) -> dict[str, Any]:
    import pandas as pd

    floats = {
        name: values for name, values in columns.items() if isinstance(values, np.ndarray) and values.dtype.kind == "f"
    }
    found = sensible_digits(pd.DataFrame(floats), COMPARED)
    return {name: found[name].to_numpy() if name in floats else values for name, values in columns.items()}


def _harmless(columns: dict[str, Any]) -> dict[str, Any]:
    """Columns for a CSV file, without texts that a spreadsheet would take for formulas."""
    import pyarrow as pa
    from pyarrow import types

    table = pa.table(columns)
    found: dict[str, Any] = {}
    for name, values in zip(table.column_names, table.columns, strict=True):
        kind = values.type.value_type if types.is_dictionary(values.type) else values.type
        texts = types.is_string(kind) or types.is_large_string(kind)
        found[harmless_cell(name)] = pa.array(map(harmless_cell, values.to_pylist()), kind) if texts else values
    return found


# -- what a model costs on files with labels --------------------------------------------------------------------------


@dataclass(frozen=True)
class PartsReport:
    """Answers in money, over all rows.

    Attributes
    ----------
    rows, positives : int
    costs : list of CostEstimate
        Ours first, then the constant rules.
    unit : str or None
    """

    rows: int
    positives: int
    costs: list[CostEstimate]
    unit: str | None


def report_in_parts(content: dict[str, Any], data: str, changes: dict[str, str]) -> PartsReport:
    """Judge a model on all rows of some files; ``changes`` are costs in place of those of the fit."""
    learner, about = content["pipeline"], content["about"]
    given = WrittenCosts(**{**about["costs"], **changes})
    four = costs_in_parts(given, tables_of(data).schema.names)
    columns = {name: value for name, value in four.items() if given.per_row and isinstance(value, str)}
    numbers = {name: float(Fraction(value)) for name, value in four.items() if name not in columns}
    names = (OURS, NO_ONE, EVERYONE)
    sums, mistakes, rows, positives = np.zeros(3), np.zeros((3, 2)), 0, 0
    cells: list[dict[OutcomeKey, Cell]] = []
    for part in learner.predict_parts(data, labels=about["target"], row_costs=columns, **changed_numbers(changes)):
        said, truth = part.is_positive, part.truth
        costs = RowCosts.read(truth.size, **numbers, **part.batch.costs)
        decisions = (said, np.zeros_like(said), np.ones_like(said))
        sums += [costs.paid(truth, decision).sum() for decision in decisions]
        mistakes += [[int((decision & ~truth).sum()), int((truth & ~decision).sum())] for decision in decisions]
        compared = [(decision,) for decision in decisions] + [(decision, said) for decision in decisions[1:]]
        here = [outcome_cells(costs, truth, *(one[None] for one in some), whole=False) for some in compared]
        cells = [{k: a[k].joined(b[k]) for k in a} for a, b in zip(cells, here, strict=True)] if cells else here
        rows, positives = rows + truth.size, positives + int(truth.sum())
    fixed = [(False, False), (True, True), (True, True), (True, False), (True, False)]  # as in ``compared``
    intervals = [interval_of_outcomes(some, fixed=rules) for some, rules in zip(cells, fixed, strict=True)]
    means = sums / rows
    found = []
    for k, name in enumerate(names):
        cost, own, paired = float(means[k]), intervals[k], intervals[k + 2] if k else None
        estimate = CostEstimate(name, cost, min(own.low, cost), max(own.high, cost), *mistakes[k].tolist())
        estimate = replace(estimate, rough=own.rough, difference_rough=False)
        if paired is not None:
            more = float(means[k] - means[0])
            low, high, rough = min(paired.low, more), max(paired.high, more), paired.rough
            estimate = replace(
                estimate, difference=more, difference_low=low, difference_high=high, difference_rough=rough
            )
        found.append(estimate)
    return PartsReport(rows, positives, [found[0], *sorted(found[1:], key=lambda one: one.cost)], given.unit)
