"""A walk as a new user: from a table to decisions, on three tables, whatever model turns out to be the cheapest."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_breast_cancer
from skops import io

import uneven
from uneven.app.cli.commands import fit as fit_command
from uneven.app.cli.main import main
from uneven.app.models.candidates import ALTERNATIVES
from uneven.app.models.model_files import read_model
from uneven.app.report.sentences import left_out_in_words

SMALL = ["--members", "linear,svc"]


def run(*arguments: object, answer: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=answer)


def succeeded(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("walk")
    data = load_breast_cancer(as_frame=True)
    patients: pd.DataFrame = data.data.iloc[:, :8].assign(diagnosis=np.where(data.target == 0, "malignant", "benign"))
    patients.to_csv(place / "patients.csv", index=False)
    patients.iloc[:150].to_csv(place / "few.csv", index=False)
    _letters().to_csv(place / "letters.csv", index=False, sep=";", encoding="cp1252")
    random = np.random.default_rng(4)
    noise = pd.DataFrame({f"x{k}": random.normal(size=200).round(3) for k in range(4)})
    noise["failed"] = np.where(np.arange(200) % 16 == 3, "yes", "no")
    noise.to_csv(place / "noise.csv", index=False)
    return place


def _letters() -> pd.DataFrame:
    """Texts, dates, categories, German numbers, missing values and labels of several values."""
    random, n = np.random.default_rng(8), 400
    words = np.array(["parcel", "urgent", "refund", "invoice", "shoes", "phone", "watch", "wire", "cash", "book"])
    notes = [" ".join(random.choice(words, 7)) for _ in range(n)]
    amount = random.lognormal(3, 1, n)
    land = random.choice(["Österreich", "Brasilien", "Schweiz"], n)
    when = pd.Timestamp("2026-01-05") + pd.to_timedelta(random.integers(0, 300 * 24, n), "h")
    wired = np.array(["wire" in text for text in notes])
    score = 1.2 * (np.log(amount) - 3) + 2.5 * wired + 1.2 * (land == "Brasilien") - 3
    fraud = random.uniform(size=n) < 1 / (1 + np.exp(-score))
    label = np.where(fraud, "fraud", np.where(random.uniform(size=n) < 0.1, "unclear", "fine"))
    return pd.DataFrame(
        {
            "case": [f"C-{k:04d}" for k in range(n)],
            "when": when.strftime("%d.%m.%Y %H:%M"),
            "amount": [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in amount],
            "country": np.where(random.uniform(size=n) < 0.1, "", land),
            "age": np.where(random.uniform(size=n) < 0.2, "", random.integers(18, 80, n).astype(str)),
            "note": notes,
            "verdict": label,
        }
    )


@pytest.fixture(scope="module")
def letters(folder: Path) -> str:
    """Costs of each row: a miss costs the amount."""
    options = ["--target", "verdict", "--positive", "fraud", "--others-negative", "--unit", "EUR", "--id", "case"]
    costs = ["--fp-cost", "5", "--fn-cost", "amount", "--learner", "ensemble"]
    return succeeded("fit", folder / "letters.csv", *options, *costs, *SMALL, "-o", folder / "letters.skops")


@pytest.mark.slow
def test_patients(folder: Path) -> None:
    """Two numbers as costs, and the cheapest model is saved, whichever it is."""
    path, costs = folder / "patients.skops", ["--fp-cost", "1", "--fn-cost", "20"]
    options = ["--target", "diagnosis", "--positive", "malignant", *costs, *SMALL]
    shown = succeeded("fit", folder / "patients.csv", *options, "-o", path)
    about = read_model(str(path))["about"]
    name, rows = about["model"], about["comparison"]
    models = ["ensemble", *ALTERNATIVES]
    assert {row["name"] for row in rows} == {*models, "flag no one", "flag everyone"}
    assert rows[0]["name"] == name
    assert rows[0]["cost"] == min(row["cost"] for row in rows if row["name"] in models)
    assert f"Cheapest of 4 models: {name}" in shown
    assert "Cost per 1,000 rows, cross-validated, 5 folds:" in shown
    assert f"The model ({name}) is in {path}." in shown
    assert "against flagging everyone" in shown
    _decides_as_it_says(folder, path, "patients.csv", "malignant")


def _decides_as_it_says(folder: Path, path: Path, table: str, positive: str, *changes: object) -> pd.DataFrame:
    out = folder / "out.csv"
    succeeded("predict", path, folder / table, *changes, "-o", out)
    german = b";" in out.read_bytes().splitlines()[0]  # it is written as its table is
    found = pd.read_csv(out, **({"sep": ";", "decimal": ",", "encoding": "cp1252"} if german else {}))
    said = (found["prediction"] == positive).to_numpy()
    assert 0 < said.sum() < said.size
    assert np.array_equal(said, (found["score"] > 0).to_numpy())
    assert np.array_equal(said, (found["probability"] > found["threshold"]).to_numpy())
    return found


@pytest.mark.slow
def test_letters(folder: Path, letters: str) -> None:
    for sentence in (
        "Column 'note': free text (",
        "Column 'when': ",
        "missing values, treated as a category.",
        "missing values, filled with the mean and flagged.",
        "A miss costs amount (",
        "Costs differ by row: each row is decided by its own.",
        "EUR per 1,000 rows (95 % interval ",
        "What the ensemble is made of (costs per 1,000 rows, out of fold):",
        "The threshold of the average's log-odds is ",
    ):
        assert sentence in letters
    path = folder / "letters.skops"
    found = _decides_as_it_says(folder, path, "letters.csv", "fraud")
    assert found["threshold"].nunique() > 300
    cheap = _decides_as_it_says(folder, path, "letters.csv", "fraud", "--fp-cost", "20")
    assert (cheap["prediction"] == "fraud").sum() < (found["prediction"] == "fraud").sum()
    one = _decides_as_it_says(folder, path, "letters.csv", "fraud", "--fn-cost", "12")
    assert one["threshold"].nunique() == 1
    page = folder / "letters.html"
    report = succeeded("report", path, folder / "letters.csv", "--html", page)
    assert "What the ensemble is made of (" in report
    assert "(thresholds moved, nothing refitted, on the 400 rows of the training table" in report
    html = page.read_text(encoding="utf-8")
    assert html.count('src="data:image/png;base64,') == 4
    for words in ("It is the model ensemble, fitted to 400 rows.", "alone it costs (EUR)", "svc"):
        assert words in html


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ALTERNATIVES))
def test_every_simple_winner_predicts_and_reports(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path
) -> None:
    monkeypatch.setattr("uneven.app.models.compare_candidates.Outcome.cheapest", lambda self, names: name)
    path = tmp_path / "m.skops"
    options = ["--target", "diagnosis", "--positive", "malignant", "--fp-cost", "1", "--fn-cost", "4", *SMALL]
    shown = succeeded("fit", folder / "few.csv", *options, "-o", path)
    assert "Logistic regression; " in shown
    _decides_as_it_says(folder, path, "few.csv", "malignant")
    report = succeeded("report", path, folder / "few.csv", "--html", tmp_path / "r.html")
    assert len(re.findall(rf"\n {name} ", report)) == 0  # it is "this model"
    assert len(re.findall(r"\n this model ", report)) == 2  # in the folds of the fit, and on the rows of the fit
    other = run("predict", path, folder / "few.csv", "--fn-cost", "9", "-o", tmp_path / "o.csv")
    if name == "threshold-moved":
        assert other.exit_code == 0
    else:
        assert other.exit_code == 2
        assert f"this model ({name}) decides only at the costs of its fit" in other.stderr


@pytest.mark.slow
def test_nothing_beats_a_constant_rule(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "m.skops"
    options = ["--target", "failed", "--positive", "yes", "--fp-cost", "1", "--fn-cost", "1", *SMALL]
    arguments = ("fit", folder / "noise.csv", *options, "-o", path)
    refused = run(*arguments)
    assert refused.exit_code == 1
    assert "WARNING: no model beats flagging no one. The cheapest model, " in refused.stdout
    assert refused.stdout.endswith("Nothing was saved; --save-anyway saves it in spite of this.\n")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(fit_command, "can_ask", lambda: True)
    no = run(*arguments, answer="n\n")
    assert no.exit_code == 1
    assert re.search(r"Save .* anyway\? \[y/N\]: n\nNothing was saved\.\n$", no.stdout)
    assert list(tmp_path.iterdir()) == []
    assert run(*arguments, answer="y\n").exit_code == 0
    assert path.exists()
    path.unlink()
    assert "anyway?" not in succeeded(*arguments, "--save-anyway")
    assert path.exists()
    lucky = succeeded("fit", folder / "noise.csv", *options[:-3], "8", *SMALL, "-o", path)
    assert "WARNING: no model is shown to beat flagging no one. " in lucky


@pytest.mark.slow
def test_only_known_types_are_in_the_files(folder: Path, letters: str) -> None:
    held = set(io.get_untrusted_types(data=(folder / "letters.skops").read_bytes()))
    assert "uneven.learners.ensemble.classifier.UnevenEnsembleClassifier" in held
    assert held <= set(uneven.trusted_types())


def test_names_of_members_are_checked_before_the_table_is_read(tmp_path: Path) -> None:
    costs = ["--target", "a", "--positive", "b", "--fp-cost", "1", "--fn-cost", "2", "-o", tmp_path / "m.skops"]
    result = run("fit", tmp_path / "absent.csv", *costs, "--members", "linear,oak")
    assert result.exit_code == 2
    assert "members must be names among linear, " in result.stderr
    assert "'oak'" in result.stderr


def test_members_that_are_missing_are_named() -> None:
    late = "not finished (time limit)"
    found = left_out_in_words(SimpleNamespace(left_out_={"forest": late, "svc": "no memory", "catboost": late}))
    assert found == ["Left out: forest, catboost (not finished (time limit)).", "Left out: svc (no memory)."]
    assert left_out_in_words(SimpleNamespace(left_out_={})) == []
    cut = SimpleNamespace(left_out_={"forest": late, "svc": "no memory"}, cut_short_="The fit was cut.")
    assert left_out_in_words(cut) == ["The fit was cut.", "Left out: svc (no memory)."]


@pytest.mark.slow
def test_ctrl_c_saves_nothing(folder: Path, tmp_path: Path) -> None:
    options = ["--target", "diagnosis", "--positive", "malignant", "--fp-cost", "1", "--fn-cost", "20"]
    command = [sys.executable, "-m", "uneven", "fit", str(folder / "patients.csv"), *options, "--members", "forest"]
    process = subprocess.Popen(
        [*command, "-o", str(tmp_path / "m.skops")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Comparing 4 models and 2 constant rules: ")
    assert process.stderr.readline() == "fold 1 of 5\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130
    assert said.endswith("Stopped by Ctrl-C: nothing was saved.\n")
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_predict_names_the_column_that_names_the_rows(tmp_path: Path, folder: Path) -> None:
    patients = pd.read_csv(folder / "few.csv")
    patients.insert(0, "patient no", np.arange(len(patients)) + 100_000)
    data, model, out = (tmp_path / name for name in ("p.csv", "m.skops", "out.csv"))
    patients.to_csv(data, index=False)
    asked = ["--target", "diagnosis", "--positive", "malignant", "--fp-cost", 1, "--fn-cost", 20]
    succeeded("fit", data, *asked, "--quick", "--learner", "linear", "-o", model)
    assert "--id 'patient no' adds the column that names them." in succeeded("predict", model, data, "-o", out)
    succeeded("predict", model, data, "--id", "patient no", "-o", out)
    assert list(pd.read_csv(out)["patient no"]) == list(patients["patient no"])
