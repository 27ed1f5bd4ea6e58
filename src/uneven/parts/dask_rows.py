"""Partitions of Dask collections as blocks of rows: what the client prepares, and what runs on the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dask
import dask.array
import numpy as np
from scipy import sparse

from uneven.costs import COSTS, RowCosts
from uneven.errors import CostError, UnevenError
from uneven.inputs import brief
from uneven.labels import distinct_labels, read_target, read_weights
from uneven.parts.blocks import Batch, Block, BlockMaker
from uneven.solvers.running import require_finite
from uneven.tables import arrow_columns, columns_in_parts
from uneven.tables.columns import Sizes
from uneven.tables.columns_in_parts import ColumnSummary, Plan

#: Labels of a partition that reach the client: two are right, more are for the message.
_MOST_LABELS = 10


# -- on the client ----------------------------------------------------------------------------------------------------


def is_lazy(value: Any) -> bool:
    """Whether something is a Dask array, dataframe or series."""
    return bool(dask.is_dask_collection(value)) and hasattr(value, "to_delayed")


def is_array(value: Any) -> bool:
    """Whether it is a Dask array."""
    return isinstance(value, dask.array.Array)


def column_names(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a dataframe; None for arrays, and for names that are not texts, as in scikit-learn."""
    if is_array(X) or not all(isinstance(name, str) for name in X.columns):
        return None
    return tuple(X.columns)


def features(X: Any) -> Any:
    """X with all columns of a row in one partition; refused if it is not a matrix of Dask."""
    if not is_lazy(X):
        raise CostError(
            f"X must be a Dask array or dataframe, got {brief(X)}; for data in memory use UnevenLinearClassifier"
        )
    if X.ndim != 2:
        raise CostError(f"X must have two dimensions, rows and columns, got {X.ndim}")
    if X.shape[1] == 0:
        raise CostError("X must have a column to learn from, got none")
    if not is_array(X):
        arrow_columns.names_of(X)
    return X.rechunk({1: -1}) if is_array(X) and len(X.chunks[1]) > 1 else X


def like_rows(name: str, value: Any, X: Any) -> Any:
    """A collection with one value for each row and the partitions of X; values in memory are divided like X."""
    known = is_array(X) and not np.isnan(X.chunks[0]).any()
    if not is_lazy(value):
        if np.ndim(value) != 1 or not known:
            raise CostError(
                f"{name} must be a Dask collection with one value for each row and with the partitions of X, got "
                f"{brief(value)}"
            )
        value = dask.array.from_array(np.asarray(value), chunks=-1)
    if value.ndim != 1:
        raise CostError(f"{name} must have one dimension, got {value.ndim}")
    if known and is_array(value) and not np.isnan(value.chunks[0]).any():
        rows = X.shape[0]
        if value.size != rows:
            raise CostError(f"{name} must have a value for each row of X, got {value.size} values for {rows} rows")
        value = value.rechunk((X.chunks[0],))
    count = X.numblocks[0] if is_array(X) else X.npartitions
    if value.npartitions != count:
        raise CostError(
            f"{name} must have the partitions of X, got {value.npartitions} partitions for {count}; take both from the "
            "same collection, or repartition both"
        )
    return value


