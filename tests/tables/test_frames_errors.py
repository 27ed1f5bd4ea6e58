"""What FrameEncoder refuses, and what new rows may bring."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from uneven.errors import MissingExtraError, ParameterError, UnevenError
from uneven.tables import FrameEncoder

ROWS = 24


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "n": np.arange(ROWS) / 2,
            "c": ["a", "b", "b"] * 8,
            "i": pd.Categorical([1, 2, 3, 4] * 6),
            "b": ["True", "False"] * 12,
            "d": pd.date_range("2020-01-01", periods=ROWS, freq="31h"),
        }
    )


@pytest.fixture
def encoder(table: pd.DataFrame) -> FrameEncoder:
    return FrameEncoder("trees").fit(table)


@pytest.mark.parametrize(
    "value", [[1, 2], {"a": 1}, (1, 2), {1}, np.arange(2)], ids=["list", "dict", "tuple", "set", "array"]
)
def test_nested_values(value: Any) -> None:
    X = pd.DataFrame({"fine": range(3), "deep": [None, None, value]})
    with pytest.raises(UnevenError, match=r"^column 'deep' holds lists or other nested values, such as .*; make"):
        FrameEncoder().fit(X)


def test_values_of_a_wrong_kind() -> None:
    with pytest.raises(UnevenError, match=r"column 'raw' holds bytes, such as b'ab'; decode them to texts"):
        FrameEncoder().fit(pd.DataFrame({"raw": [b"ab", b"cd"]}))
    with pytest.raises(UnevenError, match=r"column 'z' holds complex numbers; use real and imaginary parts"):
        FrameEncoder().fit(pd.DataFrame({"z": [1j, 2.0]}))


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (pd.DataFrame(), "Found array with 0 sample"),
        (pd.DataFrame({"a": []}), "Found array with 0 sample"),
        (pd.DataFrame(index=range(3)), "0 feature"),
        (pd.Series([1, 2]), "Expected 2D array, got 1D array"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'; rename one"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "two columns named '1'; rename one"),
        (pd.DataFrame({"a": [1, 1], "b": [None, None]}), "no column with two different values"),
        (pl.DataFrame({"a": [1]}).lazy(), r"got LazyFrame; collect\(\) it"),
        ([[1, 2], [3]], "must be a data frame, an array or a sparse matrix"),
        (np.array(["a", "b"]), "Expected 2D array, got 1D array"),
        (np.array([[1j]]), "Complex data not supported"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"]), "a: year": [1, 2]}), "called 'a: year'"),
    ],
)
def test_no_table(X: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        FrameEncoder().fit(X)


def test_parameters_and_labels(table: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match=r"view must be 'trees' or 'linear', got 'tree'"):
        FrameEncoder("tree").fit(table)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        FrameEncoder().fit(table, [0, 1])


def test_columns_of_new_rows(table: pd.DataFrame, encoder: FrameEncoder) -> None:
    with pytest.raises(
        UnevenError, match=r"X lacks the columns 'c', 'd', which were there at fit; it has 'n', 'i', 'b'"
    ):
        encoder.transform(table.drop(columns=["c", "d"]))
    with pytest.raises(UnevenError, match=r"X has 2 features, but FrameEncoder is expecting 5 features as input"):
        encoder.transform(np.zeros((3, 2)))
    with pytest.raises(UnevenError, match=r"X has 3 features, but FrameEncoder is expecting 2 features"):
        FrameEncoder().fit(np.eye(2)).transform(pd.DataFrame(np.eye(3)))
    with pytest.raises(UnevenError, match=r"input_features should have length equal to 2, got 1"):
        FrameEncoder().fit(np.eye(2)).get_feature_names_out(["a"])


def test_a_column_without_use_may_be_absent_later(table: pd.DataFrame) -> None:
    encoder = FrameEncoder().fit(table.assign(same=1, nothing=None))
    assert len(encoder.transform(table)) == ROWS


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": "many"}, r"column 'n' held numbers at fit; now 'many' is not one: correct it, or leave it missing"),
        ({"n": pd.Timestamp("2020-01-01")}, r"column 'n' held numbers at fit and holds dates now"),
        ({"c": pd.Timestamp("2020-01-01")}, r"column 'c' held texts or categories at fit and holds dates now"),
        ({"d": 5.0}, r"column 'd' held dates at fit and holds numbers now; convert it as it was at fit"),
        ({"d": "soon"}, r"column 'd' held dates at fit; now 'soon' is not one"),
        ({"d": [[1]] * ROWS}, r"column 'd' holds lists"),
    ],
)
def test_another_kind_of_value(table: pd.DataFrame, encoder: FrameEncoder, change: dict[str, Any], says: str) -> None:
    with pytest.raises(UnevenError, match=says):
        encoder.transform(table.assign(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"n": lambda X: X["n"].astype(str)},
        {"n": lambda X: X["n"].astype("float32")},
        {"i": lambda X: X["i"].astype(int)},
        {"i": lambda X: X["i"].astype(float)},
        {"i": lambda X: X["i"].astype(str)},
        {"b": lambda X: X["b"] == "True"},
        {"c": lambda X: pd.Categorical(X["c"], categories=["z", "b", "a"])},
        {"d": lambda X: X["d"].astype(str)},
        {"d": lambda X: X["d"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")},
        {"d": lambda X: X["d"].dt.strftime("%d.%m.%Y %H:%M")},
    ],
)
def test_the_same_values_in_another_type(table: pd.DataFrame, encoder: FrameEncoder, change: dict[str, Any]) -> None:
    assert np.array_equal(encoder.transform(table.assign(**change)), encoder.transform(table))


def test_truth_as_text() -> None:
    X = pd.DataFrame({"b": [True, False] * 5})
    encoder = FrameEncoder().fit(X)
    assert np.array_equal(encoder.transform(X.astype(str)), encoder.transform(X))


@pytest.mark.parametrize("view", ["trees", "linear"])
def test_new_categories_and_new_missing_values(table: pd.DataFrame, view: str) -> None:
    encoder = FrameEncoder(view).fit(table)
    names = encoder.get_feature_names_out()
    own = np.array([name.startswith("c = ") for name in names])
    new = table.assign(c=["never", None] * 12, n=np.nan, d=pd.NaT)
    found = encoder.transform(new)
    found = found if isinstance(found, np.ndarray) else found.toarray()
    assert found.shape == (ROWS, names.size)
    assert not found[:, own].any()
    assert np.isfinite(found).all() == (view == "linear")


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert FrameEncoder("linear").fit_transform(np.eye(3)).shape == (3, 3)
    with pytest.raises(MissingExtraError, match="need the extra 'data'"):
        FrameEncoder().fit(np.array([["a"], ["b"]]))
