"""How learners read a matrix of features. A bad one is refused in one sentence.

scikit-learn's checks take longer than a small fit. An array that they would return as it is does not go through them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.solvers.threads import in_threads, row_ranges


def read_features(learner: Any, X: Any, *, reset: bool, missing: bool = False) -> Any:
    """A finite float64 or float32 array or CSR matrix, not copied if possible; with ``missing`` it may hold NaN.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the learner if ``reset``, else compares with them.
    """
    X = read_matrix(learner, X, reset=reset)
    require_finite("X", X, missing=missing)
    return X


def read_matrix(learner: Any, X: Any, *, reset: bool) -> Any:
    """The same, whatever its numbers are."""
    if not _is_plain_matrix(X) or not _took_plain_matrix(learner, X.shape[1], reset):
        from sklearn.utils.validation import validate_data

        X = validate_data(
            learner,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            accept_large_sparse=True,
        )
    return X


def _is_plain_matrix(X: Any) -> bool:
    """Whether scikit-learn's checks would return the array itself."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in (np.float64, np.float32)


def _took_plain_matrix(learner: Any, columns: int, reset: bool) -> bool:
    """Set or compare the number of columns of an array without names; False if scikit-learn has to complain."""
    if reset:
        learner.__dict__.pop("feature_names_in_", None)
        learner.n_features_in_ = columns
        return True
    return learner.__dict__.get("n_features_in_") == columns and "feature_names_in_" not in learner.__dict__


def require_finite(name: str, X: Any, *, missing: bool = False) -> None:
    """Raise unless every number is finite, or missing (NaN) if allowed; the message says where the first bad one is."""
    data = X if isinstance(X, np.ndarray) else X.data

    def total(k: int, lo: int, hi: int) -> float:
        with np.errstate(all="ignore"):
            return float(data[lo:hi].sum())

    if math.isfinite(sum(in_threads(total, row_ranges(data.shape[0], data.size)))):
        return
    bad = np.argwhere(np.isinf(data) if missing else ~np.isfinite(data))
    if not len(bad):  # the sum overflowed, or the bad ones are allowed
        return
    value = data[tuple(bad[0])]
    kind = "NaN" if np.isnan(value) else "inf"
    place = f"row {bad[0][0]}, column {bad[0][1]}" if isinstance(X, np.ndarray) else "its stored values"
    raise CostError(
        f"{name} must hold finite numbers, got {kind} in {place}; fill in or drop such values (NaN, inf) before"
    )