@dataclass(frozen=True)
class Recipe:
    """How partitions are read.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns of a dataframe, as texts; None for arrays.
    costs : dict
        The costs that are numbers.
    """

    names: tuple[str, ...] | None
    costs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LazyRows:
    """A training set of Dask collections with the same partitions.

    Attributes
    ----------
    recipe : Recipe
    columns : dict
        X, y, and those of the weights and costs that have a value for each row.
    costs : dict
        The four costs as they were given.
    """

    recipe: Recipe
    columns: dict[str, Any]
    costs: dict[str, Any]

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: Any, costs: dict[str, Any]) -> LazyRows:
        """Check what can be checked without loading anything."""
        X = features(X)
        if y is None:
            raise CostError("y must hold the labels, a Dask collection with the partitions of X, got None")
        found = {"X": X, "y": like_rows("y", y, X)}
        if sample_weight is not None:
            found["sample_weight"] = like_rows("sample_weight", sample_weight, X)
        by_row = {name: value for name, value in costs.items() if is_lazy(value) or np.ndim(value)}
        found |= {name: like_rows(name, value, X) for name, value in by_row.items()}
        numbers = {name: value for name, value in costs.items() if name not in by_row}
        return cls(Recipe(None if is_array(X) else arrow_columns.names_of(X), numbers), found, costs)

    @property
    def row_costs(self) -> tuple[str, ...]:
        """The costs that have a value for each row."""
        return tuple(name for name in self.costs if name not in self.recipe.costs)

    def delayed(self) -> list[Any]:
        """The partitions as :class:`Rows`, not loaded yet."""
        frames = {name: one for name, one in self.columns.items() if not is_array(one)}
        arrays = {name: one for name, one in self.columns.items() if is_array(one)}
        pieces = {name: list(np.ravel(one.to_delayed())) for name, one in arrays.items()}
        if frames:  # in one expression: Dask may join small files, and must do so for all columns alike
            first, *rest = frames.values()
            packed = first.map_partitions(
                _pack, *rest, meta=first._meta, enforce_metadata=False, align_dataframes=False
            )
            pieces["frames"] = packed.to_delayed()
        counts = sorted({len(one) for one in pieces.values()})
        if len(counts) > 1:
            raise CostError(
                f"arrays and dataframes must have the same partitions, got {counts[0]} and {counts[1]}; take all from "
                "dataframes, or all from arrays"
            )
        read = dask.delayed(read_rows, pure=False)
        names = tuple(frames)
        return [
            read(self.recipe, number, names, dict(zip(pieces, one, strict=True)))
            for number, one in enumerate(zip(*pieces.values(), strict=True))
        ]


# -- on the workers ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Facts:
    """What the client must know of a partition before the first pass.

    Attributes
    ----------
    shape : tuple
    labels : ndarray
        The different labels, in order of appearance.
    about : ndarray
        A row of X, as a point near the data; empty if there is none, or if it is not numbers yet.
    regrets : tuple
        Of both mistakes where they are the same in all rows, else None.
    plain : bool
        Whether X is numbers and none is missing.
    """

    shape: tuple[int, int]
    labels: np.ndarray
    about: np.ndarray
    regrets: tuple[float | None, float | None] = (None, None)
    plain: bool = True


class Rows:
    """One partition as a worker keeps it: numbers in memory, labels and costs as they were given.

    Of a dataframe with texts or missing values X is an Arrow table, until the first question brings the plan by which
    it becomes numbers.
    """

    def __init__(self, number: int, batch: Batch, names: tuple[str, ...] | None = None) -> None:
        self.number, self.batch, self.names = number, batch, names
        self._encoded = False
        self._block: tuple[BlockMaker, Block] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_block": None}

    def __sizeof__(self) -> int:
        """Bytes, which Dask looks at."""
        X, y = self.batch.X, np.asarray(self.batch.y)
        parts = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
        return sum(int(part.nbytes) for part in (*parts, y, self.batch.weight, *self.batch.costs.values()))

    @property
    def plain(self) -> bool:
        """Whether X is an array or a sparse matrix."""
        return isinstance(self.batch.X, np.ndarray) or sparse.issparse(self.batch.X)

    def table(self) -> Any:
        """X as an Arrow table."""
        X = self.batch.X
        return arrow_columns.table_of_matrix(X, self.names or ()) if self.plain else X

    def block(self, make_block: BlockMaker, plan: Plan | None = None) -> Block:
        """The partition as the passes take it; made once."""
        if plan is not None and not self._encoded:
            place = f"partition {self.number} (counted from 0)"
            matrix = columns_in_parts.encoded(plan, self.table(), place)
            try:
                require_finite("X", matrix)
            except CostError as error:
                raise CostError(f"{place}: {error}") from None
            self.batch, self._encoded = replace(self.batch, X=matrix), True
        if self._block is None or self._block[0] != make_block:
            self._block = make_block, make_block(self.batch, self.number)
        return self._block[1]


def _pack(*frames: Any) -> tuple[Any, ...]:
    """Partitions of several collections as one object."""
    return frames


