"""How the columns of a table become columns of numbers: learnt once, then applied to every batch.

The plan is a list of plain dictionaries, so that a model with it can be stored and read anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.solvers.loops.part_passes import copy_columns
from uneven.tables import arrow_columns
from uneven.tables.category_columns import rare_below

NUMBER, CATEGORIES, HASHED = "number", "categories", "hashed"
MISSING, OTHER = "missing", "other"
#: Below this share of numbers that are not 0, a batch becomes a sparse matrix.
_SPARSE_BELOW = 0.3


def output_names(plan: list[dict[str, Any]]) -> list[str]:
    """Names of the columns of numbers."""
    return [name for column in plan for name in _names(column)]


def _names(column: dict[str, Any]) -> list[str]:
    name = column["name"]
    if column["kind"] == NUMBER:
        return [name, *([f"{name} = {MISSING}"] if column["flag"] else [])]
    if column["kind"] == HASHED:
        return [f"{name} hashed to {k}" for k in range(column["buckets"])]
    return [f"{name} = {value}" for value in [*column["values"], OTHER, MISSING]]


def is_number(plan: list[dict[str, Any]]) -> np.ndarray:
    """Which columns of numbers are numbers in the table, and not marks of 0 and 1."""
    found: list[bool] = []
    for column in plan:
        found += [column["kind"] == NUMBER, *[False] * (_width(column) - 1)]
    return np.array(found, dtype=bool)


class Encoded:
    """The columns of a table as arrays, from which matrices of its rows are made.

    Parameters
    ----------
    plan : list of dict
    table : pyarrow.Table
    dtype : dtype
        float64 or float32.
    place : str
        Where the table is from.
    """

    def __init__(self, plan: list[dict[str, Any]], table: Any, dtype: np.dtype[Any], place: str) -> None:
        self._dtype, self._sparse = dtype, is_sparse(plan)
        #: The first column of the matrix, and its numbers, or which of the columns from there on is 1.
        self._numbers: list[tuple[int, np.ndarray]] = []
        self._marks: list[tuple[int, np.ndarray]] = []
        self._width = 0
        for column in plan:
            values = table.column(column["name"])
            if column["kind"] == NUMBER:
                numbers, missing = _numbers(column, values, place)
                self._numbers.append((self._width, numbers))
                if column["flag"]:
                    self._numbers.append((self._width + 1, missing))
            else:
                self._marks.append((self._width, _places(column, values)))
            self._width += _width(column)
        #: Columns that need no change are copied at once: threads would wait for each other between single copies.
        same = [(at, one) for at, one in self._numbers if one.dtype == dtype and one.flags.c_contiguous]
        self._places = np.array([at for at, _ in same], dtype=np.int64)
        self._addresses = np.array([one.ctypes.data for _, one in same], dtype=np.int64)
        self._others = [(at, one) for at, one in self._numbers if not (one.dtype == dtype and one.flags.c_contiguous)]

    def matrix(self, rows: slice, memory: np.ndarray | None = None) -> Any:
        """Rows as a matrix, dense in F order or CSR; ``memory`` is used for a dense one, unless it is None."""
        n = rows.stop - rows.start
        if self._sparse:
            return self._sparse_matrix(rows, n, len(self._numbers) + len(self._marks))
        flat = np.empty(self._width * n, dtype=self._dtype) if memory is None else memory[: self._width * n]
        out = flat.reshape(self._width, n)
        if self._marks:
            out[:] = 0
        copy_columns(self._addresses, rows.start, self._places, out)
        for column, numbers in self._others:
            out[column] = numbers[rows]
        for column, places in self._marks:
            out[column + places[rows], np.arange(n)] = 1
        return out.T

    def _sparse_matrix(self, rows: slice, n: int, filled: int) -> Any:
        from scipy.sparse import csr_matrix

        data, indices = np.ones((n, filled), dtype=self._dtype), np.empty((n, filled), dtype=np.int32)
        # In the order of their columns, as CSR matrices have them.
        parts = [(column, values, False) for column, values in self._numbers]
        parts += [(column, values, True) for column, values in self._marks]
        for at, (column, values, marks) in enumerate(sorted(parts, key=lambda part: part[0])):
            indices[:, at] = column + values[rows] if marks else column
            if not marks:
                data[:, at] = values[rows]
        ends = np.arange(0, n * filled + 1, filled)
        return csr_matrix((data.ravel(), indices.ravel(), ends), shape=(n, self._width))


def is_sparse(plan: list[dict[str, Any]]) -> bool:
    """Whether rows are stored as a sparse matrix."""
    return _filled(plan) < _SPARSE_BELOW * sum(_width(column) for column in plan)


def numbers_per_row(plan: list[dict[str, Any]]) -> int:
    """How many numbers of a row are stored."""
    return _filled(plan) if is_sparse(plan) else sum(_width(column) for column in plan)


def _filled(plan: list[dict[str, Any]]) -> int:
    return sum(1 + column.get("flag", False) for column in plan)


def _width(column: dict[str, Any]) -> int:
    """How many columns of numbers a column becomes."""
    if column["kind"] == NUMBER:
        return 2 if column["flag"] else 1
    return int(column["buckets"]) if column["kind"] == HASHED else len(column["values"]) + 2


def _numbers(column: dict[str, Any], values: Any, place: str) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a column, of which missing ones are the mean, and where they are missing."""
    from uneven.tables.arrow_columns import as_numbers

    numbers = as_numbers(values)
    if not values.null_count:
        missing = np.zeros(len(values), dtype=bool) if column["flag"] else np.empty(0, dtype=bool)
        return np.asarray(numbers.to_numpy()), missing
    if not column["flag"]:
        raise CostError(
            f"column {column['name']!r} has missing values in {place}, but none in the rows of the fit; fill them in "
            "before"
        )
    missing = np.asarray(numbers.is_null().to_numpy())
    return np.asarray(numbers.fill_null(column["fill"]).to_numpy()), missing


