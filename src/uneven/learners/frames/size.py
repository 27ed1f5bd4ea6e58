"""When a category is rare and a matrix sparse."""

from __future__ import annotations

#: Below this share of numbers that are not 0 a matrix is sparse (scikit-learn's ColumnTransformer).
SPARSE_BELOW = 0.3
#: Categories of a column that get a column of the matrix; the others share one.
MOST_CATEGORIES = 500
#: Different texts of a column that are counted; with more of them, none has a column of its own.
MOST_COUNTED = 5_000


def rare_below(rows: int) -> int:
    """A category that fewer rows have is rare: 10 rows in a large table, 2 in a small one."""
    return min(max(rows // 100, 2), 10)
