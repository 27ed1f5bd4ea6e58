"""Partitions of Dask collections as blocks of rows: what the client prepares, and what runs on the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from uneven._inputs import brief, to_float
from uneven.costs import RowCosts
from uneven.errors import CostError, UnevenError
from uneven.learners.reading import read_labels, read_weights, require_finite
from uneven.metrics.labels import distinct_labels
from uneven.solvers.linear.parts.block import Block

#: Labels of a partition that reach the client: two are right, more are for the message.
_MOST_LABELS = 10


# -- on the client ----------------------------------------------------------------------------------------------------


def is_lazy(value: Any) -> bool:
    """Whether something is a Dask collection."""
    return hasattr(value, "__dask_graph__") and hasattr(value, "to_delayed")


def column_names(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a dataframe; None for arrays, and for names that are not texts, as in scikit-learn."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def partitions(name: str, value: Any, X: Any) -> list[Any]:
    """The partitions of a collection, one for each partition of X; arrays in memory are divided like X if possible."""
    if value is X:
        return _of_features(X)
    chunks = getattr(X, "chunks", ((np.nan,),))[0]
    known = not np.isnan(chunks).any()
    if not is_lazy(value):
        if np.ndim(value) != 1 or not known:
            raise CostError(
                f"{name} must be a Dask collection with one value for each row and with the partitions of X, got "
                f"{brief(value)}"
            )
        import dask.array

        value = dask.array.from_array(np.asarray(value), chunks=len(value))
    if value.ndim != 1:
        raise CostError(f"{name} must have one dimension, got {value.ndim}")
    if hasattr(value, "chunks") and known and not np.isnan(value.chunks[0]).any():
        if sum(value.chunks[0]) != sum(chunks):
            raise CostError(
                f"{name} must have a value for each row of X, got {sum(value.chunks[0])} for {sum(chunks)} rows"
            )
        value = value.rechunk((chunks,))
    found = list(np.ravel(value.to_delayed()))
    if len(found) != X.npartitions if not hasattr(X, "chunks") else len(found) != len(chunks):
        raise CostError(
            f"{name} must have the partitions of X, got {len(found)} for {len(chunks)}; take both from the same "
            "collection, or repartition both"
        )
    return found


def _of_features(X: Any) -> list[Any]:
    if not is_lazy(X):
        raise CostError(
            f"X must be a Dask array or dataframe, got {brief(X)}; for data in memory use UnevenLinearClassifier"
        )
    if X.ndim != 2:
        raise CostError(f"X must have two dimensions, rows and columns, got {X.ndim}")
    if hasattr(X, "chunks") and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


# -- on the workers ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """One partition as a worker keeps it: numbers in memory, labels and costs as they were given."""

    number: int
    X: Any
    labels: np.ndarray
    weight: np.ndarray
    costs: RowCosts | None


@dataclass(frozen=True)
class Facts:
    """What the client must know of a partition before the first pass.

    Attributes
    ----------
    shape : tuple
    labels : ndarray
        The different labels, in order of appearance.
    about : ndarray
        A row of X, as a point near the data; empty if there is none.
    regrets : tuple
        Of both mistakes where they are the same in all rows, else None.
    largest : float
        The largest regret, 0 without costs of each row.
    """

    shape: tuple[int, int]
    labels: np.ndarray
    about: np.ndarray
    regrets: tuple[float | None, float | None] = (None, None)
    largest: float = 0.0


@dataclass(frozen=True)
class Reading:
    """What the labels and costs of the partitions mean, known after all were looked at.

    Attributes
    ----------
    positive : label
    by_row : bool
        Whether rows are weighted by their own regrets.
    largest : float
        The largest regret, by which they are divided.
    inside : Fraction, optional
        alpha of a loss that contains costs itself.
    """

    positive: Any
    by_row: bool = False
    largest: float = 1.0
    inside: Fraction | None = None


@dataclass(frozen=True)
class Recipe:
    """How partitions are read: names of the columns, if they have some, and the costs that are numbers."""

    names: tuple[str, ...] | None
    costs: dict[str, Any] = field(default_factory=dict)


def read_rows(
    recipe: Recipe, number: int, X: Any, y: Any, weight: Any = None, costs: dict[str, Any] | None = None
) -> Rows:
    """Read one partition; ``costs`` are those that have a value for each row."""
    try:
        matrix = _matrix(X, recipe.names)
        n = matrix.shape[0]
        if len(y) != n:
            raise CostError(f"X has {n} rows and y has {len(y)}")
        labels = read_labels(_plain(y), n) if n else np.empty(0)
        if n:
            require_finite("X", matrix)
        weights = _weights(weight, n)
        by_row = None
        if costs and n:
            by_row = RowCosts.read(n, **{**recipe.costs, **{name: _plain(value) for name, value in costs.items()}})
        return Rows(number, matrix, labels, weights, by_row)
    except UnevenError as error:
        raise type(error)(f"partition {number} (counted from 0): {error}") from None


def _plain(values: Any) -> np.ndarray:
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


def _weights(weight: Any, n: int) -> np.ndarray:
    if weight is None or not n:
        return np.empty(0)
    values = np.asarray(_plain(weight), dtype=np.float64)
    if values.shape == (n,) and not values.any():  # of one partition this is allowed
        return values
    return read_weights(values, n)


def _matrix(X: Any, names: Sequence[str] | None) -> Any:
    """A float64 or float32 array in C or F order, or a CSR matrix; not copied if possible."""
    if hasattr(X, "columns"):
        if names is not None and tuple(X.columns) != tuple(names):
            raise CostError(f"X has the columns {brief(list(X.columns))} instead of {brief(list(names))}")
        for name, kind in zip(X.columns, X.dtypes, strict=True):
            if getattr(kind, "kind", "O") not in "biuf":
                raise CostError(
                    f"column {name!r} of X holds {kind} values, not numbers; encode it before, such as by "
                    "dask.dataframe.get_dummies, or drop it"
                )
        single = all(kind == np.float32 for kind in X.dtypes)
        return X.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
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


def facts(rows: Rows) -> Facts:
    """What the client must know of a partition."""
    found = np.array(distinct_labels(rows.labels)[:_MOST_LABELS], dtype=rows.labels.dtype)
    about = np.empty(0)
    if rows.labels.size:
        first = rows.X[:1]
        about = np.asarray(first.toarray() if sparse.issparse(first) else first, dtype=np.float64)[0]
    if rows.costs is None:
        return Facts(rows.X.shape, found, about)
    both = rows.costs.fp_regret, rows.costs.fn_regret
    largest = max(float(np.abs(one).max()) for one in both)
    same = [float(one) if np.ndim(one) == 0 else None for one in both]
    return Facts(rows.X.shape, found, about, (same[0], same[1]), largest)


def to_block(rows: Rows, reading: Reading) -> Block:
    """The partition as the passes take it."""
    y = np.asarray(rows.labels == reading.positive).astype(np.int8)
    given = float(rows.weight.sum()) if rows.weight.size else float(y.size)
    if not reading.by_row:
        return Block(rows.X, y, rows.weight, rows.number, given)
    assert rows.costs is not None
    regrets = rows.costs.regrets(y == 1)
    turned = regrets < 0
    y = np.where(turned, 1 - y, y).astype(np.int8)
    weight = np.abs(regrets) / reading.largest
    if reading.inside is not None:
        weight = weight / np.array([to_float(reading.inside), to_float(1 - reading.inside)])[y]
    if rows.weight.size:
        weight = rows.weight * weight
    return Block(rows.X, y, weight, rows.number, given, int(turned.sum()))
