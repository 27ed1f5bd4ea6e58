"""Several classes on the tab "Your data": the fit, other costs without a new one, limits, files, and bad input."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import uneven
from uneven.app.cli.main import main
from uneven.app.explorer import data_fits
from uneven.app.explorer.class_answers import UnseenClassRows, class_costs
from uneven.app.explorer.data_fits import fit
from uneven.app.explorer.questions import Refusal
from uneven.app.explorer.saved_fits import decisions_file, model_file
from uneven.app.explorer.service import application
from uneven.app.explorer.table_questions import MEMBERS

RANDOM = np.random.default_rng(0)
NAMES = ["low", "mid", "high"]
TRUTH = RANDOM.choice(3, 150, p=[0.5, 0.3, 0.2])
X = RANDOM.normal(size=(150, 2)) + np.eye(3, 2)[TRUTH] * 1.5
LINES = [f"{a:.3f},{b:.3f},{NAMES[k]}" for (a, b), k in zip(X, TRUTH, strict=True)]
TABLE = "\n".join(["first,second,level", *LINES, ""]).encode()
COSTS = {
    "classes": NAMES,
    "actions": [*NAMES, "refer"],
    "cells": [["0", "1", "4", "1/2"], ["2", "0", "1", "0.5"], ["9", "3", "0", "0.5"]],
}


@pytest.fixture(scope="module", autouse=True)
def _linear_members_only() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MEMBERS, "quick", "linear")
        yield


def question(**changes: Any) -> dict[str, Any]:
    asked = {"name": "t.csv", "content": TABLE, "target": "level", "costs": COSTS, "members": "quick", "seconds": "60"}
    return {**asked, "leave_out": [], "unit": "EUR", **changes}


def with_cells(**cells: str) -> dict[str, Any]:
    """The costs with other ones, such as low_refer="3"."""
    found = [list(row) for row in COSTS["cells"]]
    for place, cost in cells.items():
        y, a = place.split("_")
        found[NAMES.index(y)][COSTS["actions"].index(a)] = cost
    return {**COSTS, "cells": found}


def ignore(part: dict[str, Any]) -> None:
    """Nobody looks at the progress."""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    told: list[dict[str, Any]] = []
    answer = fit(question(), told.append)
    assert any("150 rows: " in words for part in told for words in part.get("about", []))
    return answer


def ask(found: dict[str, Any], **changes: Any) -> dict[str, Any]:
    content = base64.b64decode(found["unseen"])
    kept = {"classes": found["classes"], "trained": found["trained"], "unit": "EUR"}
    return class_costs({"content": content, "costs": COSTS, **kept, "limited": "", "most": "", **changes})


def test_the_answer_adds_up(found: dict[str, Any]) -> None:
    counts, paid = np.array(found["counts"]), np.array(found["paid"])
    matrix = uneven.CostMatrix(COSTS["cells"], NAMES, COSTS["actions"]).for_classes(found["names"])
    assert counts.sum(axis=1).tolist() == [int((NAMES.index(name) == TRUTH).sum()) for name in found["names"]]
    assert paid == pytest.approx(1000 * counts * matrix.costs / 150, rel=1e-4)
    assert 1000 * found["cost"]["cost"] == pytest.approx(paid.sum(), rel=1e-4)
    assert found["cost"]["low"] <= found["cost"]["cost"] <= found["cost"]["high"]
    every = {a: float((counts.sum(axis=1) @ matrix.costs)[k]) / 150 for k, a in enumerate(matrix.actions)}
    assert found["constant"] == {"action": "refer", "cost": pytest.approx(min(every.values()))}
    assert found["sentence"].startswith("Each row gets the decision that is expected to cost least: ")
    assert {region["action"] for region in found["triangle"]["regions"]} <= set(COSTS["actions"])
    assert sum(len(rows["x"]) for rows in found["triangle"]["rows"]) == 150


def test_other_costs_need_no_new_fit(found: dict[str, Any]) -> None:
    """The answer at other costs is that of a fit with these costs, and what the saved model would decide."""
    other = with_cells(high_low="40", low_refer="3", mid_refer="3", high_refer="3")
    asked, fitted = ask(found, costs=other), fit(question(costs=other), ignore)
    for field in asked:
        assert asked[field] == fitted[field], field
    assert asked["cost"] != found["cost"]
    (model,) = data_fits._KEPT.values()
    assert asked["cost"]["cost"] == pytest.approx(model.out_of_fold_cost_.cost)


def test_costs_keep_their_meaning_in_another_order_of_the_classes(found: dict[str, Any]) -> None:
    turned = {"classes": NAMES[::-1], "actions": COSTS["actions"], "cells": COSTS["cells"][::-1]}
    assert ask(found, costs=turned) == ask(found)


def test_a_limit_on_a_decision(found: dict[str, Any]) -> None:
    free, limited = ask(found), ask(found, limited="refer", most="7")
    assert np.array(free["counts"])[:, 3].sum() > 7
    assert np.array(limited["counts"])[:, 3].sum() == 7
    assert limited["limit"].startswith("At most 7 refer: this is expected to cost ")
    assert free["limit"] == ""


def test_files_are_those_of_the_command(found: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model and decisions follow the costs of the page; the command decides byte for byte the same."""
    fit(question(), ignore)
    (kept,) = data_fits._KEPT.values()
    other = with_cells(low_refer="0.1", mid_refer="0.1", high_refer="0.1")
    model, decisions = (make(question(costs=other), ignore) for make in (model_file, decisions_file))
    assert list(data_fits._KEPT.values()) == [kept]  # nothing was fitted again
    monkeypatch.chdir(tmp_path)
    Path("model.skops").write_bytes(base64.b64decode(model["file"]))
    Path("t.csv").write_bytes(TABLE)
    said = CliRunner().invoke(main, ["predict", "model.skops", "t.csv", "-o", "out.csv"])
    assert said.exit_code == 0, said.output
    written = base64.b64decode(decisions["file"])
    assert Path("out.csv").read_bytes() == written
    frame = pd.read_csv(io.BytesIO(written))
    assert (frame["cost_if_refer"] == 0.1).all()
    assert f"refer ({(frame['decision'] == 'refer').sum()})" in decisions["words"]
    content = TABLE + TABLE
    again = decisions_file(
        {**question(costs=other), "content": content, "rows_at": len(TABLE), "rows_name": "n.csv"}, ignore
    )
    assert base64.b64decode(again["file"]) == written


