"""The encoder gives data frames if it is asked to, and names its columns; pipelines and files keep that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops import io

import uneven
from uneven.errors import ParameterError, UnevenError
from uneven.tables import FrameEncoder


def table(rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.normal(40, 9, rows), "city": random.choice(["Graz", "Linz"], rows)})
    X["day"] = pd.date_range("2020-01-01", periods=rows)
    X.loc[3, "age"] = np.nan
    X.index = [f"row {k}" for k in range(rows)]
    return X, (random.random(rows) < 0.4).astype(int)


@pytest.mark.parametrize("view", ["trees", "linear"])
@pytest.mark.parametrize("kind", ["frame", "polars", "array"])
def test_frames_hold_the_matrix_under_its_names(view: str, kind: str) -> None:
    X, y = table()
    rows: Any = {"frame": X, "polars": pl.from_pandas(X), "array": X[["age"]].to_numpy()}[kind]
    plain = FrameEncoder(view).fit(rows, y)
    names = plain.get_feature_names_out().tolist()
    for output, library in (("pandas", pd), ("polars", pl)):
        encoder = clone(FrameEncoder(view).set_output(transform=output))  # a clone keeps it
        first, again = encoder.fit_transform(rows, y), encoder.transform(rows)
        assert isinstance(first, library.DataFrame)
        assert list(again.columns) == list(first.columns) == names
        np.testing.assert_array_equal(again.to_numpy(), plain.transform(rows))
        if output == "pandas" and kind == "frame":
            assert again.index.tolist() == X.index.tolist()
    assert type(encoder.set_output(transform="default").transform(rows)) is np.ndarray
    assert type(encoder.set_output().transform(rows)) is np.ndarray


def test_in_a_pipeline() -> None:
    X, y = table()
    learner = uneven.UnevenLinearClassifier(fn_cost=3)
    plain = make_pipeline(FrameEncoder("linear"), learner).fit(X, y)
    named = make_pipeline(FrameEncoder("linear"), clone(learner)).set_output(transform="pandas").fit(X, y)
    assert named[-1].feature_names_in_.tolist() == named[:-1].get_feature_names_out().tolist()
    assert plain[-1].n_features_in_ == named[-1].n_features_in_
    again = io.loads(io.dumps(named), trusted=uneven.trusted_types())
    for model in (named, again):
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    with config_context(transform_output="pandas"):  # a model does not depend on the settings of the process
        assert type(plain[:-1].transform(X)) is np.ndarray


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_learners_know_the_names_that_other_steps_give(output: str) -> None:
    X, y = table()
    numbers = X[["age"]].fillna(40).assign(other=np.arange(len(X)) % 7)
    model = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier()).set_output(transform=output)
    model.fit(numbers, y)
    assert model[-1].feature_names_in_.tolist() == ["age", "other"]
    np.testing.assert_array_equal(model.predict(pl.from_pandas(numbers)), model.predict(numbers))


def test_what_cannot_be_a_frame() -> None:
    words = pd.DataFrame({"text": [f"some words {k} and {k * k} more of them" for k in range(200)]})
    encoder = FrameEncoder("linear").set_output(transform="pandas").fit(words, np.arange(200) % 2)
    with pytest.raises(UnevenError, match=r"sparse matrix of .* columns, which a data frame cannot hold"):
        encoder.transform(words)
    with pytest.raises(ParameterError, match="transform must be one of"):
        FrameEncoder().set_output(transform="arrow")
