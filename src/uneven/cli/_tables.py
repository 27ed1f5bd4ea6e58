"""Tables from files: CSV and Parquet, through pandas."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uneven._inputs import brief
from uneven.errors import MissingExtraError, UnevenError

_ENDINGS = (".csv", ".csv.gz", ".parquet", ".pq")
_MANY = 200  # distinct texts beyond which a column names rows rather than describes them


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
    """A data frame as the bytes of a CSV or Parquet file, by the ending of the path."""
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
    """What each column is used for, and why some are not used."""

    numeric: list[str]
    categorical: list[str]
    left_out: dict[str, str]

    @property
    def used(self) -> list[str]:
        return self.numeric + self.categorical


def sorted_columns(frame: Any, target: str) -> Columns:
    """Numbers are scaled, texts one-hot encoded; constants, dates and columns that name rows are left out."""
    from pandas.api import types

    numeric: list[str] = []
    categorical: list[str] = []
    left_out: dict[str, str] = {}
    for name in frame.columns:
        if name == target:
            continue
        column = frame[name]
        distinct = column.nunique(dropna=True)
        if distinct == 0 or (distinct == 1 and not column.isna().any()):
            left_out[name] = "it never changes"
        elif types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
            left_out[name] = "it is a date or a duration"
        elif types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
            if distinct > _MANY and distinct > len(column) / 2:
                left_out[name] = f"its {distinct} different texts name rows"
            else:
                categorical.append(name)
        else:
            numeric.append(name)
    if not numeric and not categorical:
        raise UnevenError("no column can be used to predict: " + "; ".join(f"{k}: {v}" for k, v in left_out.items()))
    return Columns(numeric, categorical, left_out)


def read_target(frame: Any, target: str, positive: str) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a label, and whether it is the positive one."""
    if target not in frame.columns:
        raise UnevenError(f"there is no column {target!r}; the columns are {', '.join(map(repr, frame.columns))}"[:400])
    known = frame[target].notna().to_numpy()
    labels = frame[target][known]
    values = labels.astype(str)
    chosen = (values == positive).to_numpy()
    if not chosen.any():  # 1 may have been read as 1.0
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


def prepared(frame: Any, columns: list[str]) -> Any:
    """The columns a model expects, texts as str with missing ones marked, or an error that names what is missing."""
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise UnevenError(
            f"the table lacks {', '.join(map(repr, absent[:8]))}, which the model expects; it has "
            f"{', '.join(map(repr, list(frame.columns)[:12]))}"
        )
    return frame[columns]
