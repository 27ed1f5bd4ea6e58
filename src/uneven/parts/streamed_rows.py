"""Rows that need not fit into memory, as a user describes them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.costs import COSTS
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief, require_integer
from uneven.parts.blocks import Source
from uneven.parts.sources import ArraySource, BatchSource, read_memory_limit

if TYPE_CHECKING:
    from uneven.parts.block_loop import BlockLoop


class StreamedRows:
    """Rows that need not fit into memory: Parquet files, an Arrow dataset, a mapped array, or batches.

    Give it to ``fit`` of :class:`~uneven.UnevenLinearClassifier` in the place of X. The rows are read five to ten
    times, block by block; what fits into ``memory_limit`` is kept after the first time.

    Parameters
    ----------
    data : str, path, list of them, pyarrow.dataset.Dataset, array, or iterable of batches
        A path is a Parquet file, a folder of them, or a pattern such as ``"data/*.parquet"``. An array may be a
        :class:`numpy.memmap`. A batch is (X, y), (X, y, weight) or (X, y, weight, costs), where costs is a dict such
        as ``{"fn_cost": amounts}``; the iterable must give the same batches each time.
    target : str or array-like, optional
        The column of the labels, or for an array the labels themselves.
    columns : list of str, optional
        Columns of a table to learn from; by default all that have no other use.
    sample_weight : str or array-like, optional
        The column of the weights, or for an array the weights.
    standardize : bool
        Subtract the mean of each column of numbers and divide by its standard deviation, both over all rows. The
        penalty is then that of the standardised columns; ``coef_`` is for the columns as they are.
    memory_limit : int or str, optional
        Bytes that rows may take in memory, such as "1.5GB"; by default a quarter of what is free. Python and its
        packages take about 300 MB more.
    most_categories : int
        A column of texts becomes a column of 0 and 1 for each different text that is not rare. With more different
        texts than this its words are hashed.
    buckets : int
        Number of columns that the words of such a column, and of free texts, are hashed into.

    Examples
    --------
    >>> import numpy as np
    >>> import uneven
    >>> def batch(seed):
    ...     X = np.random.default_rng(seed).normal(size=(1000, 3))
    ...     return X, X[:, 0] + X[:, 1] > 1
    >>> class Days:
    ...     def __iter__(self):                               # starts anew each time it is read
    ...         return (batch(day) for day in range(5))
    >>> clf = uneven.UnevenLinearClassifier(fn_cost=10).fit(uneven.StreamedRows(Days(), standardize=True))
    >>> clf.predict(batch(7)[0][:3]).tolist()
    [False, False, True]
    >>> clf.duality_gap_ < 1e-6 * clf.objective_              # proved, for all 5,000 rows
    True
    """

    def __init__(
        self,
        data: Any,
        *,
        target: Any = None,
        columns: list[str] | None = None,
        sample_weight: Any = None,
        standardize: bool = False,
        memory_limit: int | str | None = None,
        most_categories: int = 100,
        buckets: int = 256,
    ) -> None:
        self.data, self.target, self.columns, self.sample_weight = data, target, columns, sample_weight
        self.standardize, self.memory_limit = bool(standardize), memory_limit
        self.most_categories, self.buckets = most_categories, buckets
        self.bytes = read_memory_limit(memory_limit)
        for name in ("most_categories", "buckets"):
            require_integer(name, getattr(self, name))
        if isinstance(columns, str) or not (columns is None or isinstance(columns, Iterable)):
            raise ParameterError(f"columns must be a list of names, got {brief(columns)}")

    @property
    def is_table(self) -> bool:
        """Whether the rows are those of Parquet files or of a dataset."""
        return is_path(self.data) or is_dataset(self.data)

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, target: Any, columns: Any) -> StreamedRows:
        """What was given to ``fit``, as rows."""
        if isinstance(X, StreamedRows):
            for name, value in (("y", y), ("sample_weight", sample_weight), ("target", target), ("columns", columns)):
                if value is not None:
                    raise ParameterError(
                        f"{name} belongs to StreamedRows itself here, got {brief(value)}; give it there"
                    )
            return X
        if y is not None and target is not None:
            raise ParameterError(f"give the labels as y or as target=, not both, got target={brief(target)}")
        return cls(X, target=target if y is None else y, columns=columns, sample_weight=sample_weight)

    def parts(self, costs: dict[str, Any]) -> BlockLoop:
        """The rows as a fit reads them; ``costs`` are those given to ``fit``."""
        from uneven.parts.block_loop import BlockLoop

        return BlockLoop(self.source(per_row(costs)), self.bytes, standardize=self.standardize)

    def source(self, costs: dict[str, Any]) -> Source:
        """Where the rows come from; ``costs`` are those that differ by row."""
        if self.is_table:
            return self._table(costs)
        if self.columns is not None:
            raise ParameterError(f"columns= is for Parquet files and datasets, got {brief(self.columns)}")
        if isinstance(self.data, np.ndarray):
            if self.target is None:
                raise CostError("an array of rows needs its labels: give them as y, or as target=")
            return ArraySource(self.data, self.target, self.sample_weight, costs)
        for name, value in (("target", self.target), ("sample_weight", self.sample_weight), *costs.items()):
            if value is not None:
                raise ParameterError(
                    f"batches bring their labels, weights and costs with them, so {name} cannot be given too; a batch "
                    "is (X, y), (X, y, weight) or (X, y, weight, costs)"
                )
        return BatchSource(self.data)

    def _table(self, costs: dict[str, Any]) -> Source:
        from uneven.parts.table_source import TableSource

        if self.target is None:
            raise CostError("a table needs target=, the name of the column with the labels")
        named = {"target": self.target, "sample_weight": self.sample_weight, **costs}
        for name, value in named.items():
            if value is not None and not isinstance(value, str):
                raise CostError(f"{name} of a table must be the name of a column, got {brief(value)}")
        return TableSource(
            tables_of(self.data),
            self.target,
            None if self.columns is None else list(self.columns),
            self.sample_weight,
            costs,
            most_categories=self.most_categories,
            buckets=self.buckets,
        )

    def to_predict(
        self, plan: list[dict[str, Any]] | None, labels: str | None = None, costs: dict[str, str] | None = None
    ) -> Source:
        """The same rows to predict; ``plan`` is that of a fit on a table.

        Of a table, ``labels`` and ``costs`` name columns that are read as well; otherwise the rows have no labels.
        """
        if not self.is_table:
            return (
                ArraySource(self.data) if isinstance(self.data, np.ndarray) else BatchSource(self.data, labelled=False)
            )
        from uneven.parts.table_source import TableSource

        if plan is None:
            raise CostError("this model was not fitted on a table, so it cannot read one; give an array or batches")
        return TableSource(tables_of(self.data), labels, costs=costs, plan=plan)


def tables_of(data: Any) -> Any:
    """Parquet files or a dataset, as tables."""
    from uneven.parts.table_source import DatasetTables, FileTables

    return DatasetTables(data) if is_dataset(data) else FileTables(data)


def is_path(data: Any) -> bool:
    """Whether data are a path, or a list of paths."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, str | os.PathLike) for one in data)
    return isinstance(data, str | os.PathLike)