def _places(column: dict[str, Any], values: Any) -> np.ndarray:
    """For each row, which of the columns of a text column is 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from uneven.tables.arrow_columns import as_texts
    from uneven.tables.text_hashes import text_hashes

    texts = as_texts(values)
    if column["kind"] == CATEGORIES:
        known = column["values"]
        found = pc.index_in(texts, value_set=pa.array(known, type=pa.string()))
        codes = found.fill_null(len(known)).to_numpy(zero_copy_only=False)
        return np.where(texts.is_null().to_numpy(zero_copy_only=False), len(known) + 1, codes).astype(np.int64)
    coded = texts.dictionary_encode(null_encoding="encode").combine_chunks()
    words = ["" if word is None else f"={word}" for word in coded.dictionary.to_pylist()]
    buckets = (text_hashes(words) % np.uint64(column["buckets"])).astype(np.int64)
    return buckets[coded.indices.to_numpy(zero_copy_only=False)]


# What must be known of a table's columns before they become numbers: small sums, which can be added.
#
# A partition with more different texts than become columns of their own says only that there are many: with them, the
# column is hashed, whatever the others have.


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
            return {"name": name, "kind": NUMBER, "flag": present < self.rows, "fill": fill}
        found = self.texts[name]
        if found is None:
            return {"name": name, "kind": HASHED, "buckets": buckets}
        frequent = sorted(text for text, count in found.items() if count >= rare_below(self.rows))
        return {"name": name, "kind": CATEGORIES, "values": frequent}


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


# Columns of dataframes in memory, such as the partitions of a large one, by the plan of a table.

Plan = list[dict[str, Any]]


def names_of(frame: Any) -> tuple[str, ...]:
    """The names of the columns, as texts; they must differ."""
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise CostError(f"two columns of X have the name {twice!r}; rename one")
    return names


def table_of_frame(frame: Any) -> Any:
    """A pandas dataframe as an Arrow table; NaN, None and NA become null, as in Parquet files that pandas writes."""
    import pyarrow as pa

    columns = {}
    for k, name in enumerate(names_of(frame)):
        values = frame.iloc[:, k]
        try:
            columns[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError):
            raise CostError(
                f"column {name!r} of X holds {values.dtype} values that are neither numbers, dates nor texts; encode "
                "them before, or drop the column"
            ) from None
    return pa.table(columns)


def require_columns(plan: Plan, names: Sequence[str], place: str) -> None:
    """Raise if a column of the plan is not there."""
    for column in plan:
        if column["name"] not in names:
            raise CostError(f"there is no column {column['name']!r} in {place}, but the model was fitted with it")


def encoded(plan: Plan, table: Any, place: str) -> Any:
    """The matrix of a table by the plan of a fit, dense or CSR; ``place`` says which table it is."""
    import pyarrow as pa

    require_columns(plan, table.column_names, place)
    single = all(
        arrow_columns.is_single(table.schema.field(column["name"])) for column in plan if column["kind"] == NUMBER
    )
    try:
        columns = Encoded(plan, table, np.dtype(np.float32 if single else np.float64), place)
        return columns.matrix(slice(0, table.num_rows))
    except pa.ArrowException as error:
        raise CostError(
            f"a column of {place} does not hold what it held in the fit: {str(error).splitlines()[0]}"
        ) from None


# Partitions of dataframes: as arrays where all columns are numbers, else as Arrow tables.


def plain_matrix(frame: Any) -> np.ndarray | None:
    """A partition as an array, if all of its columns are numbers and none is missing; else None."""
    if any(getattr(kind, "kind", "O") not in "biuf" for kind in frame.dtypes):
        return None
    single = all(kind == np.float32 for kind in frame.dtypes)
    matrix = frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    with np.errstate(all="ignore"):
        total = float(matrix.sum())
    return None if np.isnan(total) and np.isnan(matrix).any() else matrix


def table_of_matrix(matrix: np.ndarray, names: tuple[str, ...]) -> Any:
    """The same for a partition that is an array already."""
    import pyarrow as pa

    return pa.table({name: pa.array(np.ascontiguousarray(matrix[:, k])) for k, name in enumerate(names)})


def near_the_data(plan: Plan) -> np.ndarray:
    """A point near the rows that a plan makes: the means of numbers, and 0 for the marks."""
    means = [column["fill"] for column in plan if column["kind"] == NUMBER]
    point = np.zeros(len(output_names(plan)))
    point[is_number(plan)] = means
    return point
