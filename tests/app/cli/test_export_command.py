"""``uneven export``: what it writes decides as ``uneven predict`` does."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.pipeline import make_pipeline

from uneven.adapters.python import python_source
from uneven.adapters.source.source_models import CLASSIFIERS
from uneven.app.cli.main import main
from uneven.app.models import export_model
from uneven.app.models.model_files import read_model

pytestmark = pytest.mark.slow


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("export")
    random = np.random.default_rng(3)
    amount, n = random.lognormal(3, 1, 700).round(2), 700
    frame = pd.DataFrame(
        {
            "id": [f"r{k}" for k in range(n)],
            "amount": amount,
            "other": np.where(random.random(n) < 0.1, "", random.normal(size=n).round(3).astype(str)),
            "when": pd.date_range("2026-01-01", periods=n, freq="30min").strftime("%d.%m.%Y %H:%M"),
            "branch's": random.choice(["east", "we'st", "NA", "TRUE"], n),
            "fraud": np.where(random.uniform(size=n) < 1 / (1 + np.exp(2.5 - 1.2 * (np.log(amount) - 3))), "yes", "no"),
        }
    )
    frame[:400].to_csv(place / "train.csv", index=False)
    frame[400:].drop(columns="fraud").to_csv(place / "new.csv", index=False)
    return place


def fit(folder: Path, name: str, *more: object) -> Path:
    asked = ["--target", "fraud", "--positive", "yes", "--fp-cost", 20, "--id", "id"]
    result = run("fit", folder / "train.csv", *asked, *more, "-o", folder / name)
    assert result.exit_code == 0, result.output
    return folder / name


@pytest.mark.parametrize("fn_cost", ["100", "2 * amount + 60"])
@pytest.mark.parametrize("changes", [[], ["--fn-cost", "900"]])
def test_it_decides_as_predict_does(folder: Path, fn_cost: str, changes: list[str]) -> None:
    model = fit(folder, "model.skops", "--learner", "linear", "--quick", "--fn-cost", fn_cost)
    assert run("predict", model, folder / "new.csv", *changes, "-o", folder / "said.parquet").exit_code == 0
    expected = pd.read_parquet(folder / "said.parquet").set_index("id")  # files of texts have fewer digits
    done = run("export", model, "--to", "python", *changes, "-o", folder / "decide.py")
    assert done.exit_code == 0, done.output
    space: dict[str, Any] = {}
    exec(compile((folder / "decide.py").read_text(), "decide.py", "exec"), space)
    with (folder / "new.csv").open(newline="") as file:
        said = {row["id"]: space["predict"](row) for row in csv.DictReader(file)}
    assert {name: label for name, (label, _) in said.items()} == expected["prediction"].to_dict()
    assert np.allclose([said[name][1] for name in expected.index], expected["probability"], rtol=1e-12)

    done = run(
        "export", model, "--to", "sql", "--dialect", "sqlite", "--table", "new", *changes, "-o", folder / "q.sql"
    )
    assert done.exit_code == 0, done.output
    new = pd.read_csv(folder / "new.csv", dtype=str, keep_default_na=False)
    new["when"] = pd.to_datetime(new["when"], format="%d.%m.%Y %H:%M").dt.strftime("%Y-%m-%d %H:%M")
    database = sqlite3.connect(":memory:")
    new.to_sql("new", database, index=False)  # all texts, as the shell of SQLite imports a file
    found = pd.read_sql((folder / "q.sql").read_text(), database).set_index("id")
    assert found["decision"].to_dict() == expected["prediction"].to_dict()
    assert np.allclose(found["probability"][expected.index], expected["probability"], rtol=1e-12)


def test_the_usual_alternatives_can_be_written(folder: Path) -> None:
    content = read_model(str(fit(folder, "auto.skops", "--fn-cost", 100, "--learner", "linear")))
    assert len(content["rivals"]) == 3
    assert {type(rule) for rule in content["rivals"].values()} <= {*CLASSIFIERS}, export_model.KINDS
    frame = pd.read_csv(folder / "train.csv").drop(columns=["fraud", "id"]).head(50)
    frame["when"] = pd.to_datetime(frame["when"], format="%d.%m.%Y %H:%M")
    for rule in content["rivals"].values():
        model = make_pipeline(content["preprocessing"], rule)
        space: dict[str, Any] = {}
        exec(compile(python_source(model, {}), "rule", "exec"), space)
        said = [space["predict"](row) for row in frame.to_dict("records")]
        assert [label for label, _ in said] == model.predict(frame).tolist()
        assert np.allclose([one for _, one in said], model.predict_proba(frame)[:, 1], rtol=1e-12)


def test_bad_input_is_one_sentence_and_writes_nothing(folder: Path) -> None:
    model = fit(folder, "model.skops", "--learner", "linear", "--quick", "--fn-cost", 100)
    out = folder / "never.sql"
    for arguments, words in (
        (("--to", "sql"), "needs --table NAME"),
        (("--to", "python", "--table", "t"), "are for --to sql"),
        (("--to", "sql", "--table", "t", "--keep", "decision"), "has the name of a result"),
        (("--to", "python", "--fn-cost", "-5"), "cost"),
    ):
        done = run("export", model, *arguments, "-o", out)
        assert done.exit_code == 2, done.output
        assert words in done.output
        assert not out.exists()
