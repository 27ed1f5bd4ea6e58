"""Blocks in a temporary file: the same fit, and nothing that stays."""

from __future__ import annotations

import errno
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import uneven
from uneven.errors import ParameterError, UnevenError
from uneven.learners.streaming.block_store import BlockStore
from uneven.solvers.linear.parts.block import Block

N = 3000
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 3))
Y = (RANDOM.random(N) < 1 / (1 + np.exp(1 - X[:, 0]))).astype(int)


class Counted:
    """Batches that count how often they are read."""

    def __init__(self, labels: Any = Y, fails_in_read: int = 0) -> None:
        self.reads, self.labels, self.fails = 0, labels, fails_in_read

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        self.reads += 1
        for lo in range(0, N, 500):
            if self.reads == self.fails and lo > 1000:
                raise KeyboardInterrupt
            yield X[lo : lo + 500], self.labels[lo : lo + 500]


def _rows(data: Any, folder: Path, **options: Any) -> uneven.StreamedRows:
    rows = uneven.StreamedRows(data, cache_folder=folder, **options)
    rows.bytes = 40_000  # so that one batch is kept
    return rows


def _model(**parameters: Any) -> uneven.UnevenLinearClassifier:
    return uneven.UnevenLinearClassifier(**{"fn_cost": 5, "tol": 1e-9, **parameters})


@pytest.mark.parametrize("order", ["C", "F", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [np.empty(0), np.linspace(0, 1, N)])
def test_a_block_is_read_as_it_was_written(tmp_path: Path, order: Any, dtype: Any, weight: np.ndarray) -> None:
    given: Any = csr_matrix(np.where(X > 0, X, 0), dtype=dtype) if order == "sparse" else X.astype(dtype, order=order)
    store = BlockStore(str(tmp_path))
    other = store.write(Block(X[:7], Y[:7].astype(np.int8), np.empty(0), 1))
    stored = store.write(Block(given, Y.astype(np.int8), weight, 4, given_weight=2.5, turned=3))
    found = store.read(stored)
    assert found.X.dtype == dtype
    assert (found.number, found.given_weight, found.turned) == (4, 2.5, 3)
    np.testing.assert_array_equal(
        found.X.toarray() if order == "sparse" else found.X, given if order != "sparse" else given.toarray()
    )
    np.testing.assert_array_equal(found.y, Y)
    np.testing.assert_array_equal(found.weight, weight)
    np.testing.assert_array_equal(store.read(other).X, X[:7])
    store.close()


def test_the_same_model_with_and_without_and_the_source_is_read_less(tmp_path: Path) -> None:
    plain, cached = Counted(), Counted()
    without = uneven.StreamedRows(plain)
    without.bytes = 40_000
    one, other = _model().fit(without), _model().fit(_rows(cached, tmp_path))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert cached.reads < plain.reads
    assert (
        cached.reads <= 3
    )  # its first batch, and all batches once; the check that it can be iterated twice starts none
    assert not list(tmp_path.iterdir())


def test_classes_that_are_exchanged_after_the_first_read(tmp_path: Path) -> None:
    words = np.array(["a", "b"])[Y]
    for pos_label in "ab":
        model = _model(pos_label=pos_label, fn_cost=1, fp_cost=1)
        one = model.fit(uneven.StreamedRows(Counted(words))).coef_
        np.testing.assert_allclose(model.fit(_rows(Counted(words), tmp_path)).coef_, one, atol=1e-12)
    even = uneven.UnevenLinearClassifier(tol=1e-9)
    one = even.fit(uneven.StreamedRows(Counted(words))).coef_
    np.testing.assert_allclose(even.fit(_rows(Counted(words), tmp_path)).coef_, one, atol=1e-12)


def test_texts_in_a_table(tmp_path: Path) -> None:
    path, folder = tmp_path / "t.parquet", tmp_path / "cache"
    folder.mkdir()
    towns = RANDOM.choice([f"town {k}" for k in range(30)], N)
    pd.DataFrame({"a": X[:, 0], "town": towns, "y": Y}).to_parquet(path, row_group_size=500)
    one = _model().fit(path, target="y")
    np.testing.assert_allclose(_model().fit(_rows(path, folder, target="y")).coef_, one.coef_, atol=1e-12)
    assert not list(folder.iterdir())


def test_a_full_disk_ends_the_cache_not_the_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, written = os.pwrite, 0

    def full(handle: int, data: Any, offset: int) -> int:
        nonlocal written
        written += len(data)
        if written > 30_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data, offset)

    monkeypatch.setattr(os, "pwrite", full)
    source = Counted()
    with pytest.warns(UserWarning, match=r"the cache on the disk was given up \(No space left on device\)"):
        found = _model().fit(_rows(source, tmp_path))
    monkeypatch.undo()
    assert source.reads > 3
    np.testing.assert_array_equal(found.coef_, _model().fit(_rows(Counted(), tmp_path)).coef_)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_fit_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _model().fit(_rows(Counted(fails_in_read=2), tmp_path))
    assert not list(tmp_path.iterdir())


def test_what_fits_into_memory_needs_no_file(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = Counted()
        _model().fit(uneven.StreamedRows(source, cache_folder=tmp_path))
    assert not list(tmp_path.iterdir())


def test_bad_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=r"cache_folder must be a folder that exists, got .*nowhere"):
        uneven.StreamedRows(Counted(), cache_folder=tmp_path / "nowhere")

    def refused(**options: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    with pytest.raises(UnevenError, match=r"no file can be written in cache_folder .* \(Permission denied\)"):
        _model().fit(uneven.StreamedRows(Counted(), cache_folder=tmp_path))
