"""What can be wrong with rows in parts: one sentence each, with the place."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import uneven
from uneven.errors import LossError, ParameterError, UnevenError
from uneven.parts import sources
from uneven.parts.blocks import batches
from uneven.parts.sources import read_memory_limit
from uneven.parts.streamed_rows import is_streamed

N = 600
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 3))
Y = (X[:, 0] + RANDOM.normal(size=N) > 0).astype(int)


def _batches(**change: Any) -> list[tuple[Any, ...]]:
    """Three batches; a change is a function of the second one."""
    found: list[tuple[Any, ...]] = [(X[lo : lo + 200].copy(), Y[lo : lo + 200]) for lo in range(0, N, 200)]
    for value in change.values():
        found[1] = value(*found[1])
    return found


def _with(value: float, row: int = 17, column: int = 2) -> Callable[..., tuple[Any, ...]]:
    def change(X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
        X[row, column] = value
        return X, y

    return change


def _written(folder: Path, **columns: Any) -> Path:
    path = folder / "t.parquet"
    table = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "y": Y, **columns})
    pq.write_table(table, path, row_group_size=100)
    return path


def _fit(data: Any, **given: Any) -> Any:
    return uneven.UnevenLinearClassifier(fn_cost=3).fit(data, **given)


@pytest.mark.parametrize(
    ("batches", "sentence"),
    [
        (_batches(a=_with(np.nan)), r"got NaN in row 17, column 2 of batch 1 \(both count from 0\)"),
        (_batches(a=_with(np.inf)), r"got inf in row 17, column 2 of batch 1"),
        (_batches(a=lambda X, y: (X[:, :2], y)), "batch 1 has 2, the first one 3"),
        (_batches(a=lambda X, y: (X, y[:-1])), "in batch 1: .*inconsistent"),
        (_batches(a=lambda X, y: (X, y, np.ones(3))), "weight of a batch must be one number for each row"),
        (_batches(a=lambda X, y: (X, y, np.full(200, -1.0))), "got -1 in row 0 of batch 1"),
        (_batches(a=lambda X, y: (X, y, np.full(200, np.nan))), "nonnegative, got nan in row 0 of batch 1"),
        (_batches(a=lambda X, y: (X, y + 5)), "Only binary classification is supported"),
        (_batches(a=lambda X, y: (X, y, None, {"fn_cost": np.ones(200)})), "costs of rows for the same names: batch 1"),
        (_batches(a=lambda X, y: (X, y, None, {"cost": np.ones(200)})), "costs of rows are fp_cost, .* got 'cost'"),
        ([(X, np.zeros(N, dtype=int))], "got one class only: 0"),
        ([(X, Y), (X[0], Y)], "must have two dimensions"),
        ([(X[:0], Y[:0])], "there are no rows"),
    ],
)
def test_bad_batches(batches: list[tuple[Any, ...]], sentence: str) -> None:
    with pytest.raises(UnevenError, match=sentence):
        _fit(uneven.StreamedRows(batches))


def test_an_iterator_that_ends_for_good() -> None:
    with pytest.raises(UnevenError, match="can be iterated only once"):
        _fit(iter(_batches()))
    with pytest.raises(UnevenError, match="can be iterated only once"):
        _fit(batch for batch in _batches())


def test_batches_that_change_between_reads() -> None:
    class Shrinking:
        reads = 0

        def __iter__(self) -> Iterator[tuple[Any, ...]]:
            self.reads += 1
            yield X[: 500 - self.reads], Y[: 500 - self.reads]

    rows = uneven.StreamedRows(Shrinking())
    rows.bytes = 0  # nothing is kept
    with pytest.raises(UnevenError, match="the data changed while they were read: the first read found 498 rows"):
        _fit(rows)


def test_a_reader_that_fails_ends_the_fit_and_its_thread() -> None:
    import threading

    class Failing:
        def __iter__(self) -> Iterator[tuple[Any, ...]]:
            yield X, Y
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        _fit(Failing())
    assert not any(thread.name.startswith("uneven-reader") for thread in threading.enumerate())


def test_files_that_are_not_whole(tmp_path: Path) -> None:
    path = _written(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnevenError, match="is not a whole Parquet file"):
        _fit(path, target="y")
    damaged = bytearray(whole)
    damaged[200:1200] = b"\xff" * 1000  # inside the first row group; the footer is whole
    path.write_bytes(bytes(damaged))
    try:
        _fit(path, target="y")
    except UnevenError as error:
        assert "cannot be read at row group 0" in str(error) or "finite" in str(error)
    with pytest.raises(UnevenError, match="there is no file"):
        _fit(str(tmp_path / "*.pq"), target="y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnevenError, match=r"has no file that ends in .parquet"):
        _fit(tmp_path / "empty", target="y")


def test_files_with_other_columns(tmp_path: Path) -> None:
    _written(tmp_path)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(y=Y)
    for other, sentence in (
        (frame.drop(columns="x1"), "it has no column 'x1'"),
        (frame.assign(x1="a"), "its column 'x1' has the type"),
        (frame.assign(z=1), "it has a further column 'z'"),
    ):
        other.to_parquet(tmp_path / "u.parquet")
        with pytest.raises(UnevenError, match=f"u.parquet has other columns than .*t.parquet: {sentence}"):
            _fit(tmp_path, target="y")


def test_a_file_that_changes_during_the_fit(tmp_path: Path) -> None:
    path = _written(tmp_path)
    rows = uneven.StreamedRows(path, target="y")
    rows.bytes = 0
    source = rows.source({})
    next(batches(source))
    os.utime(path, ns=(0, 0))
    with pytest.raises(UnevenError, match="changed while it was used"):
        source.require_unchanged()


def test_bad_columns(tmp_path: Path) -> None:
    path = _written(tmp_path, amount=np.where(Y == 1, np.nan, 1.0), lists=[[1]] * N)
    good = ["x0", "x1"]
    for given, sentence in (
        ({"target": "z"}, "there is no column 'z' in .*t.parquet; its columns are"),
        ({}, "needs target=, the name of the column"),
        ({"target": "y", "columns": ["x0", "y"]}, "the target 'y' is among the columns"),
        ({"target": "y"}, "column 'lists' has the type list"),
        ({"target": "y", "columns": "x0"}, "columns must be a list of names"),
        ({"target": Y}, "target of a table must be the name of a column"),
        ({"target": "y", "columns": good, "fn_cost": "none"}, "there is no column 'none'"),
        ({"target": "y", "columns": good, "fn_cost": "amount"}, "in batch 0: fn_cost"),
        ({"target": "y", "columns": good, "sample_weight": "lists"}, "has the type list"),
    ):
        with pytest.raises(UnevenError, match=sentence):
            _fit(path, **given)
    labels = pa.array([None, *Y[1:].tolist()])
    with pytest.raises(UnevenError, match=r"the target 'label' has missing values in .*row group 0"):
        _fit(_written(tmp_path, label=labels), target="label", columns=good)


def test_nan_in_a_table_names_row_and_batch(tmp_path: Path) -> None:
    x = X[:, 0].copy()
    x[250] = np.nan
    path = _written(tmp_path, bad=x)
    with pytest.raises(UnevenError, match=r"got NaN in row .* of batch"):
        _fit(path, target="y")


def test_rows_to_predict(tmp_path: Path) -> None:
    path = _written(tmp_path)
    model = _fit(path, target="y")
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    frame.drop(columns="x1").to_parquet(tmp_path / "less.parquet")
    with pytest.raises(UnevenError, match="there is no column 'x1'"):
        model.predict(tmp_path / "less.parquet")
    frame.assign(x1=frame["x1"].where(frame["x1"] > 0)).to_parquet(tmp_path / "nulls.parquet")
    with pytest.raises(UnevenError, match=r"column 'x1' has missing values in .* but none in the rows of the fit"):
        model.predict(tmp_path / "nulls.parquet")
    other = _fit(_batches())
    with pytest.raises(UnevenError, match="was not fitted on a table"):
        other.predict(path)
    with pytest.raises(UnevenError, match="batch 0 has 2 columns, but the model was fitted with 3"):
        other.predict([(X[:, :2], Y)])
    with pytest.raises(UnevenError, match=r"row 17 of batch 1 .* not finite"):
        other.predict(_batches(a=_with(np.nan)))


def test_what_parts_cannot_do() -> None:
    rows = uneven.StreamedRows(_batches())
    for parameters, error, sentence in (
        ({"penalty": "l1"}, LossError, "need penalty='l2' or None"),
        ({"loss": "sigmoid"}, LossError, "need a convex loss"),
    ):
        with pytest.raises(error, match=sentence):
            uneven.UnevenLinearClassifier(**parameters).fit(rows)
    for given, sentence in (
        ({"y": Y}, "y belongs to StreamedRows itself"),
        ({"fn_cost": np.ones(N)}, "batches bring their labels, weights and costs with them"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            uneven.UnevenLinearClassifier().fit(rows, **given)


@pytest.mark.parametrize("limit", ["a lot", "5", -1, 1000, True, float("nan"), "1.5 XB"])
def test_bad_memory_limits(limit: Any) -> None:
    with pytest.raises(ParameterError, match="memory_limit must be a number of bytes"):
        uneven.StreamedRows(_batches(), memory_limit=limit)


def test_memory_limits() -> None:
    assert read_memory_limit("1.5GB") == 1_500_000_000
    assert read_memory_limit(" 100 mib ") == 100 * 2**20
    assert read_memory_limit(None) >= 64_000_000


def test_arrays_in_memory_are_not_streamed(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    for plain in (X, mapped, pd.DataFrame(X), X.tolist(), tuple(map(tuple, X.tolist())), pa.table({"a": X[:, 0]})):
        assert not is_streamed(plain)
    for streamed in ("a.parquet", tmp_path, ds.dataset(pa.table({"a": X[:, 0]})), _batches(), iter(_batches())):
        assert is_streamed(streamed)


def test_a_container_has_what_its_limit_leaves(tmp_path: Path) -> None:
    assert sources._left_in_container(str(tmp_path)) == sys.maxsize  # no container
    for name, text in {"memory.current": "700\n", "memory.stat": "anon 5\ninactive_file 50\n"}.items():
        (tmp_path / name).write_text(text)
    for most, left in {"1000": 350, "100": 0, "max": sys.maxsize}.items():
        (tmp_path / "memory.max").write_text(f"{most}\n")
        assert sources._left_in_container(str(tmp_path)) == left
