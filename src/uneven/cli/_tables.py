"""Tables from files: CSV and Parquet, through pandas."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uneven._inputs import brief
from uneven.errors import MissingExtraError, UnevenError

_ENDINGS = (".csv", ".csv.gz", ".parquet", ".pq")
_MANY = 200  # a column with more distinct strings may be an ID


def read_table(path: str) -> Any:
    """A data frame; an error names the extra if pandas is missing."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("tables", "data") from None
    name = Path(path).name.lower()
    if not name.endswith(_ENDINGS):
        raise UnevenError(f"a table is a file that ends in one of {', '.join(_ENDINGS)}, got {path!r}")
    try:
        frame = pd.read_parquet(path) if name.endswith((".parquet", ".pq")) else pd.read_csv(path)
    except ImportError:
        raise MissingExtraError("Parquet files", "data") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, ValueError) as error:
        raise UnevenError(f"{path} is not a readable table: {' '.join(str(error).split())}") from None
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise UnevenError(f"{path} has no rows or no columns")
    frame.columns = [str(column) for column in frame.columns]
    if frame.columns.duplicated().any():
        twice = frame.columns[frame.columns.duplicated()][0]
        raise UnevenError(f"{path} has two columns named {twice!r}; rename one")
    return frame


def table_bytes(frame: Any, path: str) -> bytes:
    """A data frame as the bytes of a CSV or Parquet file; the ending of the path decides which."""
    import io

    buffer = io.BytesIO()
    if path.lower().endswith((".parquet", ".pq")):
        try:
            frame.to_parquet(buffer, index=False)
        except ImportError:
            raise MissingExtraError("Parquet files", "data") from None
    elif path.lower().endswith(".csv"):
        frame.to_csv(buffer, index=False)
    else:
        raise UnevenError(f"predictions are written to a file that ends in .csv, .parquet or .pq, got {path!r}")
    return buffer.getvalue()


@dataclass(frozen=True)
class Columns:
    """Which columns are used as numbers and as categories, and why others are skipped."""

    numeric: list[str]
    categorical: list[str]
    skipped: dict[str, str]

    @property
    def used(self) -> list[str]:
        return self.numeric + self.categorical


def sorted_columns(frame: Any, target: str) -> Columns:
    """Sort columns into numbers and categories; constants, dates and columns that look like an ID are skipped."""
    from pandas.api import types

    numeric: list[str] = []
    categorical: list[str] = []
    skipped: dict[str, str] = {}
    for name in frame.columns:
        if name == target:
            continue
        column = frame[name]
        distinct = column.nunique(dropna=True)
        if distinct == 0 or (distinct == 1 and not column.isna().any()):
            skipped[name] = "it has only one value"
        elif types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
            skipped[name] = "dates and durations are not supported"
        elif types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
            if distinct > _MANY and distinct > len(column) / 2:
                skipped[name] = f"looks like an ID ({distinct:,} different values)"
            else:
                categorical.append(name)
        else:
            numeric.append(name)
    if not numeric and not categorical:
        raise UnevenError("no column can be used for prediction: " + "; ".join(f"{k}: {v}" for k, v in skipped.items()))
    return Columns(numeric, categorical, skipped)


def read_target(frame: Any, target: str, positive: str) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a label, and for each of those whether it is the positive one."""
    if target not in frame.columns:
        raise UnevenError(f"there is no column {target!r}; the columns are {', '.join(map(repr, frame.columns))}"[:400])
    known = frame[target].notna().to_numpy()
    labels = frame[target][known]
    values = labels.astype(str)
    chosen = (values == positive).to_numpy()
    if not chosen.any():  # pandas may have read 1 as 1.0
        number = _number(positive)
        chosen = np.array([number is not None and _number(value) == number for value in values])
    found = list(dict.fromkeys(values))
    if not chosen.any():
        shown = ", ".join(map(repr, found[:6]))
        raise UnevenError(f"no row of column {target!r} has the positive value {brief(positive)}; it has {shown}")
    if chosen.all():
        raise UnevenError(f"every row of column {target!r} is positive ({positive!r}); two classes are needed")
    return known, chosen


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def required_columns(frame: Any, columns: list[str]) -> Any:
    """The columns a model expects; an error names those that are missing."""
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise UnevenError(
            f"the table lacks {', '.join(map(repr, absent[:8]))}, which the model expects; it has "
            f"{', '.join(map(repr, list(frame.columns)[:12]))}"
        )
    return frame[columns]
