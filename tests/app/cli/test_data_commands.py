"""fit, predict, report and demo: from a table to decisions, with what can go wrong in between."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import uneven
from uneven.app.cli.main import main
from uneven.app.models.model_files import model_bytes, read_model
from uneven.app.report.sentences import cheapest_in_words
from uneven.costs import money
from uneven.metrics import CostEstimate

FIT = ["--target", "fraud", "--positive", "yes", "--fp-cost", "1", "--fn-cost", "9"]
LINEAR = ["--learner", "linear"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(7)
    n = 400
    amount, hour = random.lognormal(3, 1, n), random.integers(0, 24, n).astype(float)
    country = random.choice(["at", "br", "ch"], n)
    score = 1.2 * (np.log(amount) - 3) + 1.5 * (country == "br") - 2.5
    fraud = random.uniform(size=n) < 1 / (1 + np.exp(-score))
    frame = pd.DataFrame(
        {
            "amount": amount,
            "hour": np.where(random.uniform(size=n) < 0.1, np.nan, hour),
            "country": np.where(random.uniform(size=n) < 0.05, None, country),
            "night": hour < 6,
            "constant": 3,
            "id": [f"case {k}" for k in range(n)],
            "when": pd.date_range("2026-01-01", periods=n, freq="h"),
            "fraud": np.where(fraud, "yes", "no"),
        }
    )
    frame.loc[5, "fraud"] = None
    frame.to_csv(place / "cases.csv", index=False)
    frame.to_parquet(place / "cases.parquet")
    return place


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "model.skops"
    result = run("fit", folder / "cases.parquet", *FIT, *LINEAR, "-o", path)
    assert result.exit_code == 0, result.output
    for sentence in (
        "399 rows, ",
        "1 row without a label skipped.",
        "Column 'constant' skipped: it has only one value.",
        "cases.parquet: Parquet; 400 rows, 8 columns.",
        "Column 'id' skipped: looks like an ID (399 different values); --keep uses it.",
        "Column 'when': dates; used as days since 2026-01-01, day of week, hour.",
        "missing values, filled with the mean and flagged.",
        "missing values, treated as a category.",
        "alpha='1/10'): calibrated",
        "threshold-moved",
        "flag no one",
        "Are you sure about 9 : 1? (models refitted or thresholds moved)",
        "Cheapest of 4 models: ",
    ):
        assert sentence in result.stdout
    assert "repeat 2 of 2, fold 5 of 5" in result.stderr
    return path


@pytest.mark.slow
def test_predict_and_report(folder: Path, model: Path) -> None:
    result = run("predict", model, folder / "cases.csv", "-o", folder / "out.csv")
    assert result.exit_code == 0
    found = pd.read_csv(folder / "out.csv")
    results = ["prediction", "probability", "threshold", "cost_if_negative", "cost_if_positive", "score"]
    assert list(found.columns) == results
    said = found["prediction"] == "yes"
    assert set(found["prediction"]) == {"yes", "no"}
    assert np.array_equal(said, found["score"] > 0)
    assert np.array_equal(said, found["probability"] > 0.1)
    assert np.array_equal(said, found["cost_if_positive"] < found["cost_if_negative"])
    assert np.allclose(found["threshold"], 0.1)
    assert run("predict", model, folder / "cases.csv", "-o", folder / "out.parquet").exit_code == 0
    assert np.allclose(pd.read_parquet(folder / "out.parquet")["score"], found["score"])
    report = run("report", model, folder / "cases.csv")
    assert report.exit_code == 0
    frame = pd.read_csv(folder / "cases.csv")
    known = frame["fraud"].notna()
    y = (frame["fraud"] == "yes")[known].astype(int)
    cost = uneven.metrics.expected_cost(y, said[known].astype(int), fp_cost=1, fn_cost=9)
    assert f"this model {money(1000 * cost)}" in " ".join(report.stdout.split())
    assert "A miss costs 9 and a false alarm costs 1." in report.stdout
    assert "The model flags a row where the probability is above 0.1." in report.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--learner", "svc"], ["--loss", "squared_hinge", "--gamma", "3"], [*LINEAR, "--tune"]]
)
def test_other_learners(folder: Path, options: list[str]) -> None:
    path = folder / "other.skops"
    result = run("fit", folder / "cases.csv", *FIT, *options, "--quick", "-o", path)
    assert result.exit_code == 0, result.output
    if "--tune" in options:
        assert re.search(r"Tuned: margin_gamma = .*, C = ", result.stdout)
    assert run("predict", path, folder / "cases.csv", "-o", folder / "o.csv").exit_code == 0
    assert run("report", path, folder / "cases.csv").exit_code == 0


def changed(folder: Path, name: str, change: object) -> Path:
    frame = pd.read_csv(folder / "cases.csv")
    path = folder / name
    change(frame).to_csv(path, index=False)  # type: ignore[operator]
    return path


@pytest.mark.slow
def test_new_categories_and_columns_are_no_obstacle(folder: Path, model: Path) -> None:
    def strange(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(country="zz", more=1).drop(columns="fraud")

    assert run("predict", model, changed(folder, "strange.csv", strange), "-o", folder / "s.csv").exit_code == 0


def test_bad_tables(folder: Path, model: Path) -> None:
    def sentence(*arguments: object) -> str:
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        return result.stderr

    cases, out = folder / "cases.csv", folder / "never.skops"
    lacking = changed(folder, "lacking.csv", lambda frame: frame.drop(columns=["amount", "hour"]))
    found = sentence("predict", model, lacking, "-o", folder / "never.csv")
    assert "there is no column 'amount', 'hour', which the model expects" in found
    assert "No such file" in sentence("fit", folder / "absent.csv", *FIT, "-o", out)
    assert "ends in one of .csv" in sentence("fit", folder / "cases.json", *FIT, "-o", out)
    assert "there is no column 'x'" in sentence("fit", cases, *FIT[2:], "--target", "x", "-o", out)
    assert "no row of column 'fraud' has the positive value 'maybe'; it has 'no' (333), 'yes' (66)" in sentence(
        "fit", cases, "--target", "fraud", "--positive", "maybe", *FIT[4:], "-o", out
    )
    one = changed(folder, "one.csv", lambda frame: frame[frame["fraud"] == "yes"])
    assert "two classes are needed" in sentence("fit", one, *FIT, "-o", out)
    nothing = changed(folder, "nothing.csv", lambda frame: frame[["id", "constant", "fraud"]])
    assert "no column can be used" in sentence("fit", nothing, *FIT, "-o", out)
    (folder / "empty.csv").write_text("")
    assert "empty.csv is empty" in sentence("fit", folder / "empty.csv", *FIT, "-o", out)
    (folder / "noise.parquet").write_bytes(b"noise")
    assert "is not a whole Parquet file" in sentence("fit", folder / "noise.parquet", *FIT, "-o", out)
    assert "--fn-cost must be positive" in sentence("fit", cases, *FIT[:-1], "-1", "-o", out)
    assert "--loss is for --learner linear, got --learner svc" in sentence(
        "fit", cases, *FIT, "--learner", "svc", "--loss", "hinge", "-o", out
    )
    assert "leave --gamma out" in sentence("fit", cases, *FIT, *LINEAR, "--tune", "--gamma", "2", "-o", out)
    assert "calibrated for no alpha" in sentence("fit", cases, *FIT, "--loss", "perceptron", "-o", out)
    assert "ends in .csv, .tsv" in sentence("predict", model, cases, "-o", folder / "x.json")
    assert not out.exists()


def test_bad_models(folder: Path, model: Path) -> None:
    cases, bad = folder / "cases.csv", folder / "bad.skops"
    bad.write_bytes(b"noise")
    assert "is not a model written by `uneven fit`" in run("report", bad, cases).stderr
    bad.write_bytes(model_bytes({**read_model(str(model)), "pipeline": Path}))
    assert "is not opened" in run("report", bad, cases).stderr


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ([0.2, 0.5], "ours is the cheapest here; next is b."),
        ([0.2, 0.25], "ours is the cheapest here; next is b (the difference may be chance)."),
        ([0.5, 0.2], "b is the cheapest here, not ours."),
        ([0.25, 0.2], "b is the cheapest here, not ours (the difference may be chance)."),
        ([0.2, 0.2, 0.3, 0.2], "ours, b and d are the cheapest here, at the same cost."),
    ],
)
def test_the_cheapest_is_named(costs: list[float], sentence: str) -> None:
    names = ["ours", "b", "c", "d"]
    rows = [
        CostEstimate(name, x, x - 0.5, x + 0.5, 0, 0, x - costs[0], x - costs[0] - 0.1, x - costs[0] + 0.1)
        for name, x in zip(names, costs, strict=False)
    ]
    assert cheapest_in_words(rows) == sentence


@pytest.mark.slow
def test_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []
    monkeypatch.setattr("click.launch", opened.append)
    result = run("demo", "--members", "linear")
    assert result.exit_code == 0, result.output
    found = re.search(r"Per 1,000 rows this model saves ([0-9.]+) EUR against flagging everyone", result.stdout)
    assert found is not None
    text = (tmp_path / "uneven-report.html").read_text(encoding="utf-8")
    for part in (found[0], "boosted trees, threshold tuned", "100,000 rows a year", "Which columns matter?"):
        assert part in text
    assert str(tmp_path / "uneven-report.html") in result.stdout
    assert text.count("data:image/png;base64,") >= 2
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    assert opened == []  # nobody sits before a screen


def test_the_table_of_the_demo_is_written_and_its_command_is_told(tmp_path: Path) -> None:
    result = run("demo", "--table", tmp_path / "bank.csv")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(tmp_path / "bank.csv")
    assert (len(written), list(written)[-1], sorted(set(written["subscribed"]))) == (12644, "subscribed", ["no", "yes"])
    assert "--target subscribed --positive yes" in result.stdout


def test_columns_far_from_zero_are_centred(tmp_path: Path) -> None:
    """Dates in seconds or milliseconds have offsets that would swallow digits of the scores."""
    from uneven.app.models.model_files import read_model

    random = np.random.default_rng(3)
    away, value = random.uniform(0, 86_400, 300).round(), random.normal(size=300)
    fraud = np.where(value + away / 86_400 + random.logistic(size=300) > 1, "yes", "no")
    fits = {}
    for offset in (0.0, 1.7e9, 1e13):
        frame = pd.DataFrame({"seconds": away + offset, "value": value, "fraud": fraud})
        frame.to_csv(tmp_path / "t.csv", index=False)
        result = run("fit", tmp_path / "t.csv", *FIT, *LINEAR, "--quick", "-o", tmp_path / "m.skops")
        assert result.exit_code == 0, result.output
        pipeline = read_model(str(tmp_path / "m.skops"))["pipeline"]
        matrix = pipeline[:-1].transform(frame[["seconds", "value"]])
        np.testing.assert_allclose(matrix.mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(matrix.std(axis=0), 1, atol=1e-6)
        fits[offset] = matrix
    for matrix in fits.values():
        np.testing.assert_allclose(matrix, fits[0.0], atol=1e-6)
