"""From typed columns to a matrix."""

from __future__ import annotations

from uneven.learners.frames.blocks import Blocks, positions
from uneven.learners.frames.category_encoder import CategoryEncoder
from uneven.learners.frames.columns import TEXT, Column, typed_names
from uneven.learners.frames.number_scaler import NumberScaler
from uneven.learners.frames.size import MOST_CATEGORIES, SPARSE_BELOW, rare_below
from uneven.learners.frames.texts import WordEncoder
from uneven.tables.matrix import made_from


def preprocessing(columns: list[Column], rows: int) -> Blocks:
    """Numbers are filled in and scaled, frequent categories one-hot encoded, words of free texts weighted by TF-IDF.

    Mostly zeros make a sparse matrix.
    """
    texts = [column.name for column in columns if column.role == TEXT]
    numeric, categories = typed_names([column for column in columns if column.role != TEXT])
    encoder = CategoryEncoder(min_rows=rare_below(rows), most=MOST_CATEGORIES)
    made = [name for column in columns for name in made_from(column)]
    return Blocks(
        positions(
            made,
            ("numbers", NumberScaler(), numeric),
            ("categories", encoder, categories),
            *([("texts", WordEncoder(), texts)] if texts else []),
        ),
        sparse_threshold=SPARSE_BELOW,
    )
