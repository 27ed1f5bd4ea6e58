"""Numbers for linear models: filled in, flagged and scaled."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from uneven.tables.columns import MISSING

#: Values that are looked at together.
_AT_ONCE = 1 << 20


class NumberScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Missing numbers are filled with the mean and flagged in a column of their own; all columns are standardised.

    The mean and not the median, because means of parts of the rows add up to that of all.

    Parameters
    ----------
    sparse : bool
        Whether to return a CSR matrix, which takes less time and memory to put beside others.

    Attributes
    ----------
    names_, flagged_, mean_, scale_
        Names of the columns, the positions of those with missing values; mean and standard deviation of the columns and
        flags.
    """

    def __init__(self, sparse: bool = False) -> None:
        self.sparse = sparse

    def fit(self, X: Any, y: Any = None) -> NumberScaler:
        """Learn means and standard deviations."""
        values = np.asarray(X, dtype=float)
        names = getattr(X, "columns", map("x{}".format, range(values.shape[1])))
        self.names_ = np.array([str(name) for name in names], dtype=str)
        missing = np.isnan(values)
        self.flagged_ = np.flatnonzero(missing.any(axis=0))
        fill = np.zeros(values.shape[1])
        for k in self.flagged_:
            known = values[~missing[:, k], k]
            fill[k] = known.mean() if known.size else 0.0
        filled = self._filled(values, missing, fill)
        self.mean_ = filled.mean(axis=0)
        self.scale_ = _deviation(filled, self.mean_)
        return self

    def transform(self, X: Any) -> Any:
        """Fill in and standardise."""
        check_is_fitted(self)
        values = np.asarray(X, dtype=float)
        filled = self._filled(values, np.isnan(values), self.mean_[: values.shape[1]])
        filled -= self.mean_
        filled /= self.scale_
        return _all_stored(filled) if self.sparse else filled

    def _filled(self, values: np.ndarray, missing: np.ndarray, fill: np.ndarray) -> np.ndarray:
        """A copy without missing values, followed by the flags."""
        count = values.shape[1]
        filled = np.empty((values.shape[0], count + self.flagged_.size))
        filled[:, :count] = np.where(missing, fill, values)
        filled[:, count:] = missing[:, self.flagged_]
        return filled

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns and flags."""
        check_is_fitted(self)
        names = self.names_.tolist() if input_features is None else list(input_features)
        return np.array([*names, *(f"{names[k]} = {MISSING}" for k in self.flagged_)], dtype=object)


def _deviation(values: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Standard deviations, 1 for a constant column; squares of numbers near the end of the range do not overflow."""
    deviation = np.zeros(mean.size)
    for some in _pieces(values):
        away = np.abs(np.ascontiguousarray(values[:, some].T) - mean[some, None])
        unit = away.max(axis=1)
        unit[unit == 0] = 1.0
        deviation[some] = unit * np.sqrt(np.mean((away / unit[:, None]) ** 2, axis=1))
    return np.where(deviation > 1e-12 * np.maximum(1e-300, np.abs(mean)), deviation, 1.0)


def _pieces(values: np.ndarray) -> list[slice]:
    """Ranges of columns with a moderate number of values: one by one they take long, all at once much memory."""
    step = max(1, _AT_ONCE // max(1, values.shape[0]))
    return [slice(k, k + step) for k in range(0, values.shape[1], step)]


def _all_stored(values: np.ndarray) -> csr_matrix:
    """A CSR matrix that stores every number: few are 0, and to look for them takes longer."""
    rows, width = values.shape
    indices = np.tile(np.arange(width, dtype=np.int32), rows)
    return csr_matrix((values.ravel(), indices, np.arange(rows + 1) * width), shape=values.shape)


class FloatNumbers(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Numbers for trees: float32, missing values stay NaN.

    Attributes
    ----------
    names_ : ndarray of str
    """

    def fit(self, X: Any, y: Any = None) -> FloatNumbers:
        """Remember the names."""
        self.names_ = np.array([str(name) for name in X.columns], dtype=str)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The numbers, those beyond the range of float32 at its end."""
        check_is_fitted(self)
        end = float(np.finfo(np.float32).max)
        found = np.empty(X.shape, dtype=np.float32)
        return np.clip(X.to_numpy(dtype=float), -end, end, out=found, casting="same_kind")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns."""
        check_is_fitted(self)
        return self.names_.astype(object)
