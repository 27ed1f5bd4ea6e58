"""Predictions for Dask collections, which are Dask collections again and are computed when somebody asks for them."""

from __future__ import annotations

from typing import Any

import dask
import dask.array
import numpy as np

from uneven.adapters.dask_rows import features, is_array, is_lazy, like_rows, numbers_of
from uneven.errors import CostError
from uneven.learners.streaming.frame_columns import names_of, require_columns


def predicted(model: Any, method: str, X: Any, given: dict[str, Any]) -> Any:
    """What a method of a fitted model says about the rows of a collection.

    An array gives an array, a dataframe gives a series or dataframe with its index. ``given`` are the costs, each None,
    a number, or a collection with the partitions of X.
    """
    X = features(X)
    columns = X.shape[1]
    plan = model.__dict__.get("_table_plan")
    if plan is not None:
        if is_array(X):
            raise CostError(
                "the model was fitted on a dataframe with texts, dates or missing values, so X must be a dataframe "
                "with these columns, got a Dask array"
            )
        require_columns(plan, names_of(X), "X")
    elif not np.isnan(columns) and columns != model.n_features_in_:
        raise CostError(
            f"X has {columns} columns, but {type(model).__name__} was fitted with {model.n_features_in_} columns"
        )
    by_row = {
        name: like_rows(name, value, X)
        for name, value in given.items()
        if value is not None and (is_lazy(value) or np.ndim(value))
    }
    numbers = {name: value for name, value in given.items() if value is not None and name not in by_row}
    names = tuple(by_row)
    wide = method in ("predict_proba", "predict_log_proba")
    kind = model.classes_.dtype if method == "predict" else np.dtype(np.float64)
    if not is_array(X):
        return _of_frame(X, by_row, kind, wide, (model, method, names, numbers))
    if not all(map(is_array, by_row.values())):
        raise CostError("costs of rows in a Dask array must be Dask arrays, too; to_dask_array() makes one of a series")
    pairs = [item for one in by_row.values() for item in (one, "i")]
    return dask.array.blockwise(
        answered,
        "ik" if wide else "i",
        X,
        "ij",
        *pairs,
        facts=(model, method, names, numbers),
        new_axes={"k": 2} if wide else None,
        dtype=kind,
        concatenate=True,
        align_arrays=False,
        meta=np.empty((0, 2) if wide else 0, dtype=kind),
    )


def computed(client: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Values by name, with collections as arrays in this process; what is in memory stays as it is."""
    lazy = [name for name, value in values.items() if is_lazy(value)]
    wanted = [values[name] for name in lazy]
    found = dask.compute(*wanted) if client is None else client.gather(client.compute(wanted))
    return {**values, **{name: np.asarray(value) for name, value in zip(lazy, found, strict=True)}}


def _of_frame(X: Any, by_row: dict[str, Any], kind: Any, wide: bool, facts: Any) -> Any:
    import pandas as pd

    if any(map(is_array, by_row.values())):
        raise CostError("costs of rows in a Dask dataframe must be series of it, got a Dask array")
    labels = facts[0].classes_
    index = X._meta.index[:0]
    if wide:
        meta: Any = pd.DataFrame({label: pd.Series([], dtype=kind) for label in labels.tolist()}, index=index)
    else:
        meta = pd.Series(np.empty(0, dtype=kind), index=index)
    return X.map_partitions(_answered_frame, *by_row.values(), facts=facts, meta=meta, align_dataframes=False)


def answered(X: np.ndarray, *costs: np.ndarray, facts: Any) -> np.ndarray:
    """The answer for the rows of one partition."""
    model, method, names, numbers = facts
    if not X.shape[0]:
        shape: Any = (0, 2) if method in ("predict_proba", "predict_log_proba") else 0
        return np.empty(shape, dtype=model.classes_.dtype if method == "predict" else np.float64)
    return np.asarray(getattr(model, method)(X, **numbers, **dict(zip(names, costs, strict=True))))


def _answered_frame(X: Any, *costs: Any, facts: Any) -> Any:
    import pandas as pd

    named = zip(facts[2], costs, strict=True)
    values = answered(X, *(numbers_of(name, one) for name, one in named), facts=facts)
    if values.ndim == 2:
        return pd.DataFrame(values, index=X.index, columns=facts[0].classes_.tolist())
    return pd.Series(values, index=X.index)