def read_rows(recipe: Recipe, number: int, framed: tuple[str, ...], pieces: dict[str, Any]) -> Rows:
    """Read one partition: X, y, sample_weight and costs, some of them by their names in ``pieces["frames"]``."""
    given = {**pieces, **dict(zip(framed, pieces.get("frames", ()), strict=True))}
    try:
        matrix = _of_frame(given["X"], recipe.names) if hasattr(given["X"], "columns") else _matrix(given["X"])
        n = matrix.shape[0]
        if len(given["y"]) != n:
            raise CostError(f"X has {n} rows and y has {len(given['y'])}")
        labels = _labels(given["y"], n) if n else np.empty(0)
        if n and (isinstance(matrix, np.ndarray) or sparse.issparse(matrix)):
            require_finite("X", matrix)
        weights = _weights(given.get("sample_weight"), n)
        costs = {name: numbers_of(name, given[name]) for name in COSTS if name in given}
        if costs and n:
            RowCosts.read(n, **recipe.costs, **costs)  # refuses bad ones
        return Rows(number, Batch(matrix, labels, weights, costs), recipe.names)
    except UnevenError as error:
        raise type(error)(f"partition {number} (counted from 0): {error}") from None


def _labels(y: Any, n: int) -> np.ndarray:
    if hasattr(y, "isna") and y.isna().any():
        row = int(np.flatnonzero(y.isna())[0])
        raise CostError(f"y must hold a label in every row, but it is missing in row {row}; drop such rows")
    return read_target(_plain(y), n)


def _plain(values: Any) -> np.ndarray:
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


def numbers_of(name: str, values: Any) -> np.ndarray:
    """One number for each row of a partition; what is missing becomes NaN."""
    try:
        if hasattr(values, "to_numpy"):
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise CostError(f"{name} must be one number for each row, got {brief(values.dtype)} values") from None


def _weights(weight: Any, n: int) -> np.ndarray:
    if weight is None or not n:
        return np.empty(0)
    values = numbers_of("sample_weight", weight)
    if values.shape == (n,) and not values.any():  # of one partition this is allowed
        return values
    return read_weights(values, n)


def _of_frame(X: Any, names: Sequence[str] | None) -> Any:
    """An array, or an Arrow table if some columns are not numbers or some values are missing."""
    found = arrow_columns.names_of(X)
    if found != names:
        raise CostError(f"X has the columns {brief(list(found))} instead of {brief(list(names or ()))}")
    matrix = arrow_columns.plain_matrix(X)
    return arrow_columns.table_of_frame(X) if matrix is None else matrix


def _matrix(X: Any) -> Any:
    """A float64 or float32 array in C or F order, or a CSR matrix; not copied if possible."""
    if sparse.issparse(X):
        return X.tocsr() if X.dtype in (np.float64, np.float32) else X.tocsr().astype(np.float64)
    array = np.asarray(X)
    if array.ndim != 2:
        raise CostError(f"X must have two dimensions, got {array.ndim}")
    if array.dtype not in (np.float64, np.float32):
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise CostError(f"X must hold numbers, got {brief(array)}") from None
    return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)


def facts_of(rows: Rows, recipe: Recipe) -> list[Facts]:
    """What the client must know of a partition; in a list, so that those of many partitions can be added."""
    X, y, costs = rows.batch.X, np.asarray(rows.batch.y), rows.batch.costs
    found = np.array(distinct_labels(y)[:_MOST_LABELS], dtype=y.dtype)
    if not rows.batch.rows:
        return [Facts(X.shape, found, np.empty(0))]
    about = np.empty(0)
    if rows.plain:
        about = np.asarray(X[:1].toarray() if sparse.issparse(X) else X[:1], dtype=np.float64)[0]
    if not costs:
        return [Facts(X.shape, found, about, plain=rows.plain)]
    known = RowCosts.read(y.size, **recipe.costs, **costs)
    same = [None if isinstance(one, np.ndarray) else float(one) for one in (known.fp_regret, known.fn_regret)]
    return [Facts(X.shape, found, about, (same[0], same[1]), rows.plain)]


def summary(rows: Rows, sizes: Sizes) -> ColumnSummary:
    """What the plan of the columns must know of a partition; of texts no more than the sizes allow."""
    try:
        return ColumnSummary.of(rows.table(), sizes)
    except CostError as error:
        raise CostError(f"partition {rows.number} (counted from 0): {error}") from None
