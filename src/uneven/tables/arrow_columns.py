"""Columns of Arrow tables: what they hold, their values, and dataframes as such tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.tables.column_values import DATES, NUMBERS, TEXTS, Values, as_text, texts_of


def kind_of(field: Any) -> str:
    """Whether a column holds numbers, dates or texts; an error if it holds none of them."""
    from pyarrow import types

    kind = field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        if types.is_integer(kind) or types.is_floating(kind):
            return TEXTS
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return NUMBERS
    if types.is_duration(kind) or types.is_time(kind) or types.is_null(kind):
        return NUMBERS
    if types.is_date(kind) or types.is_timestamp(kind):
        return DATES
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return TEXTS
    raise CostError(
        f"column {field.name!r} has the type {field.type}, which is neither numbers, dates nor texts; leave it out"
    )


def is_single(field: Any) -> bool:
    """Whether all values of a column of numbers are exact in float32."""
    from pyarrow import types

    kind = field.type
    return bool(
        types.is_float32(kind)
        or types.is_float16(kind)
        or types.is_boolean(kind)
        or types.is_int8(kind)
        or types.is_uint8(kind)
        or types.is_int16(kind)
        or types.is_uint16(kind)
    )


def as_numbers(values: Any) -> Any:
    """A column as an Arrow array of numbers; durations and times of day are in seconds."""
    import pyarrow as pa
    from pyarrow import types

    kind = values.type
    if types.is_floating(kind) and not types.is_float16(kind):
        return values
    if types.is_duration(kind) or types.is_time(kind):
        unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        whole = values.cast(pa.int32()) if types.is_time32(kind) else values
        return _divided(whole.cast(pa.int64()), unit)
    if types.is_boolean(kind):
        values = values.cast(pa.int8())
    return values.cast(pa.float64(), safe=False)


def _divided(values: Any, by: float) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.divide(values.cast(pa.float64(), safe=False), by)


def is_plain(kind: Any) -> bool:
    """Whether a type holds numbers as such."""
    from pyarrow import types

    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_duration(kind)
        or types.is_time(kind)
    )


def values_of(values: Any, name: str) -> Values:
    """The values of a column (a chunked array of Arrow)."""
    import pyarrow as pa
    from pyarrow import types

    kind = kind_of(pa.field(name, values.type))
    if types.is_null(values.type):
        return Values(NUMBERS, np.full(len(values), np.nan))
    if kind == NUMBERS:
        numbers = as_numbers(values).cast(pa.float64())
        return Values(NUMBERS, numbers.to_numpy(), boolean=types.is_boolean(values.type))
    if kind == DATES:
        return Values(DATES, values.to_numpy().astype("datetime64[s]"))
    declared = types.is_dictionary(values.type)
    coded = values.unify_dictionaries() if declared else values.dictionary_encode()
    whole = coded.combine_chunks() if coded.num_chunks else pa.array([], type=coded.type)
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    names = whole.dictionary
    if is_plain(names.type):  # categories that are numbers
        return texts_of(codes, [as_text(one) for one in names.to_pylist()], declared=declared)
    return texts_of(codes, names.cast(pa.large_string()), declared=declared)


def as_labels(values: Any) -> np.ndarray:
    """A column as an array of labels."""
    from pyarrow import types

    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if types.is_string(values.type) or types.is_large_string(values.type):
        coded = values.dictionary_encode().combine_chunks()
        return np.array(coded.dictionary.to_pylist())[coded.indices.to_numpy(zero_copy_only=False)]
    return np.asarray(values.to_numpy())


def names_of(frame: Any) -> tuple[str, ...]:
    """The names of the columns, as texts; they must differ."""
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise CostError(f"two columns of X have the name {twice!r}; rename one")
    return names


def table_of_frame(frame: Any) -> Any:
    """A pandas dataframe as an Arrow table; NaN, None and NA become null, as in Parquet files that pandas writes."""
    import pyarrow as pa

    columns = {}
    for k, name in enumerate(names_of(frame)):
        values = frame.iloc[:, k]
        try:
            columns[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError):
            raise CostError(
                f"column {name!r} of X holds {values.dtype} values that are neither numbers, dates nor texts; encode "
                "them before, or drop the column"
            ) from None
    return pa.table(columns)


def plain_matrix(frame: Any) -> np.ndarray | None:
    """A partition as an array, if all of its columns are numbers and none is missing; else None."""
    if any(getattr(kind, "kind", "O") not in "biuf" for kind in frame.dtypes):
        return None
    single = all(kind == np.float32 for kind in frame.dtypes)
    matrix = frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    with np.errstate(all="ignore"):
        total = float(matrix.sum())
    return None if np.isnan(total) and np.isnan(matrix).any() else matrix


def table_of_matrix(matrix: np.ndarray, names: tuple[str, ...]) -> Any:
    """The same for a partition that is an array already."""
    import pyarrow as pa

    return pa.table({name: pa.array(np.ascontiguousarray(matrix[:, k])) for k, name in enumerate(names)})
