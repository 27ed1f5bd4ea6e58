"""Which rows a model has learnt from, known by hashes of their values: costs on such rows are too low.

A hash is a sum over columns, in which zeros do not count: a row has the same hash in a dense and in a sparse matrix, in
an array and in a table of numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

#: Rows that a fit keeps hashes of: few, because a small fit takes milliseconds, or many, next to a fit of many models.
FEW, MANY = 256, 20_000
#: Columns of a dense matrix that are looked at, spread evenly: enough to tell rows apart.
_COLUMNS = 64
#: Rows that are hashed at once, so that the memory needed is small.
_AT_ONCE = 50_000
#: Of the hashes kept, the share that must occur only once: else rows are too much alike to be known again.
_APART = 0.5


def remember_rows(learner: Any, X: Any, most: int = FEW) -> None:
    """Let a learner keep hashes of at most so many rows of its training table, spread evenly over it."""
    learner.__dict__.pop("_seen", None)  # of an earlier fit
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    count = shape[0] if len(shape) == 2 else 0
    if not count:
        return
    rows = _spread(count, most)
    hashes = row_hashes(X, rows)
    if hashes is not None:
        learner._seen = {"hashes": hashes, "rows": count, "columns": shape[1]}


def known_rows(learner: Any, X: Any) -> np.ndarray | float | None:
    """Which rows the learner has learnt from, or which share of them if it kept only some; None if it cannot be told.

    A row counts as known if exactly one training row has the same values in all columns.
    """
    seen = learner.__dict__.get("_seen")
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    if seen is None or len(shape) != 2 or shape[1] != seen["columns"] or not shape[0]:
        return None
    kept, count = np.asarray(seen["hashes"]), shape[0]
    if count == seen["rows"]:  # the very table: also if many of its rows are alike
        again = row_hashes(X, _spread(count, kept.size))
        if again is not None and (again == kept).all():
            return np.ones(count, dtype=bool)
    values, occurrences = np.unique(kept, return_counts=True)
    once = values[occurrences == 1]
    if once.size < _APART * kept.size:
        return None
    parts = [row_hashes(X, np.arange(k, min(count, k + _AT_ONCE))) for k in range(0, count, _AT_ONCE)]
    if any(part is None for part in parts):
        return None
    found = np.concatenate([part for part in parts if part is not None])
    if kept.size == seen["rows"]:
        return np.isin(found, once)
    return float(min(1.0, np.isin(once, found).mean() * seen["rows"] / count))


def _spread(count: int, most: int) -> np.ndarray:
    """Numbers of at most so many rows, spread evenly."""
    return np.arange(count) if count <= most else np.unique(np.linspace(0, count - 1, most).astype(np.intp))


def row_hashes(X: Any, rows: np.ndarray) -> np.ndarray | None:
    """A hash of each of some rows of a matrix or table; None if its values cannot be read."""
    try:
        if sparse.issparse(X):
            return _of_sparse(X.tocsr()[rows])
        if hasattr(X, "columns"):
            return _of_table(X, rows)
        columns = _spread(X.shape[1], _COLUMNS)
        return _sum(np.asarray(X[np.ix_(rows, columns)], dtype=np.float64), columns)
    except (TypeError, ValueError, AttributeError):  # a container that is not known: nothing is told about its rows
        return None


def _of_sparse(X: Any) -> np.ndarray:
    values = _mixed(X.data.astype(np.float64), X.indices)
    values[X.data == 0] = 0
    ends = np.concatenate([[np.uint64(0)], np.cumsum(values, dtype=np.uint64)])
    return ends[X.indptr[1:]] - ends[X.indptr[:-1]]


def _of_table(X: Any, rows: np.ndarray) -> np.ndarray | None:
    if not hasattr(X, "iloc"):
        X = X.to_pandas() if hasattr(X, "to_pandas") else X
    from pandas.api.types import is_bool_dtype, is_numeric_dtype
    from pandas.util import hash_array

    found = np.zeros(rows.size, dtype=np.uint64)
    numbers, places = [], []
    for place, dtype in enumerate(X.dtypes):
        column = X.iloc[rows, place]
        if is_numeric_dtype(dtype) or is_bool_dtype(dtype):
            numbers.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            places.append(place)
        else:
            texts = hash_array(column.astype(str).to_numpy(dtype=object), categorize=True)
            found += _scrambled(texts ^ _seeds(np.array([place])))
    if len(places) == X.shape[1]:  # as the same numbers in an array
        chosen = _spread(len(places), _COLUMNS)
        return _sum(np.stack([numbers[k] for k in chosen], axis=1), chosen)
    return found + _sum(np.stack(numbers, axis=1), np.array(places)) if numbers else found


def _sum(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    mixed = _mixed(values, columns)
    mixed[values == 0] = 0
    return np.asarray(mixed.sum(axis=1, dtype=np.uint64))


def _mixed(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Bits of numbers and of the columns that they are in, scrambled; every NaN is the same."""
    values = np.where(np.isnan(values), np.nan, values)
    return _scrambled(np.ascontiguousarray(values).view(np.uint64) ^ _seeds(columns))


def _seeds(columns: np.ndarray) -> np.ndarray:
    return _scrambled(columns.astype(np.uint64) + np.uint64(1))


def _scrambled(bits: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), a bijection of 64 bits."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
