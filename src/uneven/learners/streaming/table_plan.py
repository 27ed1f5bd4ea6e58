"""How the columns of a table become columns of numbers: learnt once, then applied to every batch.

The plan is a list of plain dictionaries, so that a model with it can be stored and read anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.solvers.compiled.column_copies import copy_columns

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
    from uneven.learners.streaming.arrow_columns import as_numbers

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

    from uneven.learners.frames.hashing import text_hashes
    from uneven.learners.streaming.arrow_columns import as_texts

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
