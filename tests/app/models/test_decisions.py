"""fit, predict and report with costs of each row: in money, in the words of the table, and equal to the metrics."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click import unstyle
from click.testing import CliRunner, Result
from sklearn.datasets import load_breast_cancer
from terminal import in_terminal

from uneven.app.cli.main import main
from uneven.app.models.model_files import read_model
from uneven.costs import money
from uneven.metrics import compare_predictions, expected_cost, savings_score

TARGET = ["--target", "diagnosis", "--positive", "malignant"]
ROW_COSTS = ["--fp-cost", "4", "--fn-cost", "amount due*0.9 + 5", "--tp-cost", "4"]
LINEAR = ["--learner", "linear"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def succeeded(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    data = load_breast_cancer(as_frame=True)
    frame: pd.DataFrame = data.data.iloc[:, :5].round(4)
    random = np.random.default_rng(3)
    frame["amount due"] = random.lognormal(3, 1, len(frame)).round(2)
    frame["ward"] = random.choice(["north", "south"], len(frame))
    frame["patient"] = [f"P{k:03d}" for k in range(len(frame))]
    frame["diagnosis"] = np.where(data.target == 0, "malignant", "benign")
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame) -> Path:
    place = tmp_path_factory.mktemp("decisions")
    frame.iloc[:400].to_csv(place / "train.csv", index=False)
    frame.iloc[300:].to_csv(place / "later.csv", index=False)
    return place


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "rows.skops"
    shown = succeeded(
        "fit", folder / "train.csv", *TARGET, *ROW_COSTS, *LINEAR, "--unit", "EUR", "--id", "patient", "-o", path
    )
    for sentence in (
        "A miss costs amount due*0.9 + 5 (",
        "a false alarm costs 4 EUR and a hit costs 4 EUR.",
        "Column 'amount due' is used for costs and for prediction; --drop \"amount due\" keeps it for costs only.",
        "Costs differ by row: each row is decided by its own.",
        "Flagging a row pays where the probability is above the threshold of the row: ",
        "EUR against flagging everyone (95 % interval ",
        "Cost per 1,000 rows, cross-validated, 5 folds twice (EUR):",
        "plain logistic regression",
        "class-weighted",
        "threshold-moved",
        "more than uneven linear",
        "on average? (models refitted or thresholds moved)",
        ": calibrated",
    ):
        assert sentence in shown
    for label in ("half, ", "as given, ", "double, "):
        assert f"\n {label}" in shown
    return path


@pytest.fixture(scope="module")
def predictions(folder: Path, model: Path) -> pd.DataFrame:
    shown = succeeded("predict", model, folder / "later.csv", "-o", folder / "out.csv")
    assert "100 of 269 rows were in the training table (same values in all columns)" in shown
    assert sorted(path.name for path in folder.glob(".*")) == []
    assert "If its probabilities are right, these decisions cost" in shown
    return pd.read_csv(folder / "out.csv")


def row_costs(frame: pd.DataFrame) -> dict[str, object]:
    return {"fp_cost": 4.0, "fn_cost": (frame["amount due"] * 0.9 + 5).to_numpy(), "tp_cost": 4.0, "tn_cost": 0.0}


@pytest.mark.slow
def test_predictions_say_everything(frame: pd.DataFrame, predictions: pd.DataFrame) -> None:
    later = frame.iloc[300:].reset_index(drop=True)
    results = ["prediction", "probability", "threshold", "cost_if_negative", "cost_if_positive", "score"]
    assert list(predictions.columns) == ["patient", *results]
    assert predictions["patient"].tolist() == later["patient"].tolist()
    assert set(predictions["prediction"]) == {"malignant", "benign"}
    said = (predictions["prediction"] == "malignant").to_numpy()
    p, costs = predictions["probability"].to_numpy(), row_costs(later)
    fn_cost = np.asarray(costs["fn_cost"])
    assert np.allclose(predictions["threshold"], 4 / (4 + fn_cost - 4))
    assert np.allclose(predictions["cost_if_positive"], 4 * p + 4 * (1 - p))
    assert np.allclose(predictions["cost_if_negative"], fn_cost * p)
    assert np.array_equal(said, p > predictions["threshold"])
    assert np.array_equal(said, predictions["score"] > 0)


def test_the_numbers_of_the_report_are_those_of_the_metrics(
    folder: Path, model: Path, frame: pd.DataFrame, predictions: pd.DataFrame
) -> None:
    new, shown = frame.iloc[400:], succeeded("report", model, folder / "later.csv")  # the first 100 were in the fit
    truth = (new["diagnosis"] == "malignant").to_numpy().astype(int)
    everywhere, costs = (predictions["prediction"] == "malignant").to_numpy().astype(int), row_costs(new)
    said = everywhere[100:]
    cost = expected_cost(truth, said, **costs)  # type: ignore[arg-type]
    everyone = {"this model": said, "flag everyone": np.ones_like(truth)}
    ours, rule = compare_predictions(truth, everyone, rules=list(everyone)[1:], **costs)  # type: ignore[arg-type]
    assert ours.cost == pytest.approx(cost, rel=1e-12)
    assert rule.difference is not None
    assert rule.difference_low is not None
    assert rule.difference_high is not None
    low, high = money(1000 * rule.difference_low), money(1000 * rule.difference_high)
    first = shown.splitlines()[0]
    assert first == (
        f"Per 1,000 rows this model saves {money(1000 * rule.difference)} EUR against flagging everyone (95 % interval "
        f"{low} to {high}{', rough' if rule.difference_rough else ''}"
        f"{'; it may be chance' if rule.difference_low <= 0 <= rule.difference_high else ''})."
    )
    assert savings_score(truth, said, **costs) == pytest.approx(rule.difference / rule.cost)  # type: ignore[arg-type]
    flat = one_line(shown)
    assert f"this model {money(1000 * cost)} {money(1000 * ours.low)} to {money(1000 * ours.high)}" in flat
    assert f"flag everyone {money(1000 * rule.cost)}" in flat
    assert "100 of 269 rows were in the training table" in shown.splitlines()[1]
    saved = (predictions["cost_if_negative"] - predictions["cost_if_positive"])[everywhere == 1]
    best = saved.sort_values(ascending=False).index[:10]
    listed = [line.split()[0] for line in shown.splitlines() if re.match(r" P\d{3} ", line)]
    assert listed == predictions["patient"][best].tolist()
    assert f" {money(saved.max())} " in shown


def test_at_other_costs_the_report_moves_the_threshold(
    folder: Path, model: Path, frame: pd.DataFrame, predictions: pd.DataFrame
) -> None:
    new, shown = frame.iloc[400:], succeeded("report", model, folder / "later.csv")
    assert "on average? (thresholds moved, nothing refitted)" in shown
    truth = (new["diagnosis"] == "malignant").to_numpy().astype(int)
    p, costs = predictions["probability"].to_numpy()[100:], row_costs(new)
    for label, factor in (("half", 0.5), ("double", 2.0)):
        regret = factor * (np.asarray(costs["fn_cost"]) - 4)
        said = (p * regret > (1 - p) * 4).astype(int)
        cost = expected_cost(truth, said, fp_cost=4, fn_cost=4 + regret, tp_cost=4)
        line = next(line for line in shown.splitlines() if line.startswith(f" {label}, "))
        assert f" {money(1000 * cost)} " in line


@pytest.mark.slow
def test_the_page_is_whole_and_alone(folder: Path, model: Path) -> None:
    page = folder / "report.html"
    shown = succeeded("report", model, folder / "later.csv", "--html", page)
    assert f"The report is in {page}." in shown
    html = page.read_text(encoding="utf-8")
    assert shown.splitlines()[0] in html
    assert html.count('src="data:image/png;base64,') == 4
    assert html.count("<img") == 4
    assert re.search(r"https?://|<script|<link|@import|url\(", html) is None
    assert 'name="viewport"' in html
    assert "prefers-color-scheme: dark" in html
    for words in (
        "Is diagnosis malignant?",
        "Who is the cheapest?",
        "Are you sure about",
        "Where is the threshold?",
        "The rows it would flag first",
        "What the model was not able to know",
        "100 of 269 rows were in the training table",
        "on the 100 rows of the training table, where the model looks better than it is",
    ):
        assert words in html
    assert "{" not in re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    assert "no folder" in run("report", model, folder / "later.csv", "--html", folder / "absent" / "x.html").stderr


def test_a_page_escapes_what_the_table_says(tmp_path: Path, frame: pd.DataFrame) -> None:
    evil = "<script>alert(1)</script>"
    strange = frame.rename(columns={"patient": evil}).replace({"diagnosis": {"malignant": "<b>bad</b>"}})
    strange[evil] = evil
    strange.to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "diagnosis", "--positive", "<b>bad</b>", "--fp-cost", "1", "--fn-cost", "3", "--id", evil]
    succeeded("fit", tmp_path / "t.csv", *options, *LINEAR, "--quick", "-o", tmp_path / "m.skops")
    succeeded("report", tmp_path / "m.skops", tmp_path / "t.csv", "--html", tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script" not in html
    assert "<b>bad" not in html
    assert "&lt;script&gt;" in html


def test_what_the_model_could_not_know(folder: Path, model: Path, frame: pd.DataFrame) -> None:
    later = frame.iloc[500:].copy()
    later.loc[later.index[:3], "ward"] = "west"
    later.loc[later.index[5], "mean area"] = np.nan
    later["diagnosis"] = later["diagnosis"].where(np.arange(len(later)) > 1)
    later.drop(columns="patient").to_csv(folder / "strange.csv", index=False)
    shown = succeeded("report", model, folder / "strange.csv")
    positives = int((later["diagnosis"] == "malignant").sum())
    assert "There is no column 'patient', which names the rows: they keep their order." in shown
    assert f"- This table has only {positives} positive rows" in shown
    assert "- Column 'ward': 1 row has a value that was rare or absent in training." in shown
    assert "- Missing values were guessed: mean area (1)." in shown
    assert "- 2 rows without a label: not in the costs." in shown
    assert "- No column with dates is used" in shown
    assert re.search(r"\n row \d+ ", shown)
    assert "were in the training table" not in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "way"),
    [
        (["--learner", "svc"], "the rows are weighted by them, because this loss has no probabilities"),
        (["--loss", "hinge"], "the rows are weighted by them, because this loss has no probabilities"),
        ([*LINEAR, "--tune"], "learning with them and deciding by them are both tried."),
    ],
)
def test_other_ways_to_use_costs_of_rows(folder: Path, options: list[str], way: str) -> None:
    path, out = folder / "way.skops", folder / "way.csv"
    shown = succeeded("fit", folder / "train.csv", *TARGET, *ROW_COSTS, *options, "--quick", "-o", path)
    assert way in shown
    assert ("Of the two ways to use costs of rows the cheaper one is to" in shown) == ("--tune" in options)
    succeeded("predict", path, folder / "later.csv", "--id", "patient", "-o", out)
    found = pd.read_csv(out)
    assert np.array_equal(found["prediction"] == "malignant", found["score"] > 0)
    assert ("probability" in found) == ("--tune" in options)
    report = succeeded("report", path, folder / "later.csv", "--html", folder / "way.html")
    assert "The model was fitted with --quick: there are no alternatives" in report
    if "--tune" not in options:
        assert "(the decisions stay, nothing refitted)" in report
        assert "by score:" in report
        assert "This loss has no probabilities: the model flags a row where its score is above 0." in report


def test_a_cost_column_that_is_not_a_feature(folder: Path, frame: pd.DataFrame) -> None:
    path = folder / "dropped.skops"
    costs = ["--fp-cost", "1", "--fn-cost", "amount due", "--drop", "amount due", *LINEAR, "--quick"]
    assert "is used for costs and" not in succeeded("fit", folder / "train.csv", *TARGET, *costs, "-o", path)
    assert "amount due" not in [column["name"] for column in read_model(str(path))["about"]["columns"]]
    frame.drop(columns="amount due").to_csv(folder / "lacking.csv", index=False)
    for command in (["predict", path, folder / "lacking.csv", "-o", folder / "x.csv"],):
        result = run(*command)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "there is no column 'amount due'" in result.stderr
        assert "which --fn-cost needs" in result.stderr
    assert not (folder / "x.csv").exists()
    assert "Left out at your wish: amount due." in succeeded("report", path, folder / "later.csv")


def test_errors_come_before_the_work(folder: Path, frame: pd.DataFrame) -> None:
    gap = frame.assign(**{"amount due": frame["amount due"].where(frame.index != 7)})
    gap.to_csv(folder / "gap.csv", index=False)
    for costs, sentence in (
        (ROW_COSTS, "row 8 below the header: column 'amount due' is empty, but --fn-cost needs a number in every row"),
        (["--fp-cost", "ward", "--fn-cost", "1"], "column 'ward' has '"),
        (["--fp-cost", "1", "--fn-cost", "2*diagnosis"], "--fn-cost '2*diagnosis' needs the target 'diagnosis'"),
        (["--fp-cost", "1", "--fn-cost", "0*mean area"], "in no row a miss costs more than a hit"),
        (["--fp-cost", "1", "--fn-cost", "__import__('os')"], "there is no function '__import__'"),
    ):
        result = run("fit", folder / "gap.csv", *TARGET, *costs, "-o", folder / "never.skops")
        assert (result.exit_code, result.stdout) == (2, "")
        assert sentence in result.stderr
        assert "fold" not in result.stderr
    assert not (folder / "never.skops").exists()


def test_an_id_with_the_name_of_a_result_is_refused(folder: Path, model: Path, frame: pd.DataFrame) -> None:
    frame.iloc[:9].rename(columns={"patient": "score"}).to_csv(folder / "clash.csv", index=False)
    result = run("predict", model, folder / "clash.csv", "--id", "score", "-o", folder / "clash_out.csv")
    assert result.exit_code == 2
    assert "has the name of a result; rename it" in result.stderr
    result = run("predict", model, folder / "clash.csv", "--id", "patien", "-o", folder / "clash_out.csv")
    assert "there is no column 'patien'" in result.stderr
    assert not (folder / "clash_out.csv").exists()


def test_several_negative_values_are_named_together(folder: Path, frame: pd.DataFrame) -> None:
    several = frame.iloc[:200].assign(diagnosis=lambda f: f["diagnosis"].where(f.index % 9 > 0, "unclear"))
    several.to_csv(folder / "several.csv", index=False)
    options = ["--fp-cost", "1", "--fn-cost", "3", "--others-negative", "--quick", "-o", folder / "several.skops"]
    succeeded("fit", folder / "several.csv", *TARGET, *LINEAR, *options)
    succeeded("predict", folder / "several.skops", folder / "several.csv", "-o", folder / "several_out.csv")
    assert set(pd.read_csv(folder / "several_out.csv")["prediction"]) == {"malignant", "not malignant"}


@pytest.mark.slow
def test_amounts_as_excel_writes_them(tmp_path: Path, frame: pd.DataFrame) -> None:
    """Decimal commas, thousands and a currency sign; misses of small amounts cost less than the check of a hit."""
    written = [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in 50 * frame["amount due"]]
    table = frame[["mean texture", "mean area", "diagnosis"]].assign(Betrag=written)
    table.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    costs = ["--fp-cost", "400", "--fn-cost", "Betrag", "--tp-cost", "400", "--unit", "€", *LINEAR, "--quick"]
    shown = succeeded("fit", tmp_path / "t.csv", *TARGET, *costs, "-o", tmp_path / "m.skops")
    amount = (50 * frame["amount due"]).round(2)
    paying = int(((amount < 400) & (frame["diagnosis"] == "malignant")).sum())
    assert f"In {paying} of 569 rows the mistake costs less than the right decision." in shown
    succeeded("predict", tmp_path / "m.skops", tmp_path / "t.csv", "-o", tmp_path / "o.csv")
    found = pd.read_csv(tmp_path / "o.csv", sep=";", decimal=",", encoding="cp1252")  # as the table is written
    assert np.allclose(found["threshold"], np.minimum(400 / amount, 1.0), rtol=1e-5)
    assert (found["prediction"][amount < 400] == "benign").all()
    report = succeeded("report", tmp_path / "m.skops", tmp_path / "t.csv", "--html", tmp_path / "r.html")
    said = (found["prediction"] == "malignant").astype(int)
    truth = (frame["diagnosis"] == "malignant").astype(int)
    cost = expected_cost(truth, said, fp_cost=400, fn_cost=amount, tp_cost=400)
    assert f"this model {money(1000 * cost)} " in one_line(report)


def test_the_model_file_keeps_the_comparison(model: Path, frame: pd.DataFrame) -> None:
    about = read_model(str(model))["about"]
    rows = {row["name"]: row for row in about["comparison"]}
    assert next(iter(rows)) == "uneven linear"
    train = frame.iloc[:400]
    truth = (train["diagnosis"] == "malignant").to_numpy().astype(int)
    for name, said in (("flag no one", np.zeros(400, dtype=int)), ("flag everyone", np.ones(400, dtype=int))):
        cost = expected_cost(truth, said, **row_costs(train))  # type: ignore[arg-type]
        assert rows[name]["cost"] == pytest.approx(cost)
        assert rows[name]["difference"] == pytest.approx(cost - rows["uneven linear"]["cost"])


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 120])
def test_names_stay_whole_in_a_terminal(folder: Path, model: Path, columns: int) -> None:
    command = [sys.executable, "-m", "uneven", "report", str(model), str(folder / "later.csv")]
    status, shown = in_terminal(command, {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "NO_COLOR": "1"})
    assert status == 0
    for name in ("this model", "plain logistic regression", "class-weighted", "flag everyone", "flag no one"):
        assert f"\n {name} " in unstyle(shown).replace("\r", "")
    assert ("95 % interval " in unstyle(shown).split("Cost per 1,000")[1]) == (columns == 120)


@pytest.mark.slow
def test_a_model_that_is_dearer_than_flagging_everyone_says_so_first(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    noise = pd.DataFrame({"x": random.normal(size=300), "y": np.where(random.uniform(size=300) < 0.4, "yes", "no")})
    noise.to_csv(tmp_path / "noise.csv", index=False)
    noise.assign(x=-3 * noise["x"]).to_csv(tmp_path / "other.csv", index=False)
    options = ["--target", "y", "--positive", "yes", "--fp-cost", "1", "--fn-cost", "2.2", *LINEAR, "--save-anyway"]
    shown = succeeded("fit", tmp_path / "noise.csv", *options, "-o", tmp_path / "m.skops")
    results = shown[shown.index("Flagging a row pays") :].splitlines()
    report = succeeded("report", tmp_path / "m.skops", tmp_path / "other.csv").splitlines()
    assert re.match(r"WARNING: uneven linear does not beat flagging (everyone|no one)\. It costs .* more", results[1])
    assert re.match(r"WARNING: this model is dearer than flagging (everyone|no one): it costs .* more per", report[0])
