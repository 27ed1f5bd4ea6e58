"""Categories as columns of 0 and 1 (sparse)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from uneven.learners.frames.columns import MISSING

OTHER = "other"


class CategoryEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each frequent category becomes a column of 0 and 1; rare and new ones share the column "other".

    Missing values are a category of their own.

    Parameters
    ----------
    min_rows : int
        A category that fewer rows have is rare.
    most : int
        Most frequent categories per column.
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
        """Count the categories.

        Parameters
        ----------
        X : DataFrame of categoricals
        y : ignored

        Returns
        -------
        CategoryEncoder
        """
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
        """One row of 0 and 1 per row.

        Parameters
        ----------
        X : DataFrame with the columns of ``fit``

        Returns
        -------
        sparse matrix (CSR)
        """
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
    """Categories that get a column, and whether missing values and rare categories occur."""
    codes = column.cat.codes.to_numpy()
    counts = np.bincount(codes[codes >= 0], minlength=len(column.cat.categories))
    order = np.argsort(-counts, kind="stable")[:most]
    kept = np.sort(order[counts[order] >= min_rows])
    return (
        [str(column.cat.categories[k]) for k in kept],
        bool((codes < 0).any()),
        bool(counts.sum() > counts[kept].sum()),
    )
