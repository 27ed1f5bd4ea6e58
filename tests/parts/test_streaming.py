"""Fits on rows in parts: the same model as in memory, from every kind of source."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.parts import block_loop
from uneven.parts.block_loop import BlockLoop
from uneven.parts.blocks import BlockMaker
from uneven.parts.sources import ArraySource, MappedFile
from uneven.parts.summed_answers import SurveyRows

N, D = 4000, 4
NAMES = [f"x{j}" for j in range(D)]


class Batches:
    """Batches that can be read again."""

    def __init__(self, *columns: Any, size: int = 700) -> None:
        self.columns, self.size = columns, size

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for lo in range(0, len(self.columns[0]), self.size):
            yield tuple(
                {name: one[lo : lo + self.size] for name, one in column.items()}
                if isinstance(column, dict)
                else column[lo : lo + self.size]
                for column in self.columns
            )


@pytest.fixture(scope="module")
def data() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(N, D)) * [1, 3, 0.2, 1] + [0, 2, -1, 0]
    y = (random.random(N) < 1 / (1 + np.exp(1 - X[:, 0] + 0.3 * X[:, 1]))).astype(int)
    return {"X": X, "y": y, "weight": random.random(N) + 0.1, "amount": random.exponential(30, N)}


@pytest.fixture(scope="module")
def folder(data: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three Parquet files with several row groups each."""
    made = tmp_path_factory.mktemp("parquet")
    columns = {**{name: data["X"][:, j] for j, name in enumerate(NAMES)}, "y": data["y"]}
    columns |= {"weight": data["weight"], "amount": data["amount"]}
    table = pa.table(columns)
    for k in range(3):
        part = table.slice(k * 1500, 1500)
        pq.write_table(part, made / f"part-{k}.parquet", row_group_size=400)
    return made


def _model(loss: str = "logistic", **parameters: Any) -> uneven.UnevenLinearClassifier:
    return uneven.UnevenLinearClassifier(
        loss, **{"fp_cost": 1, "fn_cost": 7, "margin_gamma": 2, "tol": 1e-9, **parameters}
    )


def _same(found: Any, whole: Any, rel: float = 1e-8) -> None:
    assert found.duality_gap_ <= found.tol * found.objective_
    assert found.objective_ == pytest.approx(whole.objective_, rel=rel)
    np.testing.assert_allclose(found.coef_, whole.coef_, atol=2e-3)
    assert found.cost_scale_ == pytest.approx(whole.cost_scale_, rel=1e-12)
    np.testing.assert_array_equal(found.classes_, whole.classes_)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_every_source_gives_the_model_of_the_array(
    loss: str, data: dict[str, np.ndarray], folder: Path, tmp_path: Path
) -> None:
    X, y = data["X"], data["y"]
    whole = _model(loss).fit(X, y)
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    rows = [
        uneven.StreamedRows(mapped, target=y),
        Batches(X, y),
        uneven.StreamedRows(f"{folder}/*.parquet", target="y", columns=NAMES),
    ]
    for one in rows:
        _same(_model(loss).fit(one), whole)


def test_what_a_table_can_be(data: dict[str, np.ndarray], folder: Path) -> None:
    whole = _model().fit(data["X"], data["y"])
    for X in (f"{folder}/*.parquet", folder, sorted(folder.glob("*.parquet")), ds.dataset(folder)):
        found = _model().fit(X, target="y", columns=NAMES)
        _same(found, whole)
        np.testing.assert_array_equal(found.predict(X), whole.predict(data["X"]))
        np.testing.assert_allclose(found.predict_proba(X), whole.predict_proba(data["X"]), atol=1e-5)
    _same(_model().fit(str(folder), "y", columns=NAMES), whole)  # y is the name of the column, too
    frame = pd.DataFrame(data["X"], columns=NAMES)
    np.testing.assert_array_equal(found.predict(frame), whole.predict(data["X"]))


def test_weights_and_costs_of_rows(data: dict[str, np.ndarray], folder: Path) -> None:
    X, y, weight, amount = (data[name] for name in ("X", "y", "weight", "amount"))
    whole = _model().fit(X, y, weight, fp_cost=5, fn_cost=amount)
    table = uneven.StreamedRows(folder, target="y", columns=NAMES, sample_weight="weight")
    _same(_model().fit(table, fp_cost=5, fn_cost="amount"), whole)
    _same(_model(fp_cost=5).fit(Batches(X, y, weight, {"fn_cost": amount})), whole)
    rows = uneven.StreamedRows(X, target=y, sample_weight=weight)
    found = _model().fit(rows, fp_cost=5, fn_cost=amount)
    _same(found, whole)
    np.testing.assert_array_equal(found.predict(X, fn_cost=amount), whole.predict(X, fn_cost=amount))
    _same(_model().fit(Batches(X, y, weight)), _model().fit(X, y, weight))


