"""``uneven predict --log`` and ``uneven verify`` of a log: what is logged is what was decided."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from make_model_file import MODEL, TABLE


def run(*arguments: object) -> Result:
    from uneven.app.cli.main import main

    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_log_has_what_was_decided(tmp_path: Path) -> None:
    for k in range(2):
        result = run("predict", MODEL, TABLE, "--fn-cost", 6 + k, "--log", "log.parquet", "-o", f"{k}.parquet")
        assert result.exit_code == 0, result.output
        assert f"log.parquet: batch {k + 1}, 60 decisions, SHA-256 " in result.output
    log = pd.read_parquet("log.parquet")
    written = pd.concat([pd.read_parquet("0.parquet"), pd.read_parquet("1.parquet")], ignore_index=True)
    assert log["id"].tolist() == written["order"].tolist()
    assert log["row"].tolist() == [*range(1, 61)] * 2
    assert log["decision"].tolist() == written["prediction"].tolist()
    assert set(log["model"]) == {hashlib.sha256(MODEL.read_bytes()).hexdigest()}
    for column in ("probability", "threshold", "score"):
        np.testing.assert_array_equal(log[column], written[column])
    np.testing.assert_array_equal(log["flagged"], written["prediction"] == "yes")
    np.testing.assert_array_equal(log["flagged"], log["probability"] > log["threshold"])
    np.testing.assert_array_equal(log["fn_cost"], np.repeat([6.0, 7.0], 60))
    np.testing.assert_array_equal(log["fp_cost"], 1.0)
    cheaper = written[["cost_if_negative", "cost_if_positive"]].min(axis=1)
    np.testing.assert_allclose(log["expected_cost"], cheaper, rtol=1e-12)
    checked = run("verify", "log.parquet")
    assert checked.exit_code == 0
    assert checked.output.startswith("valid: 2 batches, 120 decisions of the model ")
    Path("log.parquet/part-000000001.parquet").unlink()
    assert run("verify", "log.parquet").exit_code == 1
    assert run("verify", tmp_path / "nowhere").exit_code == 2


def test_limits_and_reasons_are_logged() -> None:
    result = run("predict", MODEL, TABLE, "--at-most", 5, "--log", "limits", "-o", "p.parquet")
    assert result.exit_code == 0, result.output
    log, written = pd.read_parquet("limits"), pd.read_parquet("p.parquet")
    assert log["flagged"].sum() == 5
    assert log["decision"].tolist() == written["prediction"].tolist()
    result = run("predict", MODEL, TABLE, "--action", "call=2:0.5", "--log", "actions", "-o", "p.parquet")
    assert result.exit_code == 0, result.output
    log, written = pd.read_parquet("actions"), pd.read_parquet("p.parquet")
    assert log["decision"].tolist() == written["action"].tolist()
    assert log["flagged"].isna().tolist() == (written["action"] == "call").tolist()
    assert 0 < log["flagged"].isna().sum() < 60
    result = run("predict", MODEL, TABLE, "--reasons", 2, "--log", "reasons", "-o", "p.parquet")
    assert result.exit_code == 0, result.output
    log, written = pd.read_parquet("reasons"), pd.read_parquet("p.parquet")
    assert log["reason_1"].tolist() == written["reason_1"].tolist()
    np.testing.assert_array_equal(log["reason_2_money"], written["reason_2_money"])
    result = run("predict", MODEL, TABLE, "--log", "reasons", "-o", "q.parquet")
    assert result.exit_code == 2
    assert "it has change, reason_1, " in result.stderr
    assert not Path("q.parquet").exists()


def test_what_cannot_be_logged_writes_nothing() -> None:
    for log, sentence in (
        ("log.csv", "give a name that ends in .parquet"),
        ("p.parquet", "is both the log and the file of predictions"),
        ("nowhere/log.parquet", "there is no folder 'nowhere' for the log"),
    ):
        result = run("predict", MODEL, TABLE, "--log", log, "-o", "p.parquet")
        assert result.exit_code == 2
        assert sentence in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    result = run("predict", MODEL, TABLE, "--log", "log", "-o", "p.parquet")
    assert result.exit_code == 0
    Path("p.parquet").unlink()
    renamed = pd.read_csv(TABLE).drop(columns="order")
    renamed.to_csv("without.csv", index=False)
    result = run("predict", MODEL, "without.csv", "--log", "log", "-o", "p.parquet")
    assert result.exit_code == 2
    assert "its column that names the rows is 'order', got None" in result.stderr
    copy = Path("model.skops")
    copy.write_bytes(MODEL.read_bytes() + b"\0")
    assert run("predict", copy, TABLE, "--log", "log", "-o", "p.parquet").exit_code == 2
    assert not Path("p.parquet").exists()
    assert len(list(Path("log").iterdir())) == 1
