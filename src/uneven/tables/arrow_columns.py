"""What an Arrow column holds, and its values as numbers or texts."""

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
    return texts_of(codes, [as_text(one) for one in whole.dictionary.to_pylist()], declared=declared)


def as_labels(values: Any) -> np.ndarray:
    """A column as an array of labels."""
    from pyarrow import types

    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if types.is_string(values.type) or types.is_large_string(values.type):
        coded = values.dictionary_encode().combine_chunks()
        return np.array(coded.dictionary.to_pylist())[coded.indices.to_numpy(zero_copy_only=False)]
    return np.asarray(values.to_numpy())