def test_a_number_may_be_a_text_beside_costs_of_rows(data: dict[str, np.ndarray], folder: Path) -> None:
    X, y, amount = data["X"], data["y"], data["amount"]
    whole = _model().fit(X, y, fp_cost="1/3", fn_cost=amount)
    table = uneven.StreamedRows(folder, target="y", columns=NAMES)
    _same(_model().fit(table, fp_cost="1/3", fn_cost="amount"), whole)
    _same(_model(fp_cost="1/3").fit(Batches(X, y, no_weights(), {"fn_cost": amount})), whole)


def test_rows_whose_mistake_pays_are_turned(data: dict[str, np.ndarray]) -> None:
    X, y, amount = data["X"], data["y"], data["amount"] - 5
    with pytest.warns(UserWarning, match="other label"):
        whole = _model().fit(X, y, fp_cost=5, fn_cost=amount)
    with pytest.warns(UserWarning, match=f"{int((amount[y == 1] < 0).sum())} of {N} rows"):
        found = _model(fp_cost=5).fit(Batches(X, y, no_weights(), {"fn_cost": amount}))
    _same(found, whole)


def no_weights() -> Any:
    """Slices of it are None: the batch has no weights."""

    class Nothing:
        def __getitem__(self, part: slice) -> None:
            return None

    return Nothing()


@pytest.mark.parametrize("pos_label", ["fraud", "ok"])
def test_labels_of_any_kind(data: dict[str, np.ndarray], pos_label: str, tmp_path: Path) -> None:
    words = np.array(["ok", "fraud"])[data["y"]]
    whole = _model(pos_label=pos_label).fit(data["X"], words)
    _same(_model(pos_label=pos_label).fit(Batches(data["X"], words)), whole)
    path = tmp_path / "t.parquet"
    pd.DataFrame(data["X"], columns=NAMES).assign(word=words).to_parquet(path)
    found = _model(pos_label=pos_label).fit(path, target="word")
    _same(found, whole)
    np.testing.assert_array_equal(found.predict(path), whole.predict(data["X"]))
    even = {"fn_cost": 1, "margin_gamma": 1}
    _same(_model(**even).fit(Batches(data["X"], words)), _model(**even).fit(data["X"], words))


def test_classes_that_are_exchanged_after_the_first_read(data: dict[str, np.ndarray]) -> None:
    """The first read guesses the positive class; blocks that it kept and blocks that are read again agree later."""
    words = np.array(["a", "b"])[data["y"]]
    for pos_label in ("a", "b", None):
        model = _model(pos_label=pos_label, fn_cost=1, margin_gamma=1)
        whole = model.fit(uneven.StreamedRows(Batches(data["X"], words))).coef_
        rows = uneven.StreamedRows(Batches(data["X"], words))
        rows.bytes = 50_000  # one batch is kept
        np.testing.assert_allclose(model.fit(rows).coef_, whole, atol=1e-12)


def test_standardised_as_by_a_scaler(data: dict[str, np.ndarray], folder: Path) -> None:
    scaler = StandardScaler().fit(data["X"])
    whole = _model().fit(scaler.transform(data["X"]), data["y"])
    found = _model().fit(uneven.StreamedRows(folder, target="y", columns=NAMES, standardize=True))
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    frame = pd.DataFrame(data["X"], columns=NAMES)
    np.testing.assert_allclose(
        found.decision_function(frame), whole.decision_function(scaler.transform(data["X"])), atol=1e-4
    )


@pytest.mark.parametrize(("most", "width"), [(100, 1 + 2 + 5), (3, 1 + 2 + 1 + 16)])
def test_texts_and_missing_values(data: dict[str, np.ndarray], tmp_path: Path, most: int, width: int) -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"a": data["X"][:, 0], "b": data["X"][:, 1], "town": random.choice(list("abcd"), N)})
    frame.loc[::7, "b"] = np.nan
    frame.loc[::11, "town"] = None
    frame["y"] = data["y"]
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, row_group_size=900)
    rows = uneven.StreamedRows(path, target="y", most_categories=most, buckets=16)
    found = _model().fit(rows)
    assert found.n_features_in_ == width
    filled = frame["b"].fillna(frame["b"].mean())
    marks = [filled, frame["b"].isna()]
    if most == 100:
        town = pd.get_dummies(frame["town"])
        marks += [town[value] for value in "abcd"] + [frame["town"].isna()]
        X = np.column_stack([frame["a"], *marks]).astype(float)
        _same(found, _model().fit(X, data["y"]))
        np.testing.assert_array_equal(
            found.predict(path), found.predict(pd.DataFrame(X, columns=found.feature_names_in_))
        )
        strange = frame.head(50).assign(town="zzz")  # a new category is "other"
        strange.drop(columns="y").to_parquet(tmp_path / "new.parquet")
        assert len(found.predict(tmp_path / "new.parquet")) == 50
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.predict(path), found.predict(path))


