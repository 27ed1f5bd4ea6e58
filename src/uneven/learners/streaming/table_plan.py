"""How the columns of a table become columns of numbers: learnt once, then applied to every batch.

The plan is a list of plain dictionaries, so that a model with it can be stored and read anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.errors import CostError

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
        width = len(_names(column))
        found += [column["kind"] == NUMBER, *[False] * (width - 1)]
    return np.array(found, dtype=bool)


def encoded(plan: list[dict[str, Any]], table: Any, dtype: np.dtype[Any], place: str) -> Any:
    """The matrix of a batch, dense in F order or CSR; ``table`` has Arrow columns, ``place`` says where it is from."""
    n, width = table.num_rows, sum(len(_names(column)) for column in plan)
    filled = sum(1 + column.get("flag", False) for column in plan)
    if filled < _SPARSE_BELOW * width:
        return _sparse(plan, table, dtype, place, n, width)
    out = np.zeros((width, n), dtype=dtype) if filled < width else np.empty((width, n), dtype=dtype)
    start = 0
    for column in plan:
        values = table.column(column["name"])
        if column["kind"] == NUMBER:
            missing = _numbers(column, values, out[start], place)
            if column["flag"]:
                out[start + 1] = missing
        else:
            out[start + _places(column, values), np.arange(n)] = 1
        start += len(_names(column))
    return out.T


def _sparse(plan: list[dict[str, Any]], table: Any, dtype: np.dtype[Any], place: str, n: int, width: int) -> Any:
    from scipy.sparse import csr_matrix

    filled = sum(1 + column.get("flag", False) for column in plan)
    data, indices = np.ones((n, filled), dtype=dtype), np.empty((n, filled), dtype=np.int32)
    start = at = 0
    for column in plan:
        values = table.column(column["name"])
        if column["kind"] == NUMBER:
            numbers = np.empty(n, dtype=dtype)
            missing = _numbers(column, values, numbers, place)
            data[:, at], indices[:, at] = numbers, start
            if column["flag"]:
                at += 1
                data[:, at], indices[:, at] = missing, start + 1
        else:
            indices[:, at] = start + _places(column, values)
        at += 1
        start += len(_names(column))
    return csr_matrix((data.ravel(), indices.ravel(), np.arange(0, n * filled + 1, filled)), shape=(n, width))


def _numbers(column: dict[str, Any], values: Any, out: np.ndarray, place: str) -> np.ndarray | float:
    """Write the numbers of a column; missing ones become the mean. Returns 1 where they are missing."""
    from uneven.learners.streaming.arrow_columns import as_numbers

    numbers = as_numbers(values)
    if not values.null_count:
        at = 0
        for chunk in numbers.chunks if hasattr(numbers, "chunks") else [numbers]:
            part = chunk.to_numpy(zero_copy_only=False)
            out[at : at + len(part)] = part
            at += len(part)
        return 0.0
    if not column["flag"]:
        raise CostError(
            f"column {column['name']!r} has missing values in {place}, but none in the rows of the fit; fill them in "
            "before"
        )
    missing = numbers.is_null().to_numpy(zero_copy_only=False)
    out[:] = numbers.fill_null(column["fill"]).to_numpy(zero_copy_only=False)
    return np.asarray(missing)


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
