"""Partitions of dataframes: as arrays where all columns are numbers, else as Arrow tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.learners.streaming import table_plan
from uneven.learners.streaming.frame_columns import Plan


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


def near_the_data(plan: Plan) -> np.ndarray:
    """A point near the rows that a plan makes: the means of numbers, and 0 for the marks."""
    means = [column["fill"] for column in plan if column["kind"] == table_plan.NUMBER]
    point = np.zeros(len(table_plan.output_names(plan)))
    point[table_plan.is_number(plan)] = means
    return point
