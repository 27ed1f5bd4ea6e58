"""The example of a server: what it answers, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from places import ROOT
from sklearn.pipeline import make_pipeline

import uneven
from uneven.tables import FrameEncoder

pytest.importorskip("starlette", reason="the example needs the extra explorer")
pytest.importorskip("uvicorn", reason="the example needs the extra explorer")

COSTS = {"fp_cost": 1, "fn_cost": 8}
ROWS: list[dict[str, Any]] = [
    {"income": 31, "region": "north"},
    {"income": None, "region": None},
    {"income": 60.5, "region": "never seen"},
]


def loans() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"income": random.normal(40, 10, 400), "region": random.choice(["north", "south"], 400)})
    X.loc[3, "income"] = np.nan
    eta = 1 / (1 + np.exp(1 + (X["income"].fillna(40) - 40) / 5))
    return X, np.where(random.random(400) < eta, "bad", "good")


def models() -> dict[str, Any]:
    bad: dict[str, Any] = COSTS | {"pos_label": "bad"}
    linear = make_pipeline(FrameEncoder("linear"), uneven.UnevenLinearClassifier(**bad))
    return {"linear": linear, "ensemble": uneven.UnevenEnsembleClassifier(members=["linear"], cv=2, n_jobs=1, **bad)}


@pytest.fixture(scope="module")
def example() -> Any:
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import serve_decisions
    finally:
        sys.path.pop(0)
    return serve_decisions


@pytest.fixture(scope="module", params=["linear", "ensemble"])
def served(request: Any, example: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A fitted model, and a client of the server that opened its file."""
    from starlette.testclient import TestClient

    X, y = loans()
    model = models()[request.param].fit(X, y)
    path = str(tmp_path_factory.mktemp("served") / "model.skops")
    example.save(model, X, path, **COSTS)
    return model, TestClient(example.application(example.Service(path)), base_url="http://localhost")


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([{name: np.nan if value is None else value for name, value in row.items()} for row in rows])


@pytest.mark.parametrize("costs", [{}, {"fn_cost": 40}, {"fn_cost": [0.5, 20, 300.5]}], ids=str)
def test_answers_are_those_of_the_model(served: tuple[Any, Any], costs: dict[str, Any]) -> None:
    model, client = served
    answer = client.post("/decide", json={"rows": ROWS, "costs": costs})
    assert answer.status_code == 200, answer.text
    rows, X = pd.DataFrame(answer.json()["rows"]), frame(ROWS)
    assert rows["decision"].tolist() == model.predict(X, **costs).tolist()
    assert rows["probability"].tolist() == model.predict_proba(X)[:, model.classes_.tolist().index("bad")].tolist()
    assert ((rows["probability"] > rows["threshold"]) == (rows["decision"] == "bad")).all()


def test_reasons_are_columns_of_the_user(served: tuple[Any, Any]) -> None:
    """Of one row alone: the file has rows to compare with."""
    answer = served[1].post("/decide", json={"rows": ROWS[:1], "reasons": 2})
    first = answer.json()["rows"][0]["reasons"][0]
    assert first["column"] == "income"
    assert first["value"] == 31
    assert first["money"] > 0


ONE = {"income": 1, "region": "north"}
WRONG = [
    ({}, "the body must be an object with rows"),
    ([], "the body must be an object with rows"),
    ({"rows": [ONE], "cost": {}}, "the body must be an object with rows"),
    ({"rows": []}, "rows must be a list of 1 to"),
    ({"rows": [1]}, "row 0 must be an object by column, got int"),
    ({"rows": [{"income": 1}]}, "row 0 lacks the column 'region'"),
    ({"rows": [ONE, ONE | {"z": 1}]}, "row 1 has the column 'z'"),
    ({"rows": [ONE | {"region": [1]}]}, "row 0 must have a number, a text or null as 'region'"),
    ({"rows": [ONE | {"income": True}]}, "row 0 must have a number, a text or null as 'income'"),
    ({"rows": [ONE | {"income": 10**400}]}, "row 0 must have a number, a text or null as 'income'"),
    ({"rows": [ONE | {"income": "a lot"}]}, "'a lot' is not one"),
    ({"rows": [ONE], "costs": {"fn_cost": -1}}, "fn_cost must not be negative"),
    ({"rows": [ONE], "costs": {"fn_cost": "1"}}, "fn_cost must be a number"),
    ({"rows": [ONE], "costs": {"fn_cost": [1, 2]}}, "got 2 for 1 rows"),
    ({"rows": [ONE], "costs": {"cost": 1}}, "costs must be an object with some of"),
    ({"rows": [ONE], "costs": {"fp_cost": 0, "fn_cost": 0}}, "one of the costs must be positive"),
    ({"rows": [ONE], "reasons": -1}, "reasons must be a whole number"),
    ({"rows": [ONE], "reasons": True}, "reasons must be a whole number"),
]


def test_what_is_wrong_is_one_sentence(served: tuple[Any, Any]) -> None:
    for body, sentence in WRONG:
        answer = served[1].post("/decide", json=body)
        assert answer.status_code == 400, body
        assert sentence in answer.json()["error"], answer.text


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "must be JSON"),
        (b"{", "must be JSON"),
        (b"\xff", "must be JSON"),
        (b"[" * 100_000, "must be JSON"),
        (b'{"rows": [{"income": NaN, "region": null}]}', "NaN is no JSON"),
        (b'{"rows": [{"income": 1e999, "region": null}]}', "must have a number"),
        (b"x" * 1_000_001, "at most 1000000 bytes"),
    ],
    ids=range(7),
)
def test_bodies_that_are_no_question(served: tuple[Any, Any], body: bytes, sentence: str) -> None:
    answer = served[1].post("/decide", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_only_under_its_own_name(served: tuple[Any, Any]) -> None:
    """A name of another site may point here, and a form of another site sends no JSON."""
    client, question = served[1], {"rows": [ONE]}
    assert client.post("/decide", json=question, headers={"host": "evil.example"}).status_code == 400
    assert client.post("/decide", json=question, headers={"host": "127.0.0.1:8000"}).status_code == 200
    assert client.post("/decide", content=b'{"rows": []}', headers={"content-type": "text/plain"}).status_code == 400
    assert client.get("/decide").status_code == 405


def test_file_holds_no_training_row(example: Any, tmp_path: Path) -> None:
    X = pd.DataFrame({"a": np.arange(200.0), "b": np.arange(200.0)})
    model = uneven.UnevenLinearClassifier().fit(X, np.arange(200) % 2)
    example.save(model, X, str(tmp_path / "model.skops"), **COSTS)
    kept = example.Service(str(tmp_path / "model.skops")).background
    assert (kept["a"] == kept["b"]).mean() < 0.2
