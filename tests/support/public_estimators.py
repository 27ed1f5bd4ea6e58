"""Every estimator of the public API, found by walking the public names, with small settings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import LogisticRegression

import uneven

#: What a parameter without a default gets, by its name.
_NEEDED = {"estimator": LogisticRegression()}
#: Small values of parameters, by their names, where an estimator has them.
_SMALL = {
    "n_estimators": 12,
    "n_jobs": 1,
    "thread_count": 1,
    "margin_gammas": [1.0, 2.0],
    "members": {"logistic": LogisticRegression()},
}
FRAUD, FINE = "fraud", "ok"  # the positive label is the first one: costs by alphabetical order would be wrong


def _walk(module: ModuleType, seen: set[str]) -> Iterator[Any]:
    seen.add(module.__name__)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value) and value.__name__ not in seen:
            yield from _walk(value, seen)
        elif inspect.isclass(value) and issubclass(value, BaseEstimator):
            yield value


def _has_matrix_only(estimator: Any) -> bool:
    """Whether an estimator takes a cost matrix in place of the four costs; its tests are its own."""
    known = inspect.signature(estimator).parameters
    return "costs" in known and "fp_cost" not in known


ESTIMATORS: list[Any] = sorted(
    {found for found in _walk(uneven, set()) if not _has_matrix_only(found)}, key=lambda found: found.__name__
)


def of_dask(estimator: Any) -> bool:
    """Whether an estimator is fitted to Dask collections only."""
    return inspect.unwrap(estimator if inspect.isclass(estimator) else type(estimator)).__module__ == (
        "uneven.adapters.dask"
    )


def make(estimator: Any, /, **params: Any) -> Any:
    """An estimator with small settings."""
    signature = inspect.signature(estimator).parameters
    needed = {name: _NEEDED[name] for name, p in signature.items() if p.default is p.empty and name in _NEEDED}
    small = {name: value for name, value in _SMALL.items() if name in signature}
    made = estimator(**{**needed, **small, **params})
    assert is_classifier(made)
    return made


def collection(values: Any) -> Any:
    """An array or frame as a Dask collection of two partitions; other things stay."""
    if isinstance(values, pd.DataFrame | pd.Series):
        return dask.dataframe.from_pandas(values, npartitions=2)
    if isinstance(values, np.ndarray):
        return dask.array.from_array(values, chunks=(-(-len(values) // 2), *values.shape[1:]))
    return values


def given(estimator: Any, *values: Any, **named: Any) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of ``fit`` as an estimator takes them."""
    if not of_dask(estimator):
        return list(values), named
    return [collection(one) for one in values], {name: collection(one) for name, one in named.items()}


def rows(count: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, labels as texts, and an amount for each row."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 3))
    y = np.where(X[:, 0] + random.logistic(size=count) > 1, FRAUD, FINE)
    return X, y, np.exp(random.normal(size=count))
