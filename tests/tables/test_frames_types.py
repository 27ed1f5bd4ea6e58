"""Everything that people have in the columns of their tables."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csr_matrix, issparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from uneven.errors import UnevenError
from uneven.tables import FrameEncoder
from uneven.tables import column_values as typed_file
from uneven.tables import frame_encoder as encoder_file

ROWS = 24
VIEWS = ("trees", "linear")
UTC = dt.UTC


def dense(found: Any) -> np.ndarray:
    return found.toarray() if issparse(found) else np.asarray(found)


def repeated(*values: Any) -> list[Any]:
    return [values[k % len(values)] for k in range(ROWS)]


def objects(*values: Any) -> pd.Series:
    return pd.Series(repeated(*values), dtype=object)


def arrow(kind: pa.DataType, *values: Any) -> Any:
    return pd.array(repeated(*values), dtype=pd.ArrowDtype(kind))


def numbered(text: str, of: int = ROWS) -> list[str]:
    return [text.format(k % of) for k in range(ROWS)]


COLUMNS: dict[str, tuple[str, Callable[[], Any]]] = {
    "int8": ("number", lambda: np.arange(ROWS, dtype=np.int8)),
    "uint64": ("number", lambda: np.arange(ROWS, dtype=np.uint64)),
    "Int64": ("number", lambda: pd.array(repeated(1, 2, None), dtype="Int64")),
    "Float32": ("number", lambda: pd.array(repeated(1.5, 2, None), dtype="Float32")),
    "bool": ("number", lambda: repeated(True, False)),
    "boolean": ("number", lambda: pd.array(repeated(True, False, None), dtype="boolean")),
    "bool and None": ("number", lambda: objects(True, False, None)),
    "Decimal": ("number", lambda: objects(Decimal("1.5"), Decimal(2), None, Decimal("NaN"))),
    "Fraction": ("number", lambda: objects(Fraction(1, 3), Fraction(2, 3), None)),
    "int beyond float": ("number", lambda: objects(10**400, 5, 7)),
    "infinite": ("number", lambda: repeated(np.inf, -np.inf, 1.0, 2.0)),
    "number kinds": ("number", lambda: objects(1, 2.5, Decimal(3), None)),
    "sparse": ("number", lambda: pd.arrays.SparseArray(repeated(0.0, 0.0, 3.0))),
    "timedelta": ("number", lambda: pd.to_timedelta(repeated(1, 2, 3), unit="h")),
    "timedelta object": ("number", lambda: objects(dt.timedelta(1), dt.timedelta(2), None)),
    "time of day": ("number", lambda: objects(dt.time(1, 2), dt.time(5), None)),
    "numbers as texts": ("number", lambda: repeated("1.5", " -2e3", "3.", ".5")),
    "numbers and marks": ("number", lambda: repeated("1", "2", "?", "NA", "")),
    "Arrow int": ("number", lambda: arrow(pa.int32(), 1, 2, None)),
    "Arrow bool": ("number", lambda: arrow(pa.bool_(), True, False, None)),
    "Arrow decimal": ("number", lambda: arrow(pa.decimal128(5, 2), Decimal("1.50"), Decimal("2.25"), None)),
    "Arrow duration": ("number", lambda: arrow(pa.duration("s"), dt.timedelta(1), dt.timedelta(2), None)),
    "Arrow time": ("number", lambda: arrow(pa.time64("us"), dt.time(1), dt.time(2), None)),
    "value and missing": ("number", lambda: repeated(1.0, np.nan)),
    "str": ("category", lambda: pd.array(repeated("a", "b", None), dtype="str")),
    "string": ("category", lambda: pd.array(repeated("a", "b", None), dtype="string")),
    "object": ("category", lambda: objects("a", "b", None, np.nan, pd.NA)),
    "category": ("category", lambda: pd.Categorical(repeated("a", "b", None), categories=list("zab"))),
    "category of ints": ("category", lambda: pd.Categorical(repeated(1, 2, 5))),
    "category of kinds": ("category", lambda: pd.Categorical(repeated(1, "1", "b"))),
    "ordered": ("category", lambda: pd.Categorical(repeated("lo", "hi"), categories=["lo", "hi"], ordered=True)),
    "interval": ("category", lambda: pd.cut(pd.Series(np.arange(ROWS)), 3)),
    "kinds": ("category", lambda: objects(1, "a", 2.5, True, None)),
    "empty texts": ("category", lambda: repeated("", " ", "a")),
    "Arrow string": ("category", lambda: arrow(pa.string(), "a", "b", None)),
    "Arrow dictionary": ("category", lambda: arrow(pa.dictionary(pa.int32(), pa.string()), "a", "b", None)),
    "text and missing": ("category", lambda: repeated("a", None)),
    "postal codes": ("many", lambda: numbered("{:05d}")),
    "long digits": ("many", lambda: numbered("{:020d}")),
    "UUID": ("many", lambda: [uuid.UUID(int=k) for k in range(ROWS)]),
    "many": ("many", lambda: numbered("k{}", 22)),
    "free text": ("text", lambda: numbered("the quick brown fox number {} jumps")),
    "long digits and a letter": ("many", lambda: [f"{k}" + "1" * 20_000 + "x" for k in range(ROWS)]),
    "beyond ASCII": ("text", lambda: numbered("größe 漢字 🎉 {} \x00")),
    "long": ("text", lambda: numbered("word " * 3000 + "{}")),
    "datetime64": ("date", lambda: pd.date_range("2020-01-01", periods=ROWS, freq="31h")),
    "datetime64 with zone": ("date", lambda: pd.date_range("2020-01-01", periods=ROWS, freq="31h", tz="Europe/Vienna")),
    "datetime": ("date", lambda: objects(dt.datetime(2020, 1, 1), dt.datetime(2021, 2, 3, 4), None)),
    "date": ("date", lambda: objects(dt.date(2020, 1, 1), dt.date(2021, 12, 31), None)),
    "zones": (
        "date",
        lambda: objects(pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp("2020-05-01", tz="Asia/Tokyo")),
    ),
    "period": ("date", lambda: pd.period_range("2020-01", periods=ROWS, freq="M")),
    "ISO dates": ("date", lambda: [f"2020-01-{k % 9 + 1:02d}" for k in range(ROWS)]),
    "dates with points": ("date", lambda: [f"{k + 1}.{k % 12 + 1}.2020" for k in range(ROWS)]),
    "Arrow date": ("date", lambda: arrow(pa.date32(), dt.date(2020, 1, 1), dt.date(2021, 1, 1), None)),
    "Arrow timestamp": (
        "date",
        lambda: arrow(
            pa.timestamp("us", tz="UTC"), dt.datetime(2020, 1, 1, tzinfo=UTC), dt.datetime(2021, 1, 1, tzinfo=UTC)
        ),
    ),
    "None": ("", lambda: [None] * ROWS),
    "NaN": ("", lambda: [np.nan] * ROWS),
    "NaT": ("", lambda: [pd.NaT] * ROWS),
    "NA": ("", lambda: objects(pd.NA)),
    "one number": ("", lambda: [7] * ROWS),
    "one text": ("", lambda: ["a"] * ROWS),
    "one number as text": ("", lambda: ["7.0", "7"] * (ROWS // 2)),
    "one date": ("", lambda: [pd.Timestamp("2020-01-01")] * ROWS),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", COLUMNS)
def test_what_a_column_is(kind: str, view: str) -> None:
    role, make = COLUMNS[kind]
    X = pd.DataFrame({"other": np.arange(ROWS), kind: make()})
    encoder = FrameEncoder(view)
    first = encoder.fit_transform(X, np.arange(ROWS) % 2)
    assert {column.name: column.role for column in encoder.columns_}.get(kind, "") == role
    names = list(encoder.get_feature_names_out())
    assert first.shape == encoder.transform(X).shape == (ROWS, len(names))
    assert len(set(names)) == len(names)
    assert (len(names) > 1) == bool(role)
    for row in (X[:1], X[["other"]].assign(**{kind: None})):  # one row alone; all values missing
        assert encoder.transform(row).shape == (len(row), len(names))
    if view == "linear":
        assert np.isfinite(first.data if issparse(first) else first).all()


@pytest.mark.parametrize("kind", ["Int64", "bool and None", "Decimal", "infinite", "numbers and marks", "Arrow int"])
def test_missing_numbers(kind: str) -> None:
    column = COLUMNS[kind][1]()
    X = pd.DataFrame({"x": column})
    for_trees = FrameEncoder("trees").fit_transform(X)
    assert np.isnan(for_trees).any()
    linear = FrameEncoder("linear").fit(X)
    assert list(linear.get_feature_names_out()) == ["x", "x = missing"]
    flags = linear.transform(X)[:, 1]
    assert np.array_equal(flags > 0, np.isnan(for_trees[:, 0]))


def test_parts_of_dates() -> None:
    X = pd.DataFrame({"when": [pd.Timestamp("2021-12-31 23:30"), pd.Timestamp("2022-02-01"), pd.NaT]})
    trees = FrameEncoder("trees").fit(X)
    assert list(trees.get_feature_names_out()) == [
        *("when: year", "when: days since 2021-12-31", "when: month", "when: day of week", "when: hour"),
    ]
    found = trees.transform(X)
    assert found[0].tolist() == [2021, 0, 11, 4, 23]
    assert found[1, 1] == pytest.approx(31 + 0.5 / 24)
    assert np.isnan(found[2]).all()
    texts = pd.DataFrame({"when": ["2021-12-31 23:30", "2022-02-01 00:00", None]})
    assert np.array_equal(FrameEncoder("trees").fit_transform(texts), found, equal_nan=True)
    assert "when: day of week = Friday" in FrameEncoder("linear").fit(pd.concat([X] * 2)).get_feature_names_out()


def test_polars_and_arrow_are_as_pandas() -> None:
    frame = pd.DataFrame(
        {
            "a": repeated(1.5, 2.5, None),
            "b": repeated("x", "y", None),
            "c": pd.date_range("2020-01-01", periods=ROWS),
            "d": repeated(True, False),
            "e": numbered("the quick brown fox number {} jumps"),
        }
    )
    y = np.arange(ROWS) % 2
    for view in VIEWS:
        expected = FrameEncoder(view).fit(frame, y).transform(frame)
        for other in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
            encoder = FrameEncoder(view).fit(other, pl.Series(y))
            assert list(encoder.feature_names_in_) == list("abcde")
            for rows in (other, frame):
                found = encoder.transform(rows)
                assert issparse(found) == issparse(expected)
                first, second = (one.toarray() if issparse(one) else one for one in (found, expected))
                assert np.allclose(first, second, atol=1e-6, equal_nan=True)
    lists = pl.DataFrame({"a": [[1], [2]]})
    with pytest.raises(ValueError, match=r"column 'a' holds lists or other nested values"):
        FrameEncoder().fit(lists)
    categories = pl.DataFrame({"a": ["u", "v"] * 5}, schema={"a": pl.Enum(["u", "v"])})
    assert FrameEncoder().fit_transform(categories).tolist() == [[1, 0], [0, 1]] * 5


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_arrays_pass_through_for_trees(dtype: type) -> None:
    X = np.arange(20).reshape(10, 2).astype(dtype)
    found = FrameEncoder("trees").fit_transform(X)
    assert found.dtype == dtype
    assert np.array_equal(found, X)
    scaled = FrameEncoder("linear").fit_transform(X)
    assert np.allclose(scaled, StandardScaler().fit_transform(X.astype(float)))


def test_missing_and_infinite_numbers_in_arrays() -> None:
    X = np.array([[1.0, np.nan], [np.inf, 2.0], [3.0, 4.0]])
    assert np.array_equal(np.isnan(FrameEncoder("trees").fit_transform(X)), [[False, True], [True, False], [False] * 2])
    encoder = FrameEncoder("linear").fit(X)
    assert list(encoder.get_feature_names_out(["a", "b"])) == ["a", "b", "a = missing", "b = missing"]
    assert np.isfinite(encoder.transform(X)).all()
    assert FrameEncoder("trees").fit_transform(X > 1).dtype == np.float32


def test_arrays_of_objects_are_tables() -> None:
    rows = [[1, "u", None], [2.5, "v", "p"]] * 6
    for X in (np.array(rows, dtype=object), rows):
        encoder = FrameEncoder("trees").fit(X)
        assert list(encoder.get_feature_names_out()) == ["x0", "x1 = u", "x1 = v", "x2 = p", "x2 = missing"]
        assert encoder.transform([[3, "w", "p"]]).tolist() == [[3, 0, 0, 1, 0]]
    dates = np.array([["2020-01-01"], ["2021-02-03"]], dtype="datetime64[D]")
    assert FrameEncoder("trees").fit_transform(dates)[:, 0].tolist() == [2020, 2021]


@pytest.mark.parametrize("make", [csr_matrix, coo_array])
def test_sparse_matrices(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([[0.0, 2.0, 0.0], [4.0, 0.0, 0.0], [-8.0, 1.0, 0.0]])
    X = make(values)
    linear = FrameEncoder("linear")
    found = linear.fit_transform(X)
    assert issparse(found)
    assert np.array_equal(found.toarray(), MaxAbsScaler().fit_transform(values))
    assert np.array_equal(linear.transform(values).toarray(), found.toarray())
    trees = FrameEncoder("trees")
    assert np.array_equal(trees.fit_transform(X), values)
    monkeypatch.setattr(encoder_file, "_MOST_DENSE", 8)
    large = trees.fit_transform(X)
    assert large.format == "csr"
    assert np.array_equal(large.toarray(), values)
    values[0, 1] = np.nan
    assert np.isfinite(trees.transform(make(values)).data).all()
    assert np.isfinite(linear.transform(make(values)).data).all()


def test_numbers_fitted_as_an_array_come_in_other_forms() -> None:
    X = np.array([[1.0, 2.0], [3.0, 5.0]])
    encoder = FrameEncoder("trees").fit(X)
    for same in (pd.DataFrame(X), csr_matrix(X), pd.DataFrame(X.astype(str)), X.astype(object), X.tolist()):
        assert np.array_equal(encoder.transform(same), X)
    frame = FrameEncoder("trees").fit(pd.DataFrame(X, columns=["a", "b"]))
    for same in (X, csr_matrix(X)):
        assert np.array_equal(frame.transform(same), X)


@pytest.mark.parametrize("view", VIEWS)
def test_many_columns_are_encoded_as_few_are(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubles are read at once if there are many; other types, gaps and constants among them change nothing."""
    random = np.random.default_rng(0)
    values = np.where(random.random((ROWS, 230)) < 0.1, np.nan, random.normal(size=(ROWS, 230)))
    X = pd.DataFrame(values, columns=[f"n{k}" for k in range(230)])
    X["n3"], X["n4"], X["n5"] = 1.0, np.nan, np.where(values[:, 5] > 0, np.inf, 2.0)
    X["n6"] = random.integers(0, 9, ROWS)
    X.insert(7, "colour", repeated("red", "blue", None))
    X.insert(90, "when", pd.date_range("2021-01-01", periods=ROWS, freq="17h"))
    new = X.iloc[::-1].astype({"n8": object, "n9": "float32"})
    many = FrameEncoder(view=view)
    found = many.fit_transform(X), many.transform(new)
    monkeypatch.setattr(typed_file, "_MANY", 10**6)
    few = FrameEncoder(view=view)
    for one, other in zip(found, (few.fit_transform(X), few.transform(new)), strict=True):
        np.testing.assert_array_equal(dense(one), dense(other))
    assert many.columns_ == few.columns_
    assert list(many.get_feature_names_out()) == list(few.get_feature_names_out())


@pytest.mark.parametrize("width", [2, 230])
def test_a_part_of_a_date_has_a_name_of_its_own(width: int) -> None:
    X = pd.DataFrame(np.arange(ROWS * width, dtype=float).reshape(ROWS, width)).add_prefix("n")
    X["when"] = pd.date_range("2021-01-01", periods=ROWS, freq="40D")
    part = next(name for name in FrameEncoder(view="linear").fit(X).get_feature_names_out() if "when" in name)
    with pytest.raises(UnevenError, match="two columns would be called"):
        FrameEncoder().fit(X.rename(columns={"n0": part}))
