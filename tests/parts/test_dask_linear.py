"""DaskUnevenLinearClassifier: the numbers of the fit in memory, however the rows are divided; small messages."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from local_cluster import thread_cluster
from scipy import sparse
from sklearn.base import clone

import uneven
from uneven.errors import ClusterError, CostError, LossError, ParameterError

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

import dask  # noqa: E402 - if it is there
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from uneven.adapters import dask as dask_adapter  # noqa: E402
from uneven.adapters.dask import DaskUnevenLinearClassifier  # noqa: E402
from uneven.parts import dask_parts  # noqa: E402

D = 4


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    with thread_cluster() as client:
        yield client


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """Rows whose labels are sorted: with small partitions, most have one class."""
    random = np.random.default_rng(7)
    X = random.normal(size=(900, D)) + np.array([0.0, 0.0, 3.0, 0.0])
    y = X[:, 0] - 0.5 * X[:, 1] + random.logistic(size=900) > 1.5
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def lazy(array: np.ndarray, rows: Any) -> Any:
    return da.from_array(array, chunks=(rows, *array.shape[1:]))


CUTS = {"one": 900, "some": (300, 0, 1, 599), "of one class": 90}


def same(model: Any, alone: Any, accuracy: float = 1e-8) -> None:
    assert model.objective_ == pytest.approx(alone.objective_, rel=accuracy)
    assert model.duality_gap_ <= model.tol * model.objective_
    assert model.cost_scale_ == pytest.approx(alone.cost_scale_, rel=1e-12)
    assert model.loss_ == alone.loss_
    np.testing.assert_array_equal(model.classes_, alone.classes_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "cut"), [*((loss, cut) for loss in ("logistic", "squared_hinge") for cut in CUTS), ("hinge", "some")]
)
def test_the_same_objective_however_the_rows_are_divided(data: Any, loss: str, cut: str) -> None:
    X, y = data
    C = 0.001 if loss == "hinge" else 0.1  # a hinge then needs fewer passes
    given = {"fn_cost": 7, "margin_gamma": 2, "C": C, "tol": 1e-8}
    model = DaskUnevenLinearClassifier(loss, **given).fit(lazy(X, CUTS[cut]), lazy(y, CUTS[cut]))
    alone = uneven.UnevenLinearClassifier(loss, **given).fit(X, y)
    same(model, alone)
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("given", [{"penalty": None}, {"fit_intercept": False}])
def test_without_penalty_or_intercept(data: Any, given: dict[str, Any]) -> None:
    X, y = data
    model = DaskUnevenLinearClassifier(tol=1e-9, **given).fit(lazy(X, 400), lazy(y, 400))
    same(model, uneven.UnevenLinearClassifier(tol=1e-9, **given).fit(X, y))


@pytest.mark.parametrize("loss", ["logistic", uneven.UnevenMarginLoss("logistic", gamma=2, alpha="1/4")])
def test_costs_and_weights_of_each_row_and_labels_that_are_texts(data: Any, loss: Any) -> None:
    X, y = data
    random = np.random.default_rng(1)
    labels = np.where(y, "fraud", "ok")
    weight, amount, check = random.uniform(0, 2, 900), np.exp(X[:, 1]), random.uniform(0.1, 0.2, 900)
    amount = np.maximum(amount, 0.3)
    amount[-5:] = 0.01  # for these positives the mistake pays
    models = []
    for learner, cut in ((uneven.UnevenLinearClassifier, lambda v: v), (DaskUnevenLinearClassifier, _into(250))):
        model = learner(loss, pos_label="fraud", tol=1e-9)
        with pytest.warns(UserWarning, match="in 5 of 900 rows the mistake costs less than the right decision"):
            models.append(model.fit(cut(X), cut(labels), cut(weight), fn_cost=cut(amount), tp_cost=cut(check)))
    alone, model = models
    same(model, alone)
    rows = _into(250)
    np.testing.assert_array_equal(
        model.predict(rows(X), fn_cost=rows(amount), tp_cost=rows(check)).compute(),
        model.in_memory().predict(X, fn_cost=amount, tp_cost=check),
    )


def _into(rows: int) -> Any:
    return lambda array: lazy(array, rows)


def test_costs_that_are_equal_in_all_rows_are_numbers(data: Any) -> None:
    X, y = data
    model = DaskUnevenLinearClassifier(tol=1e-9).fit(lazy(X, 250), lazy(y, 250), fn_cost=da.full(900, 5, chunks=250))
    same(model, uneven.UnevenLinearClassifier(fn_cost=5, tol=1e-9).fit(X, y))


@pytest.mark.slow
def test_dataframes_from_parquet_with_empty_partitions(data: Any, tmp_path: Path) -> None:
    X, y = data
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcd")).assign(
        label=np.where(y, "bad", "good"), n=np.arange(900)
    )
    for k in range(4):
        frame[225 * k : 225 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    read = dd.read_parquet(tmp_path)
    kept = read[read.n >= 250]  # leaves the first partition empty, and sizes unknown
    given = {"fn_cost": 7, "pos_label": "bad", "tol": 1e-7}
    model = DaskUnevenLinearClassifier(**given).fit(kept[["a", "b", "c", "d", "n"]], kept["label"])
    few = frame[250:]
    alone = uneven.UnevenLinearClassifier(**given).fit(few[["a", "b", "c", "d", "n"]], few["label"])
    same(model, alone, 1e-6)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d", "n"]
    rows = kept[["a", "b", "c", "d", "n"]]
    for method in ("predict", "decision_function", "predict_proba"):
        said = getattr(model, method)(rows)
        assert said.npartitions == 4  # nothing was computed yet
        known = said.compute()
        np.testing.assert_array_equal(np.asarray(known), getattr(model.in_memory(), method)(few[rows.columns]))
        np.testing.assert_array_equal(known.index, few.index)
    assert model.predict_proba(rows).columns.tolist() == ["bad", "good"]
    dear = model.predict(rows, fn_cost=kept["n"] * 10 + 1).compute()
    np.testing.assert_array_equal(dear, model.in_memory().predict(few[rows.columns], fn_cost=few["n"] * 10 + 1))


@pytest.mark.slow
def test_unknown_sizes_sparse_chunks_and_columns_in_several_chunks(data: Any) -> None:
    X, y = data
    wide, labels = da.from_array(X, chunks=(300, 2)), lazy(y, 300)
    keep = wide[:, 2] > 2
    few = X[:, 2] > 2
    model = DaskUnevenLinearClassifier(tol=1e-9).fit(wide[keep], labels[keep])
    same(model, uneven.UnevenLinearClassifier(tol=1e-9).fit(X[few], y[few]))
    np.testing.assert_array_equal(model.predict(wide[keep]).compute(), model.predict(X[few]))
    zeros = np.where(X > 0.5, X, 0.0)
    rows = lazy(zeros, 300).map_blocks(sparse.csr_matrix)
    same(DaskUnevenLinearClassifier(tol=1e-9).fit(rows, labels), uneven.UnevenLinearClassifier(tol=1e-9).fit(zeros, y))


@pytest.mark.slow
def test_rows_stay_and_messages_are_small(data: Any, client: Any) -> None:
    """Of each partition at most (d + 1)^2 numbers cross the network, and a few vectors of d + 1."""
    X, y = data
    for loss in ("logistic", "hinge"):
        wide = np.hstack([X] * 8)
        model = DaskUnevenLinearClassifier(loss, tol=1e-3).fit(lazy(wide, 200), lazy(y, 200))
        d = wide.shape[1] + 1
        assert 8 * d * d < model.largest_message_ < 8 * (d * d + 4 * d) + 2000
        assert model.n_passes_ > 2
    moved = client.run(lambda dask_worker: [key for one in dask_worker.transfer_incoming_log for key in one["keys"]])
    kinds = {str(key).split("-")[0] for keys in moved.values() for key in keys}
    assert kinds
    assert "read_rows" not in kinds


def test_a_warm_start_needs_fewer_passes(data: Any) -> None:
    X, y = (lazy(part, 300) for part in data)
    model = DaskUnevenLinearClassifier(warm_start=True).fit(X, y)
    first = model.n_passes_
    assert model.fit(X, y).n_passes_ < first


@pytest.mark.slow
def test_minima_of_partitions_with_both_classes_save_passes(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = np.random.default_rng(0).permutation(900)
    X, y = (lazy(part[mixed], 300) for part in data)
    models = []
    for share in (0.9, 2.0):  # the second asks no partition for its minimum
        monkeypatch.setattr(dask_adapter, "_ABLE_SHARE", share)
        models.append(DaskUnevenLinearClassifier("hinge", tol=1e-4).fit(X, y))
    same(models[0], models[1], 2e-4)
    assert models[0].n_passes_ < models[1].n_passes_


def test_clones_files_and_models_without_dask(data: Any, client: Any) -> None:
    X, y = data
    model = DaskUnevenLinearClassifier(fn_cost=3, client=client).fit(lazy(X, 300), lazy(y, 300))
    assert clone(model).client is client
    plain = model.in_memory()
    assert type(plain) is uneven.UnevenLinearClassifier
    for other in (pickle.loads(pickle.dumps(model)), pickle.loads(pickle.dumps(plain))):
        assert other.duality_gap_ == model.duality_gap_
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(lazy(X, 300)).compute())
    assert model.score(X, y) == plain.score(X, y)


def _nan(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[450, 2] = np.nan
    return X


def fit(X: Any, y: Any, *more: Any, **costs: Any) -> Any:
    return DaskUnevenLinearClassifier(fn_cost=2).fit(X, y, *more, **costs)


def _two(array: np.ndarray) -> Any:
    """Two partitions of unknown sizes."""
    rows = lazy(array, len(array) // 2)
    return rows[da.ones(len(array), chunks=len(array) // 2, dtype=bool)]


REFUSED: dict[str, tuple[Any, str]] = {
    "NaN in the middle": (
        lambda X, y: fit(lazy(_nan(X), 200), lazy(y, 200)),
        r"partition 2 \(counted from 0\): X must hold finite numbers, got NaN in row 50, column 2",
    ),
    "rows in memory": (fit, "X must be a Dask array or dataframe, got"),
    "labels in memory": (
        lambda X, y: fit(lazy(X, 200)[lazy(X, 200)[:, 0] > 0], y),
        "y must be a Dask collection with one value for each row and with the partitions of X, got",
    ),
    "no labels": (lambda X, y: fit(lazy(X, 200), None), "y must hold the labels"),
    "too few labels": (
        lambda X, y: fit(lazy(X, 200), lazy(y[:-1], 200)),
        "y must have a value for each row of X, got 899 values for 900 rows",
    ),
    "other partitions": (
        lambda X, y: fit(dd.from_pandas(pd.DataFrame(X), npartitions=3), lazy(y, 200)),
        "y must have the partitions of X, got 5 partitions for 3",
    ),
    "other lengths": (
        lambda X, y: fit(_two(X[:500]), _two(y[:400])),
        r"partition \d \(counted from 0\): X has 250 rows and y has 200",
    ),
    "a matrix of labels": (lambda X, y: fit(lazy(X, 200), lazy(X, 200)), "y must have one dimension, got 2"),
    "a vector of rows": (lambda X, y: fit(lazy(y, 200), lazy(y, 200)), "X must have two dimensions"),
    "one class": (lambda X, y: fit(lazy(X, 200), lazy(y * 0, 200)), "one class only"),
    "three classes": (
        lambda X, y: fit(lazy(X, 200), lazy(np.arange(900) % 3, 200)),
        "Only binary classification is supported",
    ),
    "weights that are 0 in one class": (
        lambda X, y: fit(lazy(X, 200), lazy(y, 200), lazy(y * 1.0, 200)),
        "no row with a weight and a cost speaks for class False",
    ),
    "weights below 0": (
        lambda X, y: fit(lazy(X, 200), lazy(y, 200), lazy(-1.0 * y, 200)),
        "sample_weight must be finite and nonnegative",
    ),
    "costs that are NaN": (
        lambda X, y: fit(lazy(X, 200), lazy(y, 200), fn_cost=lazy(_nan(X)[:, 2], 200)),
        r"partition 2 \(counted from 0\): fn_cost must not contain NaN",
    ),
    "nothing": (
        lambda X, y: fit(lazy(X, 200)[lazy(X, 200)[:, 0] > 99], lazy(y, 200)[lazy(X, 200)[:, 0] > 99]),
        "X has no rows in any of its partitions",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_data_are_refused_in_one_sentence(data: Any, name: str) -> None:
    attempt, sentence = REFUSED[name]
    with pytest.raises(CostError, match=sentence):
        attempt(*data)


def _not_installed() -> None:
    raise ModuleNotFoundError("no module of this name")


class Unreadable:
    """As what another version of a package pickled."""

    def __call__(self, rows: Any) -> Any:
        return rows

    def __reduce__(self) -> Any:
        return _not_installed, ()


def test_a_scheduler_that_cannot_read_a_pass_is_said(client: Any) -> None:
    held = client.compute([dask.delayed(int)(k) for k in range(3)])
    with pytest.raises(ClusterError, match="the Dask scheduler could not read a pass; the same versions of uneven"):
        dask_parts.on_parts(client, held, Unreadable())


def test_bad_parameters_are_refused(data: Any) -> None:
    X, y = (lazy(part, 300) for part in data)
    with pytest.raises(ParameterError, match="has penalty='l2' or None, got penalty='l1'"):
        DaskUnevenLinearClassifier(penalty="l1").fit(X, y)
    with pytest.raises(LossError, match="need a convex loss"):
        DaskUnevenLinearClassifier("sigmoid").fit(X, y)
    with pytest.raises(ParameterError, match="has no fit_path"):
        DaskUnevenLinearClassifier().fit_path(X, y, [1.0])
    with pytest.raises(ParameterError, match=r"client must be a dask\.distributed\.Client"):
        DaskUnevenLinearClassifier(client=3).fit(X, y)
    with pytest.raises(CostError, match="X has 4 columns, but UnevenLinearClassifier was fitted with 2 columns"):
        DaskUnevenLinearClassifier().fit(X[:, :2], y).predict(X)