def test_many_categories_make_a_sparse_matrix_with_the_same_model(data: dict[str, np.ndarray], tmp_path: Path) -> None:
    town = np.array([f"t{k:02d}" for k in range(30)])[np.random.default_rng(2).integers(0, 30, N)]
    frame = pd.DataFrame({"a": data["X"][:, 0], "town": town, "day": pd.date_range("2026-01-01", periods=N, freq="h")})
    frame["y"] = data["y"]
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    found = _model().fit(uneven.StreamedRows(path, target="y", columns=["a", "town"]))
    marks = pd.get_dummies(frame["town"]).to_numpy(float)
    X = np.column_stack([frame["a"], marks])
    _same(found, _model().fit(X, data["y"]))
    with_day = _model("logistic", tol=1e-6).fit(uneven.StreamedRows(path, target="y", standardize=True))
    assert with_day.feature_names_in_[1] == "day: days since 2026-01-01"
    assert "day: hour = 7" in with_day.feature_names_in_


def test_warm_start_and_clone(data: dict[str, np.ndarray]) -> None:
    batches = Batches(data["X"], data["y"])
    found = _model(warm_start=True, tol=1e-6).fit(batches)
    first = found.n_iter_
    assert found.fit(batches).n_iter_ <= first
    assert "coef_" not in vars(clone(found))
    assert found.fit(data["X"], data["y"]).predict(data["X"][:2]).shape == (2,)  # and back to arrays


def test_kept_and_read_blocks_give_the_same_numbers(
    data: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    from uneven.parts import sources as source

    monkeypatch.setattr(source, "rows_per_block", lambda width: 300)
    answers = []
    for limit in (0, 50_000, 10**9):
        loop = BlockLoop(ArraySource(data["X"], data["y"]), limit)
        loop.make_block = BlockMaker(1)
        for _ in range(3):
            answers.append(loop.ask(SurveyRows(np.zeros(D))).sums)
        assert loop.reads == 3
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0], other)


def test_large_row_groups_are_read_in_pieces(
    data: dict[str, np.ndarray], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from uneven.parts import parquet_files as files
    from uneven.parts import table_source as source

    rows = uneven.StreamedRows(folder, target="y", columns=NAMES)
    rows.bytes = 0  # nothing is kept
    whole = _model().fit(rows)
    np.testing.assert_array_equal(_model().fit(rows).coef_, whole.coef_)  # whichever thread is first
    monkeypatch.setattr(files, "_LARGE", 0)
    monkeypatch.setattr(source, "rows_per_table", lambda *shape: 300)
    monkeypatch.setattr(source, "rows_per_block", lambda *shape: 150)
    for room in (0, 50_000, 10**9):
        rows.bytes = room
        _same(_model().fit(rows), whole)


def test_fewer_threads_where_their_loads_would_not_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_loop, "thread_count", lambda: 64)
    source: Any = uneven.StreamedRows(folder, target="y", columns=NAMES).source({})
    assert source.bytes_of_load > source.tables.largest_group > 400 * 8 * D
    for limit in (10**6, 10**8, 10**10, 10**12):
        found = block_loop.count_workers(source, limit)
        assert found == 2 or found * source.bytes_of_load <= 0.3 * limit
    assert found == 64


def test_pages_of_a_mapped_file_are_given_back(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(4096.0).tobytes())
    file = MappedFile(str(path))
    reader = file.open_reader()
    first = reader.read(80)
    file.release(0, 32_768)
    file.release(32_760, 10**9)  # no further than its end
    reader.seek(0)
    assert reader.read(80) == first


def test_progress_says_how_fast_and_how_long(data: dict[str, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    _model(verbose=True, tol=1e-6).fit(Batches(data["X"], data["y"]))
    lines = capsys.readouterr().err.splitlines()
    assert any("read 1: 4,000 rows" in line and "rows per second" in line and "more read" in line for line in lines)
    assert "proved gap" in lines[-1]


def test_a_fit_that_stops_early_says_so(data: dict[str, np.ndarray]) -> None:
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        _model("hinge", max_iter=1).fit(Batches(data["X"], data["y"]))


def test_separable_rows_without_penalty(data: dict[str, np.ndarray]) -> None:
    y = data["X"][:, 0] > 0.1
    with pytest.warns(ConvergenceWarning, match="perfectly separable"):
        _model(penalty=None, tol=1e-3).fit(Batches(data["X"], y))
