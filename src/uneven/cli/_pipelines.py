"""From typed columns to a pipeline: the preprocessing, and a classifier behind it."""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from uneven.cli.tables.columns import Column
from uneven.cli.tables.encoders import CategoryEncoder, NumberScaler
from uneven.cli.tables.matrix import typed_names
from uneven.cli.tables.size import SPARSE_BELOW, rare_below

#: Categories of a column that get a column of the matrix; the others share one.
MOST_CATEGORIES = 500


def preprocessing(columns: list[Column], rows: int) -> ColumnTransformer:
    """Numbers are filled in and scaled, frequent categories one-hot encoded; mostly zeros make a sparse matrix."""
    numeric, categories = typed_names(columns)
    encoder = CategoryEncoder(min_rows=rare_below(rows), most=MOST_CATEGORIES)
    return ColumnTransformer(
        [("numbers", NumberScaler(), numeric), ("categories", encoder, categories)],
        sparse_threshold=SPARSE_BELOW,
    )


def assembled(columns: list[Column], rows: int, classifier: BaseEstimator) -> Pipeline:
    """Preprocessing and a classifier in one pipeline."""
    return Pipeline([("columns", preprocessing(columns, rows)), ("classifier", classifier)])
