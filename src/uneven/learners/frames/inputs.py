"""Whatever a user gives as X: a pandas data frame, an array of numbers, or a CSR matrix comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from uneven._inputs import brief
from uneven.errors import UnevenError, needs_extra

FRAME, ARRAY, SPARSE = "frame", "array", "sparse"


def read_input(X: Any) -> tuple[str, Any]:
    """The kind of X, and X as a data frame whose columns have texts as names, array of numbers or CSR matrix.

    Infinite numbers count as missing (NaN).
    """
    if issparse(X):
        return SPARSE, _finite_sparse(
            check_array(X, accept_sparse="csr", dtype=_float(X.dtype), ensure_all_finite=False)
        )
    if hasattr(X, "to_pandas"):  # polars and Arrow
        _require_pandas()
        X = X.to_pandas()
    if hasattr(X, "iloc"):
        return FRAME, _named(X)
    if hasattr(X, "collect"):
        raise UnevenError(f"X must be a data frame, an array or a sparse matrix, got {type(X).__name__}; collect() it")
    array = _as_array(X)
    if array.dtype.kind not in "OUSMm":
        array = check_array(array, dtype=_float(array.dtype), ensure_all_finite=False)
        infinite = np.isinf(array)
        return ARRAY, np.where(infinite, np.nan, array) if infinite.any() else array
    if array.ndim != 2:
        check_array(array, dtype=None, ensure_all_finite=False)
    _require_pandas()
    import pandas as pd

    names = [f"x{k}" for k in range(array.shape[1])]
    return FRAME, _named(pd.DataFrame(array, columns=names, dtype=object if array.dtype.kind in "OUS" else None))


def _as_array(X: Any) -> np.ndarray:
    if isinstance(X, np.ndarray):
        return X
    try:
        array = np.asarray(X)
        return np.array(X, dtype=object) if array.dtype.kind in "US" else array
    except ValueError as error:
        raise UnevenError(f"X must be a data frame, an array or a sparse matrix, got {brief(X)}: {error}") from None


def _float(dtype: np.dtype[Any]) -> Any:
    """The type to keep numbers in: their own, but a float type for what is none of float, double and integer."""
    if dtype.kind in "iu" or dtype in (np.float32, np.float64) or dtype.kind == "c":
        return None
    return np.float32 if dtype.itemsize < 8 else np.float64


def _finite_sparse(X: Any) -> Any:
    if X.dtype.kind == "f" and not np.isfinite(X.data).all():
        X = X.copy()
        X.data[np.isinf(X.data)] = np.nan
    return X


def _named(frame: Any) -> Any:
    """The same frame with texts as names of columns."""
    if frame.ndim != 2:
        raise UnevenError(f"Expected 2D array, got {frame.ndim}D array instead: X must have rows and columns")
    rows, width = frame.shape
    if not rows or not width:
        raise UnevenError(
            f"Found array with {rows} sample(s) and {width} feature(s) (shape=({rows}, {width})): X must have at least "
            "one row and one column"
        )
    names = [str(name) for name in frame.columns.astype(object)]
    double = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
    if double:
        raise UnevenError(f"X has two columns named {min(double)!r}; rename one")
    return frame.set_axis(np.array(names, dtype=object), axis=1)  # an index of Arrow texts takes longer at every use


def _require_pandas() -> None:
    with needs_extra("tables", "data"):
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
