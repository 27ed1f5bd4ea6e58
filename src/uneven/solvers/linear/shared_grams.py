"""One Gram matrix for many fits to parts of the same rows, as in cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from uneven.solvers.linear.design import Design, design
from uneven.solvers.linear.gram import Gram, gram_of, source

#: With more rows in all, the Gram matrix of all would need too much memory.
_MOST_ROWS = 10_000


class SharedGrams:
    """Gram matrices that fits share: that of all rows, and that of the rows of the current part.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.solvers.linear.design import design
    >>> from uneven.solvers.linear.gram import gram_of
    >>> from uneven.solvers.linear.shared_grams import SharedGrams
    >>> X, grams = np.eye(4), SharedGrams()
    >>> with grams.part(X, np.array([0, 2])):
    ...     gram_of(design(X[[0, 2]])).matrix
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self) -> None:
        self._all: Design | None = None
        self._read: Any = None
        self._part: Gram | None = None

    @contextmanager
    def part(self, X: Any, rows: np.ndarray) -> Iterator[None]:
        """While this lasts, fits to ``X[rows]`` share a Gram matrix, taken from that of X.

        With X None (the rows are preprocessed anew in each part), fits to the same matrix share theirs.
        """

        def find(asked: Design, exact: bool) -> Gram | None:
            if self._part is None or not _same_memory(asked.X, self._read) or (exact and not self._part.exact):
                self._read, self._part = asked.X, self._from_all(asked, X, rows, exact)
            return self._part

        token = source.set(find)
        try:
            yield
        finally:
            source.reset(token)
            self._read = self._part = None

    def _from_all(self, asked: Design, X: Any, rows: np.ndarray, exact: bool) -> Gram:
        """The rows and columns of a part in the Gram matrix of all rows; computed alone if X is not what was read."""
        token = source.set(None)
        try:
            if not _holds(X, rows, asked):
                return gram_of(asked, exact=exact)
            if self._all is None or self._all.X is not X:
                self._all = design(X)
            whole = gram_of(self._all, exact=exact)
        finally:
            source.reset(token)
        return Gram(whole.matrix[np.ix_(rows, rows)], whole.exact)


def _holds(X: Any, rows: np.ndarray, asked: Design) -> bool:
    """Whether X is a matrix that solvers use as it is, and these rows of it are those of the design."""
    kind = type(asked.X)
    if type(X) is not kind or X.shape[0] > _MOST_ROWS or X.dtype != asked.X.dtype or rows.dtype == bool:
        return False
    if isinstance(X, np.ndarray):
        if not (X.flags.c_contiguous or X.flags.f_contiguous):
            return False
    elif X.format != "csr":
        return False
    if (rows.size, X.shape[1]) != (asked.n, asked.d):
        return False
    return all(np.array_equal(_row(X, int(rows[k])), _row(asked.X, k)) for k in (0, rows.size // 2, rows.size - 1))


def _row(X: Any, k: int) -> np.ndarray:
    return np.asarray(X[k] if isinstance(X, np.ndarray) else X[[k]].toarray()[0])


def _same_memory(X: Any, other: Any) -> bool:
    """Whether two matrices are the same numbers in memory, with the same layout."""
    if other is None or type(X) is not type(other) or X.shape != other.shape:
        return False
    if isinstance(X, np.ndarray):
        return bool(X.__array_interface__["data"] == other.__array_interface__["data"] and X.strides == other.strides)
    return all(_same_memory(getattr(X, name), getattr(other, name)) for name in ("data", "indices", "indptr"))
