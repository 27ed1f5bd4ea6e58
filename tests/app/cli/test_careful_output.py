"""What a command writes replaces nothing that it reads, and shows the texts of a user's table as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from uneven.app.cli.main import main
from uneven.app.models.model_files import model_bytes

LINEAR = ["--learner", "linear"]
TARGET, POSITIVE, UNIT = "goal [/x]", "[/red] :smile:", "EUR [/]"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose names and values look like the markup of a terminal, and a model."""
    place = tmp_path_factory.mktemp("odd")
    x = np.random.default_rng(5).normal(size=60).round(3)
    names = [f"[/k]{k}" for k in range(60)]
    frame = pd.DataFrame({"who [b]": names, "x": x, TARGET: np.where(x > 0.3, POSITIVE, "[bold]")})
    frame.to_csv(place / "t.csv", index=False)
    options = ["--target", TARGET, "--positive", POSITIVE, "--fp-cost", 1, "--fn-cost", 3, "--unit", UNIT]
    result = run("fit", place / "t.csv", *options, "--id", "who [b]", *LINEAR, "--quick", "-o", place / "m.skops")
    assert result.exit_code == 0, result.output
    return place


def test_texts_that_look_like_markup_are_shown_as_they_are(folder: Path) -> None:
    result = run("report", folder / "m.skops", folder / "t.csv")
    assert result.exit_code == 0, result.output
    for text in (TARGET, POSITIVE, UNIT, "who [b]", "[/k]"):
        assert text in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "t.csv", "--target", TARGET, "--positive", POSITIVE, "--fp-cost", 1, "--fn-cost", 3, "-o", "./t.csv"],
        ["predict", "m.skops", "t.csv", "-o", "link.csv"],
        ["report", "m.skops", "t.csv", "--html", "t.csv"],
        ["report", "m.skops", "t.csv", "--html", "m.skops"],
    ],
)
def test_a_file_that_is_read_is_not_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object]
) -> None:
    monkeypatch.chdir(folder)
    link = folder / "link.csv"
    if not link.exists():
        link.symlink_to("t.csv")
    before = [(folder / name).read_bytes() for name in ("t.csv", "m.skops")]
    result = run(*arguments)
    assert result.exit_code == 2
    assert f"{arguments[-1]} is a file that is read here and would be replaced" in result.stderr
    assert [(folder / name).read_bytes() for name in ("t.csv", "m.skops")] == before


def test_a_model_without_its_parts_is_refused(folder: Path) -> None:
    from skops import io

    bad = folder / "bad.skops"
    bad.write_bytes(model_bytes({"pipeline": None, "seen": None}))
    result = run("predict", bad, folder / "t.csv", "-o", folder / "p.csv")
    assert result.exit_code == 2
    assert "it lacks preprocessing, about, rivals" in result.stderr
    bad.write_bytes(io.dumps({"format": "uneven-model/3"}))  # as version 0.2.0 wrote it
    result = run("predict", bad, folder / "t.csv", "-o", folder / "p.csv")
    assert result.exit_code == 2
    assert "is not a model written by `uneven fit`" in result.stderr


@pytest.mark.slow
def test_a_warning_is_one_sentence(folder: Path) -> None:
    """At such costs the learner cannot reach its tolerance; the file and line of the code are not for the user."""
    command = [sys.executable, "-m", "uneven", "fit", "t.csv", "--target", TARGET, "--positive", POSITIVE]
    costs = ["--fp-cost", "1", "--fn-cost", "1e302", "--learner", "linear", "--quick", "-o", "w.skops"]
    done = subprocess.run([*command, *costs], cwd=folder, capture_output=True, text=True, check=True)
    assert "Warning: UnevenLinearClassifier did not reach tol" in done.stderr
    assert ".py" not in done.stderr


RUNNABLE = ["=1+1", "+1-cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1"]
HARMLESS = ["a\r=1", "-5", "+49.5", "-1,234.5", "-1e-3", "-", "+", "a=1", "'=1", ""]


@pytest.mark.parametrize("parts", [False, True])
def test_a_spreadsheet_runs_no_cell_of_the_predictions(tmp_path: Path, parts: bool) -> None:
    ids = [*RUNNABLE, *HARMLESS] * 3
    x = np.random.default_rng(0).normal(size=len(ids)).round(3)
    y = np.where(x + np.arange(len(ids)) % 3 > 0.9, "=yes", "-")
    frame = pd.DataFrame({"=who": ids, "n": -np.arange(len(ids)), "x": x, "y": y})
    data = tmp_path / ("t" if parts else "t.parquet")
    if parts:
        data.mkdir()
    frame.to_parquet(data / "t.parquet" if parts else data)
    options = [
        "--target",
        "y",
        "--positive",
        "=yes",
        "--fp-cost",
        1,
        "--fn-cost",
        3,
        *(["--memory-limit", "1GB"] if parts else LINEAR),
    ]
    more = ["--id", "=who", *([] if parts else ["--quick"]), "-o", tmp_path / "m.skops"]
    done = run("fit", data, *options, *more)
    assert done.exit_code == 0, done.output
    for name in ("p.csv", "p.parquet"):
        done = run("predict", tmp_path / "m.skops", data, "-o", tmp_path / name)
        assert done.exit_code == 0, done.output
    exact = pd.read_parquet(tmp_path / "p.parquet")
    assert list(exact["=who"]) == ids
    assert set(exact["prediction"]) == {"=yes", "-"}
    written = pd.read_csv(tmp_path / "p.csv", dtype=str, keep_default_na=False)
    assert list(written["'=who"]) == [f"'{name}" if name in RUNNABLE else name for name in ids]
    assert list(written["prediction"]) == ["'=yes" if word == "=yes" else word for word in exact["prediction"]]
    np.testing.assert_allclose(written["score"].astype(float), exact["score"], rtol=1e-5)  # six digits
    numbered = run("predict", tmp_path / "m.skops", data, "--id", "n", "-o", tmp_path / "n.csv")
    assert numbered.exit_code == 0, numbered.output
    assert list(pd.read_csv(tmp_path / "n.csv")["n"]) == list(frame["n"])
