"""Rows of the training table, recognised by a hash of their values."""

from __future__ import annotations

from typing import Any

import numpy as np


def row_hashes(X: Any) -> np.ndarray:
    """A hash of the typed columns of each row; the same in every process and for every kind of file."""
    from pandas.util import hash_pandas_object

    return hash_pandas_object(X, index=False, categorize=False).to_numpy(dtype=np.uint64)


def seen(X: Any, known: np.ndarray) -> np.ndarray:
    """Whether each row has the same values in all columns as a row with one of the known hashes."""
    return np.isin(row_hashes(X), known)


def seen_in_words(seen_before: np.ndarray, so: str = "expect more cost on new ones") -> str:
    """A sentence if rows were in the training table; "" otherwise. ``so`` says what follows."""
    count, total = int(seen_before.sum()), seen_before.size
    if not count:
        return ""
    which = f"All {total:,} rows" if count == total else f"{count:,} of {total:,} rows"
    return f"{which} were in the training table (same values in all columns): {so}."
