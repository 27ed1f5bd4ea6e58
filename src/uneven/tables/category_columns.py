"""Categories as columns: of 0 and 1 for each frequent one, or the mean label and the number of rows for trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from uneven.tables.columns import MISSING
from uneven.tables.text_hashes import text_hashes

#: Below this share of numbers that are not 0 a matrix is sparse (scikit-learn's ColumnTransformer).
SPARSE_BELOW = 0.3
#: Categories of a column that get a column of the matrix; the others share one.
MOST_CATEGORIES = 500
#: Different texts of a column that are counted; with more of them, none has a column of its own.
MOST_COUNTED = 5_000


def rare_below(rows: int) -> int:
    """A category that fewer rows have is rare: 10 rows in a large table, 2 in a small one."""
    return min(max(rows // 100, 2), 10)


# -- a column of 0 and 1 for each --------------------------------------------------------------------------------------

OTHER = "other"


class CategoryEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each frequent category becomes a column of 0 and 1; rare and new ones share the column "other".

    Missing values are a category of their own.

    Parameters
    ----------
    min_rows : int
        A category that fewer rows have is rare.
    most : int
        Most frequent categories per column; with 0 only missing values have one.
    dtype : str
        Type of the numbers 0 and 1.

    Attributes
    ----------
    names_, categories_ : list
        Names of the columns, and for each the categories that have a column.
    missing_, other_ : list of bool
        For each column, whether missing values and rare categories have a column.
    """

    def __init__(self, min_rows: int = 1, most: int = 500, dtype: str = "float64") -> None:
        self.min_rows = min_rows
        self.most = most
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> CategoryEncoder:
        """Count the categories."""
        self.names_ = [str(name) for name in X.columns]
        self.categories_: list[list[str]] = []
        self.missing_: list[bool] = []
        self.other_: list[bool] = []
        for name in X.columns:
            kept, missing, other = frequent_categories(X[name], self.min_rows, self.most)
            self.categories_.append(kept)
            self.missing_.append(missing)
            self.other_.append(other)
        return self

    def transform(self, X: Any) -> Any:
        """One row of 0 and 1 per row."""
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        start, places = 0, np.empty((len(X), len(self.names_)), dtype=np.int32)
        for k, name in enumerate(X.columns):
            kept = self.categories_[k]
            missing = len(kept) if self.missing_[k] else -1
            width = len(kept) + self.missing_[k] + self.other_[k]
            other = width - 1 if self.other_[k] else -1
            place = {category: position for position, category in enumerate(kept)}
            of_code = np.array([*(place.get(c, other) for c in X[name].cat.categories), missing], dtype=np.int32)
            found = of_code[X[name].cat.codes]
            places[:, k] = np.where(found < 0, -1, found + start)
            start += width
        used = places >= 0
        indptr = np.concatenate(([0], np.cumsum(used.sum(axis=1))))
        indices = places[used]
        return csr_matrix((np.ones(indices.size, dtype=self.dtype), indices, indptr), shape=(len(X), start))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "country = at".

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names: list[str] = []
        for name, kept, missing, other in zip(self.names_, self.categories_, self.missing_, self.other_, strict=True):
            values = [*kept, *[MISSING] * missing, *[OTHER] * other]
            names += [f"{name} = {value}" for value in values]
        return np.array(names, dtype=object)


def frequent_categories(column: Any, min_rows: int, most: int) -> tuple[list[str], bool, bool]:
    """Categories that get a column, and whether missing values and rare categories occur.

    They are in the order of the alphabet, but for categories that have an order of their own.
    """
    codes, names = column.cat.codes.to_numpy(), column.cat.categories.astype(object)
    order = np.arange(len(names)) if column.cat.ordered else np.argsort(names)
    kept, other = frequent(np.bincount(codes[codes >= 0], minlength=len(names))[order], min_rows, most)
    return [str(names[order[k]]) for k in kept], bool((codes < 0).any()), other


def frequent(counts: np.ndarray, min_rows: int, most: int) -> tuple[np.ndarray, bool]:
    """Which categories get a column, and whether others share one; how many rows have each is given."""
    order = np.argsort(-counts, kind="stable")[:most]
    kept = np.sort(order[counts[order] >= min_rows])
    return kept, bool(most and counts.sum() > counts[kept].sum())


# -- mean labels and counts, for trees ---------------------------------------------------------------------------------

#: A category counts as if it had this many further rows with the mean label.
_SMOOTH = 10.0
_FOLDS = 5


class ManyCategoriesEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """For each column, the mean label of its category and how many other rows have it.

    ``fit_transform`` is not ``fit`` followed by ``transform``: it is for the rows of the fit. No row's columns depend
    on its own label (cross-fitting), and a row is not counted among the rows of its category, as a new row is not.
    Without labels there are only counts. Names of categories are not kept, only their hashes.

    The formula is that of scikit-learn's TargetEncoder with ``smooth=10``. (With its default, a category of one row has
    that row's label as its mean. How its folds are chosen depends on the version.)

    Parameters
    ----------
    random_state : int
        Decides the folds.

    Attributes
    ----------
    names_ : list of str
    hashes_ : list of ndarray
        For each column, the hashes of its categories, in increasing order.
    counts_ : list of ndarray
        For each column, rows of each category; the last is for missing values.
    means_ : list of ndarray
        For each column, the mean labels of its categories, of missing values and of new categories.
    classes_ : ndarray or None
        The labels, if they name classes. Of two classes the mean label is the share of the second.
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ManyCategoriesEncoder:
        """Count, and average labels."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and encode the same rows without use of their own labels."""
        self.names_ = [str(name) for name in X.columns]
        self.hashes_, self.counts_ = [], []
        for name in X.columns:
            self.hashes_.append(np.sort(text_hashes(X[name].cat.categories.tolist())))
        codes = self._codes(X)
        for k, hashes in enumerate(self.hashes_):
            self.counts_.append(np.bincount(codes[:, k], minlength=hashes.size + 1))
        y = None if y is None else column_or_1d(y)
        self.classes_, targets = _targets(y, len(X))
        self.overall_ = targets.mean(axis=0)
        self.means_ = self._mean_labels(codes, targets)
        encoded = np.empty((len(X), targets.shape[1] * len(self.names_)))
        for train, test in self._folds(y, len(X)):
            encoded[test] = _looked_up(self._mean_labels(codes[train], targets[train]), codes[test])
        return self._with_counts(encoded, codes, 1)

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows."""
        check_is_fitted(self)
        codes = self._codes(X)
        return self._with_counts(_looked_up(self.means_, codes), codes, 0)

    def _folds(self, y: Any, rows: int) -> Any:
        """Folds with the classes in equal shares; one row alone has none to learn from."""
        smallest = rows if y is None or self.classes_ is None else int(np.unique(y, return_counts=True)[1].min())
        count = min(_FOLDS, rows)
        if count < 2:
            return [(np.empty(0, dtype=int), np.arange(rows))]
        if self.classes_ is None or smallest < 2:
            return KFold(count, shuffle=True, random_state=self.random_state).split(np.empty(rows))
        folds = StratifiedKFold(min(count, smallest), shuffle=True, random_state=self.random_state)
        return folds.split(np.empty(rows), y)

    def _mean_labels(self, codes: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
        """For each column a table: mean labels of its categories, of missing values, and (last) of new categories."""
        overall = targets.mean(axis=0) if len(targets) else self.overall_
        found = []
        for k, hashes in enumerate(self.hashes_):
            size = hashes.size + 2  # code -1 is the last
            count = np.bincount(codes[:, k], minlength=size)
            total = [np.bincount(codes[:, k], weights=target, minlength=size) for target in targets.T]
            table = np.empty((size, targets.shape[1]))
            for column, (sums, mean) in enumerate(zip(total, overall, strict=True)):
                table[:, column] = (sums + _SMOOTH * mean) / (count + _SMOOTH)
            found.append(table)
        return found

    def _codes(self, X: Any) -> np.ndarray:
        """The number of each category in the order of the hashes, then missing; -1 if new."""
        found = np.empty((len(X), len(self.names_)), dtype=np.int64)
        for k, name in enumerate(X.columns):
            hashes = text_hashes(X[name].cat.categories.tolist())
            known = self.hashes_[k]
            place = np.searchsorted(known, hashes)
            place[~np.isin(hashes, known)] = -1
            found[:, k] = np.append(place, known.size)[X[name].cat.codes]
        return found

    def _with_counts(self, encoded: np.ndarray, codes: np.ndarray, own: int) -> np.ndarray:
        counts = [np.append(count - own, 0)[codes[:, k]] for k, count in enumerate(self.counts_)]
        return np.column_stack([encoded, *counts]).astype(np.float32)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "city: mean label" and "city: rows".

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if self.classes_ is None or len(self.classes_) <= 2:
            what = ["mean label"] * self.overall_.size
        else:
            what = [f"share of {label}" for label in self.classes_]
        means = [f"{name}: {one}" for name in self.names_ for one in what]
        return np.array([*means, *(f"{name}: rows" for name in self.names_)], dtype=object)


def _targets(y: Any, rows: int) -> tuple[np.ndarray | None, np.ndarray]:
    """The classes (None if labels are numbers or absent), and what is averaged: one column for two classes."""
    if y is None:
        return None, np.empty((rows, 0))
    if type_of_target(y) not in ("binary", "multiclass"):
        return None, y.astype(float).reshape(-1, 1)
    classes = np.unique(y)
    shown = classes[-1:] if classes.size <= 2 else classes
    return classes, (y[:, np.newaxis] == shown).astype(float)


def _looked_up(tables: list[np.ndarray], codes: np.ndarray) -> np.ndarray:
    return np.hstack([table[codes[:, k]] for k, table in enumerate(tables)])
