"""Columns as texts: without spaces around them, missing where the file says so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uneven.learners.frames.marks import EXACT_MARKS, MARKS


def as_written(column: Any) -> Any:
    """An Arrow array of texts; null where there is nothing at all.

    A whole number held as a float is written without ".0": 1, not 1.0.
    """
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(column.dtype):
        texts = column.astype(object).map({True: "True", False: "False"})
    elif pd.api.types.is_numeric_dtype(column.dtype):
        texts = _number_texts(column)
    elif pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = column.astype(str).where(column.notna(), None)
    else:
        texts = column
    if texts.dtype == object:
        texts = pd.Series([None if _is_nothing(value) else str(value) for value in texts], dtype=object)
    found = pa.array(texts, type=pa.large_string(), from_pandas=True)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def trimmed(texts: Any) -> Any:
    """Texts (Arrow) without spaces around them; null where nothing is left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    short = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.equal(short, ""), pa.scalar(None, type=short.type), short)


def _number_texts(column: Any) -> Any:
    import pandas as pd

    values = column.to_numpy(dtype=float, na_value=np.nan)
    distinct, inverse = np.unique(values, return_inverse=True)
    shown = [None if np.isnan(v) else str(int(v)) if v == int(v or 0) else repr(float(v)) for v in _finite(distinct)]
    return pd.Series(np.array(shown, dtype=object)[inverse], dtype=object)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def _is_nothing(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def present(written: Any, marks: tuple[str, ...] = ()) -> Any:
    """The same texts with null where a mark says that the value is missing; ``marks`` are further ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = written.type
    is_mark = pc.is_in(pc.utf8_lower(written), value_set=pa.array(MARKS, type=kind))
    is_mark = pc.or_(is_mark, pc.is_in(written, value_set=pa.array((*EXACT_MARKS, *marks), type=kind)))
    return pc.if_else(is_mark, pa.scalar(None, type=kind), written)


def distinct_texts(texts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes (-1: missing) and the distinct texts they stand for; "TRUE" and "true" are the same as "True"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = texts.dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    truth = pc.is_in(pc.utf8_lower(encoded.dictionary), value_set=pa.array(("true", "false"), type=texts.type))
    names = np.array(encoded.dictionary.to_pylist(), dtype=object)
    for place in np.flatnonzero(np.asarray(truth)):
        names[place] = names[place].capitalize()
    kept = dict.fromkeys(names)
    if len(kept) < names.size:
        position = {name: k for k, name in enumerate(kept)}
        codes = np.append([position[name] for name in names], -1)[codes]
        names = np.array(list(kept), dtype=object)
    return codes, names
