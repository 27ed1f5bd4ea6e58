"""Costs of rows on the tab "Your data", and the files to take away: the same as the command writes."""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from uneven.app.cli.main import main
from uneven.app.explorer import data_fits
from uneven.app.explorer.data_fits import fit
from uneven.app.explorer.limit_answers import flag_limit
from uneven.app.explorer.questions import Refusal
from uneven.app.explorer.saved_fits import decisions_file, model_file
from uneven.app.explorer.table_questions import read_fit_question

RANDOM = np.random.default_rng(0)
COUNT = 160
AMOUNT = np.exp(RANDOM.normal(4, 1, COUNT)).round(2)
FRAUD = np.log(AMOUNT) + RANDOM.normal(size=COUNT) > 5
LINES = [
    f"{a},{x:.3f},{'yes' if f else 'no'}" for a, x, f in zip(AMOUNT, RANDOM.normal(size=COUNT), FRAUD, strict=True)
]
TABLE = "\n".join(["amount,other,fraud", *LINES, ""]).encode()


def question(**changes: Any) -> dict[str, Any]:
    asked = {"name": "pay.csv", "content": TABLE, "target": "fraud", "positive": "yes", "fp": "5", "fn": "0.9*amount"}
    return {**asked, "members": "quick", "seconds": "60", "leave_out": [], "unit": "EUR", **changes}


def ignore(part: dict[str, Any]) -> None:
    """Nobody looks at the progress."""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return fit(question(), ignore)


@pytest.mark.slow
def test_costs_of_rows_are_paid_row_by_row(found: dict[str, Any]) -> None:
    assert found["per_row"]
    assert found["sentence"].startswith("Flag a row where that is cheaper at its own costs. Per 1,000 rows this costs")
    paid_if_cleared = 1000 * (0.9 * AMOUNT * FRAUD).mean()
    assert 1000 * found["no_one"] == pytest.approx(paid_if_cleared)
    assert 1000 * found["everyone"] == pytest.approx(1000 * 5 * (~FRAUD).mean())
    threshold = found["threshold"]
    assert threshold["cost"][0] == pytest.approx(1000 * found["everyone"], rel=1e-5)
    assert threshold["cost"][-1] == pytest.approx(paid_if_cleared, rel=1e-5)
    (row,) = data_fits._KEPT.values()
    score, asked = row.out_of_fold_rows_.probability, read_fit_question(question())
    said = score > row.thresholds(asked.ready.training.costs)
    own = 1000 * np.where(said, 5 * ~FRAUD, 0.9 * AMOUNT * FRAUD).mean()
    assert threshold["own"]["cost"] == pytest.approx(own)
    assert (threshold["own"]["misses"], threshold["own"]["alarms"]) == ((~said & FRAUD).sum(), (said & ~FRAUD).sum())


@pytest.mark.slow
def test_a_limit_on_flags_with_costs_of_rows(found: dict[str, Any]) -> None:
    rows = base64.b64decode(found["limits"]["unseen"])
    asked = {"content": rows, "rows": COUNT, "per_row": True, "unit": "EUR", "most_flags": ""}
    free = flag_limit(asked)
    assert free["cost"] == pytest.approx(found["threshold"]["own"]["cost"])
    assert free["saved"] == 0
    probability, positive, fp, fn = np.frombuffer(rows, "<f8").reshape(4, -1)
    saving = probability * fn - (1 - probability) * fp
    flagged = np.argsort(-saving, kind="stable")[:20]
    said = np.isin(np.arange(COUNT), flagged[saving[flagged] > 0])
    limited = flag_limit({**asked, "most_flags": "20"})
    assert limited["cost"] == pytest.approx(1000 * np.where(said, fp * (1 - positive), fn * positive).mean())
    for wrong in ({"per_row": False, "fp": 1.0, "fn": 2.0}, {"content": rows[:-8]}, {"rows": COUNT + 1}):
        with pytest.raises(Refusal, match="not the rows of a fit"):
            flag_limit({**asked, **wrong})


@pytest.mark.slow
def test_decisions_are_those_of_the_command(found: dict[str, Any], tmp_path: Path) -> None:
    saved = model_file(question(), ignore)
    model, table, out = tmp_path / saved["name"], tmp_path / "pay.csv", tmp_path / "out.csv"
    model.write_bytes(base64.b64decode(saved["file"]))
    table.write_bytes(TABLE)
    done = CliRunner().invoke(main, ["predict", str(model), str(table), "-o", str(out)])
    assert done.exit_code == 0, done.output
    page = decisions_file(question(), ignore)
    assert base64.b64decode(page["file"]) == out.read_bytes()
    assert "All 160 rows were in the training table" in page["words"]

    table.write_bytes(new := "\n".join(["amount;other", "9,5;1,25", "99999;0"]).encode())
    done = CliRunner().invoke(main, ["predict", str(model), str(table), "-o", str(out)])
    assert done.exit_code == 0, done.output
    asked = question(content=TABLE + new, rows_at=len(TABLE), rows_name="new.csv")
    data_fits._KEPT.clear()  # another process answers: the model is fitted again, and is the same
    told: list[dict[str, Any]] = []
    page = decisions_file(asked, told.append)
    assert any("ensemble" in part["progress"] for part in told)
    assert base64.b64decode(page["file"]) == out.read_bytes()
    rows = list(csv.DictReader(io.StringIO(out.read_text()), delimiter=";"))
    assert [row["prediction"] for row in rows] == ["no", "yes"]

    for wrong, words in (
        ({"content": TABLE + b"x\n1\n"}, "there is no column"),
        ({"rows_name": "new.parquet"}, "also reads Parquet"),
        ({"rows_at": -1}, "where the new rows begin"),
        ({"rows_at": True}, "where the new rows begin"),
    ):
        with pytest.raises(Refusal, match=words) as refused:
            decisions_file({**asked, **wrong}, ignore)
        assert refused.value.field == "rows"


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"fn": "amuont"}, "fn", "did you mean 'amount'"),
        ({"fn": "amount**2"}, "fn", "costs have no powers"),
        ({"fn": "-amount"}, "fn", "must not be negative"),
        ({"fp": "0*amount"}, "fp", "above 0 in some rows"),
        ({"fn": "fraud"}, "fn", "not a number"),
        ({"fn": "amount/0"}, "fn", "not a finite number"),
        ({"fn": "__import__('os')"}, "fn", "there is no function"),
        ({"fn": "3-3"}, "fn", "positive"),
    ],
)
def test_a_cost_that_makes_no_sense(changes: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(Refusal, match=words) as refused:
        read_fit_question(question(**changes))
    assert refused.value.field == field
    assert "--f" not in refused.value.message.replace("fit --", "")


def test_rows_without_a_cost_are_counted() -> None:
    with pytest.raises(Refusal, match=r"2 rows are like this.*`uneven fit --skip-bad-costs` leaves such rows out"):
        read_fit_question(question(content=TABLE + b",1,no\n,2,yes\n"))
