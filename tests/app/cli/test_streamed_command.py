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
    return ["fit", f"{folder}/p*.parquet", *given, "--memory-limit", "1GB", "-o", str(model)]


def test_fit_then_predict(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.skops"
    said = _run(*_fit(folder, model, "--fn-cost", "20", "--drop", "amount"))
    assert "3,000 rows, read in parts" in said
    assert "Per 1,000 rows" in said  # money, of a sample
    assert "on a sample of 3,000 rows" in said
    assert "was fitted to all rows" in said
    assert "rows per second" in said
    for ending in ("csv", "parquet"):
        out = tmp_path / f"o.{ending}"
        told = _run("predict", str(model), f"{folder}/p*.parquet", "-o", str(out))
        assert "3,000 rows" in told
        assert "If its probabilities are right, these decisions cost" in told
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
    assert not is_in_parts(str(folder), None)  # it fits into memory
    assert not is_in_parts(f"{folder}/*.parquet", None)
    assert is_in_parts(f"{folder}/p0.parquet", "1GB")
    assert not is_in_parts(f"{folder}/p0.parquet", None)  # small
    assert not is_in_parts(str(tmp_path / "none.csv"), None)


def test_files_that_fit_into_memory_get_the_full_treatment(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same model, words and columns as for one table; in parts only if the memory is too small."""
    model, whole, given = tmp_path / "m.skops", tmp_path / "whole.parquet", ["--fn-cost", "20", "--learner", "linear"]
    arguments = [part for part in _fit(folder, model, *given) if part not in ("--memory-limit", "1GB")]
    said = _run(*arguments)
    assert "Cost per 1,000 rows, cross-validated" in said
    pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]).to_parquet(whole)
    same = tmp_path / "same.skops"
    arguments[arguments.index(f"{folder}/p*.parquet")] = str(whole)
    arguments[arguments.index(str(model))] = str(same)
    _run(*arguments)
    for one, data, out in ((model, str(folder), "a.parquet"), (same, str(whole), "b.parquet")):
        _run("predict", str(one), data, "-o", str(tmp_path / out))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), pd.read_parquet(tmp_path / "b.parquet"))
    monkeypatch.setattr("uneven.app.models.files_in_parts.usable_memory", lambda: 1000)
    assert is_in_parts(str(folder), None)
    assert is_in_parts(str(whole), None)


def test_columns_in_parts_are_those_in_memory(folder: Path, tmp_path: Path) -> None:
    for model, limit in (("parts.skops", ["--memory-limit", "1GB"]), ("memory.skops", ["--learner", "linear"])):
        made = _fit(folder, tmp_path / model, "--fn-cost", "20", "--quick", "--drop", "amount")
        _run(*[part for part in made if part not in ("--memory-limit", "1GB")], *limit)
        _run("predict", str(tmp_path / model), str(folder), "-o", str(tmp_path / f"{model}.parquet"))
    parts, memory = (pd.read_parquet(tmp_path / f"{name}.skops.parquet") for name in ("parts", "memory"))
    assert list(parts.columns) == list(memory.columns)
    p = parts["probability"].to_numpy()
    np.testing.assert_allclose(parts["cost_if_negative"], 20 * p)
    np.testing.assert_allclose(parts["cost_if_positive"], 1 - p)
    np.testing.assert_allclose(parts["threshold"], 1 / 21)
    assert np.array_equal(parts["prediction"] == "yes", p > 1 / 21)


def test_a_column_that_gives_the_target_away_is_told_in_parts(folder: Path, tmp_path: Path) -> None:
    leaky = tmp_path / "leaky.parquet"
    frame = pd.read_parquet(folder / "p0.parquet")
    frame.assign(paid=np.where(frame["fraud"] == "yes", 7.0, np.nan)).to_parquet(leaky)
    arguments = _fit(folder, tmp_path / "m.skops", "--fn-cost", "20")
    arguments[1] = str(leaky)
    assert "WARNING: column 'paid'" in _run(*arguments)
