"""Columns of dataframes in memory, such as the partitions of a large one, by the plan of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.learners.streaming import arrow_columns, table_plan

Plan = list[dict[str, Any]]


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


def require_columns(plan: Plan, names: Sequence[str], place: str) -> None:
    """Raise if a column of the plan is not there."""
    for column in plan:
        if column["name"] not in names:
            raise CostError(f"there is no column {column['name']!r} in {place}, but the model was fitted with it")


def encoded(plan: Plan, table: Any, place: str) -> Any:
    """The matrix of a table by the plan of a fit, dense or CSR; ``place`` says which table it is."""
    import pyarrow as pa

    require_columns(plan, table.column_names, place)
    single = all(
        arrow_columns.is_single(table.schema.field(column["name"]))
        for column in plan
        if column["kind"] == table_plan.NUMBER
    )
    try:
        columns = table_plan.Encoded(plan, table, np.dtype(np.float32 if single else np.float64), place)
        return columns.matrix(slice(0, table.num_rows))
    except pa.ArrowException as error:
        raise CostError(
            f"a column of {place} does not hold what it held in the fit: {str(error).splitlines()[0]}"
        ) from None
