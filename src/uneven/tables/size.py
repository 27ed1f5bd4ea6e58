"""How large the matrix of a table will be: estimated before a fit."""

from __future__ import annotations

from typing import Any

from uneven.errors import UnevenError
from uneven.learners.frames.category_encoder import frequent_categories
from uneven.learners.frames.size import MOST_COUNTED, SPARSE_BELOW, rare_below
from uneven.tables.files import in_gigabytes, usable_memory
from uneven.tables.matrix import with_parts

#: Folds, scaled copies and a solver's own vectors take this many times the matrix.
_COPIES = 4


def matrix_width(X: Any, most: int) -> tuple[int, int]:
    """Columns of the matrix without those of words, and how many of them are not 0 in a row."""
    X, _ = with_parts(X)
    numbers, categories = X.select_dtypes("number"), X.select_dtypes("category")
    width = filled = numbers.shape[1] + int(numbers.isna().to_numpy().any(axis=0).sum())
    for _, column in categories.items():
        counted = len(column.cat.categories) <= MOST_COUNTED
        kept, missing, other = frequent_categories(column, rare_below(len(X)), most if counted else 0)
        width, filled = width + len(kept) + missing + other, filled + 1
    return width, filled


def require_memory(X: Any, most: int) -> int:
    """The width of the matrix; an error if a fit would need more memory than the machine has."""
    width, filled = matrix_width(X, most)
    sparse = filled < SPARSE_BELOW * width
    size = len(X) * (12 * filled + 8 if sparse else 8 * width) * _COPIES
    if size > usable_memory():
        raise UnevenError(
            f"{len(X):,} rows become a matrix of {width:,} columns, and a fit would need about {in_gigabytes(size)} of "
            f"memory, more than {in_gigabytes(usable_memory())}; use fewer rows, or leave out columns with --drop"
        )
    return width
