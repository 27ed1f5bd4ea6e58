"""How the ensemble reads X: tables as they are, arrays as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names, _check_n_features, _num_samples, validate_data

from uneven.errors import CostError

#: Rows that are predicted at once.
_AT_ONCE = 50_000


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
