"""Rows whose columns come from different rows: what a model is asked about to find out which column did what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from uneven.errors import ParameterError
from uneven.inputs import brief

#: Entries of a table of mixed rows that a model is asked about at once.
AT_ONCE = 2_000_000

#: From rows to what a model says of each, before the costs decide.
Evidence = Callable[[Any], np.ndarray]


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows to explain, followed by the rows to compare them with.

    Attributes
    ----------
    table : DataFrame or ndarray
    names : tuple of str
        The user's columns.
    count : int
        How many rows are to be explained.
    """

    table: Any
    names: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, X: Any, background: Any, known_names: Any = None) -> Pool:
        """Rows as a user gives them; without a background the rows are compared with each other."""
        X = _as_table("X", X)
        if X.shape[0] == 0:
            raise ParameterError("X has 0 rows: there is nothing to explain")
        if background is None:
            if X.shape[0] < 2:
                raise ParameterError(
                    "one row has nothing to be compared with: give background, such as rows of the training table"
                )
            background = X
        background = _as_table("background", background)
        if is_frame(X) != is_frame(background):
            raise ParameterError("X and background must both be data frames or both be arrays, got one of each")
        names = tuple(map(str, X.columns)) if is_frame(X) else _names(known_names, X.shape[1])
        if is_frame(X):
            missing = [name for name in X.columns if name not in background.columns]
            if missing:
                raise ParameterError(f"background has no column {missing[0]!r}, which X has")
            background = background[list(X.columns)]
        if X.shape[1] != background.shape[1] or background.shape[0] == 0:
            raise ParameterError(
                f"background must have at least one row and the {X.shape[1]} columns of X, got shape {background.shape}"
            )
        return cls(_join(X, background), names, X.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def background(self) -> np.ndarray:
        """Numbers of the rows to compare with."""
        return np.arange(self.count, self.table.shape[0])

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for each value of each column: equal numbers are equal values, and missing values are equal."""
        return np.stack([_codes(self.column(j)) for j in range(self.width)], axis=1)

    def column(self, j: int) -> Any:
        """All values of a column."""
        return self.table.iloc[:, j] if is_frame(self.table) else self.table[:, j]

    def value(self, i: int, j: int) -> Any:
        """One value, as Python has it."""
        column = self.column(j)
        value = column.iloc[i] if is_frame(column) else column[i]
        return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value

    def rows(self, numbers: np.ndarray) -> Any:
        """Some rows as they are."""
        return self.table.iloc[numbers] if is_frame(self.table) else self.table[numbers]

    def mix(self, index: np.ndarray) -> Any:
        """Rows whose entry in column j is that of row ``index[:, j]``."""
        if not is_frame(self.table):
            return np.take_along_axis(self.table, index, axis=0)
        import pandas as pd

        columns = {j: self.table.iloc[:, j].array.take(index[:, j]) for j in range(self.width)}
        return pd.DataFrame(columns, copy=False).set_axis(self.table.columns, axis=1)

    def ask(self, evidence: Evidence, index: np.ndarray) -> np.ndarray:
        """What the model says of mixed rows, of equal ones once, in parts that fit into memory."""
        first, place = self._distinct(index)
        step = max(1, AT_ONCE // self.width)
        found = [evidence(self.mix(index[first[at : at + step]])) for at in range(0, first.size, step)]
        return np.concatenate(found)[place] if found else np.empty(0)

    def _distinct(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first of each group of mixed rows with the same values, and the group of each row."""
        keys, count = np.zeros(len(index), dtype=np.int64), 1
        for j in range(self.width):
            codes = self.codes[:, j] - self.codes[:, j].min()  # missing values are -1
            size = int(codes.max()) + 1
            if count > np.iinfo(np.int64).max // size:
                keys = np.unique(keys, return_inverse=True)[1].ravel()
                count = len(index)
            keys, count = keys * size + codes[index[:, j]], count * size
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        return first, place.ravel()


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, as :class:`Pool` keeps them."""
    return hasattr(X, "iloc")


def _as_table(name: str, X: Any) -> Any:
    if issparse(X):
        raise ParameterError(f"explain needs a table or a dense array, got {name} sparse; {name}.toarray() would work")
    if hasattr(X, "columns"):
        return X.to_pandas() if hasattr(X, "to_pandas") else X
    array = np.asarray(X)
    if array.ndim != 2:
        raise ParameterError(f"{name} must have rows and columns, got {brief(X)}")
    if array.dtype.kind in "OUS":
        return array.astype(object)
    return check_array(array, ensure_all_finite="allow-nan", ensure_min_samples=0, dtype=(np.float64, np.float32))


def _names(known: Any, width: int) -> tuple[str, ...]:
    if known is not None and len(known) == width:
        return tuple(map(str, known))
    return tuple(f"x{k}" for k in range(width))


def _join(X: Any, background: Any) -> Any:
    if not is_frame(X):
        return np.concatenate([X, background])
    import pandas as pd

    if X is background:
        return pd.concat([X, X], ignore_index=True)
    empty = [name for name in X.columns if X[name].isna().all() != background[name].isna().all()]
    for name in empty:  # pandas would look at the values of the other rows only
        filled = background[name].dtype if X[name].isna().all() else X[name].dtype
        X, background = (_retype(part, name, filled) for part in (X, background))
    joined = pd.concat([X, background], ignore_index=True)
    for name in X.columns:
        parts = [part[name].dtype for part in (X, background)]
        if all(hasattr(dtype, "categories") for dtype in parts) and parts[0] != parts[1]:
            known = pd.Index(dict.fromkeys([*parts[0].categories, *parts[1].categories]), dtype=object)
            joined[name] = pd.Categorical(joined[name].astype(object), categories=known)
    return joined


def _retype(frame: Any, name: Any, dtype: Any) -> Any:
    try:
        return frame.assign(**{name: frame[name].astype(dtype)}) if isinstance(name, str) else frame
    except (TypeError, ValueError):  # a column of integers cannot be missing
        return frame


def _codes(values: Any) -> np.ndarray:
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.unique(values, return_inverse=True)[1].ravel()  # NaN is one value
    import pandas as pd

    return np.asarray(pd.factorize(values, use_na_sentinel=True)[0])
