"""The same rows give the same model, whoever holds them: an array, files, batches, Dask, or a program of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest

import uneven
from uneven.parts.blocks import Batch
from uneven.parts.fitting import RowsInParts
from uneven.parts.summed_answers import Addable, Question, add_answers

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from uneven.adapters.dask import DaskUnevenLinearClassifier  # noqa: E402

A = TypeVar("A", bound=Addable)
N, SIZE = 1200, 170
NAMES = ["age", "amount", "visits"]


class OwnParts(RowsInParts):
    """Rows as a program may hold them: a list of batches that answer in their order."""

    def __init__(self, held: list[Batch], row_costs: tuple[str, ...] = (), start: str | None = None) -> None:
        self.held, self.some, self.row_costs, self.start = held, held[0], row_costs, start

    def ask(self, question: Question[A]) -> A:
        return add_answers(question.answer(self.make_block(one, number)) for number, one in enumerate(self.held))


class Rows:
    """The same rows in all forms."""

    def __init__(self, folder: Path, labels: Any) -> None:
        random = np.random.default_rng(0)
        X = random.normal(size=(N, 3)) * [10, 1, 2] + [40, 0, 5]
        positive = X[:, 1] + 0.05 * (X[:, 0] - 40) + random.logistic(size=N) > 1
        # In order of the labels: the first parts have one class only.
        order = np.argsort(positive, kind="stable") if isinstance(labels[0], str) else np.arange(N)
        self.X, self.y = X[order], np.array(labels)[positive[order].astype(int)]
        self.weight, self.price = random.random(N) + 0.1, random.exponential(3, N) + 0.5
        self.frame = pd.DataFrame(self.X, columns=NAMES).assign(y=self.y, weight=self.weight, price=self.price)
        self.files = folder
        for k, lo in enumerate(range(0, N, 500)):
            self.frame[lo : lo + 500].to_parquet(folder / f"{k}.parquet", row_group_size=90)

    def batches(self, weighted: bool, priced: bool) -> list[Batch]:
        """Cut somewhere else than the files."""
        parts = [slice(lo, lo + SIZE) for lo in range(0, N, SIZE)]
        return [
            Batch(
                self.X[part],
                self.y[part],
                self.weight[part] if weighted else np.empty(0),
                {"fn_cost": self.price[part]} if priced else {},
            )
            for part in parts
        ]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0", timeout=600
    ) as made:
        yield made


@pytest.fixture(scope="module", params=[(0, 1), ("fraud", "ok")], ids=["numbers", "texts"])
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return Rows(tmp_path_factory.mktemp("rows"), request.param)


def _models(rows: Rows, given: dict[str, Any], weighted: bool, priced: bool, client: Any) -> dict[str, Any]:
    def model() -> uneven.UnevenLinearClassifier:
        return uneven.UnevenLinearClassifier(**given)

    weight, price = rows.weight if weighted else None, rows.price if priced else None
    streamed = uneven.StreamedRows(
        rows.files, target="y", columns=NAMES, sample_weight="weight" if weighted else None, memory_limit="1GB"
    )
    held = rows.batches(weighted, priced)
    brought = ("fn_cost",) if priced else ()
    table = dd.from_pandas(rows.frame, npartitions=4)
    return {
        "array": model().fit(rows.X, rows.y, weight, fn_cost=price),
        "files": model().fit(streamed, fn_cost="price" if priced else None),
        "mapped": model().fit(uneven.StreamedRows(rows.X, target=rows.y, sample_weight=weight), fn_cost=price),
        "batches": model().fit([(one.X, one.y, one.weight if weighted else None, one.costs) for one in held]),
        "own, from a sample": model().fit_parts(OwnParts(held, brought, "sample")),
        "own, from the parts": model().fit_parts(OwnParts(held, brought, "parts")),
        "own, from 0": model().fit_parts(OwnParts(held, brought)),
        "dask": DaskUnevenLinearClassifier(**given, client=client).fit(
            table[NAMES],
            table["y"],
            table["weight"] if weighted else None,
            fn_cost=table["price"] if priced else None,
        ),
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Sending large graph")
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize(("weighted", "priced"), [(False, False), (True, False), (True, True)])
def test_the_same_rows_give_the_same_model(rows: Rows, loss: str, weighted: bool, priced: bool, client: Any) -> None:
    positive = "fraud" if rows.y.dtype.kind == "U" else 1
    given = {"loss": loss, "fn_cost": 4, "margin_gamma": 2, "C": 0.1, "tol": 1e-9, "pos_label": positive}
    found = _models(rows, given, weighted, priced, client)
    whole = found["array"]
    for name, model in found.items():
        assert model.duality_gap_ <= 1e-9 * model.objective_, name  # proved
        assert model.objective_ == pytest.approx(whole.objective_, rel=2e-9), name
        np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-3, err_msg=name)
        assert model.cost_scale_ == pytest.approx(whole.cost_scale_, rel=1e-12), name
        assert model.classes_.tolist() == whole.classes_.tolist(), name
        if not priced:
            known = model.constant_costs_["all negative"].cost
            assert known == pytest.approx(whole.constant_costs_["all negative"].cost, rel=1e-12), name
        X = rows.frame[NAMES] if hasattr(model, "feature_names_in_") else rows.X
        assert np.mean(model.predict(X) != whole.predict(rows.X)) < 0.002, name


def test_which_class_is_positive_may_be_known_late(rows: Rows) -> None:
    """Without costs either class may be the positive one: the first read guesses, and the model does not show it."""
    whole = uneven.UnevenLinearClassifier(tol=1e-9).fit(rows.X, rows.y)
    held = rows.batches(False, False)
    for one in (held, held[::-1]):
        found = uneven.UnevenLinearClassifier(tol=1e-9).fit_parts(OwnParts(one, start="sample"))
        assert found.objective_ == pytest.approx(whole.objective_, rel=2e-9)
        np.testing.assert_allclose(found.coef_, whole.coef_, atol=1e-3)


def test_a_fit_that_fails_leaves_the_learner_as_it_was(rows: Rows) -> None:
    model = uneven.UnevenLinearClassifier(pos_label=rows.y[0]).fit(rows.X, rows.y)
    before = dict(vars(model))
    held = [*rows.batches(False, False), Batch(np.full((3, 3), np.nan), rows.y[:3])]
    with pytest.raises(uneven.errors.CostError, match=r"got NaN in row 0, column 0 of batch 8"):
        model.fit_parts(OwnParts(held))
    assert vars(model) == before


def test_predictions_of_parts_are_those_of_all_rows(rows: Rows) -> None:
    streamed = uneven.StreamedRows(rows.files, target="y", columns=NAMES)
    positive = "fraud" if rows.y.dtype.kind == "U" else 1
    model = uneven.UnevenLinearClassifier(fn_cost=4, pos_label=positive).fit(streamed)
    found = list(model.predict_parts(rows.files, labels="y", row_costs={"fn_cost": "price"}, fn_cost=9))
    assert len(found) > 1
    frame = rows.frame[NAMES]
    np.testing.assert_array_equal(np.concatenate([one.label for one in found]), model.predict(frame, fn_cost=9))
    chances = np.concatenate([one.probability for one in found])
    np.testing.assert_allclose(chances, model.predict_proba(frame)[:, list(model.classes_).index(positive)])
    np.testing.assert_array_equal(np.concatenate([one.truth for one in found]), rows.y == positive)
    np.testing.assert_array_equal(np.concatenate([one.batch.costs["fn_cost"] for one in found]), rows.price)
