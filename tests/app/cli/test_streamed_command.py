"""``uneven fit`` and ``uneven predict`` on Parquet files that are read in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import uneven
from uneven.app.cli.main import main
from uneven.app.models.candidates import EVERYONE, NO_ONE
from uneven.app.models.files_in_parts import is_in_parts, report_in_parts
from uneven.app.models.model_files import read_model
from uneven.metrics import compare_predictions

N = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"row": np.arange(N), "a": random.normal(size=N), "town": random.choice(["x", "y"], N)})
    frame["amount"] = random.exponential(50, N)
    frame["fraud"] = np.where(frame["a"] + (frame["town"] == "x") + random.normal(size=N) > 1.5, "yes", "no")
    for k in range(3):
        frame[k * 1000 : (k + 1) * 1000].to_parquet(made / f"p{k}.parquet", row_group_size=300, index=False)
    return made


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return done.output


def _fails(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2, done.output
    return done.output


def _fit(folder: Path, model: Path, *more: str) -> list[str]:
    given = ["--target", "fraud", "--positive", "yes", "--fp-cost", "1", "--id", "row", *more]
    return ["fit", f"{folder}/p*.parquet", *given, "-o", str(model)]


def test_fit_then_predict(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.skops"
    said = _run(*_fit(folder, model, "--fn-cost", "20", "--drop", "amount"))
    assert "3,000 rows, read in parts" in said
    assert "its objective is proved to be at most" in said
    assert "rows per second" in said
    for ending in ("csv", "parquet"):
        out = tmp_path / f"o.{ending}"
        assert "3,000 rows" in _run("predict", str(model), f"{folder}/p*.parquet", "-o", str(out))
        table = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
        assert table["row"].tolist() == list(range(N))
        assert set(table["prediction"]) == {"yes", "no"}
        np.testing.assert_array_equal(table["prediction"] == "yes", table["score"] > 0)
    rows = uneven.StreamedRows(folder, target="fraud", columns=["a", "town"], standardize=True)
    same = uneven.UnevenLinearClassifier(fp_cost=1, fn_cost=20, pos_label="yes").fit(rows)
    np.testing.assert_array_equal(same.predict(folder), table["prediction"])
    cheap = tmp_path / "cheap.csv"
    _run("predict", str(model), f"{folder}/p*.parquet", "--fn-cost", "1.5", "-o", str(cheap))
    assert (pd.read_csv(cheap)["prediction"] == "yes").sum() < (table["prediction"] == "yes").sum()


def test_costs_of_rows(folder: Path, tmp_path: Path) -> None:
    _run(*_fit(folder, tmp_path / "m.skops", "--fn-cost", "amount"))
    _run("predict", str(tmp_path / "m.skops"), str(folder), "-o", str(tmp_path / "o.csv"))
    assert "probability" not in pd.read_csv(tmp_path / "o.csv")


@pytest.mark.parametrize("fn_cost", ["20", "amount"])
def test_report_is_that_of_the_predictions(folder: Path, tmp_path: Path, fn_cost: str) -> None:
    model, out = tmp_path / "m.skops", tmp_path / "o.parquet"
    _run(*_fit(folder, model, "--fn-cost", fn_cost, "--drop", "amount"))
    _run("predict", str(model), str(folder), "-o", str(out))
    truth = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    said, real = pd.read_parquet(out)["prediction"].to_numpy() == "yes", truth["fraud"].to_numpy() == "yes"
    miss = 20.0 if fn_cost == "20" else truth["amount"].to_numpy()
    made = report_in_parts(read_model(str(model)), str(folder), {})
    rows = {
        row.name: row
        for row in compare_predictions(
            real,
            {"this model": said, NO_ONE: np.zeros(N, dtype=bool), EVERYONE: np.ones(N, dtype=bool)},
            fp_cost=1,
            fn_cost=miss,
            pos_label=True,
            rules=(NO_ONE, EVERYONE),
        )
    }
    assert (made.rows, made.positives) == (N, int(real.sum()))
    assert made.costs[0].name == "this model"
    for row in made.costs:
        same = rows[row.name]
        assert row.cost == pytest.approx(same.cost)
        assert (row.false_positives, row.false_negatives) == (same.false_positives, same.false_negatives)
        width = same.high - same.low
        assert row.low == pytest.approx(same.low, abs=0.01 * width + 1e-12)
        assert row.high == pytest.approx(same.high, abs=0.01 * width + 1e-12)
        if row is not made.costs[0]:
            assert row.difference == pytest.approx(same.difference)
            assert same.difference_low is not None
            assert same.difference_high is not None
            apart = same.difference_high - same.difference_low
            assert row.difference_low == pytest.approx(same.difference_low, abs=0.01 * apart)
            assert row.difference_high == pytest.approx(same.difference_high, abs=0.01 * apart)
    assert "3,000 rows, read in parts" in _run("report", str(model), f"{folder}/p*.parquet")


def test_one_sentence_each(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.skops"
    assert "for --learner linear" in _fails(*_fit(folder, model, "--fn-cost", "20", "--learner", "svc"))
    assert "a number or a column" in _fails(*_fit(folder, model, "--fn-cost", "amount*2"))
    assert "there is no column 'z'" in _fails(*_fit(folder, model, "--fn-cost", "20", "--drop", "z"))
    assert "--others-negative" in _fails(*_fit(folder, model, "--fn-cost", "20", "--others-negative"))
    assert not model.exists()
    _run(*_fit(folder, model, "--fn-cost", "20"))
    assert "for the terminal, without --html" in _fails(
        "report", str(model), str(folder), "--html", str(tmp_path / "r.html")
    )
    assert "takes other costs as numbers" in _fails("report", str(model), str(folder), "--fn-cost", "amount")
    strange = tmp_path / "strange.parquet"
    pd.read_parquet(folder / "p0.parquet").assign(fraud="maybe").to_parquet(strange)
    assert "labels must be 'no' or 'yes', got 'maybe' in row 0" in _fails("report", str(model), str(strange))
    strange.unlink()
    less = tmp_path / "less.parquet"
    pd.read_parquet(folder / "p0.parquet").drop(columns="a").to_parquet(less)
    out = tmp_path / "o.parquet"
    assert "there is no column 'a'" in _fails("predict", str(model), str(less), "-o", str(out))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["less.parquet", "m.skops"]  # nothing half written


def test_what_is_read_in_parts(folder: Path, tmp_path: Path) -> None:
    assert is_in_parts(str(folder), None)
    assert is_in_parts(f"{folder}/*.parquet", None)
    assert is_in_parts(f"{folder}/p0.parquet", "1GB")
    assert not is_in_parts(f"{folder}/p0.parquet", None)  # small
    assert not is_in_parts(str(tmp_path / "none.csv"), None)
