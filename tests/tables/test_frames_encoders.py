"""The transformers of a table's columns agree with scikit-learn's, and survive the model file's format."""

from __future__ import annotations

import pickle
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from skops import io

from uneven.app.files.table_columns import matrix_width
from uneven.tables import FrameEncoder
from uneven.tables.category_columns import CategoryEncoder
from uneven.tables.number_columns import NumberScaler


@pytest.fixture
def numbers() -> pd.DataFrame:
    random = np.random.default_rng(0)
    values = random.normal(size=(200, 4)) * [1, 1e6, 1e-6, 1] + [0, 5, 0, 3]
    values[random.uniform(size=200) < 0.2, 1] = np.nan
    values[:, 3] = 3
    values[5, 3] = np.nan
    return pd.DataFrame(values, columns=list("abcd"))


@pytest.fixture
def words() -> pd.DataFrame:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"u": random.choice(list("vwxyz"), 200), "v": random.choice(["p", "q", None], 200)})
    frame.loc[:1, "u"] = "rare"
    return frame.astype("category")


def test_numbers_as_scikit_learn_scales_them(numbers: pd.DataFrame) -> None:
    ours = NumberScaler().fit(numbers)
    theirs = make_pipeline(SimpleImputer(strategy="mean", add_indicator=True), StandardScaler()).fit(numbers)
    assert np.allclose(ours.transform(numbers), theirs.transform(numbers), rtol=1e-12, atol=1e-12)
    assert list(ours.get_feature_names_out()) == ["a", "b", "c", "d", "b = missing", "d = missing"]


def test_numbers_near_the_end_of_the_range() -> None:
    frame = pd.DataFrame({"x": [1e300, -1e300, 0.0], "nothing": [np.nan] * 3})
    found = NumberScaler().fit_transform(frame)
    assert np.isfinite(found).all()
    assert np.allclose(found[:, 0], np.array([1, -1, 0]) * np.sqrt(1.5))
    assert not found[:, 1:].any()


def test_categories_as_scikit_learn_encodes_them(words: pd.DataFrame) -> None:
    ours = CategoryEncoder(min_rows=3).fit(words)
    theirs = OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist").fit(words["u"].to_frame().astype(str))
    found = ours.transform(words)
    assert issparse(found)
    assert np.array_equal(found[:, :6].toarray(), theirs.transform(words["u"].to_frame().astype(str)).toarray())
    assert list(ours.get_feature_names_out()) == [
        *(f"u = {name}" for name in "vwxyz"),
        *("u = other", "v = p", "v = q", "v = missing"),
    ]
    assert np.array_equal(found[:, 8].toarray().ravel() == 1, words["v"].isna())
    assert (found.sum(axis=1) == 2).all()
    assert matrix_width(words, 500)[0] == found.shape[1]
    new = pd.DataFrame({"u": ["new", "x", None], "v": ["new", None, "q"]}).astype("category")
    assert ours.transform(new).toarray().tolist() == [
        [0, 0, 0, 0, 0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 1, 0],
    ]


def test_only_the_most_frequent_have_a_column(words: pd.DataFrame) -> None:
    ours = CategoryEncoder(most=2).fit(words)
    counts = words["u"].value_counts()
    assert set(ours.categories_[0]) == set(counts.index[:2])
    assert ours.transform(words)[:, 2].sum() == counts.iloc[2:].sum()


def test_the_model_file_holds_them(numbers: pd.DataFrame, words: pd.DataFrame) -> None:
    for encoder, frame in ((NumberScaler(), numbers), (CategoryEncoder(min_rows=3), words)):
        data = io.dumps(encoder.fit(frame))
        foreign = io.get_untrusted_types(data=data)
        assert all(name.startswith("uneven.tables.") for name in foreign)
        again = io.loads(data, trusted=foreign)
        first, second = (found.toarray() if issparse(found) else found for found in map(_of(frame), (encoder, again)))
        assert np.array_equal(first, second)


def _of(frame: pd.DataFrame):  # type: ignore[no-untyped-def]
    return lambda encoder: encoder.transform(frame)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["trees", "linear"])
def test_many_columns_are_encoded_as_few_are(view: str) -> None:
    """Columns of numbers are read at once if there are many; the matrix is that of the columns one by one."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=(30, 300))
    numbers[3, 5], numbers[4, 6], numbers[:, 7] = np.nan, np.inf, 2.0
    frame = pd.DataFrame(numbers, columns=[f"g{k}" for k in range(300)])
    frame.insert(100, "city", random.choice(["Graz", "Linz"], 30))
    y = random.integers(0, 2, 30)
    encoder = FrameEncoder(view=view)
    found, again = encoder.fit_transform(frame, y), encoder.transform(frame)
    alone = {}
    for name in frame.columns.drop("g7"):
        one = FrameEncoder(view=view)
        columns = one.fit_transform(frame[[name]], y)
        alone |= dict(zip(one.get_feature_names_out(), np.asarray(columns).T, strict=True))
    names = list(encoder.get_feature_names_out())
    assert sorted(names) == sorted(alone)
    np.testing.assert_allclose(found.T, [alone[name] for name in names], atol=1e-12)
    assert np.array_equal(found, again, equal_nan=True)
    copied = pickle.loads(pickle.dumps(encoder))
    assert copied.columns_ == encoder.columns_
    assert list(copied.feature_names_in_) == list(frame.columns)
    assert np.array_equal(copied.transform(frame[frame.columns[::-1]]), found, equal_nan=True)


def test_a_model_file_does_not_grow_by_objects_for_each_column() -> None:
    """skops takes long for each object; the names of thousands of columns are one text."""
    sizes = []
    for width in (250, 500):
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(8, width)), columns=[f"g{k}" for k in range(width)])
        encoder = FrameEncoder(view="linear").fit(frame, [0, 1] * 4)
        with zipfile.ZipFile(BytesIO(io.dumps(encoder))) as file:
            sizes.append(file.read("schema.json").count(b"__loader__"))
    assert sizes[0] == sizes[1]
