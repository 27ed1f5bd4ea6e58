"""Dask dataframes with texts, dates and missing values: the fit that the same rows in Parquet files give."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from local_cluster import thread_cluster

import uneven
from uneven.errors import CostError, ParameterError

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

import dask  # noqa: E402 - if it is there
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from uneven.adapters.dask import DaskUnevenLinearClassifier  # noqa: E402
from uneven.parts.blocks import BlockMaker  # noqa: E402
from uneven.parts.dask_rows import Recipe, Rows, read_rows, summary  # noqa: E402
from uneven.tables.columns import Sizes, TextSums  # noqa: E402

N = 1200


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    with thread_cluster() as client:
        yield client


def _frame() -> pd.DataFrame:
    """Columns of every kind. Some values are missing, in the first quarter of "gap" and "word" all of them."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"plain": random.normal(size=N).astype(np.float32), "count": random.integers(0, 9, N)})
    frame["day"] = pd.Timestamp("2024-03-01") + pd.to_timedelta(random.integers(0, 300, N), "D")
    frame["gap"] = np.where((np.arange(N) < N // 4) | (random.random(N) < 0.1), np.nan, random.normal(5, 3, N))
    frame["nullable"] = pd.array(random.integers(0, 5, N), dtype="Int64")
    frame.loc[5:40, "nullable"] = pd.NA
    word = pd.Series(random.choice(["ash", "elm", "oak", "yew"], N, p=[0.5, 0.3, 0.195, 0.005]), dtype="object")
    word[: N // 4] = None
    frame["word"] = word
    frame["group"] = pd.Categorical(random.choice(["low", "high"], N))
    frame["user"] = [f"u{k}" for k in random.integers(0, 60, N)]
    frame["flag"] = random.random(N) < 0.5
    score = frame["plain"] + (frame["word"] == "elm") - 0.2 * frame["gap"].fillna(5) + (frame["group"] == "high")
    frame["label"] = np.where(score + random.logistic(size=N) > 0.5, "bad", "good")
    return frame


COLUMNS = ["plain", "count", "day", "gap", "nullable", "word", "group", "user", "flag"]
OPTIONS = {"most_categories": 30, "buckets": 16}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return _frame()


@pytest.fixture(scope="module")
def folder(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("parquet")
    for k in range(3):
        frame[k * N // 3 : (k + 1) * N // 3].to_parquet(found / f"{k}.parquet")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("texts", [True, False], ids=["texts of Arrow", "texts of Python"])
@pytest.mark.parametrize(("standardize", "partitions"), [(True, 4), (False, 1), (True, 7)])
def test_the_fit_of_the_same_rows_in_files(
    frame: pd.DataFrame, folder: Path, standardize: bool, partitions: int, texts: bool
) -> None:
    given: dict[str, Any] = {"fn_cost": 4, "pos_label": "bad", "tol": 1e-9, "C": 0.1}
    rows = uneven.StreamedRows(
        folder, target="label", columns=COLUMNS, standardize=standardize, memory_limit="1GB", **OPTIONS
    )
    streamed = uneven.UnevenLinearClassifier(**given).fit(rows)
    with dask.config.set({"dataframe.convert-string": texts}):
        table = dd.from_pandas(frame, npartitions=partitions)
        model = DaskUnevenLinearClassifier(**given, **OPTIONS, standardize=standardize)
        model.fit(table[COLUMNS], table["label"])
        flagged = model.predict(table[COLUMNS]).compute()
    assert model.feature_names_in_.tolist() == streamed.feature_names_in_.tolist()
    assert {"gap = missing", "word = elm", "word = other", "group = high", "user: words 15"} <= set(
        model.feature_names_in_
    )
    assert model.objective_ == pytest.approx(streamed.objective_, rel=1e-8)
    assert model.duality_gap_ <= 1e-9 * model.objective_
    np.testing.assert_allclose(model.coef_, streamed.coef_, rtol=1e-2, atol=1e-3)
    # The same model reads dataframes in memory, and Parquet files.
    np.testing.assert_array_equal(flagged, model.predict(frame[COLUMNS]))
    np.testing.assert_array_equal(flagged, model.in_memory().predict(folder))
    np.testing.assert_array_equal(flagged, streamed.predict(frame))
    np.testing.assert_allclose(
        model.predict_proba(frame), pickle.loads(pickle.dumps(model)).predict_proba(frame), rtol=0
    )


@pytest.mark.slow
def test_arrays_with_standardised_columns_have_the_fit_of_a_standardised_matrix() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 3)) * np.array([1, 100, 0.01]) + np.array([0, 1000, 5])
    y = X[:, 0] + random.logistic(size=N) > 0
    rows, labels = da.from_array(X, chunks=(300, 3)), da.from_array(y, chunks=300)
    model = DaskUnevenLinearClassifier("hinge", fn_cost=3, C=0.01, tol=1e-6, standardize=True).fit(rows, labels)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    alone = uneven.UnevenLinearClassifier("hinge", fn_cost=3, C=0.01, tol=1e-6).fit(scaled, y)
    assert model.objective_ == pytest.approx(alone.objective_, rel=2e-6)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(scaled), atol=1e-2)


def test_partitions_answer_with_at_most_so_many_texts(frame: pd.DataFrame) -> None:
    """Also if every row has another one: then the answer is that there are many."""
    many = frame.assign(user=[f"user {k} of {N}" for k in range(N)])[COLUMNS]
    recipe = Recipe(tuple(COLUMNS))
    for table, most in ((frame[COLUMNS], 100), (many, 100)):
        answer = summary(read_rows(recipe, 0, (), {"X": table, "y": frame["label"].to_numpy()}), Sizes(most, 16))
        texts = [one for one in answer.sums.values() if isinstance(one, TextSums)]
        assert texts
        assert all(len(one.texts) <= most for one in texts)
        assert len(pickle.dumps(answer)) < 8000
    assert not answer.sums["user"].counted
    halves = [
        summary(read_rows(recipe, k, (), {"X": part[COLUMNS], "y": part["label"].to_numpy()}), Sizes(30, 16))
        for k, part in enumerate((frame[:700], frame[700:]))
    ]
    whole = summary(read_rows(recipe, 0, (), {"X": frame[COLUMNS], "y": frame["label"].to_numpy()}), Sizes(30, 16))
    for added, known in zip((halves[0] + halves[1]).plan(), whole.plan(), strict=True):
        for one, other in zip(added.pop("numbers"), known.pop("numbers"), strict=True):
            assert one[:2] == other[:2]
            assert one[2] == pytest.approx(other[2], rel=1e-12)
        assert added == known


def test_a_partition_that_is_loaded_again_becomes_the_same_numbers(frame: pd.DataFrame) -> None:
    def loaded() -> Rows:
        return read_rows(Recipe(tuple(COLUMNS)), 0, (), {"X": frame[COLUMNS], "y": frame["label"].to_numpy()})

    rows = loaded()
    plan = summary(rows, Sizes(30, 16)).plan()
    first = rows.block(BlockMaker("bad"), plan)
    for again in (
        loaded().block(BlockMaker("bad"), plan),
        pickle.loads(pickle.dumps(rows)).block(BlockMaker("bad"), plan),
    ):
        np.testing.assert_array_equal(again.X, first.X)
        np.testing.assert_array_equal(again.y, first.y)
    assert rows.block(BlockMaker("bad"), plan) is first


def _fit(frame: pd.DataFrame, labels: Any = None, **more: Any) -> DaskUnevenLinearClassifier:
    y = frame["label"] if labels is None else labels
    model = DaskUnevenLinearClassifier(fn_cost=2, pos_label="bad", **more)
    X = dd.from_pandas(frame.drop(columns="label"), npartitions=3)
    return model.fit(X, dd.from_pandas(pd.Series(np.asarray(y, dtype=object), index=frame.index), npartitions=3))


def _weighted(frame: pd.DataFrame, weight: Any, **costs: Any) -> DaskUnevenLinearClassifier:
    table = dd.from_pandas(frame, npartitions=3)
    given = None if weight is None else dd.from_pandas(weight, npartitions=3)
    return DaskUnevenLinearClassifier(fn_cost=2, pos_label="bad").fit(table[["plain"]], table["label"], given, **costs)


def _with(frame: pd.DataFrame, values: Any) -> pd.DataFrame:
    return frame[["plain", "label"]].assign(new=pd.Series(list(values), dtype="object"))


REFUSED: dict[str, tuple[Any, str]] = {
    "lists": (
        lambda f: _fit(_with(f, [[1, 2]] * N)),
        r"partition \d \(counted from 0\): column 'new' has the type list<.*>, which is neither numbers, dates nor",
    ),
    "numbers and texts": (
        lambda f: _fit(_with(f, ["x", 1] * (N // 2))),
        "column 'new' of X holds object values that are neither numbers, dates nor texts",
    ),
    "numbers in one partition and texts in another": (
        lambda f: _fit(_with(f, ["x"] * 400 + [1] * 800)),
        "column 'new' has texts in some rows and numbers in others; make all of them texts, or all numbers",
    ),
    "complex numbers": (
        lambda f: _fit(f[["plain", "label"]].assign(new=1j)),
        "column 'new' of X holds complex128 values that are neither",
    ),
    "infinity beside missing values": (
        lambda f: _fit(f[["gap", "label"]].assign(plain=np.where(np.arange(N) == 3, np.inf, 1.0))),
        r"partition 0 \(counted from 0\): X must hold finite numbers, got inf in row 3",
    ),
    "missing labels": (
        lambda f: _fit(f, f["label"].where(np.arange(N) != 500, None)),
        r"partition 1 \(counted from 0\): y must hold a label in every row, but it is missing in row 100",
    ),
    "missing weights": (
        lambda f: _weighted(f, f["nullable"].astype("Float64")),
        r"partition 0 \(counted from 0\): sample_weight must not contain NaN",
    ),
    "weights that are texts": (
        lambda f: _weighted(f, f["user"]),
        r"partition \d \(counted from 0\): sample_weight must be one number for each row, got .* values",
    ),
    "missing costs": (
        lambda f: _weighted(f, None, fn_cost=dd.from_pandas(f["nullable"] + 1, npartitions=3)),
        r"partition 0 \(counted from 0\): fn_cost must not contain NaN",
    ),
    "no columns": (lambda f: _fit(f[["label"]]), "X must have a column to learn from, got none"),
    "the same name twice": (
        lambda f: _fit(f[["plain", "count", "label"]].set_axis(["a", "a", "label"], axis=1)),
        "two columns of X have the name 'a'; rename one",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_cannot_be_read_are_refused_in_one_sentence(frame: pd.DataFrame, name: str) -> None:
    attempt, sentence = REFUSED[name]
    with dask.config.set({"dataframe.convert-string": False}), pytest.raises(CostError, match=sentence):
        attempt(frame)


def test_predictions_need_the_columns_of_the_fit_and_may_have_more(frame: pd.DataFrame) -> None:
    model = _fit(frame[["plain", "gap", "word", "label"]])
    table = dd.from_pandas(frame, npartitions=2)
    new = frame.assign(word="beech")  # not seen before: as other rare ones
    np.testing.assert_array_equal(model.predict(table).compute(), model.predict(frame[["word", "plain", "gap"]]))
    assert set(model.predict(dd.from_pandas(new, npartitions=2)).compute()) <= {"bad", "good"}
    with pytest.raises(CostError, match="there is no column 'gap' in X, but the model was fitted with it"):
        model.predict(table[["plain", "word"]])
    with pytest.raises(CostError, match="X must be a dataframe with these columns, got a Dask array"):
        model.predict(da.zeros((10, 3)))
    with pytest.raises(CostError, match="column 'plain' has missing values in X, but none in the rows of the fit"):
        model.predict(frame.assign(plain=np.nan))
    with pytest.raises(CostError, match="a column of X does not hold what it held in the fit"):
        model.predict(frame.assign(plain="text"))
    with pytest.raises(ParameterError, match="buckets"):
        _fit(frame, buckets=0)