def is_dataset(data: Any) -> bool:
    """Whether data are an Arrow dataset; Arrow is not imported for the question."""
    return any(kind.__module__ == "pyarrow._dataset" and kind.__name__ == "Dataset" for kind in type(data).__mro__)


def is_streamed(X: Any) -> bool:
    """Whether X is not an array in memory: a path, a dataset, a mapped array that is too large, or batches."""
    if isinstance(X, StreamedRows) or is_path(X) or is_dataset(X):
        return True
    if isinstance(X, np.memmap):
        return X.ndim == 2 and X.nbytes > read_memory_limit(None)
    if isinstance(X, np.ndarray) or hasattr(X, "shape") or hasattr(X, "__dataframe__") or hasattr(X, "__array__"):
        return False
    return _are_batches(X)


def _are_batches(X: Any) -> bool:
    """Whether an object hands out batches: its items are tuples of arrays, or it is not a sequence at all."""
    if isinstance(X, str | bytes | dict | set):
        return False
    if isinstance(X, list | tuple):
        return bool(X) and isinstance(X[0], tuple) and len(X[0]) in (2, 3, 4) and getattr(X[0][0], "ndim", 0) == 2
    return hasattr(X, "__iter__") and not hasattr(X, "__len__")


def per_row(given: dict[str, Any]) -> dict[str, Any]:
    """Those of the costs given to ``fit`` that differ by row: names of columns, or arrays."""
    return {name: given[name] for name in COSTS if _names_a_column(given[name]) or np.ndim(given[name])}


def _names_a_column(value: Any) -> bool:
    """Whether a text is no number, such as 0.1 or 1/3."""
    if not isinstance(value, str):
        return False
    try:
        Fraction(value)
    except (ValueError, ZeroDivisionError):
        return True
    return False