def test_leaks_and_columns_to_leave_out() -> None:
    lines = [f"{line},{code}{code}" for line, code in zip(LINES, TRUTH, strict=True)]
    leaky = "\n".join(["first,second,level,later", *lines, ""]).encode()
    answer = fit(question(content=leaky), ignore)
    assert [leak["column"] for leak in answer["leaks"]] == ["later"]
    assert answer["warning"].startswith("Too good to be true? Column 'later'")
    told: list[dict[str, Any]] = []
    clean = fit(question(content=leaky, leave_out=["later"]), told.append)
    assert clean["warning"] == ""
    assert clean["cost"]["cost"] > answer["cost"]["cost"]
    assert any("Left out at your wish: 'later'." in part.get("about", []) for part in told)


def test_many_rows_are_drawn_once() -> None:
    rng = np.random.default_rng(0)
    rows = UnseenClassRows(rng.dirichlet([1, 1, 1], 60_000), rng.integers(0, 3, 60_000))
    some = rows.some()
    assert some.truth.size == 50_000
    assert (some.truth == rows.some().truth).all()
    again = UnseenClassRows.read(some.to_bytes(), 3)
    assert (again.probability == some.probability).all()
    assert (again.truth == some.truth).all()


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"costs": with_cells(low_mid="")}, "costs", "the cost of 'mid' where 'low' is true is missing"),
        ({"costs": with_cells(low_mid="much")}, "costs", "the cost of 'mid' where 'low' is true"),
        ({"costs": with_cells(low_mid="1e400")}, "costs", "within the range of double precision"),
        ({"costs": {**COSTS, "actions": ["low", "mid", "high", "low"]}}, "costs", "different names"),
        ({"costs": {**COSTS, "classes": ["low", "mid", "top"]}}, "costs", "no row for the class 'high'"),
        ({"costs": with_cells(low_refer="0", mid_refer="0", high_refer="0")}, "costs", "nothing to decide"),
        ({"costs": {**COSTS, "cells": [["0"]]}}, "costs", "a cost for each decision"),
        ({"costs": [1, 2]}, "costs", "must be texts"),
        ({"costs": {**COSTS, "classes": list("abcdefghijk")}}, "costs", "2 to 10 classes here, got 11"),
        ({"content": TABLE + b"1,2,rare\n"}, "target", "each class needs at least 10 rows, and 'rare' has 1"),
        ({"target": "nothing"}, "target", "nothing"),
        ({"members": "few"}, "members", "must be one of"),
        ({"seconds": "-1"}, "seconds", "time limit"),
        ({"unit": "x" * 30}, "unit", "short word"),
    ],
)
def test_bad_questions_are_refused_beside_their_field(changes: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Refusal, match=words) as refused:
        fit(question(**changes), ignore)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"limited": "refer", "most": "-3"}, "most", "whole number of rows"),
        ({"limited": "call", "most": "3"}, "most", "none of the decisions"),
        ({"content": b"12345678"}, None, "not the rows of a fit"),
        ({"content": np.full(8, 0.5).tobytes()}, None, "not the rows of a fit"),
        ({"content": b""}, None, "not the rows of a fit"),
        ({"trained": -1}, None, "not the rows of a fit"),
        ({"classes": ["a", "b", "c"]}, "costs", "not about the classes of this fit"),
        ({"classes": None}, "costs", "not about the classes of this fit"),
        ({"costs": "much"}, "costs", "not about the classes of this fit"),
    ],
)
def test_bad_rows_and_limits_are_refused(
    found: dict[str, Any], changes: dict[str, Any], field: str | None, words: str
) -> None:
    with pytest.raises(Refusal, match=words) as refused:
        ask(found, **changes)
    assert refused.value.field == field


@pytest.mark.slow
def test_the_server_answers_only_its_own_page(found: dict[str, Any]) -> None:
    here, content = "http://127.0.0.1:8765", base64.b64decode(found["unseen"])
    asked = {"costs": COSTS, "classes": found["classes"], "trained": found["trained"], "unit": "EUR"}

    def post(body: bytes = content, **headers: str) -> Any:
        told = {"content-type": "application/octet-stream", "x-question": quote(json.dumps(asked)), **headers}
        return client.post("/api/class_costs", content=body, headers=told)

    with TestClient(application("127.0.0.1", 8765), base_url=here) as client:
        assert post().json() == json.loads(json.dumps(ask(found)))
        assert post(host="evil.example:8765").status_code == 421
        assert post(origin="https://evil.example").status_code == 403
        refused = post(content[:-1])
        assert (refused.status_code, refused.json()["error"]) == (400, "these are not the rows of a fit")
        assert client.post("/api/class_costs", json={}).status_code == 415
        assert client.get("/api/class_costs").status_code == 405
