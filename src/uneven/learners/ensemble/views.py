"""The matrices that members see: views of the whole table and of its folds."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from uneven.learners.out_of_fold import Split
from uneven.tables import FrameEncoder
from uneven.tables.frame_encoder import TREES

#: Trees work in float32, whose largest number is 3e38; sums of a column must be finite, too.
_LARGEST = 1e30

#: One table at a time: scikit-learn's ColumnTransformer changes the process's list of warning filters while it works.
_ENCODING = threading.Lock()


@dataclass(frozen=True)
class Encoded:
    """A fitted encoder and what it made of its training rows and of other rows."""

    encoder: Any
    train: Any
    test: Any = None


def encode(encoder: Any, X: Any) -> Any:
    """Rows as a fitted encoder sees them; for trees in float32."""
    return _narrow(encoder, encoder.transform(X))


def _narrow(encoder: Any, matrix: Any) -> Any:
    if encoder.view != TREES or matrix.dtype == np.float32:
        return matrix
    with np.errstate(over="ignore"):
        narrow = matrix.astype(np.float32)
    data = narrow.data if sparse.issparse(narrow) else narrow
    np.clip(data, -_LARGEST, _LARGEST, out=data)
    return narrow


class Views:
    """Views of a table and of its folds. Each is made when it is first asked for, by whichever thread asks.

    Matrices of tables are kept until :meth:`forget`, because encoding texts takes longer than many a fit. Those
    of arrays are made anew, because a copy takes little time.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame
    target : ndarray of int
        1 for the positive class.
    splits : sequence of pairs of row numbers
    """

    def __init__(self, X: Any, target: np.ndarray, splits: Sequence[Split]) -> None:
        self.X, self.target, self.splits = X, target, splits
        self._is_table = hasattr(X, "columns")
        self._made: dict[tuple[str, int | None], Encoded] = {}
        self._lock = threading.Lock()
        self._locks: dict[tuple[str, int | None], threading.Lock] = defaultdict(threading.Lock)

    def of(self, view: str, fold: int | None = None) -> Encoded:
        """The view of all rows, or of the train and test rows of a fold."""
        key = (view, fold)
        with self._lock:
            lock = self._locks[key]
        with lock:
            made = self._made.get(key)
            if made is None or (made.train is None and self._is_table):
                made = self._first(view, fold)
                self._made[key] = made if self._is_table else Encoded(made.encoder, None)
                return made
        if made.train is not None:
            return made
        train, test = self._rows(fold)
        return Encoded(made.encoder, encode(made.encoder, train), None if test is None else encode(made.encoder, test))

    def encoder(self, view: str, fold: int | None = None) -> Any:
        """The fitted encoder of a view that was made before."""
        return self._made[view, fold].encoder

    def forget(self, view: str, fold: int | None = None) -> None:
        """Free the matrices of all rows or of a fold; the encoder stays."""
        with self._lock:
            self._made[view, fold] = Encoded(self._made[view, fold].encoder, None)

    def forget_folds(self) -> None:
        """Free the matrices of all folds."""
        for view, fold in list(self._made):
            if fold is not None:
                self.forget(view, fold)

    def _first(self, view: str, fold: int | None) -> Encoded:
        train, test = self._rows(fold)
        target = self.target if fold is None else self.target[self.splits[fold][0]]
        encoder = FrameEncoder(view=view)
        with _ENCODING:
            matrix = _narrow(encoder, encoder.fit_transform(train, target))
            return Encoded(encoder, matrix, None if test is None else encode(encoder, test))

    def _rows(self, fold: int | None) -> tuple[Any, Any]:
        if fold is None:
            return self.X, None
        train, test = self.splits[fold]
        return _safe_indexing(self.X, train), _safe_indexing(self.X, test)
