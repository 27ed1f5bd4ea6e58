"""A weighted mean of fitted members' probabilities, and how X is read for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names, _check_n_features, _num_samples, validate_data

from uneven.decisions.platt import Sigmoid
from uneven.errors import CostError
from uneven.learners.ensemble.views import encode
from uneven.learners.out_of_fold import positive_probability

#: Rows that are predicted at once.
_AT_ONCE = 50_000


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
