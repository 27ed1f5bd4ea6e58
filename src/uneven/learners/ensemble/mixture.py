"""A weighted mean of fitted members' probabilities, and the matrices that members see of X."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names, _check_n_features, _num_samples, validate_data

from uneven.decisions.platt import Sigmoid
from uneven.errors import CostError
from uneven.learners.ensemble.members import Size
from uneven.learners.folds import Split
from uneven.learners.out_of_fold import positive_probability
from uneven.tables import FrameEncoder
from uneven.tables.frame_encoder import TREES

#: Rows that are predicted at once.
_AT_ONCE = 50_000

#: Trees work in float32, whose largest number is 3e38; sums of a column must be finite, too.
LARGEST = 1e30

#: One table at a time: scikit-learn's ColumnTransformer changes the process's list of warning filters while it works.
_ENCODING = threading.Lock()


@dataclass(frozen=True)
class FittedMember:
    """A member of the mixture.

    Attributes
    ----------
    weight : float
    models : list
        The model of all rows, or the models of the folds, whose mean is taken.
    encoders : list
        What makes the matrix for each model; None for models that take X as it is.
    positive : label
        The positive class as the models know it.
    sigmoid : Sigmoid or None
        Makes probabilities of scores.
    """

    weight: float
    models: list[Any]
    encoders: list[Any]
    positive: Any
    sigmoid: Sigmoid | None = None

    @property
    def first(self) -> FittedMember:
        """The same with one model."""
        return replace(self, models=self.models[:1], encoders=self.encoders[:1])

    @property
    def estimators(self) -> list[Any]:
        """The models as estimators that take X as it is."""
        return [
            model if encoder is None else make_pipeline(encoder, model)
            for encoder, model in zip(self.encoders, self.models, strict=True)
        ]


@dataclass(frozen=True)
class Mixture:
    """Members by name; their weights sum to 1."""

    members: dict[str, FittedMember]

    def probability(self, X: Any) -> np.ndarray:
        """P(positive) of the mixture. A view that several members share is made once."""
        return np.asarray(sum(m.weight * p for m, p in zip(self.members.values(), self._each(X), strict=True)))

    def _each(self, X: Any) -> list[np.ndarray]:
        seen: dict[int, Any] = {}
        found = []
        for member in self.members.values():
            values = []
            for model, encoder in zip(member.models, member.encoders, strict=True):
                rows = X
                if encoder is not None:
                    if id(encoder) not in seen:
                        seen[id(encoder)] = encode(encoder, X)
                    rows = seen[id(encoder)]
                values.append(positive_probability(model, rows, member.positive, member.sigmoid))
            found.append(np.mean(values, axis=0))
        return found


# -- X as it is read --------------------------------------------------------------------------------------------------


def read_table(learner: Any, X: Any, *, reset: bool, as_it_is: bool) -> Any:
    """Tables as they are; others as numbers, which may be missing.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the learner if ``reset``, else compares with them. If members
    take X as it is, it need not be a table at all.
    """
    if as_it_is or _is_frame(X):
        if sparse.issparse(X):
            X = X.tocsr()  # other formats have no rows to choose
        elif not hasattr(X, "shape") and hasattr(X, "__array__"):
            X = np.asarray(X)
        if _num_samples(X) == 0:
            raise CostError("X has 0 sample(s) while a minimum of 1 is required")
        if hasattr(X, "shape") and len(X.shape) == 2:
            _check_feature_names(learner, X, reset=reset)
            _check_n_features(learner, X, reset=reset)
        return X
    return validate_data(
        learner,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        ensure_all_finite="allow-nan",
        accept_large_sparse=True,
    )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and not sparse.issparse(X)


def row_chunks(X: Any) -> Iterator[Any]:
    """X in parts of rows: the matrices of large tables need not be in memory at once."""
    count = _num_samples(X)
    if count <= _AT_ONCE:
        yield X
        return
    for start in range(0, count, _AT_ONCE):
        yield _safe_indexing(X, np.arange(start, min(count, start + _AT_ONCE)))


def count_bytes(X: Any) -> int:
    """Memory of a table or matrix, without the texts that a table of objects refers to; 0 if it does not say."""
    if sparse.issparse(X):
        return sum(int(getattr(getattr(X, name, None), "nbytes", 0)) for name in ("data", "indices", "indptr"))
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage().sum())
    return int(getattr(X, "nbytes", 0))


# -- views of X and of its folds, as encoders make them ---------------------------------------------------------------


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
    np.clip(data, -LARGEST, LARGEST, out=data)
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
        self._sizes: dict[tuple[str, int | None], Size] = {}
        self.most_bytes = 0  # of the matrices so far
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

    def size(self, view: str, fold: int) -> Size:
        """The number of all rows, and the shape of the matrix of a fold, which comes from its training rows alone."""
        if (view, fold) not in self._sizes:
            self.of(view, fold)
        return self._sizes[view, fold]

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
            self.most_bytes = max(self.most_bytes, count_bytes(matrix))
            self._sizes[view, fold] = Size(self.target.size, max(1, matrix.shape[1]), bool(sparse.issparse(matrix)))
            return Encoded(encoder, matrix, None if test is None else encode(encoder, test))

    def _rows(self, fold: int | None) -> tuple[Any, Any]:
        if fold is None:
            return self.X, None
        train, test = self.splits[fold]
        return _safe_indexing(self.X, train), _safe_indexing(self.X, test)
